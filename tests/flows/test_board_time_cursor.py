"""The board at other moments: steps through time, what changed between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from board_kit import Filled, at_rest, board, board_of, filled_once, press
from gwtui.ui.screens.changes import ChangesScreen
from gwtui.ui.widgets.lines import DrawingView, OneLine
from gwtui.ui.widgets.plot import PlotFigure
from gwtui.ui.widgets.prompt import Prompt
from harness import MOMENT, Harness, line, notices, settled


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return filled_once(tmp_path_factory)


@pytest.fixture
def demo(private_home: Path) -> Iterator[Harness]:
    one = Harness()
    yield one
    one.close()


@pytest.fixture
def data(filled: Filled, tmp_path: Path) -> Path:
    return filled.copy_to(tmp_path / "data")


async def an_earlier_moment_shows_what_was_recorded(opened: Harness) -> None:
    app = opened.app
    screen = board_of(app)
    assert app.session is not None
    await press(opened, "at", "type 07:00", "enter")
    banner = screen.query_one("#banner", OneLine)
    assert banner.display
    assert "AS OF 2026-11-21 07:00:00 UTC" in banner.text
    words = {row.title: row.status(screen.view.now).text for row in list(screen.endpoints.rows)}
    assert words["northwind/atlas-large · Northwind"] == "down"
    plot = screen.query_one("#board-plot-0", DrawingView)
    assert isinstance(plot.drawing, PlotFigure)
    assert plot.drawing.window.since < screen.view.now < plot.drawing.window.until
    after = [
        point
        for one in plot.drawing.lines
        if one.curve is not None
        for point in one.curve.points
        if point.at > screen.view.now
    ]
    assert after == []

    await press(opened, "at", "type soonish", "enter")
    assert "yesterday 18:00, 3h ago" in notices(app)
    prompt = screen.query_one("#board-jump", Prompt)
    assert (prompt.display, prompt.input.has_focus, prompt.input.value) == (True, True, "soonish")
    await press(opened, "escape")
    app.clear_notifications()
    assert "07:00:00" in banner.text
    await press(opened, "comma")
    assert "06:59:00" in banner.text
    await press(opened, "greater_than_sign", "full_stop")
    assert "07:10:00" in banner.text
    await press(opened, "escape")
    assert screen.cursor is None
    words = {row.title: row.status(screen.view.now).text for row in list(screen.endpoints.rows)}
    assert words["northwind/atlas-large · Northwind"] == "healthy"


async def a_step_through_time_neither_blanks_the_board_nor_moves_the_cursor(
    opened: Harness,
) -> None:
    app = opened.app
    screen = board_of(app)
    await press(opened, "down", "down")
    selected = screen.endpoints.table.selected_identity
    assert selected != screen.endpoints.table.identities[0]
    for step in (-1, -1, 1):
        screen.step(step)
        assert len(list(screen.endpoints.rows)) == 10  # before the history has answered
        await at_rest(opened.pilot)
        assert screen.endpoints.table.selected_identity == selected
    await press(opened, "at", "type 01:30", "enter")
    assert list(screen.endpoints.rows) == []
    await press(opened, "L")
    assert screen.endpoints.table.selected_identity == selected


async def what_changed_reaches_no_further_than_the_recording(opened: Harness) -> None:
    app = opened.app
    assert line(board_of(app), "board-changes-title").startswith("Changed in 24h  ")
    await press(opened, "minus", "minus")
    assert "since the recording began, 11-20 07:30 UTC  " in line(
        board_of(app), "board-changes-title"
    )
    await press(opened, "at", "type 2020-01-01", "enter")
    assert "11-20 07:30 UTC  nothing" in line(board_of(app), "board-changes-title")


async def what_changed_between_two_moments(opened: Harness) -> None:
    pilot, app = opened.pilot, opened.app
    await press(opened, "c")
    screen = app.navigation.screen
    assert isinstance(screen, ChangesScreen)
    await settled(pilot)
    fields = {(row.name, row.field) for row in _items(screen)}
    assert ("credits", "") in fields
    assert ("Northwind", "price_prompt") in fields
    assert all("not recorded" not in row.identity for row in _items(screen))

    await press(opened, "at", "type 08:00 .. 08:30", "enter")
    assert ("Northwind", "price_prompt") not in {(r.name, r.field) for r in _items(screen)}
    await press(opened, "at", "type yesterday 20:00", "enter", "l")
    rows = _items(screen)
    assert {row.kind for row in rows} >= {"endpoint.price"}
    assert all(row.at is not None for row in rows)
    await press(opened, "0")


async def now_stays_now_and_other_moments_lose_nothing(opened: Harness) -> None:
    ticks = count()
    passing = property(lambda _self: MOMENT + timedelta(microseconds=next(ticks)))
    await press(opened, "c")
    screen = opened.app.navigation.screen
    assert isinstance(screen, ChangesScreen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChangesScreen, "now", passing)
        for typed in ("3h ago .. now", "yesterday 20:00"):
            await press(opened, "at", f"type {typed}", "enter")
            assert screen.between.until is None
        await press(opened, "at", "type 08:00 .. 08:30", "enter")
    assert notices(opened.app) == ""
    await press(opened, "0")


def _items(screen: ChangesScreen) -> list[Any]:
    return list(screen.rows.read or ())


async def test_the_board_at_other_moments(demo: Harness, data: Path) -> None:
    async with board(demo, data) as opened:
        await opened.walk(
            an_earlier_moment_shows_what_was_recorded,
            a_step_through_time_neither_blanks_the_board_nor_moves_the_cursor,
            what_changed_between_two_moments,
            now_stays_now_and_other_moments_lose_nothing,
            what_changed_reaches_no_further_than_the_recording,
        )
