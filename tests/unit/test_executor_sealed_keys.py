"""An answer that is given once is brought into safety before anything else can fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gwtui.client.connection import Connection
from gwtui.client.errors import NoAnswerError
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Confirmation, Outcome, Plan
from gwtui.domain.clock import Clock
from gwtui.local.journal import Journal
from gwtui.local.sealed_keys import SealError

CLOCK = Clock(now=lambda: datetime(2026, 11, 21, 7, 0, tzinfo=UTC))


@pytest.fixture
def executor(tmp_path: Path) -> WriteExecutor:
    client = SimpleNamespace(connection=Connection("http://localhost/api/v1"))
    return WriteExecutor(cast("Any", client), Journal(tmp_path / "j" / "journal.jsonl"), CLOCK)


def consent(
    keep: Callable[[str], None], answer: Callable[[], str] = lambda: "gw-v1-sentinel"
) -> Confirmation[str]:
    async def send(_client: object) -> str:
        return answer()

    plan = Plan("keys.create", "Create", "keys", None, send, keep=keep)
    return Confirmation(plan, "form")


def events(executor: WriteExecutor) -> list[str]:
    return [entry.event for entry in executor.journal.entries()]


async def test_the_answer_is_kept_before_the_journal_says_applied(executor: WriteExecutor) -> None:
    seen: list[Any] = []
    outcome = await executor.execute(consent(lambda value: seen.append((value, events(executor)))))
    assert outcome == Applied("gw-v1-sentinel")
    assert seen == [("gw-v1-sentinel", ["intent"])]
    assert events(executor) == ["intent", "applied"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (SealError("No space left on device"), "No space left on device"),
        (ValueError("gw-v1-sentinel"), "unexpected ValueError"),
    ],
)
async def test_a_failure_to_keep_is_told_and_the_journal_is_still_right(
    executor: WriteExecutor, fault: Exception, said: str
) -> None:
    def fail(_value: str) -> None:
        raise fault

    outcome = await executor.execute(consent(fail))
    assert outcome == Applied("gw-v1-sentinel", said)
    assert events(executor) == ["intent", "applied"]
    assert "sentinel" not in executor.journal.path.read_text()


async def test_nothing_is_kept_of_a_lost_answer(executor: WriteExecutor) -> None:
    def lost() -> str:
        raise NoAnswerError("reset")

    kept: list[str] = []
    outcome: Outcome[str] = await executor.execute(consent(kept.append, lost))
    assert kept == []
    assert not isinstance(outcome, Applied)


async def test_a_torn_down_loop_still_keeps_the_answer_once(
    executor: WriteExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled after the answer, before the thread that keeps it has begun."""
    kept: list[str] = []
    answered = asyncio.Event()
    plain = asyncio.to_thread

    async def to_thread(work: Callable[..., Any], *given: Any) -> Any:
        if work.__name__ == "_finish":
            answered.set()
            await asyncio.Event().wait()
        return await plain(work, *given)

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    waiting = asyncio.create_task(executor.execute(consent(kept.append)))
    await answered.wait()
    for task in tuple(executor._tasks):
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert kept == ["gw-v1-sentinel"]
    assert events(executor) == ["intent", "applied"]
