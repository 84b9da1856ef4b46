"""The journal: private, durable, readable after a crash in the middle of a line."""

from __future__ import annotations

import json
import multiprocessing
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gwtui.local.journal import Entry, Journal

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state" / "gwtui" / "journal.jsonl")


def intent(identifier: str, **details: object) -> Entry:
    shown = {"action": "keys.create", "resource": "keys", "identity": None, **details}
    return Entry(identifier, "intent", NOW, shown)  # type: ignore[arg-type]


def test_an_intent_is_open_until_it_is_closed(journal: Journal) -> None:
    journal.record(intent("a", summary={"name": "ci"}, gateway="http://g/api/v1"))
    journal.record(intent("b"))
    journal.record(Entry("b", "applied", NOW + timedelta(seconds=1), {"identity": "h"}))

    (left,) = journal.open_intents()

    assert (left.id, left.at, left.action) == ("a", NOW, "keys.create")
    assert left.summary == {"name": "ci"}
    assert left.gateway == "http://g/api/v1"
    assert not left.answer_lost


@pytest.mark.parametrize(("event", "open_after"), [("applied", 0), ("refused", 0), ("resolved", 0)])
def test_closing_events_close(journal: Journal, event: str, open_after: int) -> None:
    journal.record(intent("a"))
    journal.record(Entry("a", event, NOW))  # type: ignore[arg-type]
    assert len(journal.open_intents()) == open_after


def test_a_lost_answer_stays_open_until_it_is_resolved(journal: Journal) -> None:
    journal.record(intent("a"))
    journal.record(Entry("a", "unknown", NOW, {"message": "time-out"}))
    (left,) = journal.open_intents()
    assert left.answer_lost
    assert left.message == "time-out"
    journal.record(Entry("a", "resolved", NOW))
    assert journal.open_intents() == ()


def test_file_and_directory_are_private(journal: Journal) -> None:
    journal.record(intent("a"))
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(journal: Journal) -> None:
    journal.path.parent.mkdir(parents=True)
    journal.path.touch(0o644)
    journal.path.chmod(0o644)
    journal.record(intent("a"))
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600


def test_a_link_in_place_of_the_file_is_refused(journal: Journal, tmp_path: Path) -> None:
    journal.path.parent.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()
    journal.path.symlink_to(elsewhere)
    with pytest.raises(OSError, match=r"symbolic|loop|links"):
        journal.record(intent("a"))
    assert elsewhere.read_bytes() == b""


@pytest.mark.parametrize("torn_at", [1, 10, 40, -2, -1])
def test_a_torn_last_line_harms_no_other_line(journal: Journal, torn_at: int) -> None:
    journal.record(intent("a"))
    whole = journal.path.read_bytes()
    journal.record(intent("torn"))
    second = journal.path.read_bytes()[len(whole) :]
    journal.path.write_bytes(whole + second[:torn_at])

    readable = {"a", "torn"} if torn_at == -1 else {"a"}
    assert {entry.id for entry in journal.open_intents()} == readable
    journal.record(intent("after"))
    assert {entry.id for entry in journal.open_intents()} == readable | {"after"}


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b'{"v":1,"id":7,"event":"intent","at":"2026-11-21T07:00:00Z"}',
        b'{"v":1,"id":"x","event":"party","at":"2026-11-21T07:00:00Z"}',
        b'{"v":1,"id":"x","event":["intent"],"at":"2026-11-21T07:00:00Z"}',
        b'{"v":1,"id":"x","event":"intent","at":"soon"}',
        b'{"v":1,"id":"x","event":"intent","at":"2026-11-21T07:00:00"}',
        b'{"v":1,"id":"x","event":"intent","at":5}',
    ],
)
def test_foreign_lines_are_passed_over(journal: Journal, line: bytes) -> None:
    journal.record(intent("a"))
    with journal.path.open("ab") as file:
        file.write(line + b"\n")
    journal.record(intent("b"))
    assert [entry.id for entry in journal.open_intents()] == ["a", "b"]


def test_an_outcome_written_before_its_intent_still_closes_it(journal: Journal) -> None:
    journal.record(Entry("a", "refused", NOW))
    journal.record(intent("a"))
    assert journal.open_intents() == ()


def test_nothing_was_ever_written(journal: Journal) -> None:
    assert journal.open_intents() == ()


def test_one_line_per_event(journal: Journal) -> None:
    journal.record(intent("a", summary={"name": "line\nbreak"}))
    journal.record(Entry("a", "applied", NOW))
    lines = journal.path.read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["intent", "applied"]


def _write_many(path: Path, name: str) -> None:
    journal = Journal(path)
    for number in range(25):
        journal.record(intent(f"{name}{number}", summary={"padding": "x" * 500}))


def test_processes_share_the_file(journal: Journal) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_write_many, args=(journal.path, name)) for name in ("a", "b", "c")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(journal.open_intents()) == 75
