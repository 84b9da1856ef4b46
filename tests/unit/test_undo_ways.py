"""The way back from every write: carried out on the real embedded gateway, it leaves no trace.

Where somebody changed the same thing since, or it is gone, nothing is planned and that is said.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from fault_world import NOW, PLANS, FaultWorld
from gwtui.actions import (
    assignment_plans,
    budget_series,
    byok_plans,
    guardrail_plans,
    key_plans,
    member_plans,
    organization_plans,
    workspace_plans,
)
from gwtui.actions.guardrail_plans import Reach
from gwtui.actions.plan import Applied, Consent, Plan, bundle
from gwtui.actions.road import WriteRoad
from gwtui.actions.undo import CannotUndoError, Done, UndoList, each_back
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilterRequest
from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
)
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.members import ChangeMembersRequest
from gwtui.contract.organization import UpdateOrganizationSettingsRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest
from gwtui.local.journal import Journal

Look = Callable[[FaultWorld, GatewayClient], Awaitable[Any]]
Make = Callable[[FaultWorld], Plan[Any]]
Meddle = Callable[[FaultWorld, GatewayClient], Awaitable[Any]]


@pytest.fixture(scope="module")
def shared() -> Iterator[FaultWorld]:
    world = FaultWorld()
    yield world
    world.close()


@pytest.fixture
def world(shared: FaultWorld) -> FaultWorld:
    shared.begin()
    return shared


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


# What can be undone -----------------------------------------------------------------------------


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


async def look_settings(_world: FaultWorld, client: GatewayClient) -> Any:
    return (await client.organization.settings()).is_filtered_model_catalog_enabled


def limits(world: FaultWorld, wanted: Mapping[str, Any]) -> Plan[Any]:
    before = budget_series.known_limits(world.budgets, world.workspace)
    plans = budget_series.plan_series(world.workspace, world.budgets, wanted, NOW)
    return budget_series.together(world.workspace, plans, before, wanted)


def removals(world: FaultWorld) -> Plan[Any]:
    parts = [
        assignment_plans.plan_unassign_keys(world.guardrail, world.key_assignments),
        assignment_plans.plan_unassign_members(world.guardrail, world.member_assignments, {}),
    ]
    return bundle(
        "Both", parts, action="x", resource="guardrails", identity=None, undo=each_back(parts)
    )


WAYS: Mapping[str, tuple[Make, Look]] = {
    "create a key": (
        lambda w: key_plans.plan_create(CreateKeyRequest(name="new"), NOW),
        look_keys,
    ),
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
    "disable a key": (lambda w: key_plans.plan_set_disabled(w.key, True, NOW), look_keys),
    "create a workspace": (
        lambda w: workspace_plans.plan_create(CreateWorkspaceRequest(name="New", slug="new")),
        look_spaces,
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
    "create a guardrail": (
        lambda w: guardrail_plans.plan_create(CreateGuardrailRequest(name="New"), GENERIC, NOW),
        look_guardrails,
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
            Reach(),
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
    "store a credential": (
        lambda w: byok_plans.plan_create(
            CreateByokRequest(provider="openai", key=SecretStr("sk-provider-9876543210"))
        ),
        look_byok,
    ),
    "change a credential": (
        lambda w: byok_plans.plan_update(
            w.credential, UpdateByokRequest(name="named", is_fallback=True, allowed_models=[])
        ),
        look_byok,
    ),
    "disable a credential": (
        lambda w: byok_plans.plan_set_disabled(w.credential, True, []),
        look_byok,
    ),
    "change budgets": (
        lambda w: limits(
            w, {"daily": Decimal(1), "monthly": None, "include_byok_in_budgets": True}
        ),
        look_budgets,
    ),
    "take a budget away": (lambda w: limits(w, {"monthly": None}), look_budgets),
    "change the settings": (
        lambda w: organization_plans.plan_update(
            w.settings,
            UpdateOrganizationSettingsRequest(
                is_filtered_model_catalog_enabled=not w.settings.is_filtered_model_catalog_enabled
            ),
        ),
        look_settings,
    ),
}


def listed(now: Callable[[], datetime] = lambda: NOW) -> UndoList:
    return UndoList(now)


def done_now(plan: Plan[Any], answer: Any) -> Done:
    changes = listed()
    changes.add(plan, answer)
    done = changes.latest()
    assert done is not None
    return done


@pytest.mark.parametrize("name", WAYS)
async def test_the_way_back_leaves_no_trace(world: FaultWorld, name: str) -> None:
    make, look = WAYS[name]
    async with client_of(world) as client:
        before = await look(world, client)
        plan = make(world)
        assert plan.undo is not None
        answer = await send(client, plan)
        assert await look(world, client) != before, "the write itself must show"
        back = await listed().plan(client, done_now(plan, answer))
        assert back.undoes == plan.id
        assert all(part.undoes == plan.id for part in back.parts)
        assert back.undo is None
        assert back.title == f"Undo: {plan.title}"
        assert back.changes or back.danger == "high", "it says what it does"
        await send(client, back)
        assert await look(world, client) == before


@pytest.mark.parametrize("operation", PLANS)
def test_every_write_has_a_way_back_or_says_that_it_has_none(
    world: FaultWorld, operation: str
) -> None:
    plan = PLANS[operation](world)
    if operation in {"putWorkspaceBudget", "deleteWorkspaceBudget"}:
        # Budgets are changed as a series, which is undone as a whole.
        assert limits(world, {"daily": Decimal(1)}).undo is not None
        return
    honest = any("cannot be undone" in line for line in plan.effects)
    assert honest == (plan.undo is None)


def test_rotating_a_credential_cannot_be_undone(world: FaultWorld) -> None:
    plan = byok_plans.plan_rotate(world.credential, SecretStr("sk-another-key-0123456789"))
    assert plan.undo is None
    assert any("cannot be undone" in line for line in plan.effects)


def test_what_was_not_known_cannot_be_put_back(world: FaultWorld) -> None:
    raw = {**world.key.raw, "limit": "much"}
    garbled = ApiKey.model_validate(raw)
    assert key_plans.plan_update(garbled, UpdateKeyRequest(limit=Decimal(1)), NOW).undo is None
    assert key_plans.plan_update(garbled, UpdateKeyRequest(name="x"), NOW).undo is not None


# What somebody else did since -------------------------------------------------------------------


async def disable(world: FaultWorld, client: GatewayClient) -> None:
    await client.keys.update(world.key.hash or "", UpdateKeyRequest(disabled=False))


async def rename(world: FaultWorld, client: GatewayClient) -> None:
    await client.keys.update(world.key.hash or "", UpdateKeyRequest(name="theirs"))


async def rename_back(world: FaultWorld, client: GatewayClient) -> None:
    await client.keys.update(world.key.hash or "", UpdateKeyRequest(name=world.key.name or ""))


async def delete_key(world: FaultWorld, client: GatewayClient) -> None:
    await client.keys.delete(world.key.hash or "")


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


RENAMED: Make = lambda w: key_plans.plan_update(w.key, UpdateKeyRequest(name="mine"), NOW)  # noqa: E731


@pytest.mark.parametrize(
    ("make", "meddle", "why"),
    [
        (RENAMED, rename, "Name is now theirs"),
        (RENAMED, rename_back, "as it was before already"),
        (RENAMED, delete_key, "no longer exists"),
        (WAYS["disable a key"][0], disable, "as it was before already"),
        (WAYS["take away from keys and members"][0], assign_another, "Somebody else changed"),
        (WAYS["take away from keys and members"][0], delete_guardrail, "no longer exists"),
        (WAYS["remove a member"][0], add_again, "members again"),
        (lambda w: limits(w, {"daily": Decimal(1)}), delete_budget, "as it was before already"),
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


def test_no_secret_is_held_on_to() -> None:
    """Neither what a plan sent nor what it was answered, for as long as it can be undone."""
    changes = listed()
    values = applied_with_secrets(changes)
    gc.collect()
    assert [value() for value in values] == [None, None]
    assert changes.latest() is not None


def applied_with_secrets(changes: UndoList) -> tuple[weakref.ref[SecretStr], ...]:
    """Two changes in the list, and their secrets; the frame that knew them is left with them."""
    sent = SecretStr("sk-sentinel-provider-key")
    stored = byok_plans.plan_create(CreateByokRequest(provider="openai", key=sent))
    changes.add(stored, ByokCredential.model_validate({"id": "c"}))
    created = key_plans.plan_create(CreateKeyRequest(name="x"), NOW)
    answer = CreatedKey.model_validate({"data": {"hash": "h"}, "key": "gw-v1-sentinel"})
    changes.add(created, answer)
    assert answer.key is not None
    return weakref.ref(answer.key), weakref.ref(sent)


# The list ---------------------------------------------------------------------------------------


async def test_the_undo_goes_down_the_road_and_names_what_it_undoes(
    world: FaultWorld, tmp_path: Path
) -> None:
    async with client_of(world) as client:
        road = WriteRoad(client, Journal(tmp_path / "journal.jsonl"))
        plan = RENAMED(world)
        outcome = await road.carry_out(Consent(plan, "dialog"))
        assert isinstance(outcome, Applied)
        road.undo.add(plan, outcome.value)
        done = road.undo.latest()
        assert done is not None
        back = await road.undo.plan(client, done)
        assert isinstance(await road.carry_out(Consent(back, "dialog")), Applied)
        newest, first = road.books.audit.entries()
        assert newest.undoes == first.id == plan.id
        assert first.undoes is None
        assert newest.title.startswith("Undo: ")


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
    changes.add(final("third"), "")
    second = changes.latest()
    assert second is not None
    assert second.title == "second"
    assert changes.after(second) == ("third",)
    assert not changes.offers_last
    changes.forget(second)
    first = changes.latest()
    assert first is not None
    assert first.title == "first"
    changes.forget(first)
    assert changes.latest() is None
    assert changes.why_not() == "third: this cannot be undone"


def test_an_undo_is_not_undone_itself() -> None:
    changes = listed()
    changes.add(undoable("first"), "")
    back = Plan("a", "Undo first", "keys", "h", _never, undo=undoable("x").undo, undoes="p")
    changes.add(back, "")
    done = changes.latest()
    assert done is not None
    assert done.title == "first"


def test_a_change_can_be_undone_for_ten_minutes() -> None:
    passed = timedelta()
    changes = listed(lambda: NOW + passed)
    changes.add(undoable("first"), "")
    assert changes.offers_last
    passed = timedelta(minutes=9, seconds=59)
    assert changes.latest() is not None
    passed = timedelta(minutes=10)
    assert changes.latest() is None
    assert "more than 10 minutes ago" in changes.why_not()
