"""One run of an app gives pictures in both themes, at both sizes and of several screens.

Of tests that differ in nothing but the theme and the size, the first starts the app, and at the end
switches it to the looks of the others. Where a test is marked ``one_app``, with what to open and to
do for each ``name``, the app goes on to the names that come later. A picture that was taken for
another test counts only where it is the accepted one: in every other case that test starts the app
for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from pytest_textual_snapshot import normalize_svg
from textual.app import App
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

from dashboard_kit import Steps
from gwtui.resources.preferences import Preferences
from gwtui.ui.app import GwtuiApp
from resizing_kit import resize
from shared_dashboard import start_over

SIZES = [(80, 24), (120, 40)]
_HERE = Path(__file__).resolve().parent

_WALK = 600
"""Seconds that an app may take that draws what many tests show."""

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
    """All tests of a run go to one worker; each group begins with another look."""
    for group, places in _places(items).items():
        found = [items[place] for place in places]
        first = crc32(group.encode()) % len(found)
        for place, item in zip(places, found[first:] + found[:first], strict=True):
            items[place] = item
            together = f"{item.path.stem}-{_function(item)}" if _visits(item) else group
            item.add_marker(pytest.mark.xdist_group(together))
            if _visits(item):
                item.add_marker(pytest.mark.timeout(_WALK))


def look_of(item: pytest.Item) -> Look:
    """Theme and size of a test, as far as they are parameters of it."""
    parameters = _parameters(item)
    size = parameters.get("size")
    return Look(parameters.get("theme"), size if isinstance(size, tuple) else None)


def group_of(item: pytest.Item, name: str | None = None) -> str:
    """What tests have in common that differ only in their look; empty when they have one only.

    With ``name`` the group of the test of that name.
    """
    if item.path.parent != _HERE or look_of(item) == Look(None, None):
        return ""
    others = {name: value for name, value in _parameters(item).items() if name not in Look._fields}
    if name is not None:
        others["name"] = name
    return "-".join((item.path.stem, _function(item), *map(str, others.values())))


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
            await _still(pilot)
            own.append(_picture(app))
            await _draw(pilot, _later(item, group_of(item)))
            # The tests of what cannot be drawn now start apps of their own, and fail there.
            with suppress(Exception):
                await _visit_others(pilot, item)
            app.exit()

        app.run(headless=True, auto_pilot=drawn_in_turn, size=terminal_size)
        return own[0]

    return take


async def _visit_others(pilot: Pilot[Any], item: pytest.Item) -> None:
    """Draw what the tests of other names show that one app can draw."""
    visits = _visits(item)
    tried: set[pytest.Item] = set()
    for name in visits:
        group = group_of(item, name)
        while others := [each for each in _later(item, group) if each not in tried]:
            tried.add(others[0])
            await _begin_anew(pilot, look_of(others[0]))
            route, steps = visits[name]
            assert isinstance(pilot.app, GwtuiApp)
            await pilot.app.open_route(route)
            await steps(pilot)
            await _still(pilot)
            await _draw(pilot, others)


async def _begin_anew(pilot: Pilot[Any], look: Look) -> None:
    """Forget what was opened and chosen."""
    app = pilot.app
    assert isinstance(app, GwtuiApp)
    await start_over(app, pilot)
    await app.navigation.reset(Screen())
    app.preference_store.preferences = Preferences()
    await _switch(pilot, look)


async def _draw(pilot: Pilot[Any], tests: Iterable[pytest.Item]) -> None:
    """Keep those pictures of what is shown that are the accepted ones."""
    left = list(tests)
    while left:
        present = Look(pilot.app.theme, pilot.app.size)
        other = min(left, key=lambda each: _distance(present, look_of(each)))
        left.remove(other)
        await _switch(pilot, look_of(other))
        picture = _picture(pilot.app)
        if normalize_svg(picture) == _accepted(other):
            _after_switch[other.nodeid] = picture


async def _still(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await pilot.wait_for_scheduled_animations()
    await pilot.pause()


def _picture(app: App[Any]) -> str:
    return app.export_screenshot(title=app.title, simplify=True)


async def _switch(pilot: Pilot[Any], look: Look) -> None:
    app = pilot.app
    if look.theme is not None and app.theme != look.theme:
        app.theme = look.theme
        await pilot.pause()
    if look.size is not None and app.size != look.size:
        resize(app, Size(*look.size))
        await pilot.pause()
        await pilot.pause()


def _distance(here: Look, there: Look) -> int:
    """How much is to be switched: a size takes longer than a theme."""
    theme = there.theme is not None and there.theme != here.theme
    size = there.size is not None and there.size != here.size
    return theme + 2 * size


def _visits(item: pytest.Item) -> Mapping[str, tuple[str, Steps]]:
    """Name -> what to open and what to do there, for the tests that one app can draw."""
    marker = item.get_closest_marker("one_app")
    return {} if marker is None else marker.args[0]


def _later(item: pytest.Item, group: str) -> list[pytest.Item]:
    """Tests of a group that come later and have no picture yet."""
    places = _positions(tuple(item.session.items))
    return [
        other
        for other in _groups(tuple(item.session.items)).get(group, ())
        if places[other] > places[item] and other.nodeid not in _after_switch
    ]


@lru_cache(maxsize=1)
def _positions(items: tuple[pytest.Item, ...]) -> dict[pytest.Item, int]:
    return {item: place for place, item in enumerate(items)}


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


def _function(item: pytest.Item) -> str:
    return getattr(item, "originalname", "")


def _parameters(item: pytest.Item) -> dict[str, Any]:
    calls = getattr(item, "callspec", None)
    return {} if calls is None else calls.params


def _accepted(item: pytest.Item) -> str:
    """The picture on disk, empty when there is none."""
    path = item.path.parent / "__snapshots__" / item.path.stem / f"{item.name}.svg"
    return normalize_svg(path.read_text(encoding="utf-8")) if path.is_file() else ""
