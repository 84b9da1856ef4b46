"""Paths: what they name is found as headless verbs find it, and what is not there is said."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gwtui.cli import dashboard as dashboard_command
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CreateKeyRequest
from gwtui.resources.registry import PARENTS, PLACES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.goto import GotoPrompt
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.screens.picker import Picker
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.watch.feeds.keys import keys_feed
from harness import Harness, dashboard, harness, has_data, listing, notices, until
from journeys import Terminal
from manual_kit import MANUAL, mentioned
from screen_text import shown


@asynccontextmanager
async def colleague(place: Harness) -> AsyncIterator[GatewayClient]:
    """Somebody else at the same gateway."""
    async with place.connect() as connection, GatewayClient(connection) as client:
        yield client


def rows(app: GwtuiApp) -> dict[str, Any]:
    return listing(app).rows.by_identity()


async def go(app: GwtuiApp, pilot: Any, route: str) -> None:
    Terminal(app).write(f":{route}\r")
    await pilot.pause()


async def selected(app: GwtuiApp, pilot: Any, resource: str, identity: str) -> None:
    await until(
        pilot,
        lambda: (
            listing(app).resource == resource and listing(app).table.selected_identity == identity
        ),
        f"{identity} among {resource}",
    )


async def test_a_row_is_found_by_what_it_is_called() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        for resource in ("keys", "workspaces", "guardrails", "byok", "organization"):
            await app.open_route(resource)
            await until(pilot, lambda wanted=resource: at_rows(app, wanted), resource)
            screen = listing(app)
            identity = screen.table.identities[-1]
            called = screen.declared.name(rows(app)[identity])
            for path in (identity, called, identity[:12]):
                screen.table.select(screen.table.identities[0])
                await pilot.pause()
                assert screen.table.selected_identity != identity
                await go(app, pilot, f"{resource}/{path}")
                await selected(app, pilot, resource, identity)
                assert screen.detail.shown
                assert not notices(app)


def at_rows(app: GwtuiApp, resource: str) -> bool:
    return listing(app).resource == resource and has_data(app)


async def test_missing_rows_are_reported_with_similar_names() -> None:
    async with (
        harness() as place,
        dashboard(place, start="keys/voice-hotlin") as (
            app,
            pilot,
        ),
    ):
        await until(pilot, lambda: "There is no key" in notices(app), "a word on it")
        said = notices(app)
        assert "There is no key “voice-hotlin”; there is voice-hotline" in said
        name = rows(app)[listing(app).table.selected_identity or ""].key.name
        assert f"The list is shown, the cursor is on key “{name}”." in said
        assert not listing(app).detail.chosen, "no detail is opened as if it had been found"
        await pilot.press("down", "down")
        before = listing(app).table.selected_identity
        await go(app, pilot, "keys/nonexistent")
        await until(pilot, lambda: "“nonexistent”" in notices(app), "a word on it")
        assert listing(app).table.selected_identity == before


async def test_the_paths_of_the_manual_are_there_in_the_demo() -> None:
    """Those in small letters: capitals stand for what a reader has."""
    spans = (span for page in MANUAL for span in mentioned(page))
    paths = sorted({span[1:] for span in spans if re.fullmatch(r":[a-z-]+(/[^/A-Z]+)+", span)})
    assert len(paths) > 2
    async with harness() as place, dashboard(place) as (app, pilot):
        for path in paths:
            before = listing(app).table.selected_identity
            await go(app, pilot, path)
            await until(pilot, lambda old=before: listing(app).table.selected_identity != old, path)
            assert not notices(app)
            assert listing(app).detail.shown, path


ELSEWHERE = {"generation", "evidence", "endpoints", "model-guardrails"}
"""Places that say it on a screen of their own."""
RECORDED = {"alerts", "alert-rules", "alert-history", "changes"}
"""Places that are empty where nothing is recorded."""


async def test_every_place_says_what_it_does_not_have() -> None:
    places = [one for one in (*PLACES, *PARENTS) if one not in ELSEWHERE | RECORDED]
    async with harness() as gateway, dashboard(gateway) as (app, pilot):
        for place in places:
            await app.open_route(f"{place}/zzz-nothing")
            await until(pilot, lambda: "“zzz-nothing”" in notices(app), f"a word on it at {place}")
            screen = app.navigation.screen
            assert screen.resource == PARENTS.get(place, place)
            assert not isinstance(screen, ResourceScreen) or not screen.detail.chosen, place
            app.clear_notifications()
            await pilot.pause()


async def test_tab_and_enter_accept_the_suggestion_of_the_prompt() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        terminal = Terminal(app)

        def typed() -> str:
            return next((one.input.value for one in listing(app).query(GotoPrompt)), "")

        # Names of the list that is shown, and of one that was never read.
        terminal.write(":keys/voice-h")
        await until(pilot, lambda: "keys/voice-hotline" in shown(app), "the ghost")
        assert typed() == "keys/voice-h"
        terminal.write("\t")
        await until(pilot, lambda: typed() == "keys/voice-hotline", "the whole name")
        terminal.write("\r:gr/no s")
        await until(pilot, lambda: "gr/no secrets, no cards" in shown(app), "the ghost")
        terminal.write("\r")
        await until(pilot, lambda: listing(app).resource == "guardrails", "guardrails by an alias")
        await until(pilot, lambda: listing(app).table.selected, "a row")
        name = listing(app).table.selected.guardrail.name
        assert name == "No secrets, no cards"
        terminal.write(":nowhere/x\r")
        await until(pilot, lambda: "No place or command is called “nowhere”" in notices(app), "it")
        terminal.write(":keys/voice-hotline\r")
        await selected(app, pilot, "keys", _identity(app, "voice-hotline"))
        terminal.write(":help\r")
        await until(pilot, lambda: isinstance(app.screen, ReadingScreen), "the help")


def _identity(app: GwtuiApp, name: str) -> str:
    feed = keys_feed(app.hub, app.scope)
    return next(row.identity for row in feed.state.value or () if row.key.name == name)


async def test_several_of_a_name_are_offered() -> None:
    async with harness() as place, dashboard(place, loaded=False) as (app, pilot):
        async with colleague(place) as client:
            for _ in range(2):
                await client.keys.create(CreateKeyRequest(name="twin"))
        await until(pilot, lambda: has_data(app), "the keys")
        await go(app, pilot, "keys/twin")
        await until(pilot, lambda: isinstance(app.screen, Picker), "the choice")
        assert "2 keys are called “twin”" in shown(app)
        assert shown(app).count("twin  label gw-v1-") == 2, "what tells them apart"
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is listing(app), "the list")
        assert listing(app).table.selected.key.name == "twin"


async def test_a_filter_that_hides_the_row_is_cleared() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        table = listing(app).table
        identity = table.identities[-1]
        name = rows(app)[identity].key.name
        await pilot.press("slash", *"zzznothing", "enter")
        await until(pilot, lambda: not table.visible_count, "the filter")
        await app.open_route(f"keys/{name}")
        await selected(app, pilot, "keys", identity)
        assert f"Filter cleared: it hid key “{name}”" in notices(app)
        assert not listing(app).filtering.text


async def test_a_row_of_another_workspace_leaves_the_scope() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        table = listing(app).table
        every = rows(app)
        first, other = _of_two_workspaces(every)
        app.narrow(first.key.workspace_id, "Narrow")
        await until(pilot, lambda: 0 < table.total_count < len(every), "the workspace's keys")
        await go(app, pilot, f"keys/{other.key.name}")
        await selected(app, pilot, "keys", other.identity)
        assert app.scope.workspace is None
        assert f"“{other.key.name}” is not in Narrow: showing all workspaces" in notices(app)
        app.narrow(first.key.workspace_id, "Narrow")
        await until(pilot, lambda: 0 < table.total_count < len(every), "the workspace's keys")
        await go(app, pilot, "keys/zzz-nothing")
        await until(pilot, lambda: "“zzz-nothing”" in notices(app), "a word on it")
        assert app.scope.workspace == first.key.workspace_id, "left only for what is there"


def _of_two_workspaces(every: dict[str, Any]) -> tuple[Any, Any]:
    named = [row.key.name for row in every.values()]
    some = [row for row in every.values() if named.count(row.key.name) == 1]
    return some[0], next(row for row in some if row.key.workspace_id != some[0].key.workspace_id)


async def test_a_workspace_leads_to_its_members_and_one_of_them() -> None:
    async with harness() as place:
        async with dashboard(place, start="workspaces") as (app, pilot):
            space = next(row for row in rows(app).values() if row.workspace.slug == "production")
            await go(app, pilot, "members/production")
            await until(pilot, lambda: listing(app).resource == "members", "the members")
            await until(pilot, lambda: listing(app).table.total_count, "rows")
            assert listing(app).parent_row == space.identity
            identity = listing(app).table.identities[-1]
            mail = rows(app)[identity].person.email
        start = f"members/Production/{mail}"
        async with dashboard(place, start=start, loaded=False) as (app, pilot):
            await selected(app, pilot, "members", identity)
            assert listing(app).parent_row == space.identity


async def test_a_model_leads_to_one_of_its_endpoints() -> None:
    async with harness() as place, dashboard(place, start="models") as (app, pilot):
        model = listing(app).table.identities[0]
        name = listing(app).declared.name(rows(app)[model])
        await go(app, pilot, f"models/{name}")
        await until(pilot, lambda: listing(app).resource == "endpoints", "the endpoints")
        await until(pilot, lambda: listing(app).table.total_count, "rows")
        assert listing(app).parent_row == model
        identity = listing(app).table.identities[-1]
        title = listing(app).declared.name(rows(app)[identity])
        await go(app, pilot, f"models/{model}/{title}")
        await selected(app, pilot, "endpoints", identity)


def test_the_command_line_takes_what_only_a_row_opens() -> None:
    assert dashboard_command._unknown_route("members/production") is None
    assert dashboard_command._unknown_route("members") is not None
    assert dashboard_command._unknown_route("nothing/x") is not None
    assert all(dashboard_command._unknown_route(place) is None for place in PLACES)


async def test_while_the_list_cannot_be_read_it_is_said_and_looked_for_afterwards() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        async with colleague(place) as client:
            made = await client.keys.create(CreateKeyRequest(name="made elsewhere"))
        before = listing(app).table.selected_identity
        await place.stop()
        await go(app, pilot, "keys/made elsewhere")
        await until(pilot, lambda: "Keys could not be read" in notices(app), "the failure")
        assert "“made elsewhere” once it can be read" in notices(app)
        assert listing(app).table.selected_identity == before
        await place.start()
        await app.hub.refresh("keys")
        await selected(app, pilot, "keys", made.data.hash or "")
