"""The credits screen on the real gateway: balance, burn, and top spenders."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from textual.widgets import Digits

from gwtui.domain import money
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.credits import CreditsScreen
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.feeds.keys import fetch_keys
from harness import dashboard, harness, line, listing, until
from screen_text import shown


def screen_of(app: GwtuiApp) -> CreditsScreen:
    screen = app.navigation.screen
    assert isinstance(screen, CreditsScreen)
    return screen


def ranking(app: GwtuiApp) -> ResourceTable[Any]:
    return screen_of(app).query_one("#burner-keys", ResourceTable)


async def ranked(app: GwtuiApp, pilot: Any) -> ResourceTable[Any]:
    await until(pilot, lambda: ranking(app).total_count, "the ranking")
    return ranking(app)


async def the_balance_is_the_gateways(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await at_credits(desk)
    credits = await app.gateway.credits.get()
    await pilot.pause()
    assert credits.balance is not None
    assert screen_of(app).query_one("#balance-figure", Digits).value == money.usd(credits.balance)
    assert money.usd(credits.total_credits) in shown(app)
    assert money.percent(credits.used_share) in shown(app)


async def keys_of_every_workspace_are_ranked_by_usage_whatever_the_scope(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await at_credits(desk)
    table = await ranked(app, pilot)
    keys = [row.key for row in await fetch_keys(app.gateway, None)]
    assert table.total_count == len(keys)
    spenders = sorted(keys, key=lambda key: -(key.usage_daily or 0))
    assert table.identities[0] == spenders[0].hash
    workspaces = (await app.gateway.workspaces.list()).items
    app.narrow(workspaces[0].id, "one")
    await pilot.pause()
    assert ranking(app).total_count == len(keys)
    app.narrow(None, None)


async def u_ranks_by_the_next_window(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await at_credits(desk)
    table = await ranked(app, pilot)
    keys = [row.key for row in await fetch_keys(app.gateway, None)]
    for words, field in (("this week", "usage_weekly"), ("this month", "usage_monthly")):
        await pilot.press("at")
        await until(pilot, lambda words=words: f"[{words}]" in shown(app), words)
        biggest = max(keys, key=lambda key, field=field: getattr(key, field) or Decimal(0))
        assert table.identities[0] == biggest.hash
    await pilot.press("at")
    await until(pilot, lambda: "[today]" in shown(app), "today again")


async def enter_opens_the_key_that_burns(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await at_credits(desk)
    table = await ranked(app, pilot)
    await pilot.press("down", "enter")
    wanted = table.identities[1]
    await until(pilot, lambda: app.navigation.screen is not screen_or_none(app), "the keys")
    await until(pilot, lambda: listing(app).table.selected_identity == wanted, "that key")


def screen_or_none(app: GwtuiApp) -> CreditsScreen | None:
    screen = app.navigation.screen
    return screen if isinstance(screen, CreditsScreen) else None


async def the_board_tells_the_same_end_before_anything_is_recorded(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await at_credits(desk)
    await ranked(app, pilot)
    words = line(screen_of(app), "credits-runway").split(maxsplit=1)[1]
    assert "at today's rate" in words
    days = words.partition(",")[0]
    assert days.endswith(" days")
    await pilot.press("0")

    def told(name: str) -> str:
        found = app.screen.query(f"#{name}")
        return line(app.screen, name) if found else ""

    await until(pilot, lambda: words in told("board-runway"), "the same on the board")
    assert "runway unknown" not in told("board-summary")
    assert "at today's rate" in told("board-summary")


async def test_workspaces_have_a_line_or_a_table_as_there_is_room() -> None:
    async with (
        harness() as place,
        dashboard(place, start="credits", size=(80, 24)) as (app, pilot),
    ):
        await ranked(app, pilot)
        screen = screen_of(app)
        assert screen.query_one("#workspace-line").display
        assert not screen.query_one("#burner-workspaces").display
        text = line(screen, "workspace-line")
        assert "Data pipelines" in text
        assert len(text) <= 78
        assert text.endswith("+1"), "those that find no room are counted"
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: not screen.query_one("#workspace-line").display, "the table")
        table = screen.query_one("#burner-workspaces", ResourceTable)
        keys = [row.key for row in await fetch_keys(app.gateway, None)]
        assert set(table.identities) == {key.workspace_id for key in keys}


async def test_figures_stay_with_their_age_when_the_gateway_is_gone() -> None:
    async with (
        harness(speed=20) as place,
        dashboard(place, start="credits") as (app, pilot),
    ):
        await ranked(app, pilot)
        before = screen_of(app).query_one("#balance-figure", Digits).value
        await place.stop()
        await until(pilot, lambda: "last good data" in line(screen_of(app), "status"), "the age")
        assert line(screen_of(app), "banner")
        assert screen_of(app).query_one("#balance-figure", Digits).value == before
        assert ranking(app).total_count
        await place.start()
        await until(pilot, lambda: not line(screen_of(app), "banner"), "the recovery", 30)


async def a_second_without_news_repaints_nothing_but_what_moved(desk: Any) -> None:
    app, pilot, place = desk.app, desk.pilot, desk
    await at_credits(desk)
    await ranked(app, pilot)
    await pilot.pause()
    figure = screen_of(app).query_one("#balance-figure", Digits)
    painted: list[object] = []
    figure.refresh = lambda *args, **kwargs: painted.append(args)  # type: ignore[method-assign,assignment]
    for _ in range(3):
        screen_of(app).tick(place.clock.now())
    assert painted == []
    del figure.refresh


async def at_credits(desk: Any) -> None:
    await desk.app.open_route("credits")
    await ranked(desk.app, desk.pilot)


async def test_balance_ranking_and_runway() -> None:
    async with harness() as place, dashboard(place, start="credits"):
        await place.walk(
            the_balance_is_the_gateways,
            a_second_without_news_repaints_nothing_but_what_moved,
            u_ranks_by_the_next_window,
            keys_of_every_workspace_are_ranked_by_usage_whatever_the_scope,
            the_board_tells_the_same_end_before_anything_is_recorded,
            enter_opens_the_key_that_burns,
        )
