"""A gateway with one resource of each kind, reset after each write, and a plan per write."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, cast

import httpx
from pydantic import SecretStr
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway_facts import made_request
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
)
from gwtui.contract.keys import ApiKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.organization import (
    ChangeMembersRequest,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
)
from gwtui.contract.usage import FeedbackRequest
from gwtui.contract.workspaces import (
    CreateWorkspaceRequest,
    PutBudgetRequest,
    UpdateWorkspaceRequest,
)
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.undo import AppliedChange, UndoList
from gwtui.crud.writes import Writes
from gwtui.domain.clock import Clock
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.routes import all_operations
from gwtui.resources import assignments
from gwtui.resources import budgets as budget_plans
from gwtui.resources import members as member_plans
from gwtui.resources.byok import CREDENTIALS
from gwtui.resources.generations import plan_feedback
from gwtui.resources.guardrails.writes import WRITES as GUARDRAIL_WRITES
from gwtui.resources.guardrails.writes import BoundBy
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.resources.organization import SETTINGS_WRITES
from gwtui.resources.recovery import declared_writes
from gwtui.resources.uses import WorkspaceContents
from gwtui.resources.workspaces import WRITES as WORKSPACE_WRITES
from gwtui.resources.workspaces import WorkspaceRelatedData

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
AT = PlanContext(NOW)
CLOCK = Clock(now=lambda: NOW, chance=lambda: 0.0)
_QUIET = frozenset({"usage", "sqlite_sequence"})
"""Tables that no API write changes while the clock stands still."""

State = Mapping[str, Counter[tuple[Any, ...]]]


@dataclass(frozen=True)
class Effect:
    """The effect on the server's data: rows gone and added by table, and the number of changes.

    A change that is made twice counts twice in ``changes``, even if the second changes nothing.
    """

    rows: Mapping[str, tuple[int, int]]
    changes: int

    def __bool__(self) -> bool:
        return bool(self.rows) or self.changes > 0


class FaultWorld:
    """The gateway, its initial state, and what its transport and database recorded."""

    def __init__(self) -> None:
        self.faults = FaultInjector()
        self.gateway = EmbeddedGateway(None, clock=CLOCK, faults=self.faults)
        self.token = SecretStr(self.gateway.issue_key(management=True))
        self.requests: list[tuple[str, str]] = []
        self.samples: dict[str, Any] = {}
        """The first row of each declared resource with a list."""
        self._running = 0
        self._idle = asyncio.Event()
        self._door = self.gateway.asgi
        self.gateway.asgi = self._watch
        asyncio.run(self._furnish())
        self._saved = sqlite3.connect(":memory:")
        self._database.backup(self._saved)
        self._before = self._state()
        self._changes = 0

    async def _watch(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests.append((scope["method"], scope["path"]))
        self._running += 1
        self._idle.clear()
        try:
            await cast("ASGIApp", self._door)(scope, receive, send)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    @property
    def _database(self) -> sqlite3.Connection:
        return self.gateway.database._connection

    def close(self) -> None:
        self.gateway.close()
        self._saved.close()

    # One write ------------------------------------------------------------------------------

    def begin(self) -> None:
        """Reset the data, and end every fault."""
        self.faults.clear()
        self._idle = asyncio.Event()
        self._idle.set()
        self._saved.backup(self._database)
        self.requests.clear()
        self._changes = self._database.total_changes

    async def effect(self) -> Effect:
        """The effect since ``begin``, once no request is in progress."""
        async with asyncio.timeout(5):
            await self._idle.wait()
        changes = self._database.total_changes - self._changes
        after = self._state()
        rows = {
            table: ((before - after[table]).total(), (after[table] - before).total())
            for table, before in self._before.items()
            if before != after[table]
        }
        return Effect(rows, changes)

    def _state(self) -> State:
        names = self._database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        tables = [row[0] for row in names.fetchall() if row[0] not in _QUIET]
        return {
            table: Counter(tuple(row) for row in self._database.execute(f"SELECT * FROM {table}"))  # noqa: S608
            for table in tables
        }

    # What stands in it ----------------------------------------------------------------------

    async def _furnish(self) -> None:
        async with client_of(self) as client:
            await self._organization(client)
            await self._guardrails(client)
            # With a clock that is behind, new resources would not be listed yet.
            self.generation = made_request(self.gateway, NOW - timedelta(minutes=5))
            self.credential = await client.byok.create(
                CreateByokRequest(provider="northwind", key=SecretStr("sk-provider-0123456789"))
            )
            for resource, writes in declared_writes().items():
                service = writes.service(client)
                if hasattr(service, "list"):
                    self.samples[resource] = (await service.list()).items[0]

    async def _organization(self, client: GatewayClient) -> None:
        team = CreateWorkspaceRequest(name="Team", slug="team")
        self.workspace = await client.workspaces.create(team)
        self.people = (await client.organization.members()).items
        request = ChangeMembersRequest(user_ids=[self.people[0].id or ""])
        await client.workspaces.add_members("team", request)
        self.members = (await client.workspaces.members("team")).items
        budget = PutBudgetRequest(limit_usd=Decimal(100))
        self.budgets = [await client.workspaces.put_budget("team", "monthly", budget)]

    async def _guardrails(self, client: GatewayClient) -> None:
        self.key, self.other_key = [
            cast("ApiKey", (await client.keys.create(CreateKeyRequest(name=name))).data)
            for name in ("first", "second")
        ]
        self.guardrail = await client.guardrails.create(CreateGuardrailRequest(name="PII"))
        identity = self.guardrail.id or ""
        await client.guardrails.assign_keys(
            identity, AssignKeysRequest(key_hashes=[self.key.hash or ""])
        )
        await client.guardrails.assign_members(
            identity, AssignMembersRequest(member_user_ids=[self.people[0].id or ""])
        )
        self.key_assignments = (await client.guardrails.key_assignments(identity)).items
        self.member_assignments = (await client.guardrails.member_assignments(identity)).items
        self.settings: OrganizationSettings = await client.organization.settings()


@asynccontextmanager
async def client_of(world: FaultWorld) -> AsyncIterator[GatewayClient]:
    where = Connection("http://localhost", token=world.token)
    transport = Transport(where, http=httpx.ASGITransport(world.gateway.asgi))
    async with GatewayClient(where, transport=transport) as client:
        yield client


async def send(client: GatewayClient, plan: Plan[Any]) -> Any:
    """Send the requests of a plan; return the response or responses."""
    assert plan.obstacles == ()
    if plan.parts:
        return tuple([await part.send(client) for part in plan.parts])
    return await plan.send(client)


def done_now(plan: Plan[Any], answer: Any) -> AppliedChange:
    changes = UndoList(lambda: NOW)
    changes.add(plan, answer)
    change = changes.latest()
    assert change is not None
    return change


def _deletions() -> Iterator[tuple[str, Callable[[FaultWorld], Plan[Any]]]]:
    """The deletion of the sample of each declared resource, by its operation."""
    for operation in all_operations():
        _, resource, *rest = operation.path.split("/")
        writes = declared_writes().get(resource)
        if operation.method == "DELETE" and len(rest) == 1 and writes is not None:
            yield operation.operation_id, partial(_plan_deletion, writes)


def _plan_deletion(writes: Writes[Any], world: FaultWorld) -> Plan[Any]:
    return writes.plan_delete(world.samples[writes.resource], AT)


PLANS: Mapping[str, Callable[[FaultWorld], Plan[Any]]] = {
    **dict(_deletions()),
    "createKey": lambda w: KEY_WRITES.plan_create(CreateKeyRequest(name="new"), AT),
    "updateKey": lambda w: KEY_WRITES.plan_update(w.key, UpdateKeyRequest(name="renamed"), AT),
    "deleteKey": lambda w: KEY_WRITES.plan_delete(w.key, AT, ()),
    "giveFeedback": lambda w: plan_feedback(
        FeedbackRequest(generation_id=w.generation, category="latency"), AT
    ),
    "createWorkspace": lambda w: WORKSPACE_WRITES.plan_create(
        CreateWorkspaceRequest(name="New", slug="new"), AT
    ),
    "updateWorkspace": lambda w: WORKSPACE_WRITES.plan_update(
        w.workspace, UpdateWorkspaceRequest(name="Renamed"), AT
    ),
    "deleteWorkspace": lambda w: WORKSPACE_WRITES.plan_delete(
        w.workspace,
        AT,
        WorkspaceRelatedData(WorkspaceContents([], w.budgets, [])),
    ),
    "addWorkspaceMembers": lambda w: member_plans.plan_add(w.workspace, w.people[1:3]),
    "removeWorkspaceMembers": lambda w: member_plans.plan_remove(
        w.workspace, w.members[:1], [], {}, NOW
    ),
    "putWorkspaceBudget": lambda w: budget_plans.plan_put(
        w.workspace, "daily", PutBudgetRequest(limit_usd=Decimal(5)), w.budgets, NOW
    ),
    "deleteWorkspaceBudget": lambda w: budget_plans.plan_delete(w.workspace, "monthly", w.budgets),
    "updateOrganizationSettings": lambda w: SETTINGS_WRITES.plan_update(
        w.settings,
        UpdateOrganizationSettingsRequest(
            is_filtered_model_catalog_enabled=not w.settings.is_filtered_model_catalog_enabled
        ),
        AT,
    ),
    "createGuardrail": lambda w: GUARDRAIL_WRITES.plan_create(
        CreateGuardrailRequest(name="New"), AT
    ),
    "updateGuardrail": lambda w: GUARDRAIL_WRITES.plan_update(
        w.guardrail,
        UpdateGuardrailRequest(name="Renamed"),
        AT,
        BoundBy().uses,
    ),
    "deleteGuardrail": lambda w: GUARDRAIL_WRITES.plan_delete(w.guardrail, AT, BoundBy()),
    "assignGuardrailKeys": lambda w: assignments.plan_assign(
        assignments.KEYS, w.guardrail, assignments.key_names([w.other_key]), w.key_assignments, {}
    ),
    "unassignGuardrailKeys": lambda w: assignments.plan_unassign(
        assignments.KEYS, w.guardrail, w.key_assignments, {}
    ),
    "assignGuardrailMembers": lambda w: assignments.plan_assign(
        assignments.MEMBERS,
        w.guardrail,
        {w.people[1].id or "": "a person"},
        w.member_assignments,
        {},
    ),
    "unassignGuardrailMembers": lambda w: assignments.plan_unassign(
        assignments.MEMBERS, w.guardrail, w.member_assignments, {}
    ),
    "createByok": lambda w: CREDENTIALS.plan_create(
        CreateByokRequest(provider="northwind", key=SecretStr("sk-provider-9876543210")),
        AT,
    ),
    "updateByok": lambda w: CREDENTIALS.plan_update(
        w.credential, UpdateByokRequest(name="named"), AT
    ),
    "deleteByok": lambda w: CREDENTIALS.plan_delete(w.credential, AT),
}
"""One write for each API operation that changes something."""
