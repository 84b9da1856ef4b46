"""What the tests of undoing share: every write, and what shows that it was undone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilterRequest
from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import UpdateGuardrailRequest
from gwtui.contract.keys import UpdateKeyRequest
from gwtui.contract.workspaces import UpdateWorkspaceRequest
from gwtui.crud.plan import Plan, bundle
from gwtui.crud.undo import AppliedChange, UndoList, undo_each
from gwtui.resources import members as member_plans
from gwtui.resources.budgets import WorkspaceBudgets
from gwtui.resources.guardrails.writes import BoundBy
from plan_kit import (
    assignment_plans,
    byok_plans,
    guardrail_plans,
    key_plans,
    workspace_plans,
)
from writes_kit import NOW, FaultWorld

Look = Callable[[FaultWorld, GatewayClient], Awaitable[Any]]
Make = Callable[[FaultWorld], Plan[Any]]


@asynccontextmanager
async def client_of(world: FaultWorld) -> AsyncIterator[GatewayClient]:
    where = Connection("http://localhost", token=world.token)
    transport = Transport(where, http=httpx.ASGITransport(world.gateway.asgi))
    async with GatewayClient(where, transport=transport) as client:
        yield client


async def send(client: GatewayClient, plan: Plan[Any]) -> Any:
    """Send what the plan says, part by part where it has parts; its answer or answers."""
    assert plan.obstacles == ()
    if plan.parts:
        return tuple([await part.send(client) for part in plan.parts])
    return await plan.send(client)


async def look_keys(_world: FaultWorld, client: GatewayClient) -> Any:
    return sorted(
        (one.hash, one.name, one.disabled, one.limit, one.limit_reset, one.include_byok_in_limit)
        for one in (await client.keys.list()).items
        if one.hash
    )


async def look_spaces(_world: FaultWorld, client: GatewayClient) -> Any:
    return sorted(
        (one.id, one.name, one.slug, one.description, one.io_logging_sampling_rate)
        for one in (await client.workspaces.list()).items
    )


async def look_members(_world: FaultWorld, client: GatewayClient) -> Any:
    return sorted(
        (one.user_id, one.role) for one in (await client.workspaces.members("team")).items
    )


async def look_guardrails(_world: FaultWorld, client: GatewayClient) -> Any:
    return [
        (one.id, one.name, one.allowed_models, one.limit_usd, one.content_filter_builtins)
        for one in (await client.guardrails.list()).items
    ]


async def look_assigned(_world: FaultWorld, client: GatewayClient) -> Any:
    keys = (await client.guardrails.key_assignments(None)).items
    members = (await client.guardrails.member_assignments(None)).items
    return (
        sorted((one.key_hash, one.guardrail_id) for one in keys),
        sorted((one.user_id, one.guardrail_id) for one in members),
    )


async def look_byok(_world: FaultWorld, client: GatewayClient) -> Any:
    return sorted(
        (one.id, one.name, one.disabled, one.is_fallback, one.allowed_models, one.label)
        for one in (await client.byok.list()).items
    )


async def look_budgets(world: FaultWorld, client: GatewayClient) -> Any:
    space = await client.workspaces.get(world.workspace.id or "")
    found = (await client.workspaces.budgets("team")).items
    limits = {one.interval: one.limit_usd for one in found}
    return limits, bool(space.include_byok_in_budgets)


def limits(world: FaultWorld, wanted: Mapping[str, Any]) -> Plan[Any]:
    return WorkspaceBudgets(world.workspace, world.budgets).plan(wanted, NOW)


def removals(world: FaultWorld) -> Plan[Any]:
    parts = [
        assignment_plans.plan_unassign_keys(world.guardrail, world.key_assignments),
        assignment_plans.plan_unassign_members(world.guardrail, world.member_assignments, {}),
    ]
    return bundle(
        "Both", parts, action="x", resource="guardrails", identity=None, undo=undo_each(parts)
    )


WAYS: Mapping[str, tuple[Make, Look]] = {
    "change a key": (
        lambda w: key_plans.plan_update(
            w.key,
            UpdateKeyRequest(
                name="renamed",
                limit=Decimal("2.50"),
                limit_reset="daily",
                include_byok_in_limit=not w.key.include_byok_in_limit,
            ),
            NOW,
        ),
        look_keys,
    ),
    "change a workspace": (
        lambda w: workspace_plans.plan_update(
            w.workspace,
            UpdateWorkspaceRequest(
                name="Renamed", description="x", io_logging_sampling_rate=Decimal("0.5")
            ),
        ),
        look_spaces,
    ),
    "add members": (
        lambda w: member_plans.plan_add(w.workspace, w.people[:3], {w.people[0].id or ""}),
        look_members,
    ),
    "remove a member": (
        lambda w: member_plans.plan_remove(w.workspace, w.members[:1], [], {}, NOW),
        look_members,
    ),
    "change a guardrail": (
        lambda w: guardrail_plans.plan_update(
            w.guardrail,
            UpdateGuardrailRequest(
                name="Renamed",
                limit_usd=Decimal(5),
                reset_interval="daily",
                content_filter_builtins=[BuiltinFilterRequest(slug="email", action="redact")],
            ),
            BoundBy(),
            GENERIC,
            NOW,
        ),
        look_guardrails,
    ),
    "assign to keys": (
        lambda w: assignment_plans.plan_assign_keys(
            w.guardrail, [w.key, w.other_key], w.key_assignments, {}
        ),
        look_assigned,
    ),
    "assign to members": (
        lambda w: assignment_plans.plan_assign_members(
            w.guardrail, [one.id or "" for one in w.people[:3]], w.member_assignments, {}, {}
        ),
        look_assigned,
    ),
    "take away from keys and members": (removals, look_assigned),
    "change a credential": (
        lambda w: byok_plans.plan_update(
            w.credential, UpdateByokRequest(name="named", is_fallback=True, allowed_models=[])
        ),
        look_byok,
    ),
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


def done_now(plan: Plan[Any], answer: Any) -> AppliedChange:
    changes = listed()
    changes.add(plan, answer)
    done = changes.latest()
    assert done is not None
    return done


RENAMED: Make = lambda w: key_plans.plan_update(w.key, UpdateKeyRequest(name="mine"), NOW)  # noqa: E731
