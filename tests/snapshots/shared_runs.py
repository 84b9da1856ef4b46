"""One run of an app gives its pictures in both themes and at both sizes.

Of tests that differ in nothing but the theme and the size, the first starts the app, and at the end
switches it to the looks of the others. A picture after a switch counts only where it is the
accepted one: in every other case that test starts the app in its own look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from pytest_textual_snapshot import normalize_svg
from textual.app import App
from textual.geometry import Size
from textual.pilot import Pilot

from resizing_kit import resize

SIZES = [(80, 24), (120, 40)]
_HERE = Path(__file__).resolve().parent

_after_switch: dict[str, str] = {}
"""Test -> its picture, taken in the run of another one. Only accepted ones are kept."""


class Look(NamedTuple):
    """How the app of a test is shown; None for what its group has no choice in."""

    theme: str | None
    size: tuple[int, int] | None


def dark_and(light: Set[str], names: Iterable[str]) -> list[Any]:
    """Values of ``theme``, ``size`` and ``name``: all in dark at both sizes, ``light`` wide also.

    The light theme differs in its colours alone, so that one picture of each kind of widget and of
    each tone shows it. The ones in ``light`` have every pair of text style and background that the
    light theme makes of any of them.
    """
    looks = [("gwtui-dark", size, name) for size in SIZES for name in names]
    looks += [("gwtui-light", SIZES[-1], name) for name in names if name in light]
    return [
        pytest.param(theme, size, name, id=f"{theme}-{size[0]}x{size[1]}-{name}")
        for theme, size, name in looks
    ]


def keep_groups_together(items: list[pytest.Item]) -> None:
    """All tests of a group go to one worker; each group begins with another look."""
    for group, places in _places(items).items():
        found = [items[place] for place in places]
        first = crc32(group.encode()) % len(found)
        for place, item in zip(places, found[first:] + found[:first], strict=True):
            items[place] = item
            item.add_marker(pytest.mark.xdist_group(group))


def look_of(item: pytest.Item) -> Look:
    """Theme and size of a test, as far as they are parameters of it."""
    parameters = _parameters(item)
    size = parameters.get("size")
    return Look(parameters.get("theme"), size if isinstance(size, tuple) else None)


def group_of(item: pytest.Item) -> str:
    """What tests have in common that differ only in their look; empty when they have one only."""
    if item.path.parent != _HERE or look_of(item) == Look(None, None):
        return ""
    others = {name: value for name, value in _parameters(item).items() if name not in Look._fields}
    return "-".join((item.path.stem, getattr(item, "originalname", ""), *map(str, others.values())))


def picture_taker(item: pytest.Item) -> Callable[..., str]:
    """Takes the place of Textual's ``take_svg_screenshot`` in a test."""

    def take(
        app: App[Any], run_before: Any = None, terminal_size: Any = None, **_options: Any
    ) -> str:
        if (known := _after_switch.pop(item.nodeid, None)) is not None:
            return known
        own: list[str] = []

        async def drawn_in_turn(pilot: Pilot[Any]) -> None:
            if run_before is not None:
                await run_before(pilot)
            await pilot.pause()
            await pilot.wait_for_scheduled_animations()
            await pilot.pause()
            own.append(app.export_screenshot(title=app.title, simplify=True))
            for other in _others_to_come(item):
                await _switch(pilot, look_of(other))
                picture = app.export_screenshot(title=app.title, simplify=True)
                if normalize_svg(picture) == _accepted(other):
                    _after_switch[other.nodeid] = picture
            app.exit()

        app.run(headless=True, auto_pilot=drawn_in_turn, size=terminal_size)
        return own[0]

    return take


async def _switch(pilot: Pilot[Any], look: Look) -> None:
    app = pilot.app
    if look.theme is not None and app.theme != look.theme:
        app.theme = look.theme
        await pilot.pause()
    if look.size is not None and app.size != look.size:
        resize(app, Size(*look.size))
        await pilot.pause()
        await pilot.pause()


def _others_to_come(item: pytest.Item) -> list[pytest.Item]:
    """Tests of the same group without a picture, in the order that takes the fewest switches."""
    group = _groups(tuple(item.session.items))[group_of(item)]
    own = look_of(item)

    def turn(other: pytest.Item) -> tuple[bool, bool]:
        look = look_of(other)
        resized = look.size != own.size
        return resized, (look.theme != own.theme) is not resized

    later = group[group.index(item) + 1 :]
    return sorted((other for other in later if other.nodeid not in _after_switch), key=turn)


@lru_cache(maxsize=1)
def _groups(items: tuple[pytest.Item, ...]) -> dict[str, list[pytest.Item]]:
    return {group: [items[place] for place in places] for group, places in _places(items).items()}


def _places(items: Sequence[pytest.Item]) -> dict[str, list[int]]:
    """Group -> where its tests are."""
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if group := group_of(item):
            places.setdefault(group, []).append(place)
    return places


def _parameters(item: pytest.Item) -> dict[str, Any]:
    calls = getattr(item, "callspec", None)
    return {} if calls is None else calls.params


def _accepted(item: pytest.Item) -> str:
    """The picture on disk, empty when there is none."""
    path = item.path.parent / "__snapshots__" / item.path.stem / f"{item.name}.svg"
    return normalize_svg(path.read_text(encoding="utf-8")) if path.is_file() else ""
