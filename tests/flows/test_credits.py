"""The credits screen on the real gateway: balance, burn rate and top spenders."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.credits import CreditsScreen
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.feeds.keys import fetch_keys
from harness import dashboard, harness, listing, until
from screen_text import screen_text


def screen_of(app: GwtuiApp) -> CreditsScreen:
    screen = app.navigation.screen
    assert isinstance(screen, CreditsScreen)
    return screen


def ranking(app: GwtuiApp) -> ResourceTable[Any]:
    return screen_of(app).query_one("#burner-keys", ResourceTable)


async def ranked(app: GwtuiApp, pilot: Any) -> ResourceTable[Any]:
    await until(pilot, lambda: ranking(app).model.total, "the ranking")
    return ranking(app)


async def keys_of_all_workspaces_are_ranked_whatever_the_scope(desk: Any) -> None:
    table = await credits_table(desk)
    keys = [row.key for row in await fetch_keys(desk.app.gateway, None)]
    assert table.model.total == len(keys)
    spenders = sorted(keys, key=lambda key: -(key.usage_daily or 0))
    assert table.model.order[0] == spenders[0].hash
    workspaces = (await desk.app.gateway.workspaces.list()).items
    desk.app.limit_to_workspace(workspaces[0].id, "one")
    await desk.pilot.pause()
    assert ranking(desk.app).model.total == len(keys)
    desk.app.limit_to_workspace(None, None)


async def at_selects_the_next_window(desk: Any) -> None:
    table = await credits_table(desk)
    keys = [row.key for row in await fetch_keys(desk.app.gateway, None)]
    for words, field in (("this week", "usage_weekly"), ("this month", "usage_monthly")):
        await desk.press("at")
        await desk.until(lambda words=words: f"[{words}]" in screen_text(desk.app), words)
        biggest = max(keys, key=lambda key, field=field: getattr(key, field) or Decimal(0))
        assert table.model.order[0] == biggest.hash
    await desk.press("at")
    await desk.until(lambda: "[today]" in screen_text(desk.app), "today again")


async def enter_opens_the_selected_spender(desk: Any) -> None:
    table = await credits_table(desk)
    await desk.press("down", "enter")
    expected = table.model.order[1]
    await desk.until(lambda: desk.app.navigation.screen.resource == "keys", "the keys")
    await desk.until(lambda: listing(desk.app).table.selected_identity == expected, "that key")


async def test_workspaces_have_a_table_where_there_is_room() -> None:
    async with (
        harness() as place,
        dashboard(place, start="credits", size=(80, 24)) as (app, pilot),
    ):
        await ranked(app, pilot)
        screen = screen_of(app)
        table = screen.query_one("#burner-workspaces", ResourceTable)
        assert not table.display
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: table.display, "the table")
        keys = [row.key for row in await fetch_keys(app.gateway, None)]
        assert set(table.model.order) == {key.workspace_id for key in keys}


async def credits_table(desk: Any) -> ResourceTable[Any]:
    await desk.app.open_route("credits")
    return await ranked(desk.app, desk.pilot)


async def test_balance_ranking_and_runway() -> None:
    async with harness() as place, dashboard(place, start="credits"):
        await place.walk(
            at_selects_the_next_window,
            keys_of_all_workspaces_are_ranked_whatever_the_scope,
            enter_opens_the_selected_spender,
        )
