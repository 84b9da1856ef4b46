"""Every read x every fault: repeated within bounds, Retry-After kept, a typed error in the end.

By default each read meets every third fault, in turn, so that every fault meets nine reads or more;
with ``GWTUI_FULL=1`` each read meets every one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from service_kit import FakeTime

from gwtui.client import errors
from gwtui.client.call import MAX_RETRIES
from gwtui.client.connection import Connection, Patience
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.embedded.faults.kinds import KINDS
from gwtui.embedded.routes import all_operations
from thoroughness import FULL
from writes_kit import FaultWorld

MODEL = "northwind/atlas-mini"
HASTY = Patience(whole=0.4)
"""In one process nothing but the limit of the whole attempt ends a silence."""


Read = Callable[[GatewayClient, FaultWorld], Awaitable[Any]]

READS: Mapping[str, Read] = {
    "listKeys": lambda g, w: g.keys.list(),
    "getKey": lambda g, w: g.keys.get(w.key.hash or ""),
    "getCurrentKey": lambda g, w: g.keys.current(),
    "getCredits": lambda g, w: g.credits.get(),
    "getActivity": lambda g, w: g.activity.list(),
    "getGeneration": lambda g, w: g.generations.get(w.generation),
    "getGenerationContent": lambda g, w: g.generations.content(w.generation),
    "listModels": lambda g, w: g.catalog.models(),
    "listUserModels": lambda g, w: g.catalog.user_models(),
    "countModels": lambda g, w: g.catalog.count(),
    "getModel": lambda g, w: g.catalog.model(MODEL),
    "listEndpoints": lambda g, w: g.catalog.endpoints(MODEL),
    "listZdrEndpoints": lambda g, w: g.catalog.zdr_endpoints(),
    "listProviders": lambda g, w: g.providers.list(),
    "listWorkspaces": lambda g, w: g.workspaces.list(),
    "getWorkspace": lambda g, w: g.workspaces.get("team"),
    "listWorkspaceMembers": lambda g, w: g.workspaces.members("team"),
    "listWorkspaceBudgets": lambda g, w: g.workspaces.budgets("team"),
    "getWorkspaceBudget": lambda g, w: g.workspaces.budget("team", "monthly"),
    "listOrganizationMembers": lambda g, w: g.organization.members(),
    "getOrganizationSettings": lambda g, w: g.organization.settings(),
    "listGuardrails": lambda g, w: g.guardrails.list(),
    "getGuardrail": lambda g, w: g.guardrails.get(w.guardrail.id or ""),
    "listGuardrailKeys": lambda g, w: g.guardrails.key_assignments(w.guardrail.id),
    "listAllGuardrailKeys": lambda g, w: g.guardrails.key_assignments(None),
    "listGuardrailMembers": lambda g, w: g.guardrails.member_assignments(w.guardrail.id),
    "listAllGuardrailMembers": lambda g, w: g.guardrails.member_assignments(None),
    "listByok": lambda g, w: g.byok.list(),
    "getByok": lambda g, w: g.byok.get(w.credential.id or ""),
}
NOT_IN_THE_CLIENT = {"getDescription"}


@dataclass(frozen=True)
class Row:
    """A fault, the error that remains when it does not pass, and whether it is worth repeating."""

    fault: str
    error: type[errors.GatewayError] | None
    repeated: bool = False
    waits: float = 0
    """Seconds that the gateway asks for before each repetition."""


ROWS = (
    Row("latency=0.001", None),
    Row("hang", errors.NoAnswerError, repeated=True),
    Row("hang-after", errors.NoAnswerError, repeated=True),
    Row("reset-before", errors.NoAnswerError, repeated=True),
    Row("reset-after", errors.NoAnswerError, repeated=True),
    Row("half-body", errors.NoAnswerError, repeated=True),
    Row("401", errors.UnauthorizedError),
    Row("403", errors.ForbiddenError),
    Row("409", errors.ConflictError),
    Row("429=4", errors.RateLimitedError, repeated=True, waits=4),
    Row("429-date=4", errors.RateLimitedError, repeated=True, waits=4),
    Row("500", errors.ServerError),
    Row("500-after", errors.ServerError),
    Row("502", errors.ServerError, repeated=True),
    Row("502-after", errors.ServerError, repeated=True),
    Row("503=7", errors.ServerError, repeated=True, waits=7),
    Row("503-after=7", errors.ServerError, repeated=True, waits=7),
    Row("504", errors.ServerError, repeated=True),
    Row("504-after", errors.ServerError, repeated=True),
    Row("524", errors.ServerError),
    Row("524-after", errors.ServerError),
    Row("malformed-not-json", errors.UnreadableAnswerError),
    Row("malformed-type", errors.UnreadableAnswerError),
    Row("malformed-data", errors.UnreadableAnswerError),
    Row("malformed-empty", errors.UnreadableAnswerError),
    Row("malformed-content-type", errors.UnreadableAnswerError),
    Row("clock-skew=-90", None),
)


def client_of(world: FaultWorld, time: FakeTime, patience: Patience) -> GatewayClient:
    where = Connection("http://localhost", token=world.token)
    http = httpx.ASGITransport(world.gateway.asgi)
    transport = Transport(where, clock=time.clock, http=http, patience=patience)
    return GatewayClient(where, clock=time.clock, transport=transport)


async def endless(world: FaultWorld, operation: str, row: Row) -> None:
    """The fault stays: a typed error after as many requests as that is worth."""
    time = FakeTime(chance=0.0)
    is_clock = row.fault.startswith("clock")
    world.faults.arm(row.fault if is_clock else f"{row.fault}:{operation}")
    client = client_of(world, time, HASTY if row.fault.startswith("hang") else Patience())
    caught: errors.GatewayError | None = None
    try:
        await READS[operation](client, world)
    except errors.GatewayError as error:
        caught = error
    if row.error is None:
        assert caught is None
        return
    assert type(caught) is row.error, caught
    assert len(world.requests) == 1 + (MAX_RETRIES if row.repeated else 0)
    assert time.waits == [row.waits] * (MAX_RETRIES if row.repeated else 0)


async def passing(world: FaultWorld, operation: str, row: Row) -> None:
    """The fault passes: what is worth repeating succeeds the second time."""
    time = FakeTime(chance=0.0)
    armed = world.faults.arm(f"{row.fault}:{operation} x1")
    client = client_of(world, time, HASTY if row.fault.startswith("hang") else Patience())
    await READS[operation](client, world)
    assert armed.struck == 1
    assert time.waits == [row.waits]


def rows_of(operation: str) -> tuple[Row, ...]:
    return ROWS if FULL else ROWS[list(READS).index(operation) % 3 :: 3]


@pytest.mark.parametrize("operation", READS)
async def test_every_fault_of_a_read(operation: str, world: FaultWorld) -> None:
    failed = []
    for row in rows_of(operation):
        # A silence costs real time: a passing one shows enough.
        plays = [passing] if row.fault.startswith("hang") else [endless]
        plays += [passing] if row.repeated and plays != [passing] else []
        for play in plays:
            world.begin()
            try:
                await play(world, operation, row)
            except (AssertionError, errors.GatewayError) as error:
                failed.append(f"{row.fault}, {play.__name__}: {error!r}")
    assert not failed, "\n".join(failed)


def test_nothing_is_left_out() -> None:
    """Every read operation of the API and every kind of fault."""
    assert set(READS) | NOT_IN_THE_CLIENT == {
        o.operation_id for o in all_operations() if not o.writes
    }
    # Faults of streams are met with requests to models.
    kinds = {name for name, kind in KINDS.items() if not kind.streams}
    assert {row.fault.partition("=")[0] for row in ROWS} == kinds
    met = [row for operation in READS for row in rows_of(operation)]
    assert set(met) == set(ROWS)
    print(f"{len(READS)} reads x {len(ROWS)} faults: {len(met)} of {len(READS) * len(ROWS)} met")


async def test_the_skew_of_the_gateway_is_measured(world: FaultWorld) -> None:
    world.begin()
    world.faults.arm("clock-skew=-90")
    client = client_of(world, FakeTime(), Patience())
    await client.credits.get()
    assert -91 <= client.skew.seconds <= -89
    assert client.skew.is_notable
    world.faults.clear()
    await client.credits.get()
    assert not client.skew.is_notable


async def test_a_date_is_waited_for_by_the_gateway_s_own_clock(world: FaultWorld) -> None:
    world.begin()
    world.faults.arm("clock-skew=-3600")
    world.faults.arm("429-date=4:getCredits x1")
    time = FakeTime(chance=0.0)
    await client_of(world, time, Patience()).credits.get()
    assert time.waits == [4.0]
