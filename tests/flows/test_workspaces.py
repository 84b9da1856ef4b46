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

MANY = 26


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with harness() as at, dashboard(at, start="workspaces", size=(80, 24)):
        await at.rows("workspaces")
        yield at


async def at_workspaces(desk: Harness) -> None:
    desk.app.narrow(None, None)
    await desk.app.open_route("workspaces")
    await desk.rows("workspaces")


async def question(desk: Harness, *keys: str) -> str:
    """Press keys that open a plan; return its text."""
    await desk.press(*keys, opens=ConfirmScreen)
    return desk.text


# Workspaces ---------------------------------------------------------------------------------------


async def a_new_workspace_has_the_slug_that_its_name_suggests(desk: Harness) -> None:
    await desk.press("n", opens=FormScreen)
    await desk.press(*"Data Läke (EU)")
    await desk.reads("data-lake-eu")
    await desk.press("ctrl+s", says="Workspace “Data Läke (EU)” created")
    await desk.until(lambda: desk.selected.workspace.slug == "data-lake-eu", "the row")
    assert desk.events() == ["intent", "applied"]


async def a_new_name_of_the_workspace_that_lists_are_narrowed_to_shows_at_once(
    desk: Harness,
) -> None:
    space = await desk.select(slug="research")
    desk.app.narrow(space.id, "Research")
    await desk.press("e", opens=FormScreen)
    await desk.type_into("name", "Lab")
    await question(desk, "ctrl+s")
    await desk.press("y")
    await desk.until(lambda: desk.app.scope_name == "Lab", "the name")


async def a_workspace_leads_to_what_is_in_it(desk: Harness) -> None:
    for key, resource in (("K", "keys"), ("R", "guardrails"), ("B", "byok")):
        await at_workspaces(desk)
        space = await desk.select(slug="production")
        await desk.press(key)
        await desk.until(lambda wanted=resource: listing(desk.app).resource == wanted, resource)
        assert (desk.app.scope.workspace, desk.app.scope_name) == (space.id, "Production")


async def active_keys_stand_in_the_way_of_a_deletion_and_are_one_key_away(desk: Harness) -> None:
    await at_workspaces(desk)
    space = await desk.select(slug="production")
    text = await question(desk, "D")
    assert "12 keys are neither disabled nor expired" in text
    assert "will lose access" not in text
    await desk.press("y")
    await desk.pilot.pause(0.1)
    assert isinstance(desk.app.screen, ConfirmScreen)
    await desk.press("tab", "enter")
    await desk.rows("keys")
    assert (desk.app.scope.workspace, desk.app.scope_name) == (space.id, "Production")
    assert desk.selected.key.workspace_id == space.id
    assert desk.events() == []


async def a_workspace_that_lists_are_narrowed_to_goes_for_good(desk: Harness) -> None:
    await at_workspaces(desk)
    space = await desk.select(slug="partner-portal")
    desk.app.narrow(space.id, "Partner portal (pilot)")
    assert "2 budgets" in await question(desk, "D")
    await desk.press("tab", "enter", says="Workspace “Partner portal (pilot)” deleted")
    await desk.until(lambda: space.id not in listing(desk.app).table.model.order, "the row to go")
    assert desk.app.scope.workspace is None
    with pytest.raises(NotFoundError):
        await desk.read(space.id)


async def the_default_workspace_takes_its_slug_to_be_typed(desk: Harness) -> None:
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


