"""A plan for many rows, and the result of each, without a gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gwtui.client.errors import (
    ConflictError,
    ConnectFailedError,
    GatewayError,
    NoAnswerError,
    NotFoundError,
    RateLimitedError,
    UnauthorizedError,
)
from gwtui.crud.bulk import BulkOperation, BulkPlan, BulkRun, LeftOutError, plan_many
from gwtui.crud.plan import Applied, Change, Confirmation, Outcome, Plan, Refused, Unknown

NAMES = {"a": "“A”", "b": "“B”", "c": "“C”"}


async def never(_client: Any) -> None:
    raise AssertionError("the run is given what sends")


def plan_of(identity: str, before: str = "on", effects: Sequence[str] = ()) -> Plan[None]:
    """The plan of one row."""
    return Plan(
        action="keys.toggle",
        title=f"Disable key {identity}",
        resource="keys",
        identity=identity,
        send=never,
        changes=(Change("State", "enabled", "disabled"),),
        effects=("Refused at once.", *effects),
        before={"disabled": before},
    )


class Rows:
    """The existing rows, and the errors that are raised instead."""

    def __init__(self) -> None:
        self.before = dict.fromkeys(NAMES, "on")
        self.errors: dict[str, Exception] = {}
        self.sent: list[str] = []
        self.outcomes: dict[str, Outcome[Any]] = {}

    async def plan(self, identity: str) -> Plan[Any]:
        if identity in self.errors:
            raise self.errors[identity]
        return plan_of(identity, self.before[identity], [f"Used by {identity}."])

    async def bulk(self, hidden: int = 0) -> BulkPlan:
        operation = BulkOperation(
            action="keys.toggle", resource="keys", verb="Disable", noun="key", plan=self.plan
        )
        return await plan_many(operation, NAMES, hidden)

    async def send(self, confirmation: Confirmation[Any]) -> Outcome[Any]:
        identity = confirmation.plan.identity or ""
        self.sent.append(identity)
        return self.outcomes.get(identity, Applied(None))

    async def run(self, bulk: BulkPlan) -> BulkRun:
        run = BulkRun(bulk, Confirmation(bulk.plan, "dialog"), self.send)
        await run.run()
        return run


def words(run: BulkRun) -> list[str]:
    return [result.status for result in run.results]


async def test_a_bulk_plan_lists_each_change_and_shared_effects_once() -> None:
    plan = (await Rows().bulk(hidden=2)).plan
    assert plan.title == "Disable 3 keys"
    assert [(change.field, change.before, change.after) for change in plan.changes] == [
        (name, "enabled", "disabled") for name in NAMES.values()
    ]
    assert plan.effects == (
        "2 of those marked are hidden by the filter.",
        "Refused at once.",
        "“A”: Used by a.",
        "“B”: Used by b.",
        "“C”: Used by c.",
    )
    assert not plan.obstacles


async def test_skipped_rows_are_grouped_by_reason() -> None:
    rows = Rows()
    rows.errors = {
        "a": LeftOutError("disabled already", already=True),
        "b": NotFoundError("gone", status=404),
        "c": NoAnswerError("The response was lost."),
    }
    bulk = await rows.bulk()
    assert bulk.plan.effects == (
        "Left out, disabled already: “A”.",
        "Left out, no longer exists: “B”.",
        "Left out, could not be read: The response was lost: “C”.",
    )
    assert bulk.plan.obstacles == bulk.plan.effects
    assert [skipped.already for skipped in bulk.left_out] == [True, False, False]


async def test_rows_changed_since_the_plan_are_not_sent() -> None:
    rows = Rows()
    bulk = await rows.bulk()
    rows.before["b"] = "off"
    rows.errors["c"] = NotFoundError("gone", status=404)
    run = await rows.run(bulk)
    assert words(run) == ["applied", "refused", "refused"]
    assert rows.sent == ["a"]
    assert run.results[1].why == "not sent: it was changed since the plan was made"
    assert run.results[2].why == "not sent: no longer exists"
    assert run.summary() == "1 applied, 2 refused"


async def test_only_a_refusal_of_all_stops_a_bulk_run() -> None:
    of_one = ConflictError("changed", status=409)
    of_all: list[GatewayError] = [
        ConnectFailedError("no way"),
        UnauthorizedError("who", status=401),
        RateLimitedError("slowly"),
    ]
    for error in (of_one, *of_all):
        rows = Rows()
        rows.outcomes["a"] = Refused(error)
        run = await rows.run(await rows.bulk())
        rest = "applied" if error is of_one else "not sent"
        assert words(run) == ["refused", rest, rest], error
        assert run.ended == ("" if error is of_one else error.message)
        rows.outcomes.clear()
        await run.run()
        assert words(run) == ["refused", "applied", "applied"], "the remaining rows are sent"
        assert sorted(rows.sent) == ["a", "b", "c"], "each row is sent once"


async def test_a_lost_answer_stops_a_bulk_run() -> None:
    rows = Rows()
    rows.outcomes["b"] = Unknown(NoAnswerError("lost"), "plan")
    run = await rows.run(await rows.bulk())
    await run.run()
    assert words(run) == ["applied", "unknown", "not sent"]
    assert rows.sent == ["a", "b"]
    assert run.lost is run.results[1]
    assert [part.identity for part, _ in run.applied] == ["a"]
