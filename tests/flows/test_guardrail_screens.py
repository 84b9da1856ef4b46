"""Creating and assigning guardrails, and which models they allow, on the real gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest

from gwtui.client.errors import ForbiddenError, NotFoundError
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
)
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.option_pickers import PickScreen
from gwtui.ui.screens.list_parts import DetailPane
from gwtui.ui.screens.pages import SearchPage
from gwtui.ui.screens.picker import Picker
from gwtui.ui.widgets.lines import LinesView
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.reads import CONCURRENCY
from harness import Harness, dashboard, harness, line, listing, notices

APPROVED = "Approved models"
PRIVATE = "Customer data leaves no trace"
HOLDER, FREE = "invoice-reader", "black-friday-surge"
LARGE = "northwind/atlas-large"
LARGE_NAME = "Northwind: Atlas Large"
STRICT = CreateGuardrailRequest(
    name="strict", allowed_models=[LARGE], allowed_providers=["kestrel", "nobody"]
)


class GuardrailHarness(Harness):
    """A user at the list of guardrails."""

    async def choose(self, name: str) -> GuardrailRow:
        """Select a guardrail and wait until its assignments are known."""
        await self.app.open_route("guardrails")
        await self.rows("guardrails")
        await self.until(lambda: name in self._names(), name)
        await self.select(name=name)
        await self.until(lambda: self.selected.bound is not None, "its assignments")
        row: GuardrailRow = self.selected
        return row

    def _names(self) -> set[str | None]:
        return {row.guardrail.name for row in listing(self.app).table.model.items}

    async def choose_default(self) -> GuardrailRow:
        """Select a default guardrail that is not set up yet."""
        table = listing(self.app).table
        row: GuardrailRow = next(row for row in table.model.items if not row.exists)
        table.select(row.identity)
        await self.pilot.pause()
        return row

    async def assignments(self) -> dict[str | None, str | None]:
        """Key name or user id -> the name of the assigned guardrail."""
        async with self.colleague() as client:
            names: dict[str | None, str | None] = {}
            for space in (await client.workspaces.list()).items:
                rails = (await client.guardrails.list(workspace_id=space.id)).items
                names |= {item.id: item.name for item in rails}
            keys = (await client.guardrails.key_assignments(None)).items
            members = (await client.guardrails.member_assignments(None)).items
        return {item.key_name: names[item.guardrail_id] for item in keys} | {
            item.user_id: names[item.guardrail_id] for item in members
        }

    async def tick(self, *searches: str) -> None:
        """Tick the first match of each search."""
        screen = await self.wait_for(PickScreen)
        for search in searches:
            await self.press(*search)
            await self.pilot.pause()
            await self.press("space", "escape")
            await self.pilot.pause()
        assert screen.picked

    async def pick_approved(self) -> str:
        """Choose the guardrail for the selected rows; return the text of the plan."""
        screen = await self.press("A", opens=Picker)
        await self.until(lambda: screen.source.loaded, "the guardrails")
        await self.press(*"approved")
        await self.reads(APPROVED)
        await self.press("enter", opens=ConfirmScreen)
        return self.text


@asynccontextmanager
async def desk_at(
    start: str = "guardrails", *, size: tuple[int, int] = (80, 24), strict: bool = False
) -> AsyncIterator[GuardrailHarness]:
    async with harness(GuardrailHarness) as desk:
        if strict:
            async with desk.colleague() as client:
                await client.guardrails.create(STRICT)
        async with dashboard(desk, start=start, size=size):
            await desk.rows(start)
            yield desk


# Assignments --------------------------------------------------------------------------------------


def changed(
    before: dict[str | None, str | None], after: dict[str | None, str | None]
) -> set[str | None]:
    """The holders whose guardrail differs."""
    return {holder for holder in after if after[holder] != before.get(holder)}


async def keys_are_assigned_and_the_replaced_guardrail_is_shown(desk: GuardrailHarness) -> None:
    await desk.choose(APPROVED)
    before = await desk.assignments()
    assert before[HOLDER] == PRIVATE
    assert FREE not in before
    await desk.press("A")
    await desk.tick(HOLDER, "black-friday")
    await desk.reads(f"replaces “{PRIVATE[:16]}")
    await desk.press("enter", opens=ConfirmScreen)
    assert f"Guardrail “{PRIVATE}” on key “{HOLDER}”" in desk.text
    assert f"“{FREE}” no guardrail → “{APPROVED}”" in desk.text
    assert await desk.assignments() == before, "nothing happens before it is confirmed"
    await desk.press("y", says="assigned to 2 keys")
    after = await desk.assignments()
    assert changed(before, after) == {HOLDER, FREE}
    assert desk.events() == ["intent", "applied"]


async def an_assignment_leads_to_key_and_guardrail_and_is_removed(desk: GuardrailHarness) -> None:
    row = await desk.choose(APPROVED)
    await desk.press("m")
    table = await desk.rows("assignments")
    assert table.model.total == 3
    assert APPROVED in line(listing(desk.app), "crumbs")
    key = table.selected.assignment
    assert key.guardrail_id == row.identity
    await desk.press("K")
    keys = await desk.rows("keys")
    await desk.until(lambda: keys.selected_identity == key.key_hash, "the key")
    await desk.until(lambda: keys.selected.binding is not None, "its guardrail")
    pane = listing(desk.app).query_one(DetailPane)
    await desk.until(lambda: APPROVED in pane.text, "its name")
    await desk.press("R")
    guardrails = await desk.rows("guardrails")
    await desk.until(lambda: guardrails.selected_identity == row.identity, "the guardrail")
    await desk.press("m")
    await desk.rows("assignments")
    await desk.press("D", opens=ConfirmScreen)
    assert f"“{key.key_name}” “{APPROVED}” → no guardrail" in desk.text
    await desk.press("y", says="1 assignment removed")
    await desk.until(lambda: listing(desk.app).table.model.total == 2, "the row to go")
    assert "no longer in the list" not in notices(desk.app)
    assert key.key_name not in await desk.assignments()


async def test_guardrails_are_assigned_and_unassigned() -> None:
    async with desk_at() as desk:
        await desk.walk(
            an_assignment_leads_to_key_and_guardrail_and_is_removed,
            keys_are_assigned_and_the_replaced_guardrail_is_shown,
        )


async def test_marked_assignments_of_several_guardrails_are_removed_together() -> None:
    async with desk_at("assignments") as desk:
        table = await desk.rows("assignments")
        row_count = table.model.total
        of_kind: dict[tuple[str, str | None], str] = {}
        for identity in table.model.order:
            table.select(identity)
            row = table.selected
            of_kind.setdefault((row.kind, row.assignment.guardrail_id), identity)
        members = [identity for (kind, _), identity in of_kind.items() if kind == "member"]
        keys = [identity for (kind, _), identity in of_kind.items() if kind == "key"]
        picked = [members[0], *keys[:2]]
        for identity in picked:
            table.select(identity)
            await desk.press("space")
        await desk.press("D", opens=ConfirmScreen)
        assert "in 3 requests" in desk.text
        await desk.press("y", says="3 assignments removed")
        await desk.until(lambda: table.model.total == row_count - 3, "the rows to go")
        assert not set(picked) & set(table.model.order)
        assert desk.events() == ["intent", "applied"] * 3


async def test_marked_keys_are_assigned_and_the_replaced_guardrail_is_shown() -> None:
    async with desk_at("keys") as desk:
        before = await desk.assignments()
        for name in (HOLDER, FREE):
            await desk.select(name=name)
            await desk.press("space")
        plan_text = await desk.pick_approved()
        assert f"Guardrail “{PRIVATE}” on key “{HOLDER}”" in plan_text
        await desk.press("y", says="assigned to 2 keys")
        after = await desk.assignments()
        assert changed(before, after) == {HOLDER, FREE}
        await desk.select(name=FREE)
        await desk.until(
            lambda: desk.selected.binding.own.guardrail.name == APPROVED, "the list follows"
        )


@pytest.mark.parametrize("start", ["organization", "members/production"])
async def test_a_guardrail_is_assigned_to_the_selected_person(start: str) -> None:
    async with desk_at("workspaces") as desk:
        before = await desk.assignments()
        await desk.app.open_route(start)
        await desk.rows(start.partition("/")[0])
        row = desk.selected
        user = row.person.id if start == "organization" else row.member.user_id
        await desk.pick_approved()
        await desk.press("y", says="assigned to 1 member")
        after = await desk.assignments()
        assert after[user] == APPROVED
        assert changed(before, after) <= {user}


# Default guardrails -------------------------------------------------------------------------------


async def test_a_default_guardrail_is_created_on_the_first_edit() -> None:
    async with desk_at() as desk:
        row = await desk.choose_default()
        for key in ("D", "A", "M", "m"):
            desk.app.clear_notifications()
            await desk.press(key, says="is not set up")
        with pytest.raises(NotFoundError):
            await desk.read(row.guardrail.id)
        form = await desk.press("e", opens=FormScreen)
        assert "name" not in form.state.fields
        assert "The name of a default guardrail cannot be changed" in desk.text
        await desk.type_into("limit_usd", "7")
        await desk.press("ctrl+s", opens=ConfirmScreen)
        assert "The guardrail will apply immediately to all requests in workspace" in desk.text
        await desk.press("y", says="set up")
        guardrail = await desk.read(row.guardrail.id)
        assert guardrail.limit_usd == Decimal(7)
        assert guardrail.name == f"Workspace {guardrail.workspace_id} Default"
        await desk.until(lambda: desk.selected.exists, "the new state")
        assert desk.selected.identity == row.identity


# What remains of the catalog ----------------------------------------------------------------------


async def allowed(desk: GuardrailHarness) -> dict[str, str]:
    """Wait for the page of allowed endpoints, and return its verdicts by model."""
    screen = await desk.wait_for(SearchPage)
    _, models = screen.query_one(LinesView).text.split("\n\n", 1)
    heads = [line.partition("  ") for line in models.splitlines() if not line.startswith("  ")]
    return {name: outcome for name, _, outcome in heads}


async def the_catalog_is_read_once_with_limited_concurrency(desk: GuardrailHarness) -> None:
    catalog = desk.app.gateway.catalog
    read_endpoints, under_way, max_under_way, reads = catalog.endpoints, 0, 0, 0

    async def count_reads(self: Any, model_id: str) -> Any:
        nonlocal under_way, max_under_way, reads
        under_way, reads = under_way + 1, reads + 1
        max_under_way = max(max_under_way, under_way)
        try:
            return await read_endpoints(model_id)
        finally:
            under_way -= 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(catalog), "endpoints", count_reads)
        await desk.choose("strict")
        await desk.press("E")
        models = await allowed(desk)
        await desk.press("escape")
        await desk.back_to_list()
        await desk.choose("No previews")
        await desk.press("E")
        await allowed(desk)
        assert reads == len(models), "the catalog is cached for other guardrails"
        assert 1 < max_under_way <= CONCURRENCY
        await desk.press("slash", *"atlas large")
        await desk.until(lambda: "Lens Flash" not in desk.text, "the search")
        assert "Atlas Large" in desk.text
        await desk.press("escape", "escape")
        await desk.back_to_list()


async def the_form_previews_the_remaining_endpoints(desk: GuardrailHarness) -> None:
    await desk.choose("strict")
    form = await desk.press("e", opens=FormScreen)
    await desk.press("f2")
    assert "remain" not in (await allowed(desk))[LARGE_NAME]
    await desk.press("escape")
    await desk.until(lambda: desk.app.screen is form, "the form")
    await desk.reads("models keep an endpoint")
    form.state.put("allowed_providers", ("nobody",))
    await desk.press("f2")
    assert (await allowed(desk))[LARGE_NAME].startswith("all endpoints blocked")
    assert desk.events() == []


async def the_default_guardrail_applies_too(desk: GuardrailHarness) -> None:
    row = await desk.choose("strict")
    async with desk.colleague() as client:
        space = await client.workspaces.get(row.guardrail.workspace_id or "")
        await client.guardrails.update(
            space.default_guardrail_id or "", UpdateGuardrailRequest(ignored_models=[LARGE])
        )
    await desk.app.hub.refresh("guardrails")
    await desk.choose("strict")
    await desk.press("E")
    assert (await allowed(desk))[LARGE_NAME].startswith("model blocked")
    assert "“strict” and" in desk.text


async def test_remaining_endpoints_of_a_guardrail() -> None:
    async with desk_at(size=(120, 40), strict=True) as desk:
        await desk.walk(
            the_catalog_is_read_once_with_limited_concurrency,
            the_form_previews_the_remaining_endpoints,
            the_default_guardrail_applies_too,
        )


async def test_an_unreadable_catalog_is_reported() -> None:
    async def refused(*_: object) -> Any:
        raise ForbiddenError("The catalog is closed", status=403)

    async with desk_at(size=(120, 40), strict=True) as desk:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(desk.app.gateway.catalog), "endpoints", refused)
            await desk.choose("strict")
            await desk.press("E", says="The catalog is closed")
