"""A guardrail assigned from the lists of keys and of people, on the real gateway."""

from __future__ import annotations

from guardrails_kit import GuardrailDesk, guardrail_desk

from gwtui.resources.keys.resource import own_cell
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.screens.picker import Picker
from harness import listing, until

APPROVED = "Approved models"
PRIVATE = "Customer data leaves no trace"
HOLDER, FREE = "invoice-reader", "black-friday-surge"


async def _held(desk: GuardrailDesk) -> dict[str | None, str | None]:
    """Key by name or user by id -> the name of the guardrail held."""
    async with desk.colleague() as client:
        names: dict[str | None, str | None] = {}
        for space in (await client.workspaces.list()).items:
            for one in (await client.guardrails.list(workspace_id=space.id)).items:
                names[one.id] = one.name
        keys = (await client.guardrails.key_assignments(None)).items
        members = (await client.guardrails.member_assignments(None)).items
    return {one.key_name: names[one.guardrail_id] for one in keys} | {
        one.user_id: names[one.guardrail_id] for one in members
    }


def _put_cursor(desk: GuardrailDesk, name: str) -> None:
    table = listing(desk.app).table
    for identity in table.identities:
        table.select(identity)
        if table.selected.key.name == name:
            return
    raise AssertionError(f"no key {name}")


async def test_marked_keys_get_a_guardrail_and_what_it_replaces_is_shown() -> None:
    async with guardrail_desk(start="keys") as desk:
        before = await _held(desk)
        assert before[HOLDER] == PRIVATE
        assert FREE not in before
        for name in (HOLDER, FREE):
            _put_cursor(desk, name)
            await desk.press("space")
        await desk.press("A")
        screen = await desk.wait_for(Picker)
        await until(desk.pilot, lambda: screen.source.loaded, "the guardrails")
        assert "Guardrail for 2 keys" in desk.text
        await desk.press(*"approved")
        await desk.reads(APPROVED)
        await desk.press("enter")
        await desk.wait_for(ConfirmScreen)
        await desk.reads(f"It replaces guardrail “{PRIVATE}” on key “{HOLDER}”")
        assert f"“{FREE}” no guardrail → “{APPROVED}”" in desk.text
        assert await _held(desk) == before, "nothing happens before it is confirmed"
        await desk.press("y")
        await desk.said("assigned to 2 keys")
        after = await _held(desk)
        assert {name for name in after if after[name] != before.get(name)} == {HOLDER, FREE}
        assert after[HOLDER] == after[FREE] == APPROVED
        assert desk.events() == ["intent", "applied"]
        _put_cursor(desk, FREE)
        await until(desk.pilot, lambda: _guardrail_shown(desk) == APPROVED, "the list follows")


def _guardrail_shown(desk: GuardrailDesk) -> str:
    row = listing(desk.app).table.selected
    return own_cell(row.binding).text


async def test_the_selected_person_gets_a_guardrail_or_the_choice_is_left() -> None:
    async with guardrail_desk(start="organization") as desk:
        before = await _held(desk)
        person = listing(desk.app).table.selected.person
        await desk.press("A")
        screen = await desk.wait_for(Picker)
        await until(desk.pilot, lambda: screen.source.loaded, "the guardrails")
        await desk.press("escape")
        await desk.back_to_list()
        await desk.press("A")
        screen = await desk.wait_for(Picker)
        await until(desk.pilot, lambda: screen.source.loaded, "the guardrails")
        await desk.press(*"approved")
        await desk.reads(APPROVED)
        await desk.press("enter")
        await desk.wait_for(ConfirmScreen)
        assert person.first_name in desk.text
        await desk.press("y")
        await desk.said("assigned to 1 member")
        after = await _held(desk)
        assert after[person.id] == APPROVED
        assert {user for user in after if after[user] != before.get(user)} <= {person.id}


async def test_a_member_of_a_workspace_gets_one_too() -> None:
    async with guardrail_desk(start="workspaces") as desk:
        await desk.press("m")
        await desk.rows("members")
        user = listing(desk.app).table.selected.member.user_id
        await desk.press("A")
        screen = await desk.wait_for(Picker)
        await until(desk.pilot, lambda: screen.source.loaded, "the guardrails")
        await desk.press(*"approved")
        await desk.reads(APPROVED)
        await desk.press("enter")
        await desk.wait_for(ConfirmScreen)
        await desk.press("y")
        await desk.said("assigned to 1 member")
        assert (await _held(desk))[user] == APPROVED
