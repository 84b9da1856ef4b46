"""Every kind of fault and every write: one request, and a correct outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gwtui.client import errors
from gwtui.client.connection import Connection, Timeouts
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Confirmation, Refused, Unknown
from gwtui.embedded.faults import KINDS
from gwtui.embedded.hosting import host_on_socket
from gwtui.embedded.routes import all_operations
from gwtui.local.ledger import Ledger
from writes_kit import CLOCK, PLANS, Effect, FaultWorld

PATIENT = Timeouts()
FAILURES = (500, 502, 503, 504, 524)
ODD = ("not-json", "type", "data", "empty", "content-type")
HASTY = Timeouts(connect=2, read=0.05, write=2, pool=2, whole=2)


@dataclass(frozen=True)
class Row:
    """A fault, the expected outcome of a write, the reason, and whether the write is applied.

    ``effect`` None: either, because the client disconnects while the gateway works.
    """

    fault: str
    outcome: type
    error: type[errors.GatewayError] | None
    effect: bool | None
    timeouts: Timeouts = PATIENT


ROWS = (
    Row("", Applied, None, effect=True),
    Row("latency=0.01", Applied, None, effect=True),
    Row("latency=0.1", Unknown, errors.NoAnswerError, effect=None, timeouts=HASTY),
    Row("hang", Unknown, errors.NoAnswerError, effect=None, timeouts=HASTY),
    Row("hang-after", Unknown, errors.NoAnswerError, effect=None, timeouts=HASTY),
    Row("reset-before", Unknown, errors.NoAnswerError, effect=False),
    Row("reset-after", Unknown, errors.NoAnswerError, effect=True),
    Row("half-body", Unknown, errors.NoAnswerError, effect=True),
    Row("401", Refused, errors.UnauthorizedError, effect=False),
    Row("403", Refused, errors.ForbiddenError, effect=False),
    Row("409", Refused, errors.ConflictError, effect=False),
    Row("429", Refused, errors.RateLimitedError, effect=False),
    Row("429-date", Refused, errors.RateLimitedError, effect=False),
    *(Row(f"{fault}", Unknown, errors.ServerError, effect=False) for fault in FAILURES),
    *(Row(f"{fault}-after", Unknown, errors.ServerError, effect=True) for fault in FAILURES),
    *(
        Row(f"malformed-{fault}", Unknown, errors.UnreadableAnswerError, effect=True)
        for fault in ODD
    ),
    Row("clock-skew=-90", Applied, None, effect=True),
)

NOT_READ = {("giveFeedback", "malformed-type"), ("giveFeedback", "malformed-data")}
"""The contract describes no response to feedback, so any JSON is accepted."""


@asynccontextmanager
async def client_of(
    world: FaultWorld, path: Path, timeouts: Timeouts
) -> AsyncIterator[GatewayClient]:
    where = Connection("http://localhost", token=world.token, socket_path=path)
    transport = Transport(where, clock=CLOCK, timeouts=timeouts)
    async with GatewayClient(where, clock=CLOCK, transport=transport) as client:
        yield client


async def once(world: FaultWorld, operation: str, path: Path) -> Effect:
    """The effect of one undisturbed request on the data."""
    world.begin()
    async with client_of(world, path, PATIENT) as client:
        await PLANS[operation](world).send(client)
    return await world.effect()


async def meet(
    world: FaultWorld, operation: str, row: Row, path: Path, ledger: Ledger, expected: Effect
) -> None:
    """Send one write into one fault. Raises AssertionError if the outcome is wrong."""
    world.begin()
    if row.fault:
        suffix = "" if row.fault.startswith("clock") else f":{operation} x1"
        armed = world.faults.arm(row.fault + suffix)
    plan = PLANS[operation](world)
    async with client_of(world, path, row.timeouts) as client:
        executor = WriteExecutor(client, ledger, CLOCK)
        outcome: Any = await executor.execute(Confirmation(plan, "command line"))
        assert executor.write_log.fault is None
    effect = await world.effect()
    assert len(world.requests) == 1, "exactly one request"
    if row.fault and not row.fault.startswith("clock"):
        assert armed.struck == 1, "the fault struck"
    requested, error = row.outcome, row.error
    if (operation, row.fault) in NOT_READ:
        requested, error = Applied, None
    assert type(outcome) is requested, outcome
    assert error is None or type(outcome.error) is error, outcome
    assert row.effect is None or bool(effect) is (row.effect and bool(expected))
    assert not effect or effect == expected, "the write was applied exactly once"
    events = [entry.outcome for entry in ledger.entries() if entry.id == plan.id][::-1]
    assert events == ["intent", requested.__name__.lower()]
    is_open = requested is Unknown or (requested is Applied and plan.reveals)
    assert [item.id for item in ledger.open_writes()] == ([plan.id] if is_open else [])


@pytest.mark.parametrize("operation", PLANS)
async def test_every_fault_has_one_correct_outcome(
    operation: str, world: FaultWorld, tmp_path: Path, quick_disk: None
) -> None:
    failed = []
    path = tmp_path / "s" / "gateway.sock"
    async with host_on_socket(world.gateway, path):
        expected = await once(world, operation, path)
        assert bool(expected) is (operation != "giveFeedback"), "only feedback is not stored"
        for number, row in enumerate(ROWS):
            ledger = Ledger(tmp_path / f"{number}" / "audit.jsonl")
            try:
                await meet(world, operation, row, path, ledger, expected)
            except AssertionError as error:
                failed.append(f"{row.fault}: {error}")
    assert not failed, "\n".join(failed)
    print(f"{operation}: {len(ROWS)} rows")


def test_every_write_fault_is_tested() -> None:
    """Every write operation and every kind of fault, except those of model requests."""
    writes = {operation.operation_id for operation in all_operations() if operation.writes}
    assert set(PLANS) == writes - {"createChatCompletion", "createEmbeddings"}
    kinds = {kind for kind in KINDS if not kind.startswith("stream-")}
    assert {row.fault.partition("=")[0] for row in ROWS} - {""} == kinds
    print(f"{len(PLANS)} writes x {len(ROWS)} rows = {len(PLANS) * len(ROWS)} outcomes")
