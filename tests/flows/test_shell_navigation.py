"""Getting around: tabs, paths, rows that open lists, the way back."""

from __future__ import annotations

from typing import Any

from gwtui.resources.actions import tab_actions
from harness import dashboard, harness, has_data, line, listing, notices, until
from screen_text import shown


async def number_keys_show_the_tabs_in_order(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    for action in tab_actions():
        await pilot.press(action.keys[0])
        await pilot.pause()
        assert app.navigation.screen is not None
        assert f"go.{app.navigation.screen.resource}" == action.id
        assert app.screen is app.navigation.screen


async def a_row_opens_its_list_and_escape_leads_back_to_the_row(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await app.open_route("models")
    await until(pilot, lambda: has_data(app), "the models")
    await pilot.press("down", "down", "down")
    model = listing(app).table.selected_identity
    assert model is not None
    await pilot.press("enter")
    await until(pilot, lambda: has_data(app), "the endpoints")
    assert listing(app).resource == "endpoints"
    assert model in line(listing(app), "crumbs")
    assert listing(app).table.total_count > 0
    await pilot.press("escape")
    await pilot.pause()
    assert listing(app).resource == "models"
    assert listing(app).table.selected_identity == model


async def test_a_path_opens_the_row_it_names() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        wanted = listing(app).table.identities[4]
        await pilot.press("3", "colon", *f"keys/{wanted}", "enter")
        await until(
            pilot, lambda: listing(app).table.selected_identity == wanted, "the row of the path"
        )
        assert listing(app).resource == "keys"
        assert listing(app).detail.shown
        assert not listing(app).table.display


async def test_a_start_path_opens_the_endpoints_of_a_model() -> None:
    async with harness() as place:
        async with dashboard(place, start="models") as (app, _pilot):
            model = listing(app).table.identities[0]
        async with dashboard(place, start=f"models/{model}") as (app, pilot):
            assert listing(app).resource == "endpoints"
            assert listing(app).table.total_count > 0
            await pilot.press("backspace")
            await until(pilot, lambda: has_data(app), "the models")
            assert listing(app).table.selected_identity == model


async def a_path_that_does_not_exist_is_explained(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await app.open_route("keys")
    await until(pilot, lambda: has_data(app), "the keys")
    await pilot.press("colon", *"nothing/[red]x", "enter")
    await pilot.pause()
    assert "No place or command is called “nothing”" in notices(app)
    assert listing(app).resource == "keys"


async def the_path_prompt_gives_the_keys_back_on_escape(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await app.open_route("keys")
    await until(pilot, lambda: has_data(app), "the keys")
    await pilot.press("colon", "q", "escape")
    await pilot.pause()
    assert app.is_running
    assert app.focused is listing(app).table


async def cursor_filter_and_sort_are_as_they_were_left(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await app.open_route("keys")
    await until(pilot, lambda: has_data(app), "the keys")
    await pilot.press("slash", "a", "enter", "greater_than_sign", "down", "down")
    before = listing(app)
    row, sorting = before.table.selected_identity, before.table.sorting
    count = before.table.visible_count
    await pilot.press("3")
    await pilot.pause()
    await pilot.press("2")
    await pilot.pause()
    assert listing(app) is before
    assert before.table.selected_identity == row
    assert before.table.sorting == sorting
    assert before.table.visible_count == count
    assert "/ a" in shown(app)


async def test_many_opened_lists_do_not_pile_up() -> None:
    async with harness() as place, dashboard(place, start="models") as (app, pilot):
        for model in listing(app).table.identities[:12]:
            await app.open_route(f"models/{model}")
            await pilot.pause()
        children = [screen for screen in app.navigation.screens if screen.resource == "endpoints"]
        assert len(children) <= 9
        for _ in range(40):
            await pilot.press("escape")
        await pilot.pause()
        assert app.is_running
        assert app.screen is app.navigation.screen


async def test_tabs_rows_and_paths_on_one_dashboard() -> None:
    async with harness() as place, dashboard(place):
        await place.walk(
            number_keys_show_the_tabs_in_order,
            a_row_opens_its_list_and_escape_leads_back_to_the_row,
            a_path_that_does_not_exist_is_explained,
            the_path_prompt_gives_the_keys_back_on_escape,
            cursor_filter_and_sort_are_as_they_were_left,
        )
