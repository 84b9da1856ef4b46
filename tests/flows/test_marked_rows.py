"""What the verbs of one row do while rows are marked: nothing, and they say so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gwtui.crud.action import APP, Action
from gwtui.resources.actions import all_actions
from gwtui.ui.actions.context import ActionContext, Marks
from gwtui.ui.app import GwtuiApp
from gwtui.ui.commands import offered
from gwtui.ui.widgets.table import ResourceTable
from harness import dashboard, harness, listing, notices, until

TARGETED = [action for action in all_actions() if action.target]
ROUTES = ("keys", "workspaces", "guardrails", "byok", "models")
"""Lists with rows to mark, and with verbs that act on one row only."""


def refusal(action: Action, marks: Marks) -> str | None:
    """What the app says to an action on a selected row while rows are marked."""
    app = SimpleNamespace(session=object(), holds_back=lambda _action: None)
    context = ActionContext(cast("Any", app), None, object(), "row", cast("Any", None), marks)
    return GwtuiApp.refusal(cast("GwtuiApp", app), action, context)


@pytest.mark.parametrize("action", TARGETED, ids=lambda action: action.id)
def test_every_verb_with_a_target_says_what_it_does_with_marked_rows(action: Action) -> None:
    assert refusal(action, Marks()) is None
    said = refusal(action, Marks(3, 1))
    if action.marked == "refuse":
        assert said == (
            f"{action.title} acts on one row, and 3 rows are marked (1 hidden by the filter): "
            "u clears the marks"
        )
    else:
        assert said is None
    assert action.marked != "cursor" or not action.mutates, "only what shows stays with the cursor"
    assert (action.marked == "all") == ("marked" in action.help), "the help says whether it does"


def test_a_single_mark_counts_too() -> None:
    rotate = next(action for action in TARGETED if action.id == "keys.rotate")
    assert refusal(rotate, Marks(1)) == (
        f"{rotate.title} acts on one row, and 1 row is marked: u clears the marks"
    )


@pytest.mark.parametrize("route", ROUTES)
async def test_nothing_happens_at_any_key_of_a_verb_for_one_row(route: str) -> None:
    async with harness() as place, dashboard(place, start=route) as (app, pilot):
        screen = listing(app)
        await until(pilot, lambda: screen.table.visible_count, "rows")
        await pilot.press("home", "space")
        assert screen.table.marked
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
                said = notices(app)
                assert said.startswith(f"{action.title} acts on one row, and 1 row is marked"), said
                assert app.screen is screen
        assert not [*place.ledger.entries()]
        await pilot.press("u")
        assert not screen.table.marked


async def test_hidden_marks_hold_a_verb_back_and_one_key_takes_them_away() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        table = listing(app).table
        await pilot.press("space", "space", "slash", *"night", "enter")
        await until(pilot, lambda: 0 < table.visible_count < table.total_count, "the filter")
        assert not set(table.marked) & set(table.identities)
        await pilot.press("N")
        await pilot.pause()
        assert "2 rows are marked (2 hidden by the filter)" in notices(app)
        assert app.screen is listing(app)
        await pilot.press("u", "x")
        await until(pilot, lambda: app.screen is not listing(app), "the question")


async def test_where_nothing_acts_on_marked_rows_none_is_marked() -> None:
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
                assert not table.marked
