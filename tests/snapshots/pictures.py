"""Several pictures of one run of an app; a test with one picture uses ``snap_compare``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.resources.preferences import Preferences
from gwtui.ui.app import GwtuiApp
from harness import Steps, settled, start_over
from resizing_kit import resize

Look = tuple[str, tuple[int, int]]
"""A theme and a size."""
SnapCompare = Callable[..., bool]
"""The fixture of pytest-textual-snapshot, which starts an app and compares one picture of it."""
SIZES = [(80, 24), (120, 40)]
DARK: list[Look] = [("gwtui-dark", size) for size in SIZES]
LIGHT: Look = ("gwtui-light", SIZES[-1])


@dataclass
class Pictures:
    """Compares screens with the accepted pictures of a test."""

    accepted: Any
    differing: list[str | None] = field(default_factory=list)

    async def take(
        self,
        pilot: Pilot[Any],
        looks: Iterable[Look] = (DARK[0],),
        called: str | None = None,
    ) -> None:
        """Take one picture per theme and size; ``called`` is its name, with {theme} and {size}."""
        app = pilot.app
        await pilot.wait_for_scheduled_animations()
        for theme, size in looks:
            await show_in(pilot, theme, size)
            name = called and called.format(theme=theme, size=f"{size[0]}x{size[1]}")
            picture = app.export_screenshot(title=app.title, simplify=True)
            if not self.accepted(name=name) == picture:  # noqa: SIM201 - only == compares
                self.differing.append(name)

    async def walk(
        self,
        app: GwtuiApp,
        places: Mapping[str, tuple[str, Steps]],
        light: Collection[str] = (),
        restarted: Collection[str] = (),
        called: str = "{theme}-{size}-",
    ) -> None:
        """Take pictures by name: where to go and what to do there, all in dark at both sizes.

        ``light`` are also taken in the light theme, one per kind of widget and tone, because it
        differs in colors only. Those in ``restarted`` look different after a change of size.
        """
        async with app.run_test(size=SIZES[0], notifications=True) as pilot:
            for name, (route, steps) in places.items():
                looks = [*DARK, *[LIGHT] * (name in light)]
                for part in (looks[:1], looks[1:]) if name in restarted else (looks,):
                    await start_clean(pilot, part[0])
                    await app.open_route(route)
                    await steps(pilot)
                    await self.take(pilot, part, called + name)


async def start_clean(pilot: Pilot[Any], look: Look = DARK[0]) -> None:
    """Close every dialog and screen, and clear selections."""
    app = pilot.app
    assert isinstance(app, GwtuiApp)
    await settled(pilot)
    await start_over(app, pilot)
    await app.navigation.reset(Screen())
    app.preference_store.preferences = Preferences()
    await show_in(pilot, *look)


async def show_in(pilot: Pilot[Any], theme: str, size: tuple[int, int]) -> None:
    app = pilot.app
    if app.theme != theme:
        app.theme = theme
    if app.size != size:
        resize(app, Size(*size))
        await pilot.pause()
    await pilot.pause()
