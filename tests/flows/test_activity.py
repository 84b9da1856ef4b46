"""Activity, generations and the ZDR preview, on the real embedded gateway."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gateway_facts import made_request
from gwtui.client.gateway import GatewayClient
from gwtui.domain.activity import completed_days, summarize
from gwtui.domain.money import usd
from gwtui.resources.activity import RankedGroup
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.activity import ActivityScreen
from gwtui.ui.screens.objects import GenerationScreen
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.widgets.lines import DrawingView, OneLine
from harness import Harness, dashboard, harness, has_data, line, listing, notices, until
from screen_text import screen_text


def screen_of(app: GwtuiApp) -> ActivityScreen:
    screen = app.navigation.screen
    assert isinstance(screen, ActivityScreen)
    return screen


def text_of(app: GwtuiApp, name: str) -> str:
    return screen_of(app).query_one(f"#activity-{name}", OneLine).text


def ranked(app: GwtuiApp) -> list[RankedGroup]:
    return [*screen_of(app).table.model.visible]


async def rows_of(place: Harness, **query: Any) -> Any:
    async with place.connect() as connection, GatewayClient(connection) as client:
        return (await client.activity.list(**query)).items


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_days_sums_and_ranking_agree_with_the_gateway(size: tuple[int, int]) -> None:
    async with (
        harness() as place,
        dashboard(place, start="activity", size=size) as (app, pilot),
    ):
        await until(pilot, lambda: ranked(app), "the ranking")
        total = summarize(await rows_of(place))
        assert f"{usd(total.spend)} spent" in text_of(app, "totals")
        models = ranked(app)
        assert sum(model.summary.spend or 0 for model in models) == total.spend
        assert models == sorted(models, key=lambda item: -(item.summary.spend or 0))
        days = completed_days(place.clock.now())
        assert f"{days[0]} to {days[-1]} UTC" in line(screen_of(app), "status")
        chart = screen_of(app).query_one(DrawingView).text
        assert "█" in chart
        assert f"{days[-1]:%m-%d}" in chart
        assert "$" in chart


async def test_keys_are_ranked_and_lead_to_their_activity() -> None:
    async with harness() as place, dashboard(place, start="activity") as (app, pilot):
        await until(pilot, lambda: ranked(app), "the ranking")
        await pilot.press("l", "l", "l")
        await until(pilot, lambda: screen_of(app)._parts is not None, "the keys")
        await until(pilot, lambda: ranked(app), "the ranking of keys")
        total = summarize(await rows_of(place))
        keys = ranked(app)
        assert sum(key.summary.requests or 0 for key in keys) == total.requests
        top_key = keys[0]
        usage = summarize(await rows_of(place, api_key_hash=top_key.identity))
        assert (top_key.summary.spend, top_key.summary.requests) == (
            usage.spend,
            usage.requests,
        )
        await pilot.press("enter")
        await until(pilot, lambda: top_key.name in line(screen_of(app), "crumbs"), "its activity")
        await until(
            pilot, lambda: f"{usd(usage.spend)} spent" in text_of(app, "totals"), "its sums"
        )


async def a_key_leads_to_its_activity_and_back(desk: Any) -> None:
    await desk.app.open_route("keys")
    await desk.until(lambda: has_data(desk.app), "keys")
    keys = listing(desk.app)
    row = keys.table.selected
    await desk.press("a")
    await desk.until(lambda: isinstance(desk.app.navigation.screen, ActivityScreen), "activity")
    await desk.until(lambda: has_data(desk.app), "its figures")
    assert row.key.name in line(screen_of(desk.app), "crumbs")
    usage = summarize(await rows_of(desk, api_key_hash=row.key.hash))
    if usage.rows:
        assert f"{usd(usage.spend)} spent" in text_of(desk.app, "totals")
    for _ in range(3):
        await desk.press("l")
    assert screen_of(desk.app).grouping == "model", "one key has no keys to rank"
    await desk.press("escape")
    await desk.until(lambda: desk.app.navigation.screen is keys, "the keys")
    assert keys.table.selected_identity == row.identity


async def a_person_leads_to_the_activity_of_their_keys(desk: Any) -> None:
    await desk.app.open_route("organization")
    await desk.until(lambda: has_data(desk.app), "organization")
    async with desk.connect() as connection, GatewayClient(connection) as client:
        makers = {
            key.creator_user_id
            for space in (await client.workspaces.list()).items
            for key in (await client.keys.list(workspace_id=space.id)).items
            if key.usage
        }
    people = listing(desk.app)
    user = next(identity for identity in people.table.model.order if identity in makers)
    people.table.select(user)
    usage = summarize(await rows_of(desk, user_id=user))
    assert usage.rows
    name = people.declared.name(people.table.selected)
    await desk.press("a")
    await desk.until(lambda: isinstance(desk.app.navigation.screen, ActivityScreen), "activity")
    await desk.until(lambda: has_data(desk.app), "its figures")
    assert name in line(screen_of(desk.app), "crumbs")
    await desk.until(lambda: f"{usd(usage.spend)} spent" in text_of(desk.app, "totals"), "sums")


async def test_activity_of_models_keys_and_people() -> None:
    async with harness() as place, dashboard(place, start="activity"):
        await place.walk(
            a_key_leads_to_its_activity_and_back,
            a_person_leads_to_the_activity_of_their_keys,
        )


# Generations --------------------------------------------------------------------------------


async def test_a_generation_is_looked_up_by_its_id() -> None:
    async with (
        harness() as place,
        dashboard(place, start="generation", loaded=False, size=(80, 24)) as (app, pilot),
    ):
        await until(pilot, lambda: app.session is not None, "the connection")
        result = made_request(place.gateway, place.clock.now() - timedelta(days=1))
        await pilot.press(*result, "enter")
        await until(
            pilot, lambda: f"Generation {result[:20]}" in screen_text(app), "the generation"
        )
        screen = app.navigation.screen
        assert isinstance(screen, GenerationScreen)
        text = screen.query_one("#object").text  # type: ignore[attr-defined]
        for words in ("Cost", "Tokens", "first token", "Every try", "—"):
            assert words in text
        await pilot.press("v")
        await until(pilot, lambda: '"total_cost"' in screen_text(app), "the raw answer")
        await pilot.press("escape", "slash")
        await pilot.press("ctrl+u", *"gen-unknown", "enter")
        await until(pilot, lambda: "no generation “gen-unknown”" in screen_text(app), "the refusal")


# Zero data retention ------------------------------------------------------------------------


async def test_zdr_preview_lists_remaining_and_lost_endpoints() -> None:
    async with harness() as place, dashboard(place, start="zdr") as (app, pilot):
        await until(
            pilot,
            lambda: all(row.every is not None for row in _zdr(app)),
            "every endpoint",
        )
        async with place.connect() as connection, GatewayClient(connection) as client:
            remaining = (await client.catalog.zdr_endpoints()).items
        rows = _zdr(app)
        assert sum(len(row.remaining) for row in rows) == len(remaining)
        unavailable = [row for row in rows if not row.remaining]
        assert unavailable
        assert rows[: len(unavailable)] == unavailable, "models that lose every endpoint come first"
        assert "unavailable" in screen_text(app)
        partly = next(row for row in rows if row.remaining and row.lost)
        listing(app).show_row(partly.identity)
        await until(
            pilot, lambda: "✗" in screen_text(app) and "✓" in screen_text(app), "both parts"
        )
        assert notices(app) == ""


def _zdr(app: GwtuiApp) -> list[Any]:
    return [*listing(app).table.model.visible]


# Content of generations ---------------------------------------------------------------------------


async def test_a_generation_leads_to_its_content_and_model() -> None:
    async with harness() as place:
        yesterday = place.clock.now() - timedelta(days=1)
        logged = made_request(place.gateway, yesterday)
        unlogged = made_request(place.gateway, yesterday, is_logged=False)
        async with dashboard(place, start=f"generation/{logged}", size=(80, 24), loaded=False) as (
            app,
            pilot,
        ):
            await until(pilot, lambda: "began" in screen_text(app), "the generation")
            await place.press("I", opens=ReadingScreen)
            await until(pilot, lambda: "A simulated answer" in screen_text(app), "its answer")
            assert "Input" in screen_text(app)
            await pilot.press("escape")
            await app.open_route(f"generation/{unlogged}")
            await until(pilot, lambda: unlogged in screen_text(app), "the other one")
            await place.press("I", says="does not log inputs")
            await pilot.press("o")
            await until(pilot, lambda: app.navigation.screen.resource == "endpoints", "its model")
