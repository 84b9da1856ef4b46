"""Undo: every write can be undone or says why not, and never overwrites other changes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential, CreateByokRequest
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    CreateGuardrailRequest,
)
from gwtui.contract.keys import CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.organization import ChangeMembersRequest
from gwtui.crud.bulk import BulkPart
from gwtui.crud.plan import Plan, bundle
from gwtui.crud.plan_text import displayed
from gwtui.crud.undo import CannotUndoError, UndoList, undo_each
from gwtui.resources import assignments
from gwtui.resources import members as member_plans
from gwtui.resources.budgets import WorkspaceBudgets
from gwtui.resources.byok import CREDENTIALS
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from writes_kit import AT, NOW, PLANS, FaultWorld, client_of, done_now, send

Look = Callable[[FaultWorld, GatewayClient], Awaitable[Any]]
Make = Callable[[FaultWorld], Plan[Any]]


async def look_members(_world: FaultWorld, client: GatewayClient) -> Any:
    return sorted(
        (row.user_id, row.role) for row in (await client.workspaces.members("team")).items
    )


async def look_assigned(_world: FaultWorld, client: GatewayClient) -> Any:
    keys = (await client.guardrails.key_assignments(None)).items
    members = (await client.guardrails.member_assignments(None)).items
    return (
        sorted((row.key_hash, row.guardrail_id) for row in keys),
        sorted((row.user_id, row.guardrail_id) for row in members),
    )


async def look_budgets(world: FaultWorld, client: GatewayClient) -> Any:
    space = await client.workspaces.get(world.workspace.id or "")
    budgets = (await client.workspaces.budgets("team")).items
    limits = {budget.interval: budget.limit_usd for budget in budgets}
    return limits, bool(space.include_byok_in_budgets)


def limits(world: FaultWorld, values: Mapping[str, Any]) -> Plan[Any]:
    return WorkspaceBudgets(world.workspace, world.budgets).plan(values, NOW)


def removals(world: FaultWorld) -> Plan[Any]:
    parts = [
        assignments.plan_unassign(assignments.KEYS, world.guardrail, world.key_assignments, {}),
        assignments.plan_unassign(
            assignments.MEMBERS, world.guardrail, world.member_assignments, {}
        ),
    ]
    return bundle(
        "Both", parts, action="x", resource="guardrails", identity=None, undo=undo_each(parts)
    )


WAYS: Mapping[str, tuple[Make, Look]] = {
    "add members": (
        lambda w: member_plans.plan_add(w.workspace, w.people[:3], {w.people[0].id or "": "admin"}),
        look_members,
    ),
    "remove a member": (
        lambda w: member_plans.plan_remove(w.workspace, w.members[:1], [], {}, NOW),
        look_members,
    ),
    "assign to keys": (
        lambda w: assignments.plan_assign(
            assignments.KEYS,
            w.guardrail,
            assignments.key_names([w.key, w.other_key]),
            w.key_assignments,
            {},
        ),
        look_assigned,
    ),
    "assign to members": (
        lambda w: assignments.plan_assign(
            assignments.MEMBERS,
            w.guardrail,
            {person.id or "": "a person" for person in w.people[:3]},
            w.member_assignments,
            {},
        ),
        look_assigned,
    ),
    "take away from keys and members": (removals, look_assigned),
    "change budgets": (
        lambda w: limits(
            w, {"daily": Decimal(1), "monthly": None, "include_byok_in_budgets": True}
        ),
        look_budgets,
    ),
    "take a budget away": (lambda w: limits(w, {"monthly": None}), look_budgets),
}


def listed(now: Callable[[], datetime] = lambda: NOW) -> UndoList:
    return UndoList(now)


@pytest.fixture
def world(fault_world: FaultWorld) -> FaultWorld:
    fault_world.begin()
    return fault_world


@pytest.mark.parametrize("name", WAYS)
async def test_undo_restores_the_original_state(world: FaultWorld, name: str) -> None:
    make, look = WAYS[name]
    async with client_of(world) as client:
        before = await look(world, client)
        plan = make(world)
        assert plan.undo is not None
        answer = await send(client, plan)
        assert await look(world, client) != before, "the write must change the state"
        back = await listed().plan(client, done_now(plan, answer))
        assert back.undoes == plan.id
        assert all(part.undoes == plan.id for part in back.parts)
        assert back.undo is None
        assert back.title == f"Undo: {plan.title}"
        assert back.changes or back.danger == "high", "the undo plan is empty"
        await send(client, back)
        assert await look(world, client) == before


@pytest.mark.parametrize("operation", PLANS)
def test_every_write_can_be_undone_or_says_it_cannot(world: FaultWorld, operation: str) -> None:
    plan = PLANS[operation](world)
    if operation in {"putWorkspaceBudget", "deleteWorkspaceBudget"}:
        # Budgets are changed as a series, which is undone as a whole.
        assert limits(world, {"daily": Decimal(1)}).undo is not None
        return
    honest = any("cannot be undone" in line for line in displayed(plan).effects)
    assert honest == (plan.undo is None)


# Changes by somebody else -------------------------------------------------------------------------


Meddle = Callable[[FaultWorld, GatewayClient], Awaitable[Any]]


async def assign_another(world: FaultWorld, client: GatewayClient) -> None:
    other = await client.guardrails.create(CreateGuardrailRequest(name="Other"))
    hashes = AssignKeysRequest(key_hashes=[world.key.hash or ""])
    await client.guardrails.assign_keys(other.id or "", hashes)


async def delete_guardrail(world: FaultWorld, client: GatewayClient) -> None:
    await client.guardrails.delete(world.guardrail.id or "")


async def add_again(world: FaultWorld, client: GatewayClient) -> None:
    request = ChangeMembersRequest(user_ids=[world.members[0].user_id or ""])
    await client.workspaces.add_members("team", request)


async def delete_budget(world: FaultWorld, client: GatewayClient) -> None:
    await client.workspaces.delete_budget("team", "daily")


@pytest.mark.parametrize(
    ("make", "meddle", "message"),
    [
        (WAYS["take away from keys and members"][0], assign_another, "Somebody else changed"),
        (WAYS["take away from keys and members"][0], delete_guardrail, "no longer exists"),
        (WAYS["remove a member"][0], add_again, "members again"),
        (
            lambda w: limits(w, {"daily": Decimal(1)}),
            delete_budget,
            "already has its previous value",
        ),
    ],
)
async def test_changes_by_others_are_not_undone(
    world: FaultWorld, make: Make, meddle: Meddle, message: str
) -> None:
    async with client_of(world) as client:
        plan = make(world)
        change = done_now(plan, await send(client, plan))
        await meddle(world, client)
        with pytest.raises(CannotUndoError, match=message):
            await listed().plan(client, change)


async def test_undo_keeps_later_changes_to_other_fields(world: FaultWorld) -> None:
    async with client_of(world) as client:
        plan = KEY_WRITES.plan_update(world.key, UpdateKeyRequest(name="mine"), AT)
        change = done_now(plan, await send(client, plan))
        await client.keys.update(world.key.hash or "", UpdateKeyRequest(limit=Decimal(7)))
        await send(client, await listed().plan(client, change))
        key = await client.keys.get(world.key.hash or "")
        assert (key.name, key.limit) == (world.key.name, Decimal(7))


async def test_a_partial_series_is_undone_partially(
    world: FaultWorld,
) -> None:
    async with client_of(world) as client:
        before = await look_budgets(world, client)
        plan = limits(world, {"daily": Decimal(1), "weekly": Decimal(5)})
        first = await plan.parts[0].send(client)
        assert await look_budgets(world, client) != before
        back = await listed().plan(client, done_now(plan, (first,)))
        assert len(back.parts) == 1
        await send(client, back)
        assert await look_budgets(world, client) == before


async def test_the_replaced_guardrail_comes_back(world: FaultWorld) -> None:
    async with client_of(world) as client:
        before = await look_assigned(world, client)
        other = await client.guardrails.create(CreateGuardrailRequest(name="Other"))
        current = (await client.guardrails.key_assignments(None)).items
        plan = assignments.plan_assign(
            assignments.KEYS,
            other,
            assignments.key_names([world.key, world.other_key]),
            current,
            {},
        )
        change = done_now(plan, await send(client, plan))
        back = await listed().plan(client, change)
        assert len(back.parts) == 2, "one key returns to its guardrail, the other to none"
        sides = {(change.before, change.after) for change in back.changes}
        assert sides == {("“Other”", "“PII”"), ("“Other”", "no guardrail")}
        await send(client, back)
        assert await look_assigned(world, client) == before


# The list -----------------------------------------------------------------------------------------


def test_the_undo_list_holds_no_secret() -> None:
    """Neither requests nor responses of plans keep a secret while they can be undone."""
    changes = listed()
    values = applied_with_secrets(changes)
    gc.collect()
    assert [value() for value in values] == [None, None]
    assert changes.latest() is not None


def applied_with_secrets(changes: UndoList) -> tuple[weakref.ref[SecretStr], ...]:
    """Two changes in the list, and weak references to their secrets."""
    secret = SecretStr("sk-sentinel-provider-key")
    stored = CREDENTIALS.plan_create(CreateByokRequest(provider="northwind", key=secret), AT)
    changes.add(stored, ByokCredential.model_validate({"id": "c"}))
    created = KEY_WRITES.plan_create(CreateKeyRequest(name="x"), AT)
    answer = CreatedKey.model_validate({"data": {"hash": "h"}, "key": "gw-v1-sentinel"})
    changes.add(created, answer)
    assert answer.key is not None
    return weakref.ref(answer.key), weakref.ref(secret)


def undoable(title: str) -> Plan[str]:
    async def way(_client: GatewayClient, _now: datetime) -> Plan[Any]:
        return final("back")

    return Plan("a", title, "keys", "h", _never, undo=lambda _answer: way)


def final(title: str) -> Plan[str]:
    return Plan("a", title, "keys", "h", _never)


async def _never(_client: GatewayClient) -> str:
    raise AssertionError("nothing is sent here")


def test_changes_are_undone_from_the_last_one_back() -> None:
    changes = listed()
    assert changes.why_not() == "Nothing was changed in this session"
    changes.add(undoable("first"), "")
    changes.add(undoable("second"), "")
    for title in ("second", "first"):
        change = changes.latest()
        assert change.title == title
        changes.forget(change)
    assert changes.latest() is None


def test_a_change_before_one_that_cannot_be_undone_is_not_offered() -> None:
    changes = listed()
    changes.add(undoable("Create credential"), "")
    changes.add(final("Rotate credential"), "")
    assert changes.latest() is None
    assert changes.why_not() == "Rotate credential: this cannot be undone"


async def test_bulk_undo_names_changes_that_cannot_be_undone(world: FaultWorld) -> None:
    changes = listed()
    parts = [BulkPart("1", "ci", undoable("first")), BulkPart("2", "web", final("second"))]
    changes.add_many(final("Both"), [(part, "") for part in parts])
    change = changes.latest()
    assert change is not None
    async with client_of(world) as client:
        plan = await changes.plan(client, change)
    assert plan.effects == ("Left out, it cannot be undone: web.",)
    assert [part.title for part in plan.parts] == ["back"]


def test_an_undo_is_not_undone_itself() -> None:
    changes = listed()
    changes.add(undoable("first"), "")
    back = Plan("a", "Undo first", "keys", "h", _never, undo=undoable("x").undo, undoes="p")
    changes.add(back, "")
    change = changes.latest()
    assert change.title == "first"


def test_a_change_can_be_undone_for_ten_minutes() -> None:
    passed = timedelta()
    changes = listed(lambda: NOW + passed)
    changes.add(undoable("first"), "")
    assert changes.latest() is not None
    passed = timedelta(minutes=9, seconds=59)
    assert changes.latest() is not None
    passed = timedelta(minutes=10)
    assert changes.latest() is None
    assert "more than 10 minutes ago" in changes.why_not()
