"""Navigation: tabs, rows that open lists, going back, and the state that is kept."""

from __future__ import annotations

import gc
import weakref

from textual.screen import Screen

from gwtui.resources.actions import tab_actions
from gwtui.ui.screens.dialogs import AskScreen
from harness import (
    Harness,
    dashboard,
    harness,
    has_data,
    line,
    listing,
    notices,
    settled,
    until,
)

TABS = "1234567890"
DIALOGS = (("keys", "n"), ("keys", "e"), ("workspaces", "m"), ("models", "enter"), ("keys", "?"))
OTHER_ROUTES = (
    *("providers", "models", "workspaces", "guardrails", "byok", "zdr", "organization"),
    *("assignments", "user-models"),
)


async def number_keys_open_the_tabs_in_order(desk: Harness) -> None:
    for action in tab_actions():
        await desk.press(action.keys[0])
        await desk.pilot.pause()
        screen = desk.app.navigation.screen
        assert f"go.{screen.resource}" == action.id
        assert desk.app.screen is screen


async def a_row_opens_its_list_and_escape_leads_back_to_the_row(desk: Harness) -> None:
    await desk.app.open_route("models")
    await desk.rows("models")
    await desk.press("down", "down", "down")
    model = listing(desk.app).table.selected_identity
    assert model is not None
    await desk.press("enter")
    await desk.rows("endpoints")
    assert model in line(listing(desk.app), "crumbs")
    await desk.press("escape")
    await desk.rows("models")
    assert listing(desk.app).table.selected_identity == model


async def navigation_does_not_close_a_dialog(desk: Harness) -> None:
    app = desk.app
    await app.open_route("keys")
    keys = listing(app)
    question = AskScreen("Really?", "", safe="No", deliberate="Yes")
    answers: list[bool | None] = []
    app.push_screen(question, answers.append)
    await app.open_route("providers")
    await app.navigation.show_tab("models")
    assert not await app.navigation.back()
    await desk.pilot.pause()
    assert app.screen is question
    assert app.navigation.screen is keys
    assert "Close the dialog first" in notices(app)
    await desk.press("y")
    await desk.until(lambda: answers == [True], "the answer")
    await app.open_route("providers")
    await desk.rows("providers")
    assert len(app.screen_stack) == 1


async def test_tabs_rows_and_dialogs() -> None:
    async with harness() as place, dashboard(place):
        await place.walk(
            number_keys_open_the_tabs_in_order,
            a_row_opens_its_list_and_escape_leads_back_to_the_row,
            navigation_does_not_close_a_dialog,
        )


async def test_a_list_keeps_its_state_while_other_screens_are_opened() -> None:
    async with harness() as place, dashboard(place, start="models") as (app, pilot):
        models = listing(app)
        await until(pilot, lambda: models.table.visible_count > 20, "the models")
        await pilot.press("slash", *"-zzz", "enter", *["down"] * 15, "space", "down")
        await until(pilot, lambda: len(models.table.model.marked) == 1, "the mark")
        state = (models.table.selected_identity, models.table.model.marked, models.table.top)
        opened = []
        for identity in models.table.model.order[:12]:
            await app.navigation.open_child(models.declared, identity)
            opened.append(app.navigation.screen)
        for route in OTHER_ROUTES:
            await app.open_route(route)
        await app.open_route("models")
        assert listing(app) is models
        assert (
            models.table.selected_identity,
            models.table.model.marked,
            models.table.top,
        ) == state
        assert models.filtering.text == "-zzz"
        assert [item.is_attached for item in opened if item is not None] == [False] * 4 + [True] * 8


async def test_closed_screens_and_feeds_are_freed(every_frame: None) -> None:
    """Closed dialogs, screens left long ago, and feeds of single rows are freed."""
    async with harness() as place, dashboard(place, start="keys") as (app, pilot):
        await until(pilot, lambda: has_data(app), "the keys")
        await until(pilot, app.session.completed.is_set, "the rest of the session")
        results: dict[int, weakref.ref[Screen[object]]] = {}

        def look() -> None:
            results.update((id(item), weakref.ref(item)) for item in app.screen_stack)

        for resource, key in DIALOGS:
            await app.open_route(resource)
            await until(pilot, lambda: has_data(app), resource)
            await pilot.press(key)
            await settled(pilot)
            look()
            for _ in range(3):
                await pilot.press("escape")
                await settled(pilot)
        for key in TABS * 2:
            await pilot.press(key)
            await settled(pilot)
            look()
        await app.open_route("models")
        models = listing(app)
        await until(pilot, lambda: has_data(app), "the models")
        assert len(models.table.model.order) > 20
        for identity in models.table.model.order:  # eight of them are kept
            await app.navigation.open_child(models.declared, identity)
            await settled(pilot)
            look()
        assert len(results) > len(app.navigation.screens) + 4
        gc.collect()
        reachable = {*app.screen_stack, *app.navigation.screens}
        alive = [item() for item in results.values()]
        assert [item for item in alive if item is not None and item not in reachable] == []
        del alive, reachable
        endpoints = [feed for feed in app.hub.feeds if feed.name.startswith("endpoints:")]
        assert 1 <= len(endpoints) <= 16
