"""The board in use: its content, the watched models, and earlier times of its history."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from textual import events

from board_kit import MODELS, Filled, at_rest, board, board_of, press
from gwtui.contract.usage import Credits
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.lines import DrawingView, OneLine
from gwtui.ui.widgets.plot import PlotFigure
from gwtui.ui.widgets.prompt import Prompt
from gwtui.watch.history.file import open_writable, try_lock
from gwtui.watch.history.sources import ObservedReading, observe_credits
from gwtui.watch.history.writer import observe
from harness import MOMENT, Harness, line, notices, settled, until


async def test_models_are_watched_in_read_only_mode(demo: Harness, data: Path) -> None:
    demo.read_only = True
    async with board(demo, data) as opened:
        app = opened.app
        screen = board_of(app)
        recorder = screen.recorder
        assert screen.recording.models == MODELS
        screen.endpoints.table.select(screen.endpoints.rows[0].identity)
        await press(opened, "W")
        watched = await recorder.archive.read(lambda reader: reader.watched_models())
        assert len(watched) == 1

        await app.open_route("models/helioscope/corona-code")
        await app.navigation.back()
        await settled(opened.pilot)
        await press(opened, "W")
        watched_later = await recorder.archive.read(lambda reader: reader.watched_models())
        assert watched_later == (*watched, "helioscope/corona-code")
        await app.open_route("board")
        rows = screen.endpoints
        await until(
            opened.pilot,
            lambda: rows.rows and rows.rows[-1].model == watched_later[-1],
            "the new model",
        )
        assert app.session.gateway.gate.closed  # none of this was a write


async def test_the_board_shows_live_data_without_a_history(demo: Harness) -> None:
    async with board(demo, None) as opened:
        app = opened.app
        assert "$538.97 left" in line(board_of(app), "board-summary")
        assert "not open" in line(board_of(app), "board-recording")
        await app.open_route("models")
        await settled(opened.pilot)
        await press(opened, "W")
        assert "No model can be watched" in notices(app)


async def test_endpoints_are_shown_without_the_right_to_read_credits(
    demo: Harness, data: Path
) -> None:
    demo.management = False
    demo.token = demo.gateway.issue_key(management=False, name="plain")
    async with board(demo, data) as opened:
        app = opened.app
        screen = board_of(app)
        assert not screen.query_one("#panel").display
        assert screen.endpoints.table.model.total == 10
        assert " left" in line(board_of(app), "board-summary"), "the recorded balance"


async def test_an_unfocused_board_follows_another_instance(demo: Harness, data: Path) -> None:
    """The gateway gets no requests then: the history is a file on this machine."""
    with another_instance(data) as record:
        async with board(demo, data) as opened:
            pilot, app = opened.pilot, opened.app
            assert f"another gwtui (process {os.getpid()})" in line(
                board_of(app), "board-recording"
            )
            app.post_message(events.AppBlur())
            await pilot.pause()
            demo.fault = "500"
            demo.passed = timedelta(minutes=9)
            record(MOMENT + timedelta(minutes=9), Decimal("123.45"))
            board_of(app).query_history()
            await at_rest(pilot)
            assert "$123.45 left" in line(board_of(app), "board-summary")
            assert not any(state.error for state in board_of(app).states)


@contextmanager
def another_instance(data: Path) -> Iterator[Callable[[datetime, Decimal], None]]:
    """Record into the history, as another process on this machine."""
    file = Filled(data).file
    lock = try_lock(file)
    assert lock is not None
    with closing(open_writable(file, MOMENT, locked=True).connection) as connection:

        def record(moment: datetime, balance: Decimal) -> None:
            credits = Credits.model_validate(
                {"total_credits": Decimal(1000), "total_usage": 1000 - balance}
            )
            observe(connection, observe_credits(credits, ObservedReading(moment, 60)))

        yield record
    os.close(lock)


async def test_a_key_opens_the_board_and_enter_opens_an_endpoint(demo: Harness, data: Path) -> None:
    app = demo.make_app("keys", data=data)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("0")
        await at_rest(pilot)
        assert board_of(app).endpoints.table.model.total == 10
        await pilot.press("enter")
        await settled(pilot)
        screen = app.navigation.screen
        assert screen.resource == "endpoints"
        assert screen.crumbs()[1] == MODELS[0]


async def test_the_board_at_80_columns(demo: Harness, data: Path) -> None:
    async with board(demo, data) as opened:
        screen = board_of(opened.app)
        table = screen.endpoints.table
        assert table.model.total == 10
        assert table.selected.model == MODELS[0]
        assert screen.endpoint.display
        assert not screen.query_one("#board-right").display
        assert "1 h $2." in line(screen, "board-summary")
        assert line(screen, "board-recording").startswith(" Recorded on this machine")

        plot = screen.query_one("#board-plot-0", DrawingView)
        assert isinstance(plot.drawing, PlotFigure)
        assert plot.drawing.title == "latency ms"
        assert all(item.curve is not None for item in plot.drawing.lines)
        await press(opened, "i", "minus")
        assert plot.drawing.title == "throughput t/s"
        assert plot.drawing.window.seconds > 24 * 3600
        await press(opened, "plus", "plus")
        assert plot.drawing.window.seconds < 2 * 3600

        await press(opened, "l")
        assert not screen.query_one("#board-left").display
        assert screen.credits.display
        assert not screen.changes.display
        summary = line(screen, "board-summary")
        assert all(word in summary for word in ("left", "burn", "until"))
        nearest = screen.limits.table.selected
        assert nearest.share > 1
        await press(opened, "l")
        assert "prompt price $9.90/M → $2.50/M" in screen.changes.lines.text


# Other moments ------------------------------------------------------------------------------------


async def an_earlier_time_shows_the_recorded_data(opened: Harness) -> None:
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
    later_points = [
        point
        for item in plot.drawing.lines
        if item.curve is not None
        for point in item.curve.points
        if point.at > screen.view.now
    ]
    assert later_points == []

    await press(opened, "at", "type soonish", "enter")
    assert "Invalid time: expected a moment" in notices(app)
    prompt = screen.query_one("#board-jump", Prompt)
    assert (prompt.display, prompt.input.has_focus, prompt.input.value) == (True, True, "soonish")
    await press(opened, "escape")
    app.clear_notifications()
    assert "07:00:00" in banner.text
    await press(opened, "comma")
    assert "06:59:00" in banner.text
    await press(opened, "full_stop", "full_stop")
    assert "07:01:00" in banner.text
    await press(opened, "escape")
    assert screen.cursor is None
    words = {row.title: row.status(screen.view.now).text for row in list(screen.endpoints.rows)}
    assert words["northwind/atlas-large · Northwind"] == "healthy"


async def a_time_step_keeps_rows_and_selection(
    opened: Harness,
) -> None:
    app = opened.app
    screen = board_of(app)
    await press(opened, "down", "down")
    selected = screen.endpoints.table.selected_identity
    assert selected != screen.endpoints.table.model.order[0]
    for step in (-1, -1, 1):
        screen.step(step)
        assert len(list(screen.endpoints.rows)) == 10  # before the history has answered
        await at_rest(opened.pilot)
        assert screen.endpoints.table.selected_identity == selected
    await press(opened, "at", "type 01:30", "enter")
    assert list(screen.endpoints.rows) == []
    await press(opened, "L")
    assert screen.endpoints.table.selected_identity == selected


async def recorded_changes_are_listed(opened: Harness) -> None:
    pilot, app = opened.pilot, opened.app
    await press(opened, "c")
    screen = app.navigation.screen
    assert isinstance(screen, ResourceScreen)
    await settled(pilot)
    assert ("Northwind", "price_prompt") in _visible(screen)

    await press(opened, "slash", "type at<2026-11-20T08:30", "enter")
    assert ("Northwind", "price_prompt") not in _visible(screen)
    await press(opened, "escape", "0")


def _visible(screen: ResourceScreen) -> set[tuple[str, str]]:
    return {(row.name, row.field) for row in screen.table.model.visible}


async def test_the_board_at_earlier_times(demo: Harness, data: Path) -> None:
    async with board(demo, data) as opened:
        await opened.walk(
            an_earlier_time_shows_the_recorded_data,
            a_time_step_keeps_rows_and_selection,
            recorded_changes_are_listed,
        )
