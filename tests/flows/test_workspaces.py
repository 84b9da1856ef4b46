"""Workspaces, budgets and members changed in the dashboard, on the real embedded gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from textual.widgets import Button

from gwtui.client.errors import NotFoundError
from gwtui.contract.keys import UpdateKeyRequest, is_active
from gwtui.contract.workspaces import CreateWorkspaceRequest, PutBudgetRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.option_pickers import PickScreen
from gwtui.watch.feeds.workspaces import WorkspaceRow, figures_feed
from harness import Harness, dashboard, harness, line, listing, notices, until

WORKSPACE_COUNT = 26


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with harness() as place, dashboard(place, start="workspaces", size=(80, 24)):
        await place.rows("workspaces")
        yield place


async def at_workspaces(desk: Harness) -> None:
    desk.app.limit_to_workspace(None, None)
    await desk.app.open_route("workspaces")
    await desk.rows("workspaces")


async def question(desk: Harness, *keys: str) -> str:
    """Press keys that open a plan; return its text."""
    await desk.press(*keys, opens=ConfirmScreen)
    return desk.text


# Workspaces ---------------------------------------------------------------------------------------


async def a_new_workspace_gets_a_slug_from_its_name(desk: Harness) -> None:
    await desk.press("n", opens=FormScreen)
    await desk.press(*"Data Läke (EU)")
    await desk.reads("data-lake-eu")
    await desk.press("ctrl+s", says="Workspace “Data Läke (EU)” created")
    await desk.until(lambda: desk.selected.workspace.slug == "data-lake-eu", "the row")
    assert desk.events() == ["intent", "applied"]


async def renaming_the_scoped_workspace_updates_the_header(
    desk: Harness,
) -> None:
    space = await desk.select(slug="research")
    desk.app.limit_to_workspace(space.id, "Research")
    await desk.press("e", opens=FormScreen)
    await desk.type_into("name", "Lab")
    await question(desk, "ctrl+s")
    await desk.press("y")
    await desk.until(lambda: desk.app.scope_name == "Lab", "the name")


async def a_workspace_leads_to_its_keys_guardrails_and_byok(desk: Harness) -> None:
    for key, resource in (("K", "keys"), ("R", "guardrails"), ("B", "byok")):
        await at_workspaces(desk)
        space = await desk.select(slug="production")
        await desk.press(key)
        await desk.until(lambda expected=resource: listing(desk.app).resource == expected, resource)
        assert (desk.app.scope.workspace, desk.app.scope_name) == (space.id, "Production")


async def active_keys_block_a_deletion_and_are_one_key_press_away(desk: Harness) -> None:
    await at_workspaces(desk)
    space = await desk.select(slug="production")
    text = await question(desk, "D")
    assert "12 keys are still active" in text
    assert "will lose access" not in text
    await desk.press("y")
    await desk.pilot.pause(0.1)
    assert isinstance(desk.app.screen, ConfirmScreen)
    await desk.press("tab", "enter")
    await desk.rows("keys")
    assert (desk.app.scope.workspace, desk.app.scope_name) == (space.id, "Production")
    assert desk.selected.key.workspace_id == space.id
    assert desk.events() == []


async def deleting_the_scoped_workspace_clears_the_scope(desk: Harness) -> None:
    await at_workspaces(desk)
    space = await desk.select(slug="partner-portal")
    desk.app.limit_to_workspace(space.id, "Partner portal (pilot)")
    assert "2 budgets" in await question(desk, "D")
    await desk.press("tab", "enter", says="Workspace “Partner portal (pilot)” deleted")
    await desk.until(lambda: space.id not in listing(desk.app).table.model.order, "the row to go")
    assert desk.app.scope.workspace is None
    with pytest.raises(NotFoundError):
        await desk.read(space.id)


async def deleting_the_default_workspace_requires_its_slug(desk: Harness) -> None:
    space = await desk.select(slug="default")
    async with desk.colleague() as client:
        for key in (await client.keys.list(workspace_id=space.id)).items:
            if is_active(key, desk.clock.now()):
                await client.keys.update(key.hash or "", UpdateKeyRequest(disabled=True))
    assert "This is the default workspace" in await question(desk, "D")
    await desk.reads("To confirm, type default")
    button = desk.app.screen.query_one("#deliberate", Button)
    desk.app.screen.query_one(TextEditor).focus()
    await desk.press(*"defaul")
    assert button.disabled
    await desk.press("t")
    await desk.until(lambda: not button.disabled, "the button")
    await desk.press("tab", "tab", "enter", says="Workspace “Default Workspace” deleted")
    with pytest.raises(NotFoundError):
        await desk.read(space.id)


async def test_workspaces_are_created_edited_and_deleted(desk: Harness) -> None:
    await desk.walk(
        a_new_workspace_gets_a_slug_from_its_name,
        renaming_the_scoped_workspace_updates_the_header,
        a_workspace_leads_to_its_keys_guardrails_and_byok,
        active_keys_block_a_deletion_and_are_one_key_press_away,
        deleting_the_scoped_workspace_clears_the_scope,
        deleting_the_default_workspace_requires_its_slug,
    )


# Budgets ------------------------------------------------------------------------------------------


async def limits(desk: Harness) -> dict[str | None, Decimal | None]:
    async with desk.colleague() as client:
        listed = (await client.workspaces.budgets("production")).items
    return {budget.interval: budget.limit_usd for budget in listed}


async def type_budgets(desk: Harness, **typed: str) -> None:
    await desk.select(slug="production")
    await desk.press("b", opens=FormScreen)
    for interval, limit in typed.items():
        await desk.type_into(interval, limit)


async def set_budget(desk: Harness, interval: str, limit: int) -> None:
    """Set a budget as a second administrator."""
    async with desk.colleague() as client:
        request = PutBudgetRequest(limit_usd=Decimal(limit))
        await client.workspaces.put_budget("production", interval, request)


async def a_conflicting_budget_of_somebody_else_blocks_the_change(desk: Harness) -> None:
    await type_budgets(desk, daily="90", monthly="1200")
    assert "resets 2026-11-23, in 2 days" in desk.text
    await set_budget(desk, "weekly", 1250)
    assert "must be less than" in await question(desk, "ctrl+s")
    await desk.press("y", "escape", opens=FormScreen)
    assert desk.events() == []
    await set_budget(desk, "weekly", 400)
    await desk.app.hub.refresh("workspaces")


async def a_refusal_halfway_reports_the_applied_part(desk: Harness) -> None:
    """A colleague changes the monthly budget between the confirmation and the second request."""
    await type_budgets(desk, weekly="1000", monthly="2000")
    await question(desk, "ctrl+s")
    service = type(desk.app.gateway.workspaces)
    put_budget: Any = vars(service)["put_budget"]

    async def put_after_colleague(
        self: object, identity: str, interval: str, request: object
    ) -> object:
        if interval == "weekly":
            patch.undo()
            await set_budget(desk, "monthly", 500)
        return await put_budget.__get__(self, service)(identity, interval, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "put_budget", put_after_colleague)
        await desk.press("y", opens=FormScreen)
        await desk.reads("Applied so far: monthly budget $2,000.00. Then")
    assert (await limits(desk))["weekly"] == Decimal(400)
    assert desk.events() == ["intent", "applied", "intent", "refused"]


async def a_valid_change_is_sent_in_a_valid_order(desk: Harness) -> None:
    """Each new limit alone would conflict with an old one: 900 a day with 400 a week."""
    await type_budgets(desk, daily="900", weekly="1,500", monthly="$4000", lifetime="50000")
    text = await question(desk, "ctrl+s")
    for words in ("$90.00 → $900.00", "$400.00 → $1,500.00", "none → $50,000.00"):
        assert words in text
    await desk.press("y", says="Budgets of workspace “Production” changed")
    assert await limits(desk) == {
        "daily": Decimal(900),
        "weekly": Decimal(1500),
        "monthly": Decimal(4000),
        "lifetime": Decimal(50000),
    }
    assert desk.events() == ["intent", "applied"] * 4


async def test_budgets_are_validated_and_changed(desk: Harness) -> None:
    await desk.walk(
        a_conflicting_budget_of_somebody_else_blocks_the_change,
        a_refusal_halfway_reports_the_applied_part,
        a_valid_change_is_sent_in_a_valid_order,
    )


# Members ------------------------------------------------------------------------------------------


async def open_members(desk: Harness, slug: str) -> None:
    await at_workspaces(desk)
    await desk.select(slug=slug)
    await desk.press("m")
    await desk.rows("members")


async def choose_member(desk: Harness, name: str) -> None:
    table = listing(desk.app).table
    table.select(next(row.identity for row in table.model.items if row.called == name))
    await desk.pilot.pause()


async def members(desk: Harness, slug: str) -> int:
    async with desk.colleague() as client:
        return len((await client.workspaces.members(slug)).items)


async def several_people_are_added_in_one_request(desk: Harness) -> None:
    await open_members(desk, "partner-portal")
    assert "Partner portal (pilot)" in line(listing(desk.app), "crumbs")
    member_count = listing(desk.app).table.model.total
    await desk.press("n", opens=PickScreen)
    await desk.reads("6 people")
    assert "Mara Lindqvist" not in desk.text, "existing members are not offered"
    await desk.press("space", "down", "space")
    text = await question(desk, "enter")
    assert "Add 2 members to workspace “Partner portal (pilot)”" in text
    await desk.press("y", says="2 members added to workspace “Partner portal (pilot)”")
    await desk.until(lambda: listing(desk.app).table.model.total == member_count + 2, "the rows")
    assert await members(desk, "partner-portal") == member_count + 2
    assert desk.events() == ["intent", "applied"]


async def marked_members_without_active_keys_are_removed(desk: Harness) -> None:
    await open_members(desk, "production")
    for name in ("Kenji Watanabe", "Ana Ferreira"):
        await choose_member(desk, name)
        await desk.press("space")
    await choose_member(desk, "Ruth Abrams")
    text = await question(desk, "D")
    assert "Remove 1 member from workspace “Production”" in text
    assert "“Ana Ferreira” will not be removed: their keys “" in text
    assert "Ruth" not in text, "marks count, not the cursor"
    await desk.press("y", says="1 member removed from workspace “Production”")
    await desk.until(lambda: listing(desk.app).table.model.total == 6, "the row to go")
    assert "no longer in the list" not in notices(desk.app)
    assert await members(desk, "production") == 6


async def a_member_with_active_keys_leads_to_the_keys(desk: Harness) -> None:
    await open_members(desk, "production")
    await choose_member(desk, "Ana Ferreira")
    await desk.press("d")
    await desk.reads("returns-photo-check")
    await desk.reads("cannot be removed while a key is active")
    assert "cannot be removed: their keys “" in await question(desk, "D")
    await desk.press("tab", "enter")
    await desk.rows("keys")
    assert desk.app.scope_name == "Production"
    assert desk.events() == []


async def test_members_are_added_and_removed(desk: Harness) -> None:
    await desk.walk(
        several_people_are_added_in_one_request,
        marked_members_without_active_keys_are_removed,
        a_member_with_active_keys_leads_to_the_keys,
    )


# Figures ------------------------------------------------------------------------------------------


def figures_read(desk: Harness) -> int:
    """The number of workspaces whose metrics were requested."""
    return sum(feed.name.startswith("workspaces:figures:") for feed in desk.app.hub.feeds)


def row_of(desk: Harness) -> WorkspaceRow:
    row = desk.selected
    assert isinstance(row, WorkspaceRow)
    return row


async def test_a_short_list_reads_all_metrics_at_once(desk: Harness) -> None:
    await desk.until(lambda: row_of(desk).figures is not None, "the figures")
    assert figures_read(desk) == 0


async def test_metrics_of_a_long_list_follow_the_view() -> None:
    async with harness(content="empty") as desk:
        async with desk.colleague() as client:
            requests = (
                CreateWorkspaceRequest(name=f"t{n}", slug=f"t-{n}") for n in range(WORKSPACE_COUNT)
            )
            await asyncio.gather(*map(client.workspaces.create, requests))
        async with dashboard(desk, start="workspaces", size=(80, 24)) as (app, pilot):
            await until(pilot, lambda: row_of(desk).figures is not None, "those of the first")
            table = listing(app).table
            assert table.model.total > WORKSPACE_COUNT
            assert 0 < figures_read(desk) <= table.lines + 1 < WORKSPACE_COUNT
            await pilot.press("end")
            await until(pilot, lambda: row_of(desk).figures is not None, "those of the last")
            assert figures_read(desk) <= min(WORKSPACE_COUNT + 1, 2 * (table.lines + 1))
            all_figures = figures_feed(app.hub, app.scope)
            assert not all_figures.watched
            table.sort_by("keys", descending=True)
            await until(pilot, lambda: all_figures.state.value is not None, "every row's figures")
            assert len(all_figures.state.value or ()) == table.model.total
            assert all(row.figures is not None for row in table.model.items)
            table.sort_by("name", descending=False)
            await until(pilot, lambda: not all_figures.watched, "the view alone")
