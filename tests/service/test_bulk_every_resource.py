"""One verb for several of a kind, proved of every declaration that has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from action_handlers_kit import Desk, desk_for
from declared_kit import SPECS, verbs_of, writes_of
from gwtui.client.errors import NotFoundError
from gwtui.crud.bulk import BulkOperation, BulkPlan, BulkRun, BulkWrites, plan_many
from gwtui.crud.plan import Applied, Confirmation
from gwtui.crud.undo import AppliedChange
from writes_kit import FaultWorld

pytestmark = pytest.mark.usefixtures("quick_disk")

SEVERAL = ("keys", "byok", "guardrails", "workspaces")
"""Of these there can be several: the rest is one of a kind."""


def having(verb: str) -> Any:
    """The resources of which there are several and that have a verb."""
    found = [one for one in SPECS if one in SEVERAL and verb in verbs_of(writes_of(one))]
    return pytest.mark.parametrize("resource", found)


def test_several_rows_of_each_resource_can_be_created() -> None:
    assert {name for name in SPECS if writes_of(name).create is not None} == set(SEVERAL)


class Three:
    """Three of a kind that were made for this test, and the operation on all of them."""

    def __init__(self, desk: Desk, ones: list[Any]) -> None:
        self.desk = desk
        self.ids = [str(desk.writes.identity(one)) for one in ones]
        self.known = dict(zip(self.ids, ones, strict=True))
        self.names = {identity: f"“{number}”" for number, identity in enumerate(self.ids)}

    def many(self) -> BulkWrites:
        """What the declaration can do with them."""
        writes = dict.fromkeys(self.ids, self.desk.writes)
        return BulkWrites(self.desk.client, writes, self.known, self.desk.plan_context)

    def operation(self, verb: str) -> BulkOperation:
        """What the verb wants of each."""
        if verb == "toggle":
            return self.many().switch(True)
        if verb == "delete":
            return self.many().delete()
        return self.many().change(self.desk.request(**self.values))

    values: dict[str, Any] = {}  # noqa: RUF012 - replaced, never changed

    async def plan(self, verb: str) -> BulkPlan:
        """The plan for all of them."""
        return await plan_many(self.operation(verb), self.names)

    async def send(self, bulk: BulkPlan) -> BulkRun:
        """Carry it out."""
        executor = self.desk.executor
        run = BulkRun(bulk, Confirmation(bulk.plan, "dialog"), executor.execute)
        await run.run()
        executor.undo.add_many(bulk.plan, run.carried_out)
        return run

    async def read(self, identity: str) -> Any:
        """One as a colleague reads it, None where it is gone."""
        try:
            return await self.desk.writes.read(self.desk.colleague, identity)
        except NotFoundError:
            return None

    async def states(self, verb: str) -> list[bool]:
        """Of which the operation is done."""
        found = [await self.read(identity) for identity in self.ids]
        if verb == "delete":
            return [one is None for one in found]
        if verb == "toggle":
            return [one.disabled for one in found]
        [(name, value)] = self.values.items()
        return [self.desk.writes.known(one)[name] == value for one in found]


async def three_of(desk: Desk) -> Three:
    """Make three of the kind; they differ where they have to."""
    how = desk.writes.create
    assert how is not None
    ones = []
    for number in range(3):
        given = desk.needed(how.request)
        for name in ("name", "slug"):
            if name in how.request.model_fields:
                given[name] = f"of-many-{number}"
        answer = await desk.writes.service(desk.colleague).create(how.request.model_validate(given))
        made = how.resource(answer)
        ones.append(await desk.writes.read(desk.colleague, desk.writes.identity(made) or ""))
    three = Three(desk, ones)
    if desk.writes.update is not None:
        names = [one for one in desk.writes.fields.editable if one not in {"name", "slug"}]
        three.values = {names[0]: (await desk.others(names[0]))[0]}
        wanted = getattr(desk.request(**three.values), names[0])
        three.values = {names[0]: wanted}
    return three


VERBS = ("toggle", "delete", "edit")
CASES = [
    (resource, verb)
    for resource in SEVERAL
    for verb in VERBS
    if verb in verbs_of(writes_of(resource))
]
EVERY = pytest.mark.parametrize(("resource", "verb"), CASES)


@EVERY
async def test_a_bulk_change_is_applied_and_undone_as_one(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with desk_for(world, resource, tmp_path) as desk:
        three = await three_of(desk)
        bulk = await three.plan(verb)
        assert len(bulk.parts) == 3, bulk.plan.effects
        assert bulk.plan.title.endswith(f" 3 {desk.writes.noun}s")
        assert bulk.plan.danger == ("high" if verb == "delete" else "low")
        assert [change.field for change in bulk.plan.changes] == list(three.names.values())
        assert not desk.door.writes, "a plan sends nothing"
        run = await three.send(bulk)
        assert run.complete
        assert run.summary() == "3 applied"
        assert len(desk.door.writes) == 3
        assert desk.events == ["intent", "applied"] * 3
        assert await three.states(verb) == [True] * 3
        done = desk.executor.undo.latest()
        if verb == "delete":
            assert done is None
            return
        assert done is not None
        plan = await desk.executor.undo.plan(desk.client, done)
        assert len(plan.parts) == 3
        assert {part.undoes for part in plan.parts} == {part.plan.id for part in bulk.parts}
        await take_back(three, done)
        assert await three.states(verb) == [False] * 3
        assert desk.executor.undo.latest() is None


async def take_back(three: Three, done: AppliedChange) -> BulkRun:
    """Undo what can be undone of it."""
    desk = three.desk
    plan = await desk.executor.undo.plan(desk.client, done)
    bulk = desk.executor.undo.bulk(desk.client, done, plan)
    run = BulkRun(bulk, Confirmation(plan, "dialog"), desk.executor.execute)
    await run.run()
    back = [part.plan.undoes or "" for part, _ in run.carried_out]
    desk.executor.undo.undone(done, back)
    return run


@having("toggle")
async def test_rows_already_in_that_state_are_named_and_not_sent(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with desk_for(world, resource, tmp_path) as desk:
        three = await three_of(desk)
        service = desk.writes.service(desk.colleague)
        await service.update(three.ids[0], desk.request(disabled=True))
        bulk = await three.plan("toggle")
        assert bulk.plan.effects[0] == "Not sent, disabled already: “0”."
        assert [one.already for one in bulk.left_out] == [True]
        run = await three.send(bulk)
        assert isinstance(run.results[0].outcome, Applied)
        assert len(desk.door.writes) == 2
