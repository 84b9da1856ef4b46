"""A failure in one part of the dashboard breaks that part only, never the session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from gwtui.crud.resource import Section
from gwtui.local.caught_errors import caught_errors
from gwtui.resources.keys import resource
from gwtui.resources.keys.resource import KEYS
from gwtui.ui import app as app_module
from gwtui.ui.connection_health import StatePanel
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.screens.board import BoardScreen
from gwtui.ui.screens.board_panels import CreditsPanel
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.table import ResourceTable
from harness import dashboard, harness, line, listing, until
from screen_text import screen_text

ERROR = "Exceeds the limit (4300 digits) for integer string conversion"


def fail(*_args: Any) -> NoReturn:
    raise ValueError(ERROR)


@pytest.fixture(autouse=True)
def expected() -> Iterator[None]:
    yield
    assert len(caught_errors) > 0
    caught_errors.clear()


async def test_failing_cells_and_sections_leave_the_list_usable(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    name, *further = KEYS.columns
    broken = [replace(column, cell=fail, sort=fail) for column in further]
    sections = (*KEYS.sections, Section("Broken", fail))
    spec = replace(KEYS, columns=(name, *broken), sections=sections, default_sort=("name", False))
    monkeypatch.setattr(resource, "KEYS", spec)
    async with harness() as place, dashboard(place) as (app, pilot):
        screen = listing(app)
        await until(pilot, lambda: f"? {len(caught_errors)}" in line(screen, "header"), "the count")
        assert screen.declared.name(screen.target()) in screen_text(app)
        assert " ? " in screen_text(app)
        await place.press("down", "slash", *"ci", "enter", says="see gwtui.log")
        assert ERROR not in screen_text(app)
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running, "the end")
    assert app.crash is None
    assert app.return_code == 0
    assert "column " in caplog.text


@pytest.mark.parametrize("immediate", [True, False])
async def test_a_failing_action_is_reported(
    monkeypatch: pytest.MonkeyPatch, immediate: bool
) -> None:
    async def broken(_context: Any) -> NoReturn:
        fail()

    async with harness() as place, dashboard(place):
        monkeypatch.setattr(app_module, "handler", lambda _action: (broken, immediate))
        await place.press("s", says="Sort failed because of a bug in gwtui")
        monkeypatch.undo()
        await place.press("x", opens=ConfirmScreen)


async def test_a_dialog_that_fails_to_compose_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        monkeypatch.setattr(ConfirmScreen, "compose", fail)
        await pilot.press("x")
        await until(pilot, lambda: f"? {len(caught_errors)}" in screen_text(app), "the count")
        await until(pilot, lambda: app.screen is listing(app), "the list")
    assert app.crash is None
    assert len(caught_errors) == 1


async def test_a_list_that_fails_to_render_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ResourceScreen, "_show", fail)
    async with harness() as place, dashboard(place) as (app, pilot):
        await until(pilot, lambda: "keys" in line(listing(app), "banner"), "the banner")
        assert "not shown because of a bug in gwtui" in line(listing(app), "banner")
        assert "? Keys cannot be shown" in app.screen.query_one(StatePanel).text
        monkeypatch.undo()
        listing(app).refeed()
        await until(pilot, lambda: not line(listing(app), "banner"), "the recovery")
        assert not app.screen.query_one(StatePanel).display


async def test_a_failing_panel_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CreditsPanel, "draw", fail)
    monkeypatch.setattr(CreditsPanel, "summary", fail)
    async with harness() as place, dashboard(place, start="board") as (app, pilot):
        board = app.screen
        assert isinstance(board, BoardScreen)
        first_line = board.credits.query(OneLine).first
        await until(pilot, lambda: "? not all shown" in first_line().text, "the note")
        await until(pilot, lambda: board.limits.query_one(ResourceTable).model.total, "the limits")
        assert not board.query_one(StatePanel).display
        assert line(board, "board-summary").strip() == "?"


async def test_a_failing_worker_does_not_end_the_dashboard() -> None:
    async def broken() -> None:
        fail()

    async with harness() as place, dashboard(place) as (app, pilot):
        app.screen.run_worker(broken())
        await until(pilot, lambda: "? 1" in line(listing(app), "header"), "the count")
        assert app.is_running
