"""Workspaces created, changed and deleted in the dashboard, on the real embedded gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal

import pytest
from textual.widgets import Button

from gwtui.client.errors import NotFoundError
from gwtui.contract.keys import UpdateKeyRequest, is_active
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import ChoiceEditor, TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from harness import Harness, line, listing, open_list, until


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with open_list("workspaces") as at:
        yield at


async def silence_keys(desk: Harness, identity: str | None) -> int:
    """Disable every active key of a workspace; how many there were."""
    async with desk.colleague() as client:
        keys = (await client.keys.list(workspace_id=identity)).items
        active = [key for key in keys if is_active(key, desk.clock.now())]
        for key in active:
            await client.keys.update(key.hash or "", UpdateKeyRequest(disabled=True))
    return len(active)


async def the_slug_follows_the_name_until_it_is_touched(desk: Harness) -> None:
    await desk.press("n")
    form = await desk.wait_for(FormScreen)
    await desk.press(*"Data Läke (EU)")
    await desk.reads("data-lake-eu")
    await desk.type_into("slug", "lake-")
    await desk.reads("must be lower-case letters and digits, in parts joined by single hyphens")
    await desk.press(*"one")
    await desk.type_into("name", "Another")
    assert form.state.typed("slug") == "lake-one"
    await desk.press("ctrl+s")
    await desk.back_to_list()
    await desk.said("Workspace “Another” created")
    await until(
        desk.pilot, lambda: listing(desk.app).table.selected.workspace.slug == "lake-one", "the row"
    )
    made = await desk.read("lake-one")
    assert made.name == "Another"
    assert made.default_text_model is None
    assert made.io_logging_sampling_rate == 1
    assert desk.events() == ["intent", "applied"]


async def every_field_of_a_new_workspace_arrives(desk: Harness) -> None:
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"Everything")
    await desk.focus("description")
    await desk.press(*"for all")
    await desk.type_into("io_logging_sampling_rate", "2.5 %")
    await desk.reads("2.5% of requests, 1 in 40")
    await desk.type_into("io_logging_api_key_ids", "4, 9")
    for name in ("is_observability_io_logging_enabled", "is_observability_broadcast_enabled"):
        await desk.focus(name)
        await desk.press("right")
    await desk.focus("default_provider_sort")
    desk.app.screen.query_one("#field-default_provider_sort").query_one(ChoiceEditor).focus()
    await desk.press("l")
    await desk.press("ctrl+s")
    await desk.back_to_list()
    made = await desk.read("everything")
    assert made.description == "for all"
    assert made.io_logging_sampling_rate == Decimal("0.025")
    assert made.io_logging_api_key_ids == [4, 9]
    assert made.is_observability_io_logging_enabled is True
    assert made.is_observability_broadcast_enabled is True
    assert made.default_provider_sort == "latency"


async def a_taken_slug_is_said_at_its_field_and_nothing_typed_is_lost(
    desk: Harness,
) -> None:
    await desk.press("n")
    form = await desk.wait_for(FormScreen)
    await desk.press(*"Research", "ctrl+s")
    await desk.reads("another workspace has it already")
    assert desk.app.screen is form
    assert form.state.typed("name") == "Research"
    assert desk.events() == ["intent", "refused"]
    await desk.type_into("slug", "research-two")
    await desk.press("ctrl+s")
    await desk.back_to_list()
    assert (await desk.read("research-two")).name == "Research"


async def a_share_outside_of_the_contract_is_refused_while_typing(desk: Harness) -> None:
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"Zz")
    await desk.type_into("io_logging_sampling_rate", "0.001 %")
    await desk.press("tab")
    await desk.reads("must be from 0.0001 to 1")
    await desk.press("ctrl+s")
    await desk.pilot.pause(0.2)
    assert isinstance(desk.app.screen, FormScreen)
    assert desk.events() == []


async def an_edit_sends_what_changed_and_nothing_else(desk: Harness) -> None:
    space = await desk.select(slug="production")
    async with desk.colleague() as client:
        await client.workspaces.update(space.id or "", UpdateWorkspaceRequest(description="theirs"))
    await desk.press("e")
    await desk.wait_for(FormScreen)
    await desk.type_into("name", "Prod")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "Description was changed by somebody else and stays" in desk.text
    await desk.press("y")
    await desk.back_to_list()
    await desk.said("Workspace “Prod” changed")
    after = await desk.read(space.id)
    assert (after.name, after.description) == ("Prod", "theirs")
    assert after.io_logging_api_key_ids == space.io_logging_api_key_ids
    [intent, _] = desk.entries()
    assert intent.summary == {"name": "Prod"}


async def a_new_name_of_the_workspace_that_lists_are_narrowed_to_shows_at_once(
    desk: Harness,
) -> None:
    space = await desk.select(slug="research")
    desk.app.narrow(space.id, "Research")
    await desk.press("e")
    await desk.wait_for(FormScreen)
    await desk.type_into("name", "Lab")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    await desk.press("y")
    await desk.back_to_list()
    await until(desk.pilot, lambda: desk.app.scope_name == "Lab", "the name")


async def active_keys_stand_in_the_way_of_a_deletion_and_are_one_key_away(
    desk: Harness,
) -> None:
    space = await desk.select(slug="production")
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    text = desk.text
    assert "12 active keys must be moved, disabled or deleted first" in text
    assert "$90.00 daily, $400.00 weekly and $1,300.00 monthly" in text
    assert "7 members lose access to it" in text
    await desk.press("y")
    await desk.pilot.pause(0.1)
    assert isinstance(desk.app.screen, ConfirmScreen)
    await desk.press("tab", "enter")
    await desk.rows("keys")
    assert desk.app.scope.workspace == space.id
    assert desk.app.scope_name == "Production"
    assert listing(desk.app).table.selected.key.workspace_id == space.id
    assert desk.events() == []
    await back_to_workspaces(desk)


async def a_workspace_without_active_keys_goes_for_good(desk: Harness) -> None:
    space = await desk.select(slug="partner-portal")
    desk.app.narrow(space.id, "Partner portal (pilot)")
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    assert "$5.00 daily and $100.00 lifetime" in desk.text
    await desk.press("y")
    await desk.pilot.pause(0.1)
    assert isinstance(desk.app.screen, ConfirmScreen), "no single key deletes"
    await desk.press("tab", "enter")
    await desk.said("Workspace “Partner portal (pilot)” deleted")
    await until(
        desk.pilot,
        lambda: space.id not in listing(desk.app).table.identities,
        "the row to go",
    )
    assert desk.app.scope.workspace is None
    with pytest.raises(NotFoundError):
        await desk.read(space.id)


async def the_default_workspace_takes_its_slug_to_be_typed(desk: Harness) -> None:
    space = await desk.select(slug="default")
    assert await silence_keys(desk, space.id)
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    assert "It is the default workspace" in desk.text
    await desk.reads("To confirm, type default")
    button = desk.app.screen.query_one("#deliberate", Button)
    desk.app.screen.query_one(TextEditor).focus()
    await desk.press(*"defaul")
    assert button.disabled
    await desk.press("t")
    await until(desk.pilot, lambda: not button.disabled, "the button")
    await desk.press("tab", "tab", "enter")
    await desk.said("Workspace “Default Workspace” deleted")
    with pytest.raises(NotFoundError):
        await desk.read(space.id)


async def a_refused_deletion_is_explained(desk: Harness) -> None:
    """A key comes to life between the question and the answer."""
    space = await desk.select(slug="partner-portal")
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    desk.gateway.issue_key(management=False, name="late", workspace_id=space.id)
    await desk.press("tab", "enter")
    await desk.said("The workspace still has 1 active API key")
    assert desk.events() == ["intent", "refused"]
    assert (await desk.read(space.id)).slug == "partner-portal"
    assert await silence_keys(desk, space.id) == 1


async def a_workspace_that_went_meanwhile_is_said_so(desk: Harness) -> None:
    async with desk.colleague() as client:
        await client.workspaces.create(CreateWorkspaceRequest(name="Fleeting", slug="fleeting"))
    await desk.app.hub.refresh("workspaces")
    await desk.pilot.pause()
    space = await desk.select(slug="fleeting")
    async with desk.colleague() as client:
        await client.workspaces.delete(space.id or "")
        await client.workspaces.create(CreateWorkspaceRequest(name="Zz", slug="zz"))
    await desk.press("D")
    await desk.said("Workspace “Fleeting” no longer exists")
    await until(desk.pilot, lambda: space.id not in listing(desk.app).table.identities, "the row")


async def a_workspace_leads_to_its_members_and_keys(desk: Harness) -> None:
    space = await desk.select(slug="research")
    await desk.press("m")
    await desk.rows("members")
    assert line(listing(desk.app), "crumbs").split()[::2][:3] == [
        "Workspaces",
        "Research",
        "Members",
    ]
    assert listing(desk.app).table.total_count == 5
    await desk.press("escape", "K")
    await desk.rows("keys")
    assert desk.app.scope.workspace == space.id
    await back_to_workspaces(desk)


async def a_workspace_leads_to_what_binds_and_serves_it(desk: Harness) -> None:
    for pressed, resource in (("R", "guardrails"), ("B", "byok")):
        space = await desk.select(slug="production")
        await desk.press(pressed)
        await until(
            desk.pilot, lambda wanted=resource: listing(desk.app).resource == wanted, resource
        )
        assert (desk.app.scope.workspace, desk.app.scope_name) == (space.id, "Production")
        await back_to_workspaces(desk)


async def back_to_workspaces(desk: Harness) -> None:
    desk.app.narrow(None, None)
    await desk.app.open_route("workspaces")
    await desk.rows("workspaces")


async def test_a_workspace_is_made_and_changed(desk: Harness) -> None:
    await desk.walk(
        a_share_outside_of_the_contract_is_refused_while_typing,
        the_slug_follows_the_name_until_it_is_touched,
        every_field_of_a_new_workspace_arrives,
        a_taken_slug_is_said_at_its_field_and_nothing_typed_is_lost,
        an_edit_sends_what_changed_and_nothing_else,
        a_new_name_of_the_workspace_that_lists_are_narrowed_to_shows_at_once,
    )


async def test_a_workspace_leads_on_and_is_deleted(desk: Harness) -> None:
    await desk.walk(
        a_workspace_leads_to_its_members_and_keys,
        a_workspace_leads_to_what_binds_and_serves_it,
        active_keys_stand_in_the_way_of_a_deletion_and_are_one_key_away,
        a_refused_deletion_is_explained,
        a_workspace_without_active_keys_goes_for_good,
        a_workspace_that_went_meanwhile_is_said_so,
        the_default_workspace_takes_its_slug_to_be_typed,
    )
