"""Undoing where somebody else was at work since: nothing is planned over their change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import AssignKeysRequest, CreateGuardrailRequest
from gwtui.contract.keys import UpdateKeyRequest
from gwtui.contract.organization import ChangeMembersRequest
from gwtui.crud.undo import CannotUndoError
from plan_kit import assignment_plans
from undo_kit import (
    RENAMED,
    WAYS,
    Make,
    client_of,
    done_now,
    limits,
    listed,
    look_assigned,
    look_budgets,
    send,
)
from writes_kit import FaultWorld

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
    ("make", "meddle", "why"),
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
async def test_nothing_is_undone_that_somebody_else_changed(
    world: FaultWorld, make: Make, meddle: Meddle, why: str
) -> None:
    async with client_of(world) as client:
        plan = make(world)
        done = done_now(plan, await send(client, plan))
        await meddle(world, client)
        with pytest.raises(CannotUndoError, match=why):
            await listed().plan(client, done)


async def test_what_else_was_changed_since_stays(world: FaultWorld) -> None:
    async with client_of(world) as client:
        plan = RENAMED(world)
        done = done_now(plan, await send(client, plan))
        await client.keys.update(world.key.hash or "", UpdateKeyRequest(limit=Decimal(7)))
        await send(client, await listed().plan(client, done))
        key = await client.keys.get(world.key.hash or "")
        assert (key.name, key.limit) == (world.key.name, Decimal(7))


async def test_a_series_that_stopped_half_way_is_undone_as_far_as_it_went(
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
        plan = assignment_plans.plan_assign_keys(other, [world.key, world.other_key], current, {})
        done = done_now(plan, await send(client, plan))
        back = await listed().plan(client, done)
        assert len(back.parts) == 2, "one goes back to its guardrail, the other to none"
        said = {(change.before, change.after) for change in back.changes}
        assert said == {("“Other”", "“PII”"), ("“Other”", "no guardrail")}
        await send(client, back)
        assert await look_assigned(world, client) == before
