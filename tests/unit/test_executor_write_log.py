"""What is written down of writes: nothing private, nothing forgotten, nothing twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gwtui.client.connection import Connection
from gwtui.client.errors import NoAnswerError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.usage import FeedbackRequest
from gwtui.crud.executor import NOT_WRITTEN, WriteLog, reason
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Applied, Change, Confirmation, Plan, Unknown
from gwtui.domain.clock import Clock
from gwtui.local.ledger import DIED, AuditedChange, Ledger
from gwtui.resources.generations import plan_feedback

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


def write_log(folder: Path) -> WriteLog:
    connection = Connection("https://gateway.test", label="work")
    return WriteLog(connection, Ledger(folder / "audit.jsonl"), Clock(now=lambda: NOW))


def consent(**more: Any) -> Confirmation[None]:
    return Confirmation(Plan("keys.edit", "Change key “ci”", "keys", "h", _never, **more), "dialog")


async def _never(_client: GatewayClient) -> None:
    raise AssertionError("nothing is sent here")


def test_what_a_dead_program_left_is_told_once(tmp_path: Path) -> None:
    before = write_log(tmp_path)
    agreed = consent(changes=(Change("Name", "ci", "laptop"),))
    before.announce(agreed)
    before.tidy()
    assert list(before.ledger.audit()) == [], "its program still runs"
    (line,) = before.ledger.entries()
    before.ledger.path.unlink()
    before.ledger.record(replace(line, process={**line.process, "began": "another life"}))
    for _ in range(2):
        write_log(tmp_path).tidy()
    (told,) = before.ledger.audit()
    assert (told.id, told.outcome, told.message) == (agreed.plan.id, "unknown", DIED)
    assert (told.title, told.profile, told.consent) == ("Change key “ci”", "work", "dialog")
    assert [one.after for one in told.changes] == ["laptop"]
    (left,) = before.ledger.open_writes()
    assert left.outcome == "unknown"
    assert left.changes == (AuditedChange("Name", "ci", "laptop"),)


def test_a_person_closes_a_write_unresolved(tmp_path: Path) -> None:
    one = write_log(tmp_path)
    agreed = consent()
    one.announce(agreed)
    one.record(agreed, Unknown(NoAnswerError("lost")))
    (left,) = one.ledger.open_writes()
    one.ledger.resolve(left, NOW, "the key is there: it happened")
    assert one.ledger.open_writes() == ()
    resolved, unknown = one.ledger.audit()
    assert (resolved.id, resolved.outcome) == (unknown.id, "resolved")
    assert resolved.message == "the key is there: it happened"
    assert resolved.title == unknown.title
    assert unknown.message == "lost"


def test_a_private_change_is_not_written_down(tmp_path: Path) -> None:
    said = "the answer quoted a customer: sentinel-of-a-prompt"
    request = FeedbackRequest(generation_id="gen-1", category="incoherence", comment=said)
    plan = plan_feedback(request, PlanContext(NOW))
    assert any(change.after == said for change in plan.changes), "it is shown"
    one = write_log(tmp_path)
    agreed = Confirmation(plan, "form")
    one.announce(agreed)
    one.record(agreed, Applied(None), "req-1")
    assert "sentinel" not in one.ledger.path.read_text()
    (line,) = one.ledger.audit()
    assert NOT_WRITTEN in [change.after for change in line.changes]


def test_a_fault_is_known_until_the_next_line_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = write_log(tmp_path)
    agreed = consent()
    one.announce(agreed)

    def full(*_given: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("gwtui.local.private_file.write_all", full)
        one.record(agreed, Applied(None))
    assert one.fault == "No space left on device"
    assert len(one.ledger.open_writes()) == 1, "what is not written down stays open"
    one.record(agreed, Applied(None))
    assert one.fault is None
    assert len(list(one.ledger.audit())) == 1


def test_a_journal_that_cannot_be_tidied_is_known(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    one = write_log(tmp_path)
    one.tidy()
    assert one.fault is not None


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("in the way"), "in the way"),
        (ValueError("a lone surrogate"), "a lone surrogate"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_a_fault_always_has_words(error: Exception, text: str) -> None:
    assert reason(error) == text
