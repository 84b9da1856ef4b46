"""Every screen and dialog, resized and closed within moments: it settles and nothing fails."""

from __future__ import annotations

import asyncio
import difflib
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from surfaces_kit import SURFACES, Surface, all_screens, opened
from textual import events
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

from board_kit import Filled
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.screens.resource import ResourceScreen
from harness import settled
from resizing_kit import (
    Picture,
    any_size,
    counted_layouts,
    picture,
    rest,
    roomy_size,
    scroll_home,
    storm,
    words,
)
from thoroughness import FULL

RESIZES = 200 if FULL else 0
"""Number of sizes for each screen and modal; 0 tests a few of them with few sizes."""
FEW = 40
SAMPLE = 6
AT_ONCE = 20
"""Number of sizes in one storm."""
STACKED = "key-leaving"
"""A question above a form above a list."""
SHRUNK = "palette-typed"
"""A search keeps the size that its list had before, until the terminal is resized."""
RESIZED = (
    [name for name in SURFACES if name != SHRUNK]
    if RESIZES
    else [STACKED, *random.Random(15).sample([*SURFACES], SAMPLE)]
)


def test_the_surfaces_include_every_screen() -> None:
    assert all_screens() <= {surface.shows for surface in SURFACES.values()}


@pytest.mark.timeout(120 + RESIZES)
@pytest.mark.parametrize("name", RESIZED)
async def test_a_resized_surface_looks_like_a_fresh_one(
    name: str, filled: Filled, tmp_path: Path
) -> None:
    surface = SURFACES[name]
    chance = random.Random(name)
    size, other_size = roomy_size(chance), roomy_size(chance)
    fresh = await _started(surface, other_size, filled, tmp_path / "there")
    with counted_layouts() as layouts:
        async with opened(surface, size, filled, tmp_path / "here") as (pilot, app):
            await rest(pilot, layouts)
            original = await _at_home(pilot, app, layouts)
            for number in range(max(RESIZES, FEW) // AT_ONCE):
                elsewhere = surface.same_at_any_size and number % 2 == 0
                sizes = [any_size(chance) for _ in range(AT_ONCE - 1)]
                await storm(app, [*sizes, other_size if elsewhere else size], chance)
                await rest(pilot, layouts)
                assert type(app.screen).__name__ == surface.shows
                assert_same(fresh if elsewhere else original, await _at_home(pilot, app, layouts))


async def _started(surface: Surface, size: Size, filled: Filled, folder: Path) -> Picture:
    """The surface as drawn by a terminal that had this size from the start."""
    with counted_layouts() as layouts:
        async with opened(surface, size, filled, folder) as (pilot, app):
            return await _at_home(pilot, app, layouts)


async def _at_home(pilot: Any, app: GwtuiApp, layouts: Any) -> Picture:
    """The picture after scrolling to the top, because scroll positions may differ."""
    scroll_home(app)
    await rest(pilot, layouts)
    return picture(app)


def assert_same(expected: Picture, actual: Picture) -> None:
    lines = difflib.unified_diff(
        words(expected).splitlines(), words(actual).splitlines(), "fresh", "after", lineterm="", n=0
    )
    assert actual == expected, "\n".join(lines) or "other colours"


# Left within moments ------------------------------------------------------------------------------


CLOSED = [*SURFACES] if FULL else sorted(random.Random(25).sample([*SURFACES], 8))
TIMES = 25 if FULL else 5
"""How often each surface is opened and closed."""
LATEST = 0.03
"""Maximum seconds until it is closed."""


@pytest.mark.timeout(60 + 6 * TIMES)
@pytest.mark.parametrize("name", CLOSED)
async def test_leaving_a_surface_at_once_does_not_crash(
    name: str, filled: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some answers write a file
    surface, chance = SURFACES[name], random.Random(name)
    async with opened(surface, Size(80, 24), filled, tmp_path / "place") as (pilot, app):
        for _ in range(TIMES):
            await _close_dialogs(pilot, app)
            await _open(pilot, app, surface)
            await asyncio.sleep(chance.uniform(0, LATEST))
            await _leave(app, chance)
        await _close_dialogs(pilot, app)
        await _open(pilot, app, surface)
        await asyncio.sleep(chance.uniform(0, LATEST))
        app.exit(0, return_code=0)
        await _until(lambda: not app.is_running, "the end of the program")
    assert app.crash is None
    assert app.return_code == 0


async def test_quitting_before_a_dialog_is_mounted_does_not_crash(
    filled: Filled, tmp_path: Path
) -> None:
    surface = SURFACES["remaining"]

    def end(top: Screen[Any]) -> None:
        if type(top).__name__ == surface.shows:
            assert not top.is_mounted
            app.exit(0, return_code=0)

    async with opened(surface, Size(80, 24), filled, tmp_path / "place") as (pilot, app):
        await _close_dialogs(pilot, app)
        assert await app.navigation.open_route(surface.start) is None
        await settled(pilot)
        app.screen_change_signal.subscribe(app, end, immediate=True)
        _press(app, *surface.keys)
        await _until(lambda: not app.is_running, "the end of the program")
    assert app.crash is None
    assert app.return_code == 0


async def _open(pilot: Pilot[int], app: GwtuiApp, surface: Surface) -> None:
    """Open the surface; it has only just reached the top of the stack."""
    problem = await app.navigation.open_route(surface.start)
    assert problem is None
    await settled(pilot)
    if isinstance(app.screen, ResourceScreen):
        while app.screen.go_back():  # effects of a response after the dialog was closed
            await settled(pilot)
        app.screen.table.model.marks.clear()
        app.screen.table.model.move_to(0)
    # The first Escape only closes the dialog of the start.
    for key in surface.keys[1:] if surface.keys[:1] == ("escape",) else surface.keys:
        await settled(pilot)
        verb, _, text = key.partition(" ")
        if verb == "field":
            app.screen.query_one(f"#field-{text}", FieldRow).editor.focus()
        elif verb == "type":
            await pilot.press(*text)
        elif key != surface.keys[-1]:
            await pilot.press(key)
        else:
            _press(app, key)
            await _until(lambda: type(app.screen).__name__ == surface.shows, surface.shows)
    if surface.pushed is not None:
        app.push_screen(surface.pushed())


async def _leave(app: GwtuiApp, chance: random.Random) -> None:
    """Close it as a user does, or as the program does when the wait is over."""
    screen = app.screen
    if not isinstance(screen, Dialog):
        await app.navigation.open_route(chance.choice(("providers", "key", "credits")))
    elif chance.random() < 0.5:
        screen.dismiss(None)
    else:
        for key in chance.choice((("escape",), ("f5", "escape"), ("enter",), ("escape", "escape"))):
            _press(app, key)


async def _close_dialogs(pilot: Pilot[int], app: GwtuiApp) -> None:
    """Close every dialog, each as soon as possible."""

    def on_top() -> bool:
        if isinstance(app.screen, Dialog):
            app.screen.dismiss(None)
        return isinstance(app.screen, GatewayScreen) and app.screen is app.navigation.screen

    await _until(on_top, "the screen beneath")
    await settled(pilot)  # queued input was handled
    await _until(on_top, "the screen beneath")


def _press(app: GwtuiApp, key: str) -> None:
    character = key if len(key) == 1 else None
    app.post_message(events.Key(key, character))


async def _until(holds: Callable[[], object], description: str) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {description}"
        await asyncio.sleep(0.001)
