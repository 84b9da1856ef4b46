"""Windows that are dragged about: in the end the program rests, and looks as if just started."""

from __future__ import annotations

import difflib
import random
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Size

from board_kit import Filled, filled_once
from gwtui.client.request_log import RecentRequests, Traffic
from gwtui.ui.app import GwtuiApp
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
from surfaces_kit import SURFACES, Surface, all_screens, opened
from thoroughness import FULL

RESIZES = 200 if FULL else 0
"""Sizes that each screen and modal goes through; without it, a few of them do with few sizes."""
FEW = 40
SAMPLE = 6
AT_ONCE = 20
"""Sizes of one storm."""
STACKED = "key-leaving"
"""A question above a form above a list."""
NAMES = [*SURFACES] if RESIZES else [STACKED, *random.Random(15).sample([*SURFACES], SAMPLE)]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return filled_once(tmp_path_factory)


@pytest.fixture(autouse=True)
def steady_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many requests went out by now depends on how fast the machine is."""
    monkeypatch.setattr(Traffic, "recent", lambda _self: RecentRequests(41))


def test_every_screen_and_modal_is_among_them() -> None:
    assert all_screens() <= {surface.shows for surface in SURFACES.values()}


@pytest.mark.timeout(120 + RESIZES)
@pytest.mark.parametrize("name", NAMES)
async def test_a_storm_of_resizes_leaves_nothing_behind(
    name: str, filled: Filled, tmp_path: Path
) -> None:
    surface = SURFACES[name]
    chance = random.Random(name)
    here, there = roomy_size(chance), roomy_size(chance)
    fresh = await _started(surface, there, filled, tmp_path / "there")
    with counted_layouts() as layouts:
        async with opened(surface, here, filled, tmp_path / "here") as (pilot, app):
            await rest(pilot, layouts)
            first = await _at_home(pilot, app, layouts)
            for number in range(max(RESIZES, FEW) // AT_ONCE):
                away = surface.other and number % 2 == 0
                sizes = [any_size(chance) for _ in range(AT_ONCE - 1)]
                await storm(app, [*sizes, there if away else here], chance)
                await rest(pilot, layouts)
                assert type(app.screen).__name__ == surface.shows
                assert_same(fresh if away else first, await _at_home(pilot, app, layouts))


async def _started(surface: Surface, size: Size, filled: Filled, folder: Path) -> Picture:
    """What the surface looks like where the terminal always had this size."""
    with counted_layouts() as layouts:
        async with opened(surface, size, filled, folder) as (pilot, app):
            return await _at_home(pilot, app, layouts)


async def _at_home(pilot: Any, app: GwtuiApp, layouts: Any) -> Picture:
    """The picture with everything scrolled to its beginning: how far it was may differ."""
    scroll_home(app)
    await rest(pilot, layouts)
    return picture(app)


def assert_same(wanted: Picture, got: Picture) -> None:
    lines = difflib.unified_diff(
        words(wanted).splitlines(), words(got).splitlines(), "fresh", "after", lineterm="", n=0
    )
    assert got == wanted, "\n".join(lines) or "other colours"
