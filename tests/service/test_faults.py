"""Every kind of fault and every operation: what a read shows and what becomes of a write."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from service_kit import FakeTime

from gwtui.client import errors
from gwtui.client.call import MAX_RETRIES
from gwtui.client.connection import Connection, Patience
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Confirmation, Refused, Unknown
from gwtui.embedded.faults import KINDS
from gwtui.embedded.hosting import host_on_socket
from gwtui.embedded.routes import all_operations
from gwtui.local.ledger import Ledger
from thoroughness import FULL
from writes_kit import CLOCK, PLANS, Effect, FaultWorld

PATIENT = Patience()
FAILURES = (500, 502, 503, 504, 524)
ODD = ("not-json", "type", "data", "empty", "content-type")
HASTY = Patience(connect=2, read=0.05, write=2, pool=2, whole=2)


@dataclass(frozen=True)
class Row:
    """A fault, what must come of a write that meets it and why, and whether its effect is there.

    ``effect`` None: as it happens, for the client goes away while the gateway is at it.
    """

    fault: str
    outcome: type
    error: type[errors.GatewayError] | None
    effect: bool | None
    patience: Patience = PATIENT


ROWS = (
    Row("", Applied, None, effect=True),
    Row("latency=0.01", Applied, None, effect=True),
    Row("latency=0.1", Unknown, errors.NoAnswerError, effect=None, patience=HASTY),
    Row("hang", Unknown, errors.NoAnswerError, effect=None, patience=HASTY),
    Row("hang-after", Unknown, errors.NoAnswerError, effect=None, patience=HASTY),
    Row("reset-before", Unknown, errors.NoAnswerError, effect=False),
    Row("reset-after", Unknown, errors.NoAnswerError, effect=True),
    Row("half-body", Unknown, errors.NoAnswerError, effect=True),
    Row("401", Refused, errors.UnauthorizedError, effect=False),
    Row("403", Refused, errors.ForbiddenError, effect=False),
    Row("409", Refused, errors.ConflictError, effect=False),
    Row("429", Refused, errors.RateLimitedError, effect=False),
    Row("429-date", Refused, errors.RateLimitedError, effect=False),
    *(Row(f"{it}", Unknown, errors.ServerError, effect=False) for it in FAILURES),
    *(Row(f"{it}-after", Unknown, errors.ServerError, effect=True) for it in FAILURES),
    *(Row(f"malformed-{it}", Unknown, errors.UnreadableAnswerError, effect=True) for it in ODD),
    Row("clock-skew=-90", Applied, None, effect=True),
)

NOT_READ = {("giveFeedback", "malformed-type"), ("giveFeedback", "malformed-data")}
"""The contract describes no answer to feedback: any JSON will do."""


@asynccontextmanager
async def client_of(
    world: FaultWorld, path: Path, patience: Patience
) -> AsyncIterator[GatewayClient]:
    where = Connection("http://localhost", token=world.token, socket_path=path)
    transport = Transport(where, clock=CLOCK, patience=patience)
    async with GatewayClient(where, clock=CLOCK, transport=transport) as client:
        yield client


async def once(world: FaultWorld, operation: str, path: Path) -> Effect:
    """What one undisturbed request does to the data."""
    world.begin()
    async with client_of(world, path, PATIENT) as client:
        await PLANS[operation](world).send(client)
    return await world.effect()


async def meet(
    world: FaultWorld, operation: str, row: Row, path: Path, ledger: Ledger, expected: Effect
) -> None:
    """Send one write into one fault; AssertionError when anything about it is not true."""
    world.begin()
    if row.fault:
        suffix = "" if row.fault.startswith("clock") else f":{operation} x1"
        armed = world.faults.arm(row.fault + suffix)
    plan = PLANS[operation](world)
    async with client_of(world, path, row.patience) as client:
        executor = WriteExecutor(client, ledger, CLOCK)
        outcome: Any = await executor.execute(Confirmation(plan, "command line"))
        assert executor.ledger_fault is None
    effect = await world.effect()
    assert len(world.requests) == 1, "exactly one request"
    if row.fault and not row.fault.startswith("clock"):
        assert armed.struck == 1, "the fault was met"
    wanted, why = row.outcome, row.error
    if (operation, row.fault) in NOT_READ:
        wanted, why = Applied, None
    assert type(outcome) is wanted, outcome
    assert why is None or type(outcome.error) is why, outcome
    assert row.effect is None or bool(effect) is (row.effect and bool(expected))
    assert not effect or effect == expected, "the effect is there once"
    events = [entry.outcome for entry in ledger.entries() if entry.id == plan.id][::-1]
    assert events == ["intent", wanted.__name__.lower()]
    left = wanted is Unknown or (wanted is Applied and plan.reveals)
    assert [one.id for one in ledger.open_writes()] == ([plan.id] if left else [])


@pytest.mark.parametrize("operation", PLANS)
async def test_every_fault_ends_in_one_true_outcome(
    operation: str, world: FaultWorld, tmp_path: Path, quick_disk: None
) -> None:
    failed = []
    path = tmp_path / "s" / "gateway.sock"
    async with host_on_socket(world.gateway, path):
        expected = await once(world, operation, path)
        assert bool(expected) is (operation != "giveFeedback"), "feedback alone is not stored"
        for number, row in enumerate(ROWS):
            ledger = Ledger(tmp_path / f"{number}" / "audit.jsonl")
            try:
                await meet(world, operation, row, path, ledger, expected)
            except AssertionError as error:
                failed.append(f"{row.fault}: {error}")
    assert not failed, "\n".join(failed)
    print(f"{operation}: {len(ROWS)} rows")


def test_every_fault_of_a_write_is_tried() -> None:
    """Every write operation of the API and every kind of fault, but those of requests to models."""
    writes = {one.operation_id for one in all_operations() if one.writes}
    assert set(PLANS) == writes - {"createChatCompletion", "createEmbeddings"}
    kinds = {kind for kind in KINDS if not kind.startswith("stream-")}
    assert {row.fault.partition("=")[0] for row in ROWS} - {""} == kinds
    print(f"{len(PLANS)} writes x {len(ROWS)} rows = {len(PLANS) * len(ROWS)} outcomes")


# Reads --------------------------------------------------------------------------------------------


MODEL = "northwind/atlas-mini"
HASTY_READS = Patience(whole=0.4)
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
class ReadRow:
    """A fault, the error that remains when it does not pass, and whether it is worth repeating."""

    fault: str
    error: type[errors.GatewayError] | None
    repeated: bool = False
    waits: float = 0
    """Seconds that the gateway asks for before each repetition."""


READ_ROWS = (
    ReadRow("latency=0.001", None),
    ReadRow("hang", errors.NoAnswerError, repeated=True),
    ReadRow("hang-after", errors.NoAnswerError, repeated=True),
    ReadRow("reset-before", errors.NoAnswerError, repeated=True),
    ReadRow("reset-after", errors.NoAnswerError, repeated=True),
    ReadRow("half-body", errors.NoAnswerError, repeated=True),
    ReadRow("401", errors.UnauthorizedError),
    ReadRow("403", errors.ForbiddenError),
    ReadRow("409", errors.ConflictError),
    ReadRow("429=4", errors.RateLimitedError, repeated=True, waits=4),
    ReadRow("429-date=4", errors.RateLimitedError, repeated=True, waits=4),
    ReadRow("500", errors.ServerError),
    ReadRow("500-after", errors.ServerError),
    ReadRow("502", errors.ServerError, repeated=True),
    ReadRow("502-after", errors.ServerError, repeated=True),
    ReadRow("503=7", errors.ServerError, repeated=True, waits=7),
    ReadRow("503-after=7", errors.ServerError, repeated=True, waits=7),
    ReadRow("504", errors.ServerError, repeated=True),
    ReadRow("504-after", errors.ServerError, repeated=True),
    ReadRow("524", errors.ServerError),
    ReadRow("524-after", errors.ServerError),
    ReadRow("malformed-not-json", errors.UnreadableAnswerError),
    ReadRow("malformed-type", errors.UnreadableAnswerError),
    ReadRow("malformed-data", errors.UnreadableAnswerError),
    ReadRow("malformed-empty", errors.UnreadableAnswerError),
    ReadRow("malformed-content-type", errors.UnreadableAnswerError),
    ReadRow("clock-skew=-90", None),
)


def reading_client(world: FaultWorld, time: FakeTime, patience: Patience) -> GatewayClient:
    where = Connection("http://localhost", token=world.token)
    http = httpx.ASGITransport(world.gateway.asgi)
    transport = Transport(where, clock=time.clock, http=http, patience=patience)
    return GatewayClient(where, clock=time.clock, transport=transport)


async def endless(world: FaultWorld, operation: str, row: ReadRow) -> None:
    """The fault stays: a typed error after as many requests as that is worth."""
    time = FakeTime(chance=0.0)
    is_clock = row.fault.startswith("clock")
    world.faults.arm(row.fault if is_clock else f"{row.fault}:{operation}")
    client = reading_client(
        world, time, HASTY_READS if row.fault.startswith("hang") else Patience()
    )
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


async def passing(world: FaultWorld, operation: str, row: ReadRow) -> None:
    """The fault passes: what is worth repeating succeeds the second time."""
    time = FakeTime(chance=0.0)
    armed = world.faults.arm(f"{row.fault}:{operation} x1")
    client = reading_client(
        world, time, HASTY_READS if row.fault.startswith("hang") else Patience()
    )
    await READS[operation](client, world)
    assert armed.struck == 1
    assert time.waits == [row.waits]


def rows_of(operation: str) -> tuple[ReadRow, ...]:
    return READ_ROWS if FULL else READ_ROWS[list(READS).index(operation) % 3 :: 3]


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


def test_every_read_is_tried() -> None:
    """Every read operation of the API and every kind of fault."""
    assert set(READS) | NOT_IN_THE_CLIENT == {
        o.operation_id for o in all_operations() if not o.writes
    }
    # Faults of streams are met with requests to models.
    kinds = {name for name, kind in KINDS.items() if not kind.streams}
    assert {row.fault.partition("=")[0] for row in READ_ROWS} == kinds
    met = [row for operation in READS for row in rows_of(operation)]
    assert set(met) == set(READ_ROWS)


async def test_the_skew_of_the_gateway_is_measured(world: FaultWorld) -> None:
    world.begin()
    world.faults.arm("clock-skew=-90")
    client = reading_client(world, FakeTime(), Patience())
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
    await reading_client(world, time, Patience()).credits.get()
    assert time.waits == [4.0]
