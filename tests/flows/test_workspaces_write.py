"""Workspaces created, changed and deleted in the dashboard, on the real embedded gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from textual.widgets import Button

from gwtui.client.errors import NotFoundError
from gwtui.contract.keys import UpdateKeyRequest, is_active
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import TextEditor
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
    assert "7 members lose access." in text
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
        the_slug_follows_the_name_until_it_is_touched,
        a_taken_slug_is_said_at_its_field_and_nothing_typed_is_lost,
        a_new_name_of_the_workspace_that_lists_are_narrowed_to_shows_at_once,
    )


async def test_a_workspace_leads_on_and_is_deleted(desk: Harness) -> None:
    await desk.walk(
        a_workspace_leads_to_its_members_and_keys,
        a_workspace_leads_to_what_binds_and_serves_it,
        active_keys_stand_in_the_way_of_a_deletion_and_are_one_key_away,
        a_workspace_without_active_keys_goes_for_good,
        the_default_workspace_takes_its_slug_to_be_typed,
    )
