"""One verb for several rows, proven for every declaration that has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from action_handlers_kit import ActionHarness, action_harness
from declared_kit import SPECS, verbs_of, writes_of
from gwtui.crud.bulk import BulkOperation, BulkPlan, BulkRun, BulkWrites, plan_many
from gwtui.crud.plan import Confirmation
from writes_kit import FaultWorld

pytestmark = pytest.mark.usefixtures("quick_disk")

SEVERAL = ("keys", "byok", "guardrails", "workspaces")
"""Resources that can have several rows."""
CASES = [
    (resource, verb)
    for resource in SEVERAL
    for verb in ("toggle", "delete", "edit")
    if verb in verbs_of(writes_of(resource))
]
NAMES = ("“0”", "“1”", "“2”")


def test_several_rows_of_each_resource_can_be_created() -> None:
    assert {name for name in SPECS if writes_of(name).create is not None} == set(SEVERAL)


async def three_of(desk: ActionHarness) -> dict[str, Any]:
    """Create three resources, which differ where they must."""
    verb = desk.writes.create
    assert verb is not None
    rows = {}
    for number in range(3):
        unique = {"name", "slug"} & verb.request.model_fields.keys()
        fields = {**desk.needed(verb.request), **dict.fromkeys(unique, f"of-many-{number}")}
        answer = await desk.writes.service(desk.colleague).create(
            verb.request.model_validate(fields)
        )
        identity = desk.writes.identity(verb.resource(answer)) or ""
        rows[identity] = await desk.writes.read(desk.colleague, identity)
    return rows


async def planned(desk: ActionHarness, rows: dict[str, Any], verb: str) -> tuple[BulkPlan, Any]:
    """The plan of a verb for these rows, and the request that it sends for each."""
    bulk = BulkWrites(desk.client, dict.fromkeys(rows, desk.writes), rows, desk.plan_context)
    operation: BulkOperation
    request: tuple[str, Any]
    match verb:
        case "toggle":
            operation, request = bulk.switch(True), ("PATCH", {"disabled": True})
        case "delete":
            operation, request = bulk.delete(), ("DELETE", None)
        case _:
            name = next(
                item for item in desk.writes.fields.editable if item not in {"name", "slug"}
            )
            change = desk.request(**{name: (await desk.others(name))[0]})
            operation, request = bulk.change(change), ("PATCH", change.wire_body())
    return await plan_many(operation, dict(zip(rows, NAMES, strict=True))), request


async def send(desk: ActionHarness, bulk: BulkPlan) -> BulkRun:
    run = BulkRun(bulk, Confirmation(bulk.plan, "dialog"), desk.executor.execute)
    await run.run()
    return run


@pytest.mark.parametrize(("resource", "verb"), CASES)
async def test_a_bulk_change_is_applied_and_undone_as_one(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        rows = await three_of(desk)
        before = [desk.writes.known(row) for row in rows.values()]
        bulk, request = await planned(desk, rows, verb)
        assert bulk.plan.title.endswith(f" 3 {desk.writes.noun}s")
        assert bulk.plan.danger == ("high" if verb == "delete" else "low")
        assert tuple(change.field for change in bulk.plan.changes) == NAMES
        assert not desk.door.writes, "a plan sends nothing"
        run = await send(desk, bulk)
        assert run.summary() == "3 applied"
        assert desk.door.writes == [request] * 3
        assert desk.events == ["intent", "applied"] * 3
        undo = desk.executor.undo
        undo.add_many(bulk.plan, run.applied)
        change = undo.latest()
        if verb == "delete":
            assert change is None
            return
        assert change is not None
        plan = await undo.plan(desk.client, change)
        assert {part.undoes for part in plan.parts} == {part.plan.id for part in bulk.parts}
        back = await send(desk, undo.as_bulk(desk.client, change, plan))
        undo.forget_parts(change, [part.plan.undoes or "" for part, _ in back.applied])
        assert undo.latest() is None
        after = [await desk.writes.read(desk.colleague, identity) for identity in rows]
        assert [desk.writes.known(row) for row in after] == before


@pytest.mark.parametrize("resource", [name for name, verb in CASES if verb == "toggle"])
async def test_rows_already_in_that_state_are_named_and_not_sent(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        rows = await three_of(desk)
        service = desk.writes.service(desk.colleague)
        await service.update(next(iter(rows)), desk.request(disabled=True))
        bulk, _ = await planned(desk, rows, "toggle")
        assert bulk.plan.effects[0] == "Left out, disabled already: “0”."
        assert [item.already for item in bulk.left_out] == [True]
        assert (await send(desk, bulk)).summary() == "2 applied"
        assert len(desk.door.writes) == 2
