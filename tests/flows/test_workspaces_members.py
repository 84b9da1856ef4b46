"""Members of a workspace added and removed in bulk, and the people of the organization."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.option_pickers import PickScreen
from harness import Harness, listing, open_list, until


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with open_list("workspaces") as at:
        yield at


async def open_workspaces(desk: Harness) -> None:
    desk.app.narrow(None, None)
    await desk.app.open_route("workspaces")
    await desk.rows("workspaces")


async def open_members(desk: Harness, slug: str) -> None:
    await open_workspaces(desk)
    await desk.select(slug=slug)
    await desk.press("m")
    await desk.rows("members")


async def members(desk: Harness, slug: str) -> int:
    async with desk.colleague() as client:
        return len((await client.workspaces.members(slug)).items)


async def choose_member(desk: Harness, name: str) -> str:
    table = listing(desk.app).table
    for identity in table.identities:
        table.select(identity)
        if table.selected.called == name:
            await desk.pilot.pause()
            return identity
    raise AssertionError(f"no member {name}")


async def members_have_names_mail_roles_and_keys(desk: Harness) -> None:
    await open_members(desk, "production")
    for words in ("Ana Ferreira", "member3@example.test", "Mara Lindqvist", "admin"):
        assert words in desk.text
    await choose_member(desk, "Ana Ferreira")
    await desk.press("d")
    await desk.reads("returns-photo-check")
    await desk.reads("cannot be removed while a key is active")
    await desk.press("d")


async def several_people_are_added_at_once(desk: Harness) -> None:
    await open_members(desk, "partner-portal")
    before = listing(desk.app).table.total_count
    await desk.press("n")
    form = await desk.wait_for(FormScreen)
    await desk.press("enter")
    await desk.wait_for(PickScreen)
    await desk.reads("6 people")
    assert "Mara Lindqvist" not in desk.text, "who is a member already is not offered"
    await desk.press("down", "space", "down", "space", "enter")
    await until(desk.pilot, lambda: desk.app.screen is form, "the form")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "Add 2 members to workspace “Partner portal (pilot)”" in desk.text
    await desk.press("y")
    await desk.said("2 members added to workspace “Partner portal (pilot)”")
    await until(desk.pilot, lambda: listing(desk.app).table.total_count == before + 2, "the rows")
    assert await members(desk, "partner-portal") == before + 2
    assert desk.events() == ["intent", "applied"]


async def marked_members_are_removed_and_those_with_keys_stay(desk: Harness) -> None:
    await open_members(desk, "production")
    for name in ("Kenji Watanabe", "Ana Ferreira"):
        await choose_member(desk, name)
        await desk.press("space")
    await choose_member(desk, "Ruth Abrams")
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    text = desk.text
    assert "Remove 1 member from workspace “Production”" in text
    assert "“Ana Ferreira” cannot be removed: 2 active keys here" in text
    assert "Ruth" not in text, "marks count, not the cursor"
    await desk.press("y")
    await desk.said("1 member removed from workspace “Production”")
    await until(desk.pilot, lambda: listing(desk.app).table.total_count == 6, "the row to go")
    assert await members(desk, "production") == 6


async def a_member_with_active_keys_leads_to_the_keys(desk: Harness) -> None:
    await open_members(desk, "production")
    await choose_member(desk, "Ana Ferreira")
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    assert "cannot be removed" in desk.text
    await desk.press("y")
    await desk.pilot.pause(0.1)
    assert isinstance(desk.app.screen, ConfirmScreen)
    await desk.press("tab", "enter")
    await desk.rows("keys")
    assert desk.app.scope_name == "Production"
    assert desk.events() == []


async def people_and_the_workspaces_they_are_in(desk: Harness) -> None:
    await open_workspaces(desk)
    await desk.press("O")
    await desk.rows("organization")
    assert listing(desk.app).table.total_count == 8
    await until(
        desk.pilot, lambda: listing(desk.app).table.selected.places is not None, "the workspaces"
    )
    await desk.press("d")
    await desk.reads("Default Workspace")
    await desk.reads("Production")
    await desk.press("d")


async def the_organizations_settings_are_changed(desk: Harness) -> None:
    await open_workspaces(desk)
    await desk.press("O")
    await desk.rows("organization")
    await desk.press("e")
    await desk.wait_for(FormScreen)
    await desk.press("right", "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    await desk.press("y")
    await desk.said("Settings of the organization changed")
    async with desk.colleague() as client:
        assert (await client.organization.settings()).is_filtered_model_catalog_enabled is True


async def test_members_and_people(desk: Harness) -> None:
    await desk.walk(
        several_people_are_added_at_once,
        members_have_names_mail_roles_and_keys,
        marked_members_are_removed_and_those_with_keys_stay,
        a_member_with_active_keys_leads_to_the_keys,
        people_and_the_workspaces_they_are_in,
        the_organizations_settings_are_changed,
    )
