"""Guardrails assigned to keys and members and unassigned again, on the real gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from guardrails_kit import GuardrailDesk, guardrail_desk

from gwtui.contract.guardrails import AssignKeysRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.option_pickers import PickScreen
from gwtui.ui.screens.detail_pane import DetailPane
from harness import line, listing, until

APPROVED = "Approved models"
PRIVATE = "Customer data leaves no trace"


@pytest.fixture
async def desk() -> AsyncIterator[GuardrailDesk]:
    async with guardrail_desk() as desk:
        yield desk


async def tick(desk: GuardrailDesk, *searches: str) -> None:
    """Tick what each search finds first, and go back to the form."""
    await desk.press("enter")
    screen = await desk.wait_for(PickScreen)
    await until(desk.pilot, lambda: screen.source.loaded, "what can be picked")
    for search in searches:
        await desk.press(*search)
        await desk.pilot.pause()
        await desk.press("space", "escape")
        await desk.pilot.pause()
    await desk.press("enter")
    await desk.wait_for(FormScreen)


async def held_by_keys(desk: GuardrailDesk) -> dict[str | None, str | None]:
    async with desk.colleague() as client:
        every = (await client.guardrails.key_assignments(None)).items
    return {one.key_name: one.guardrail_id for one in every}


async def what_is_replaced_is_shown_while_picking_and_before_it_happens(
    desk: GuardrailDesk,
) -> None:
    private = await desk.choose(PRIVATE)
    approved = await desk.choose(APPROVED)
    held = len((approved.bound and approved.bound.keys) or ())
    before = await held_by_keys(desk)
    assert before["invoice-reader"] == private.identity
    assert "black-friday-surge" not in before
    await desk.press("A")
    await desk.wait_for(FormScreen)
    await tick(desk, "invoice-reader", "black-friday")
    await desk.reads(f"replaces {PRIVATE} on invoice-reader")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert f"It replaces guardrail “{PRIVATE}” on key “invoice-reader”" in desk.text
    assert "“black-friday-surge” no guardrail → “Approved models”" in desk.text
    assert await held_by_keys(desk) == before, "nothing happens before it is confirmed"
    await desk.press("y")
    await desk.said("assigned to 2 keys")
    after = await held_by_keys(desk)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"invoice-reader", "black-friday-surge"}
    assert {after[name] for name in changed} == {approved.identity}
    await until(
        desk.pilot,
        lambda: desk.selected.bound and len(desk.selected.bound.keys or ()) == held + 2,
        "the new count",
    )
    assert desk.events() == ["intent", "applied"]


async def members_are_assigned(desk: GuardrailDesk) -> None:
    row = await desk.choose(APPROVED)
    await desk.press("M")
    form = await desk.wait_for(FormScreen)
    await tick(desk, "elodie")
    if not form.state.value("member_user_ids"):
        await tick(desk, "watanabe")
    await desk.reads("replaces No previews on")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "It replaces guardrail “No previews” on member" in desk.text
    await desk.press("y")
    await desk.said("assigned to 1 member")
    async with desk.colleague() as client:
        found = (await client.guardrails.member_assignments(row.identity)).items
    assert len(found) == 1


async def the_assignments_of_one_guardrail(desk: GuardrailDesk) -> None:
    row = await desk.choose(APPROVED)
    await desk.press("m")
    table = await desk.rows("assignments")
    assert table.total_count == 3
    assert APPROVED in line(listing(desk.app), "crumbs")
    key = table.selected.assignment
    assert key.guardrail_id == row.identity
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    assert f"“{key.key_name}” “{APPROVED}” → none" in desk.text
    await desk.press("y")
    await desk.said("1 assignment removed")
    await until(desk.pilot, lambda: table.total_count == 2, "the row to go")
    assert key.key_name not in await held_by_keys(desk)
    await desk.press("escape")
    await desk.rows("guardrails")
    assert desk.selected.identity == row.identity


async def test_marked_rows_of_several_guardrails_are_taken_away_together() -> None:
    async with guardrail_desk(start="assignments") as desk:
        table = await desk.rows("assignments")
        before = table.total_count
        rows = {table.identities[place]: place for place in range(before)}
        chosen: dict[tuple[str, str | None], str] = {}
        for identity in rows:
            table.select(identity)
            one = table.selected
            chosen.setdefault((one.kind, one.assignment.guardrail_id), identity)
        picked = [
            next(identity for (kind, _), identity in chosen.items() if kind == "member"),
            *[identity for (kind, _), identity in chosen.items() if kind == "key"][:2],
        ]
        for identity in picked:
            table.select(identity)
            await desk.press("space")
        await desk.press("D")
        await desk.wait_for(ConfirmScreen)
        assert "in 3 requests" in desk.text
        await desk.press("y")
        await desk.said("3 assignments removed")
        await until(desk.pilot, lambda: table.total_count == before - 3, "the rows to go")
        assert not set(picked) & set(table.identities)
        assert desk.events() == ["intent", "applied"] * 3


async def links_lead_from_an_assignment_to_guardrail_and_key(desk: GuardrailDesk) -> None:
    row = await desk.choose(APPROVED)
    await desk.press("m")
    table = await desk.rows("assignments")
    key = table.selected.assignment
    await desk.press("K")
    keys = await desk.rows("keys")
    await until(desk.pilot, lambda: keys.selected_identity == key.key_hash, "the key")
    await until(desk.pilot, lambda: keys.selected.binding is not None, "its guardrail")
    pane = listing(desk.app).query_one(DetailPane)
    await until(desk.pilot, lambda: APPROVED in pane.text, "its name")
    await desk.press("R")
    table = await desk.rows("guardrails")
    await until(desk.pilot, lambda: table.selected_identity == row.identity, "the guardrail")


async def a_link_leaves_the_narrow_scope(desk: GuardrailDesk) -> None:
    row = await desk.choose(APPROVED)
    async with desk.colleague() as client:
        spaces = (await client.workspaces.list()).items
        other = next(space for space in spaces if space.id != row.guardrail.workspace_id)
        stranger = (await client.keys.list(workspace_id=other.id)).items[0]
        await client.guardrails.assign_keys(
            row.identity, AssignKeysRequest(key_hashes=[stranger.hash or ""])
        )
    await desk.app.hub.refresh("guardrails")
    desk.app.narrow(other.id, other.name)
    await desk.app.open_route(f"keys/{stranger.hash}")
    keys = await desk.rows("keys")
    await until(desk.pilot, lambda: keys.selected_identity == stranger.hash, "the key")
    await until(desk.pilot, lambda: keys.selected.binding is not None, "its guardrail")
    await desk.press("R")
    table = await desk.rows("guardrails")
    await until(desk.pilot, lambda: table.selected_identity == row.identity, "the guardrail")
    assert desk.app.scope.workspace is None


async def test_guardrails_are_assigned_and_taken_away(desk: GuardrailDesk) -> None:
    await desk.walk(
        the_assignments_of_one_guardrail,
        links_lead_from_an_assignment_to_guardrail_and_key,
        what_is_replaced_is_shown_while_picking_and_before_it_happens,
        members_are_assigned,
        a_link_leaves_the_narrow_scope,
    )
