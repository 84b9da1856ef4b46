"""Working in lists: filter, workspace scope, detail pane, marks, and declared features."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from journeys import Terminal, at_rest

from gwtui.crud.action import APP, Action
from gwtui.resources.actions import all_actions
from gwtui.resources.registry import RESOURCES, SCREENS, TABS
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.app import GwtuiApp
from gwtui.ui.commands import offered
from gwtui.ui.screens.list_parts import DetailPane
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.feeds.keys import fetch_keys
from harness import dashboard, harness, line, listing, notices, until
from screen_text import screen_text


async def the_filter_narrows_while_typing_and_escape_clears_it(desk: Any) -> None:
    await unfiltered(desk)
    table = listing(desk.app).table
    total = table.model.total
    await desk.press("slash", "b")
    await desk.pilot.pause()
    visible_count = table.visible_count
    assert 0 < visible_count < total
    assert f"{visible_count} of {total} keys" in line(listing(desk.app), "status")
    await desk.press("o", "t")
    await desk.pilot.pause()
    assert table.visible_count < visible_count
    await desk.press("escape")
    await desk.pilot.pause()
    assert table.visible_count == total
    assert desk.app.focused is table


async def enter_keeps_the_filter_and_escape_in_the_list_clears_it(desk: Any) -> None:
    await unfiltered(desk)
    screen = listing(desk.app)
    await desk.press("slash", "b", "o", "t", "enter")
    await desk.pilot.pause()
    assert desk.app.focused is screen.table
    filtered_count = screen.table.visible_count
    assert filtered_count < screen.table.model.total
    assert screen.filtering.display
    await desk.press("escape")
    await desk.pilot.pause()
    assert screen.table.visible_count == screen.table.model.total
    assert not screen.filtering.display


async def the_filter_bar_suggests_fields_and_values(desk: Any) -> None:
    app = desk.app
    await unfiltered(desk)
    screen = listing(app)
    terminal = Terminal(app)
    terminal.write("/")
    await at_rest(app)
    assert line(screen, "filter-help").startswith("Tab  name:  ")
    terminal.write("all>=1 -sta\t\t")
    await at_rest(app)
    filled = screen.filtering.text
    assert re.fullmatch("all>=1 -state:[a-z]+", filled), filled
    assert 0 < screen.table.visible_count < screen.table.model.total
    terminal.write("\x1b[27u/(airflow or")
    await at_rest(app)
    assert "an alternative is missing" in line(screen, "status")
    terminal.write(" bot) all >= 0\r")
    await at_rest(app)
    assert screen.table.visible_count > 1
    assert not screen.query_one("#filter-help").display
    terminal.write("/ all>x ")
    await at_rest(app)
    assert "all>x: expected a number" in line(screen, "status")


async def test_the_detail_shows_completed_fields_once_they_are_read() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        pane = listing(app).query_one(DetailPane)
        await until(pilot, lambda: re.search(r"assigned +none", pane.text), "no guardrail")
        assert "reading…" not in pane.text


async def unfiltered(desk: Any) -> None:
    """Remove the filter of the previous step."""
    while listing(desk.app).filtering.display:
        await desk.pilot.press("escape")
        await desk.pilot.pause()


async def test_filtering_a_list() -> None:
    async with harness() as place, dashboard(place):
        await place.walk(
            the_filter_narrows_while_typing_and_escape_clears_it,
            enter_keeps_the_filter_and_escape_in_the_list_clears_it,
            the_filter_bar_suggests_fields_and_values,
        )


# Declared lists -----------------------------------------------------------------------------------


def test_every_tab_has_a_screen_and_every_opened_resource_exists() -> None:
    for tab in TABS:
        assert (tab in RESOURCES) != (tab in SCREENS), tab
    for spec in RESOURCES.values():
        assert spec.opens is None or (spec.opens in RESOURCES) != (spec.opens in SCREENS)
        assert spec.default_sort[0] in {column.id for column in spec.columns}


def test_every_list_has_unique_documented_columns_and_a_growing_first_one() -> None:
    for spec in RESOURCES.values():
        assert len({column.id for column in spec.columns}) == len(spec.columns), spec.id
        assert spec.columns[0].grow, spec.id
        assert all(column.help for column in spec.columns), spec.id


async def test_only_the_chosen_workspace_is_read() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        screen = listing(app)
        total, selected = screen.table.model.total, screen.table.selected_identity
        await pilot.press("w")
        await until(pilot, lambda: app.screen is not screen, "the workspaces")
        await pilot.press(*"research", "enter")
        await until(pilot, lambda: 0 < screen.table.model.total < total, "fewer keys")
        expected = await fetch_keys(app.gateway, app.scope.workspace)
        assert set(screen.table.model.order) == {row.identity for row in expected}
        assert "Research" in screen_text(app).splitlines()[0]
        assert "only Research" in line(screen, "status")
        assert selected not in screen.table.model.order
        assert not notices(app), "no notice about the lost row"
        await pilot.press("slash", *"voice-hotline")
        hint = "Only Research is listed; w changes the workspace."
        await until(pilot, lambda: hint in screen_text(app), "where else it may be")
        await pilot.press("escape", "w", "home", "enter")
        await until(pilot, lambda: screen.table.model.total == total, "every key")


# Marked rows --------------------------------------------------------------------------------------


TARGETED = [action for action in all_actions() if action.target]
ROUTES = ("keys", "workspaces", "guardrails", "byok", "models")
"""Lists with rows to mark and verbs that act on a single row only."""


def refusal(action: Action, marked: int, hidden: int = 0) -> str | None:
    """The notice for an action on the selected row while other rows are marked."""
    app = SimpleNamespace(session=object(), hold_reason_of=lambda _action: None)
    rows = (object(),) * marked
    screen = cast("Any", None)
    context = ActionContext(cast("Any", app), None, object(), "row", screen, rows, hidden)
    return GwtuiApp.refusal(cast("GwtuiApp", app), action, context)


@pytest.mark.parametrize("action", TARGETED, ids=lambda action: action.id)
def test_every_targeted_action_declares_its_use_of_marked_rows(action: Action) -> None:
    assert refusal(action, 0) is None
    notice = refusal(action, 3, 1)
    if action.marked == "refuse":
        assert notice == (
            f"{action.title} acts on one row, and 3 rows are marked (1 hidden by the filter): "
            "u clears the marks"
        )
    else:
        assert notice is None
    assert action.marked != "cursor" or not action.mutates, "writes act on marked rows"
    assert (action.marked == "all") == ("marked" in action.help), "the help mentions marked rows"


@pytest.mark.parametrize("route", ROUTES)
async def test_single_row_actions_are_refused_while_rows_are_marked(route: str) -> None:
    async with harness() as place, dashboard(place, start=route) as (app, pilot):
        screen = listing(app)
        await until(pilot, lambda: screen.table.visible_count, "rows")
        await pilot.press("home", "space")
        assert screen.table.model.marked
        verbs = [
            action
            for action in offered(screen.scopes)
            if action.scope != APP and action.target and action.marked == "refuse"
        ]
        assert verbs
        for action in verbs:
            for key in action.keys:
                app.clear_notifications()
                await pilot.press(key)
                await pilot.pause()
                notice = notices(app)
                assert notice.startswith(f"{action.title} acts on one row, and 1 row is marked"), (
                    notice
                )
                assert app.screen is screen
        assert not [*place.ledger.entries()]
        await pilot.press("u")
        assert not screen.table.model.marked


async def test_tables_without_bulk_actions_have_no_marks() -> None:
    async with (
        harness() as place,
        dashboard(place, start="activity", size=(120, 50)) as (app, pilot),
    ):
        for route in ("activity", "credits", "board"):
            await app.open_route(route)
            await until(pilot, lambda: bool(app.screen.query(ResourceTable)), "a table")
            for table in app.screen.query(ResourceTable):
                table.focus()
                await pilot.press("space")
                assert not table.model.marked
