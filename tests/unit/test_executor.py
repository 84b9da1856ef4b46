"""The executor of writes: one request per plan under every failure, and its ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.request import Problem
from gwtui.contract.usage import FeedbackRequest
from gwtui.crud.executor import NOT_WRITTEN, WriteExecutor, WriteLog, reason
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Applied, Confirmation, Plan, Refused, Unknown, bundle
from gwtui.domain.clock import Clock
from gwtui.local.ledger import DIED, Ledger, LedgerEntry
from gwtui.resources.generations import plan_feedback

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
CLOCK = Clock(now=lambda: NOW)


class ScriptedClient:
    """Counts requests and answers each as the test says."""

    def __init__(self, answer: Callable[[], Awaitable[str]]) -> None:
        self.connection = Connection("http://localhost/api/v1")
        self.answer = answer
        self.requests = 0

    async def request(self) -> str:
        self.requests += 1
        return await self.answer()


async def _ok() -> str:
    return "made"


def raising(error: BaseException) -> Callable[[], Awaitable[str]]:
    async def answer() -> str:
        raise error

    return answer


class HeldRequest:
    """A response that is sent when the test releases it."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.let = asyncio.Event()

    async def __call__(self) -> str:
        self.arrived.set()
        await self.let.wait()
        return "made"


def rig(answer: Callable[[], Awaitable[str]], folder: Path) -> tuple[ScriptedClient, WriteExecutor]:
    """A client with these responses, and an executor."""
    client = ScriptedClient(answer)
    ledger = Ledger(folder / "j" / "audit.jsonl")
    return client, WriteExecutor(cast("GatewayClient", client), ledger, CLOCK)


def plan(identity: str | None = "h1", **more: Any) -> Plan[str]:
    return Plan(
        action="keys.edit",
        title=f"Edit key {identity}",
        resource="keys",
        identity=identity,
        send=lambda client: cast("ScriptedClient", client).request(),
        summary={"name": "ci"},
        **more,
    )


def agreed(identity: str | None = "h1", **more: Any) -> Confirmation[str]:
    return Confirmation(plan(identity, **more), "dialog")


def events(executor: WriteExecutor) -> list[str]:
    return [entry.outcome for entry in executor.ledger.entries()][::-1]


async def test_an_applied_write_is_journaled_before_and_after(tmp_path: Path) -> None:
    results: list[list[str]] = []

    async def answer() -> str:
        results.append(events(executor))
        return "made"

    _, executor = rig(answer, tmp_path)
    outcome = await executor.execute(agreed(identity=None, identify=lambda value: f"id of {value}"))
    assert outcome == Applied("made")
    assert results == [["intent"]], "the intent must be on the disk when the request leaves"
    assert events(executor) == ["intent", "applied"]
    applied, intent = executor.ledger.entries()
    assert intent.gateway == "http://localhost/api/v1"
    assert intent.summary == {"name": "ci"}
    assert intent.at == NOW
    assert applied.identity == "id of made"
    assert executor.in_flight == 0


FAULTS = [
    (errors.ReadOnlyError("read-only"), Refused),
    (errors.InvalidRequestError([Problem("name", "is required")]), Refused),
    (errors.ConnectFailedError("no connection"), Refused),
    (errors.NoAnswerError("time-out"), Unknown),
    (errors.UnreadableAnswerError("half a body"), Unknown),
    (errors.BadRequestError("bad", status=400), Refused),
    (errors.UnauthorizedError("who", status=401), Refused),
    (errors.PaymentRequiredError("pay", status=402), Refused),
    (errors.ForbiddenError("no", status=403), Refused),
    (errors.NotFoundError("gone", status=404), Refused),
    (errors.ConflictError("changed", status=409), Refused),
    (errors.TooLargeError("large", status=413), Refused),
    (errors.RateLimitedError("slow", status=429), Refused),
    (errors.ServerError("broken", status=500), Unknown),
    (errors.ServerError("gateway", status=502), Unknown),
    (errors.StatusError("tea", status=418), Refused),
    (errors.GatewayError("anything else"), Unknown),
]


@pytest.mark.parametrize(("error", "expected"), FAULTS, ids=lambda v: type(v).__name__)
async def test_every_fault_has_one_request_and_one_outcome(
    error: errors.GatewayError, expected: type, tmp_path: Path
) -> None:
    client, executor = rig(raising(error), tmp_path)
    outcome = await executor.execute(agreed())
    assert type(outcome) is expected
    assert cast("Refused | Unknown", outcome).error is error
    assert client.requests == 1, "a write is never retried"
    assert events(executor) == ["intent", "refused" if expected is Refused else "unknown"]
    assert len(executor.ledger.open_writes()) == (0 if expected is Refused else 1)


