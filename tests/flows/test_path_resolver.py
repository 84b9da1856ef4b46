"""Paths find the same rows as headless commands; a missing row is reported."""

from __future__ import annotations

import re
from typing import Any

from journeys import Terminal

from gwtui.cli import dashboard as dashboard_command
from gwtui.contract.keys import CreateKeyRequest
from gwtui.resources.registry import PARENTS, PLACES
from gwtui.ui.goto import GotoPrompt
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.screens.resource import ResourceScreen
from harness import Harness, dashboard, harness, listing, notices
from manual_kit import MANUAL, mentioned


class PathHarness(Harness):
    """A person who types paths."""

    def type(self, keys: str) -> None:
        Terminal(self.app).write(keys)

    async def go(self, route: str) -> None:
        self.type(f":{route}\r")
        await self.pilot.pause()

    async def arrives(self, resource: str, identity: str) -> None:
        """Wait until this row is selected."""

        def selected() -> bool:
            screen = listing(self.app)
            return screen.resource == resource and screen.table.selected_identity == identity

        await self.until(selected, f"{identity} among {resource}")

    def rows_by_identity(self) -> dict[str, Any]:
        return listing(self.app).rows.by_identity()


async def a_row_is_found_by_id_name_and_id_prefix(desk: PathHarness) -> None:
    for resource in ("keys", "workspaces", "guardrails", "byok", "organization"):
        await desk.app.open_route(resource)
        table = await desk.rows(resource)
        identity = table.model.order[-1]
        called = listing(desk.app).declared.name(desk.rows_by_identity()[identity])
        for path in (identity, called, identity[:12]):
            table.select(table.model.order[0])
            await desk.pilot.pause()
            assert table.selected_identity != identity
            await desk.go(f"{resource}/{path}")
            await desk.arrives(resource, identity)
            assert listing(desk.app).detail.shown
            assert not notices(desk.app)


async def test_missing_rows_are_reported_with_similar_names() -> None:
    async with harness(PathHarness) as desk, dashboard(desk, start="keys/voice-hotlin") as (app, _):
        await desk.until_notice("There is no key “voice-hotlin”; there is voice-hotline")
        name = desk.selected.key.name
        assert f"The list is shown, the cursor is on key “{name}”." in notices(app)
        assert not listing(app).detail.chosen, "the detail pane stays closed"
        await desk.press("down", "down")
        identity = listing(app).table.selected_identity
        await desk.go("keys/nonexistent")
        await desk.until_notice("“nonexistent”")
        assert listing(app).table.selected_identity == identity


async def the_demo_has_the_paths_of_the_manual(desk: PathHarness) -> None:
    """Only lower-case paths: capitals stand for the reader's own values."""
    spans = (span for page in MANUAL for span in mentioned(page))
    paths = sorted({span[1:] for span in spans if re.fullmatch(r":[a-z-]+(/[^/A-Z]+)+", span)})
    assert len(paths) > 2
    for path in paths:
        old = listing(desk.app).table.selected_identity
        await desk.go(path)
        await desk.until(lambda old=old: listing(desk.app).table.selected_identity != old, path)
        assert not notices(desk.app)
        assert listing(desk.app).detail.shown, path


ELSEWHERE = {"generation", "evidence", "endpoints", "model-guardrails"}
"""Screens that report a missing row themselves."""
RECORDED = {"alerts", "alert-rules", "alert-history", "changes"}
"""Screens that are empty without a recording."""


async def test_every_place_reports_a_missing_row() -> None:
    async with harness(PathHarness) as desk, dashboard(desk) as (app, pilot):
        for place in (item for item in (*PLACES, *PARENTS) if item not in ELSEWHERE | RECORDED):
            await app.open_route(f"{place}/zzz-nothing")
            await desk.until(lambda: "“zzz-nothing”" in notices(app), f"the notice at {place}")
            screen = app.navigation.screen
            assert screen.resource == PARENTS.get(place, place)
            assert not isinstance(screen, ResourceScreen) or not screen.detail.chosen, place
            app.clear_notifications()
            await pilot.pause()


async def tab_and_enter_accept_the_suggestion_of_the_prompt(desk: PathHarness) -> None:
    app = desk.app

    def typed() -> str:
        return next((item.input.value for item in listing(app).query(GotoPrompt)), "")

    # Names of the visible list, and of one that was never read.
    desk.type(":keys/voice-h")
    await desk.until(lambda: typed() == "keys/voice-h", "the letters")
    await desk.reads("keys/voice-hotline")
    desk.type("\t")
    await desk.until(lambda: typed() == "keys/voice-hotline", "the complete name")
    desk.type("\r:gr/no s")
    await desk.reads("gr/no secrets, no cards")
    desk.type("\r")
    await desk.rows("guardrails")  # by an alias
    assert desk.selected.guardrail.name == "No secrets, no cards"
    desk.type(":nowhere/x\r")
    await desk.until_notice("No place or command is called “nowhere”")
    desk.type(":keys/voice-hotline\r")
    await desk.rows("keys")
    await desk.until(lambda: desk.selected.key.name == "voice-hotline", "the key")
    desk.type(":help\r")
    await desk.wait_for(ReadingScreen)