async def test_workspaces_are_made_changed_and_deleted(desk: Harness) -> None:
    await desk.walk(
        a_new_workspace_has_the_slug_that_its_name_suggests,
        a_new_name_of_the_workspace_that_lists_are_narrowed_to_shows_at_once,
        a_workspace_leads_to_what_is_in_it,
        active_keys_stand_in_the_way_of_a_deletion_and_are_one_key_away,
        a_workspace_that_lists_are_narrowed_to_goes_for_good,
        the_default_workspace_takes_its_slug_to_be_typed,
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


async def put(desk: Harness, interval: str, limit: int) -> None:
    """Set a budget as a second administrator."""
    async with desk.colleague() as client:
        request = PutBudgetRequest(limit_usd=Decimal(limit))
        await client.workspaces.put_budget("production", interval, request)


async def somebody_elses_budget_that_no_longer_fits_is_an_obstacle(desk: Harness) -> None:
    await type_budgets(desk, daily="90", monthly="1200")
    assert "resets 2026-11-23, in 2 days" in desk.text
    await put(desk, "weekly", 1250)
    assert "must be less than" in await question(desk, "ctrl+s")
    await desk.press("y", "escape", opens=FormScreen)
    assert desk.events() == []
    await put(desk, "weekly", 400)
    await desk.app.hub.refresh("workspaces")


async def a_refusal_half_way_says_what_was_done(desk: Harness) -> None:
    """A colleague changes the monthly budget between the confirmation and the second request."""
    await type_budgets(desk, weekly="1000", monthly="2000")
    await question(desk, "ctrl+s")
    service = type(desk.app.gateway.workspaces)
    genuine: Any = vars(service)["put_budget"]

    async def meanwhile(self: object, identity: str, interval: str, request: object) -> object:
        if interval == "weekly":
            patch.undo()
            await put(desk, "monthly", 500)
        return await genuine.__get__(self, service)(identity, interval, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "put_budget", meanwhile)
        await desk.press("y", opens=FormScreen)
        await desk.reads("Applied so far: monthly budget $2,000.00. Then")
    assert (await limits(desk))["weekly"] == Decimal(400)
    assert desk.events() == ["intent", "applied", "intent", "refused"]


async def a_change_that_is_legal_as_a_whole_goes_through_in_a_legal_order(desk: Harness) -> None:
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


async def test_budgets_are_checked_refused_and_changed(desk: Harness) -> None:
    await desk.walk(
        somebody_elses_budget_that_no_longer_fits_is_an_obstacle,
        a_refusal_half_way_says_what_was_done,
        a_change_that_is_legal_as_a_whole_goes_through_in_a_legal_order,
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


async def several_people_are_added_at_once(desk: Harness) -> None:
    await open_members(desk, "partner-portal")
    assert "Partner portal (pilot)" in line(listing(desk.app), "crumbs")
    before = listing(desk.app).table.model.total
    await desk.press("n", opens=PickScreen)
    await desk.reads("6 people")
    assert "Mara Lindqvist" not in desk.text, "who is a member already is not offered"
    await desk.press("space", "down", "space")
    said = await question(desk, "enter")
    assert "Add 2 members to workspace “Partner portal (pilot)”" in said
    await desk.press("y", says="2 members added to workspace “Partner portal (pilot)”")
    await desk.until(lambda: listing(desk.app).table.model.total == before + 2, "the rows")
    assert await members(desk, "partner-portal") == before + 2
    assert desk.events() == ["intent", "applied"]


async def marked_members_are_removed_and_those_with_keys_stay(desk: Harness) -> None:
    await open_members(desk, "production")
    for name in ("Kenji Watanabe", "Ana Ferreira"):
        await choose_member(desk, name)
        await desk.press("space")
    await choose_member(desk, "Ruth Abrams")
    text = await question(desk, "D")
    assert "Remove 1 member from workspace “Production”" in text
    assert "“Ana Ferreira” will not be removed: keys “" in text
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
    assert "cannot be removed: keys “" in await question(desk, "D")
    await desk.press("tab", "enter")
    await desk.rows("keys")
    assert desk.app.scope_name == "Production"
    assert desk.events() == []


async def test_members_and_people(desk: Harness) -> None:
    await desk.walk(
        several_people_are_added_at_once,
        marked_members_are_removed_and_those_with_keys_stay,
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


async def test_a_short_list_reads_every_figure_at_once(desk: Harness) -> None:
    await desk.until(lambda: row_of(desk).figures is not None, "the figures")
    assert figures_read(desk) == 0


async def test_figures_of_a_long_list_follow_the_view() -> None:
    async with harness(content="empty") as desk:
        async with desk.colleague() as client:
            requests = (CreateWorkspaceRequest(name=f"t{n}", slug=f"t-{n}") for n in range(MANY))
            await asyncio.gather(*map(client.workspaces.create, requests))
        async with dashboard(desk, start="workspaces", size=(80, 24)) as (app, pilot):
            await until(pilot, lambda: row_of(desk).figures is not None, "those of the first")
            table = listing(app).table
            assert table.model.total > MANY
            assert 0 < figures_read(desk) <= table.lines + 1 < MANY
            await pilot.press("end")
            await until(pilot, lambda: row_of(desk).figures is not None, "those of the last")
            assert figures_read(desk) <= min(MANY + 1, 2 * (table.lines + 1))
            whole = figures_feed(app.hub, app.scope)
            assert not whole.watched
            table.sort_by("keys", descending=True)
            await until(pilot, lambda: whole.state.value is not None, "every row's figures")
            assert len(whole.state.value or ()) == table.model.total
            assert all(row.figures is not None for row in table.model.items)
            table.sort_by("name", descending=False)
            await until(pilot, lambda: not whole.watched, "the view alone")