async def test_a_defect_while_reading_the_answer_is_an_unknown_outcome(tmp_path: Path) -> None:
    _, executor = rig(raising(ZeroDivisionError("sk-secret-in-a-message")), tmp_path)
    outcome = await executor.execute(agreed())
    assert isinstance(outcome, Unknown)
    assert "ZeroDivisionError" in outcome.error.message
    assert "sk-secret" not in executor.ledger.path.read_text()
    assert events(executor) == ["intent", "unknown"]


async def test_cancelling_the_caller_does_not_cancel_the_request(tmp_path: Path) -> None:
    request = HeldRequest()
    _, executor = rig(request, tmp_path)
    caller = asyncio.create_task(executor.execute(agreed()))
    await request.arrived.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert executor.in_flight == 1
    assert await executor.settle(0.01) == 1
    request.let.set()
    assert await executor.settle(5) == 0
    assert events(executor) == ["intent", "applied"]
    assert executor.in_flight == 0


def test_an_interrupted_event_loop_leaves_an_open_intent(tmp_path: Path) -> None:
    executor: list[WriteExecutor] = []

    async def program() -> None:
        request = HeldRequest()
        executor.append(rig(request, tmp_path)[1])
        asyncio.get_running_loop().create_task(executor[0].execute(agreed()))
        await request.arrived.wait()

    asyncio.run(program())
    (open_write,) = executor[0].ledger.open_writes()
    assert open_write.outcome == "unknown"
    assert "ended before the response" in open_write.message


async def test_an_abandoned_write_is_recorded_as_unknown_once(tmp_path: Path) -> None:
    """As at a forced exit: from another thread, while the event loop is blocked."""
    request = HeldRequest()
    executor = rig(request, tmp_path)[1]
    caller = asyncio.create_task(executor.execute(agreed()))
    await request.arrived.wait()
    for _ in range(2):
        await asyncio.to_thread(executor.abandon)
    assert events(executor) == ["intent", "unknown"]
    (open_write,) = executor.ledger.open_writes()
    assert open_write.outcome == "unknown"
    request.let.set()
    assert await caller == Applied("made")
    assert events(executor) == ["intent", "unknown"]


async def test_a_write_that_was_not_sent_is_not_abandoned(tmp_path: Path) -> None:
    executor = rig(_ok, tmp_path)[1]
    caller = asyncio.create_task(executor.execute(agreed()))
    await asyncio.sleep(0)
    executor.abandon()
    assert await caller == Applied("made")
    executor.abandon()
    assert events(executor) == ["intent", "applied"]


async def test_a_write_that_cannot_be_recorded_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "j").write_text("a file where the directory should be")
    client, executor = rig(_ok, tmp_path)
    outcome = await executor.execute(agreed())
    assert isinstance(outcome, Refused)
    assert isinstance(outcome.error, errors.NotSentError)
    assert "audit log" in outcome.error.message
    assert client.requests == 0
    assert executor.in_flight == 0


async def test_an_outcome_that_cannot_be_written_leaves_the_intent_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, executor = rig(_ok, tmp_path)
    record = Ledger.record

    def full_after_the_intent(self: Ledger, entry: LedgerEntry) -> None:
        if entry.outcome != "intent":
            raise OSError(28, "No space left on device")
        record(self, entry)

    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "record", full_after_the_intent)
        assert await executor.execute(agreed()) == Applied("made")
    assert len(executor.ledger.open_writes()) == 1
    assert executor.write_log.fault == "No space left on device"
    await executor.execute(agreed("h2"))
    assert executor.write_log.fault is None


async def test_the_same_resource_is_changed_once_at_a_time(tmp_path: Path) -> None:
    request = HeldRequest()
    client, executor = rig(request, tmp_path)
    first = asyncio.create_task(executor.execute(agreed("h1")))
    await request.arrived.wait()
    second = await executor.execute(agreed("h1"))
    assert isinstance(second, Refused)
    assert "under way" in second.error.message
    assert "Edit key h1" in second.error.message
    assert client.requests == 1
    (entry,) = executor.ledger.audit()
    assert (entry.outcome, entry.message) == ("refused", second.error.message)
    other = asyncio.create_task(executor.execute(agreed("h2")))
    request.let.set()
    assert await first == Applied("made")
    assert await other == Applied("made")
    assert await executor.execute(agreed("h1")) == Applied("made")
    assert client.requests == 3