async def the_first_of_several_rows_with_a_name_is_selected(desk: PathHarness) -> None:
    await desk.app.open_route("keys")
    async with desk.colleague() as client:
        for _ in range(2):
            await client.keys.create(CreateKeyRequest(name="twin"))
    await desk.go("keys/twin")
    await desk.until_notice("2 keys are called “twin”")
    assert desk.selected.key.name == "twin"


async def a_filter_that_hides_the_row_is_cleared(desk: PathHarness) -> None:
    await desk.app.open_route("keys")
    table = await desk.rows("keys")
    identity = table.model.order[-1]
    name = desk.rows_by_identity()[identity].key.name
    await desk.press("slash", *"zzznothing", "enter")
    await desk.until(lambda: not table.visible_count, "the filter")
    await desk.app.open_route(f"keys/{name}")
    await desk.arrives("keys", identity)
    assert f"Filter cleared: it hid key “{name}”" in notices(desk.app)
    assert not listing(desk.app).filtering.text


async def a_row_of_another_workspace_leaves_the_scope(desk: PathHarness) -> None:
    app = desk.app
    await app.open_route("keys")
    table = await desk.rows("keys")
    rows = desk.rows_by_identity()
    row, other_row = _rows_of_two_workspaces(rows)
    app.limit_to_workspace(row.key.workspace_id, "Narrow")
    await desk.until(lambda: 0 < table.model.total < len(rows), "the workspace's keys")
    await desk.go(f"keys/{other_row.key.name}")
    await desk.arrives("keys", other_row.identity)
    assert app.scope.workspace is None
    assert f"“{other_row.key.name}” is not in Narrow: showing all workspaces" in notices(app)
    app.limit_to_workspace(row.key.workspace_id, "Narrow")
    await desk.until(lambda: 0 < table.model.total < len(rows), "the workspace's keys")
    await desk.go("keys/zzz-nothing")
    await desk.until_notice("“zzz-nothing”")
    assert app.scope.workspace == row.key.workspace_id, "a missing row keeps the scope"
    app.limit_to_workspace(None, None)


def _rows_of_two_workspaces(rows: dict[str, Any]) -> tuple[Any, Any]:
    names = [row.key.name for row in rows.values()]
    unique, *further = [row for row in rows.values() if names.count(row.key.name) == 1]
    return unique, next(row for row in further if row.key.workspace_id != unique.key.workspace_id)


async def a_model_leads_to_one_of_its_endpoints(desk: PathHarness) -> None:
    await desk.app.open_route("models")
    table = await desk.rows("models")
    model = table.model.order[0]
    name = listing(desk.app).declared.name(desk.rows_by_identity()[model])
    await desk.go(f"models/{name}")
    endpoints = await desk.rows("endpoints")
    assert listing(desk.app).parent_row == model
    identity = endpoints.model.order[-1]
    title = listing(desk.app).declared.name(desk.rows_by_identity()[identity])
    await desk.go(f"models/{model}/{title}")
    await desk.arrives("endpoints", identity)


async def test_paths_select_their_rows() -> None:
    async with harness(PathHarness) as desk, dashboard(desk):
        await desk.walk(
            a_row_is_found_by_id_name_and_id_prefix,
            the_demo_has_the_paths_of_the_manual,
            tab_and_enter_accept_the_suggestion_of_the_prompt,
            a_filter_that_hides_the_row_is_cleared,
            a_row_of_another_workspace_leaves_the_scope,
            a_model_leads_to_one_of_its_endpoints,
            the_first_of_several_rows_with_a_name_is_selected,
        )


async def test_a_workspace_leads_to_its_members_and_one_of_them() -> None:
    async with harness(PathHarness) as desk:
        async with dashboard(desk, start="workspaces") as (app, _):
            space = await desk.select(slug="production")
            await desk.go("members/production")
            table = await desk.rows("members")
            assert listing(app).parent_row == space.id
            identity = table.model.order[-1]
            mail = desk.rows_by_identity()[identity].person.email
        start = f"members/Production/{mail}"
        async with dashboard(desk, start=start, loaded=False) as (app, _):
            await desk.arrives("members", identity)
            assert listing(app).parent_row == space.id


def test_the_command_line_accepts_paths_of_child_lists() -> None:
    assert dashboard_command._unknown_route("members/production") is None
    assert dashboard_command._unknown_route("members") is not None
    assert dashboard_command._unknown_route("nothing/x") is not None
    assert all(dashboard_command._unknown_route(place) is None for place in PLACES)


async def test_a_path_is_followed_once_an_unreadable_list_recovers() -> None:
    async with harness(PathHarness) as desk, dashboard(desk) as (app, _):
        async with desk.colleague() as client:
            created = await client.keys.create(CreateKeyRequest(name="made elsewhere"))
        identity = listing(app).table.selected_identity
        await desk.stop()
        await desk.go("keys/made elsewhere")
        await desk.until_notice("Keys could not be read")
        assert "“made elsewhere” once it can be read" in notices(app)
        assert listing(app).table.selected_identity == identity
        await desk.start()
        await app.hub.refresh("keys")
        await desk.arrives("keys", created.data.hash or "")
