"""The one size that everything is laid out in, and its consequences."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from typing import Any

import pytest
from textual import events
from textual.geometry import Size

from form_kit import HostApp, ScriptedSubmit, form
from gwtui.ui.screens.dialogs import AskScreen, TooSmallScreen
from harness import dashboard, harness, listing
from resizing_kit import counted_layouts, resize, rest
from thoroughness import FULL

TRIALS = 200 if FULL else 2
pytestmark = pytest.mark.timeout(120 + 4 * TRIALS)


async def test_two_sizes_under_way_do_not_chase_each_other(tmp_path: Any) -> None:
    """Two resize events are queued with another message between them."""
    async with harness() as place, dashboard(place) as (app, pilot):
        with counted_layouts() as layouts:
            await rest(pilot, layouts)
            before = layouts.count
            screen = listing(app)
            for size in (Size(72, 41), Size(90, 28)):
                screen.post_message(events.Resize(size, size))
                screen.call_later(lambda: None)
            resize(app, Size(90, 28))
            await rest(pilot, layouts)
            assert layouts.count - before < 12
            assert screen.outer_size == app.size == Size(90, 28)


async def test_a_resize_is_applied_even_if_its_timer_is_dropped(tmp_path: Any) -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        app.set_timer = partial(app.set_timer, pause=True)  # type: ignore[method-assign]
        with counted_layouts() as layouts:
            for size in (Size(90, 28), Size(120, 40)):
                resize(app, size)
                await rest(pilot, layouts)
                assert app.screen.outer_size == app.size == size


async def test_dialogs_opened_in_a_small_terminal_are_covered(tmp_path: Any) -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        dialog = AskScreen("Really?", "", safe="No", deliberate="Yes")
        await app.push_screen(dialog)
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.screen is dialog
        await pilot.press("y")
        await pilot.pause()
        assert app.screen is listing(app)
        assert app.screen_stack == [listing(app)]


@pytest.mark.parametrize("size", [(60, 15), (100, 20), (62, 17)])
async def test_the_field_with_the_keys_stays_in_sight(size: tuple[int, int]) -> None:
    app = HostApp(form(ScriptedSubmit()))
    chance = random.Random(repr(size))
    with counted_layouts() as layouts:
        async with app.run_test(size=(120, 58)) as pilot:
            await rest(pilot, layouts)
            for _ in range(TRIALS):
                resize(app, Size(120, 58))
                await rest(pilot, layouts)
                for _ in range(chance.randint(1, 4)):
                    app.screen.focus_next()
                await rest(pilot, layouts)
                resize(app, Size(30, 8))
                await asyncio.sleep(0.01)
                resize(app, Size(*size))
                await rest(pilot, layouts)
                focused = app.screen.focused
                assert focused is not None
                place = app.screen.find_widget(focused)
                assert place.clip.intersection(place.region).height > 0, focused