async def test_a_double_submit_of_a_creation_sends_one_request(tmp_path: Path) -> None:
    request = HeldRequest()
    client, executor = rig(request, tmp_path)
    first = asyncio.create_task(executor.execute(agreed(None)))
    await request.arrived.wait()
    assert isinstance(await executor.execute(agreed(None)), Refused)
    request.let.set()
    assert await first == Applied("made")
    assert client.requests == 1


@pytest.mark.parametrize(
    "answer",
    [_ok, raising(errors.NoAnswerError("lost")), raising(errors.BadRequestError("b", status=400))],
)
async def test_a_plan_is_carried_out_at_most_once(
    answer: Callable[[], Awaitable[str]], tmp_path: Path
) -> None:
    client, executor = rig(answer, tmp_path)
    confirmation = agreed()
    await executor.execute(confirmation)
    repeated = await executor.execute(confirmation)
    assert isinstance(repeated, Refused)
    assert "not sent twice" in repeated.error.message
    assert client.requests == 1


async def test_obstacles_are_recorded_as_refusals_without_an_intent(tmp_path: Path) -> None:
    client, executor = rig(_ok, tmp_path)
    first, second = plan("h1"), plan("h2", obstacles=("It is the last one.",))
    refused = await executor.execute(Confirmation(second, "dialog"))
    assert isinstance(refused, Refused)
    both = bundle("Both", [first, second], action="a", resource="keys", identity=None)
    await executor.reject(Confirmation(both, "command line"), "It is the last one.")
    entries = [(item.title, item.outcome, item.message) for item in executor.ledger.audit()]
    refusal = ("refused", "It is the last one.")
    assert entries == [
        ("Edit key h2", *refusal),
        ("Edit key h1", *refusal),
        ("Edit key h2", *refusal),
    ]
    assert client.requests == 0
    assert "intent" not in events(executor), "no intent is recorded"


async def test_a_plan_of_several_requests_is_sent_part_by_part_only(tmp_path: Path) -> None:
    client, executor = rig(_ok, tmp_path)
    parts = [plan("h1"), plan("h2")]
    confirmation = Confirmation(
        bundle("Both", parts, action="a", resource="keys", identity=None), "typed"
    )
    with pytest.raises(ValueError, match="part by part"):
        await executor.execute(confirmation)
    assert client.requests == 0
    assert [item.plan for item in confirmation.each()] == parts
    assert {item.by for item in confirmation.each()} == {"typed"}
    alone = agreed()
    assert alone.each() == (alone,)


# The write log ------------------------------------------------------------------------------------


def write_log(folder: Path) -> WriteLog:
    connection = Connection("https://gateway.test", label="work")
    return WriteLog(connection, Ledger(folder / "audit.jsonl"), Clock(now=lambda: NOW))


def test_writes_of_a_dead_program_become_unknown(tmp_path: Path) -> None:
    log = write_log(tmp_path)
    log.ledger.record(LedgerEntry(id="p", outcome="intent", at=NOW))
    log.mark_dead_as_unknown()
    assert [(item.outcome, item.message) for item in log.ledger.audit()] == [("unknown", DIED)]


def test_a_private_value_is_not_recorded(tmp_path: Path) -> None:
    comment = "the answer quoted a customer: sentinel-of-a-prompt"
    request = FeedbackRequest(generation_id="gen-1", category="incoherence", comment=comment)
    plan = plan_feedback(request, PlanContext(NOW))
    assert any(change.after == comment for change in plan.changes), "the plan shows the comment"
    item = write_log(tmp_path)
    agreed = Confirmation(plan, "form")
    item.announce(agreed)
    item.record(agreed, Applied(None), "req-1")
    assert "sentinel" not in item.ledger.path.read_text()
    (line,) = item.ledger.audit()
    assert NOT_WRITTEN in [change.after for change in line.changes]


def test_a_journal_that_cannot_be_tidied_is_known(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    item = write_log(tmp_path)
    item.mark_dead_as_unknown()
    assert item.fault is not None


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("in the way"), "in the way"),
        (ValueError("a lone surrogate"), "a lone surrogate"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_every_fault_has_a_message(error: Exception, text: str) -> None:
    assert reason(error) == text
