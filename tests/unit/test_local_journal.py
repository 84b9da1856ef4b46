"""The journal: private, durable, readable after a crash in the middle of a line."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gwtui.local.journal import Journal, JournalEntry, may_run, this_process
from gwtui.local.jsonl import LineFile

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state" / "gwtui" / "journal.jsonl")


def intent(identifier: str, **details: object) -> JournalEntry:
    shown = {"action": "keys.create", "resource": "keys", "identity": None, **details}
    return JournalEntry(identifier, "intent", NOW, shown)  # type: ignore[arg-type]


def test_an_intent_is_open_until_it_is_closed(journal: Journal) -> None:
    journal.record(intent("a", summary={"name": "ci"}, gateway="http://g/api/v1"))
    journal.record(intent("b"))
    journal.record(JournalEntry("b", "applied", NOW + timedelta(seconds=1), {"identity": "h"}))

    (left,) = journal.open_intents()

    assert (left.id, left.at, left.action) == ("a", NOW, "keys.create")
    assert left.summary == {"name": "ci"}
    assert left.gateway == "http://g/api/v1"
    assert not left.answer_lost


@pytest.mark.parametrize(("event", "open_after"), [("applied", 0), ("refused", 0), ("resolved", 0)])
def test_closing_events_close(journal: Journal, event: str, open_after: int) -> None:
    journal.record(intent("a"))
    journal.record(JournalEntry("a", event, NOW))  # type: ignore[arg-type]
    assert len(journal.open_intents()) == open_after


def test_a_lost_answer_stays_open_until_it_is_resolved(journal: Journal) -> None:
    journal.record(intent("a"))
    journal.record(JournalEntry("a", "unknown", NOW, {"message": "time-out"}))
    (left,) = journal.open_intents()
    assert left.answer_lost
    assert left.message == "time-out"
    journal.record(JournalEntry("a", "resolved", NOW))
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
    journal.record(JournalEntry("a", "refused", NOW))
    journal.record(intent("a"))
    assert journal.open_intents() == ()


def test_nothing_was_ever_written(journal: Journal) -> None:
    assert journal.open_intents() == ()


def test_one_line_per_event(journal: Journal) -> None:
    journal.record(intent("a", summary={"name": "line\nbreak"}))
    journal.record(JournalEntry("a", "applied", NOW))
    lines = journal.path.read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["intent", "applied"]


def _write_many(path: Path, name: str) -> None:
    journal = Journal(path)
    for number in range(25):
        journal.record(intent(f"{name}{number}", summary={"padding": "x" * 500}))


def test_processes_share_the_file(journal: Journal) -> None:
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=_write_many, args=(journal.path, name)) for name in ("a", "b", "c")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(journal.open_intents()) == 75


# Writers beside each other, and files that cannot be written ------------------------------------


def _hold(path: Path, held: Any, let: Any) -> None:
    with LineFile(path).locked():
        held.set()
        let.wait()


def test_a_file_that_another_process_holds_is_not_waited_for_long(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.record(intent("a"))
    context = multiprocessing.get_context("fork")
    held, let = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(journal.path, held, let))
    holder.start()
    assert held.wait(30)
    monkeypatch.setattr("gwtui.local.jsonl.LOCK_PATIENCE", 0.05)
    try:
        with pytest.raises(OSError, match="another process holds"):
            journal.record(intent("b"))
        assert [one.id for one in journal.open_intents()] == ["a"], "reading needs no lock"
    finally:
        let.set()
        holder.join()
    journal.record(intent("b"))
    assert [one.id for one in journal.open_intents()] == ["a", "b"]


@pytest.mark.parametrize("fits", [0, 1, 20])
def test_a_full_disk_leaves_nothing_of_the_line(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, fits: int
) -> None:
    journal.record(intent("a"))
    before = journal.path.read_bytes()
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if not fits or not data.startswith(b"{"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[:fits])

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            journal.record(intent("b"))
    assert journal.path.read_bytes() == before
    journal.record(intent("c"))
    assert [one.id for one in journal.open_intents()] == ["a", "c"]


def test_a_disk_that_does_not_keep_its_word_is_an_error(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        journal.record(intent("a"))
    assert journal.path.read_bytes() == b""


def test_a_directory_that_nobody_may_write_is_an_error(journal: Journal) -> None:
    journal.path.parent.parent.mkdir(parents=True)
    journal.path.parent.write_text("a file where the directory should be")
    with pytest.raises(OSError, match=r"directory|exists"):
        journal.record(intent("a"))


def test_lone_surrogates_and_control_characters_stay_in_their_line(journal: Journal) -> None:
    name = "\udfff\ud800\x00\x1b[2J\u2028\n"
    journal.record(intent("a", identity=name, summary={"name": name}))
    (left,) = journal.open_intents()
    assert left.identity == name
    assert left.summary == {"name": name}
    raw = journal.path.read_bytes()
    assert raw.count(b"\n") == 1
    assert raw.isascii()
    assert b"\x1b" not in raw


def test_details_cannot_stand_in_for_the_line_itself(journal: Journal) -> None:
    journal.record(intent("a", event="applied", id="b", at="never", v=7))
    assert [one.id for one in journal.open_intents()] == ["a"]


def test_what_is_not_json_leaves_nothing(journal: Journal) -> None:
    with pytest.raises(ValueError, match="JSON"):
        journal.record(intent("a", summary={"limit": float("nan")}))
    assert not journal.path.exists()


# Compaction -------------------------------------------------------------------------------------

OLD = NOW - timedelta(days=31)


def test_only_old_and_closed_lines_are_taken_out(journal: Journal) -> None:
    old_intent = intent("old-closed")
    journal.record(JournalEntry("old-closed", "intent", OLD, old_intent.details))
    journal.record(JournalEntry("old-closed", "applied", OLD))
    journal.record(JournalEntry("old-open", "intent", OLD, old_intent.details))
    journal.record(JournalEntry("old-lost", "intent", OLD, old_intent.details))
    journal.record(JournalEntry("old-lost", "unknown", OLD))
    journal.record(JournalEntry("closed-late", "intent", OLD, old_intent.details))
    journal.record(JournalEntry("closed-late", "resolved", NOW))
    journal.record(intent("new"))
    with journal.path.open("ab") as file:
        file.write(b'{"v":2,"id":"later","event":"intent"}\n{"v":1,"id":"torn\n')

    assert not journal.compact(NOW), "a small journal is left alone"
    before = journal.path.stat().st_ino
    assert journal.compact(NOW, over=0)

    kept = {entry.id for entry in journal.entries()}
    assert kept == {"old-open", "old-lost", "closed-late", "new"}
    assert [one.id for one in journal.open_intents()] == ["old-open", "old-lost", "new"]
    text = journal.path.read_text()
    assert '"later"' in text, "a line of a later version is kept"
    assert "torn" not in text
    assert journal.path.stat().st_ino != before
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert [one.name for one in journal.path.parent.iterdir()] == [journal.path.name]


def test_a_journal_with_nothing_to_take_out_is_left_alone(journal: Journal) -> None:
    journal.record(intent("a"))
    before = journal.path.stat().st_ino
    assert not journal.compact(NOW, over=0)
    assert journal.path.stat().st_ino == before


def test_a_compaction_that_fails_changes_nothing(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.record(JournalEntry("a", "intent", OLD))
    journal.record(JournalEntry("a", "applied", OLD))
    journal.record(intent("b"))
    before = journal.path.read_bytes()

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            journal.compact(NOW, over=0)
    assert journal.path.read_bytes() == before
    assert [one.name for one in journal.path.parent.iterdir()] == [journal.path.name]


def _write_and_close(path: Path, name: str, number: int) -> None:
    journal = Journal(path)
    for each in range(number):
        journal.record(intent(f"{name}{each}", summary={"padding": "x" * 200}))
        if each % 2:
            journal.record(JournalEntry(f"{name}{each}", "applied", NOW))


def _compact_often(path: Path, done: Any) -> None:
    journal = Journal(path)
    later = NOW + timedelta(days=31)
    compacted = 0
    while not (done.is_set() and compacted):
        compacted += journal.compact(later, over=0)


def test_nothing_is_lost_while_another_process_compacts(journal: Journal) -> None:
    """Three writers of GWTUI_JOURNAL_LINES intents each (40 by default) beside a compactor."""
    number = int(os.environ.get("GWTUI_JOURNAL_LINES", "40"))
    context = multiprocessing.get_context("fork")
    done = context.Event()
    journal.record(intent("first"))
    compactor = context.Process(target=_compact_often, args=(journal.path, done))
    writers = [
        context.Process(target=_write_and_close, args=(journal.path, name, number))
        for name in "abc"
    ]
    for process in (compactor, *writers):
        process.start()
    for writer in writers:
        writer.join()
    done.set()
    compactor.join()
    left = {one.id for one in journal.open_intents()}
    assert left == {"first", *(f"{name}{each}" for name in "abc" for each in range(0, number, 2))}


# Programs that died -----------------------------------------------------------------------------


def test_a_program_that_got_the_number_of_another_is_not_taken_for_it() -> None:
    """Told apart by when they began."""
    describe = "import json; from gwtui.local.journal import *; print(json.dumps(this_process()))"
    told = subprocess.run([sys.executable, "-c", describe], capture_output=True, check=True)
    other = json.loads(told.stdout)
    assert may_run(this_process())
    assert not may_run(other), "it ended"
    assert not may_run({**other, "pid": os.getpid()})


def test_what_a_dead_program_left_is_unknown_once(journal: Journal) -> None:
    mine, dead = this_process(), {**this_process(), "began": "another life"}
    journal.record(intent("mine", process=mine))
    journal.record(intent("dead", process=dead, title="Create key “ci”", profile="work"))
    journal.record(intent("elsewhere", process={**mine, "host": "another.example"}))
    journal.record(intent("lost", process=dead))
    journal.record(JournalEntry("lost", "unknown", NOW))

    (found,) = journal.give_up_dead(NOW)

    assert (found.id, found.title, found.profile) == ("dead", "Create key “ci”", "work")
    assert journal.give_up_dead(NOW) == ()
    state = {one.id: (one.answer_lost, one.running) for one in journal.open_intents(NOW)}
    assert state == {
        "mine": (False, True),
        "dead": (True, False),
        "elsewhere": (False, True),
        "lost": (True, False),
    }


def test_no_write_runs_for_ever(journal: Journal) -> None:
    journal.record(intent("elsewhere", process={**this_process(), "host": "another.example"}))
    later = NOW + timedelta(minutes=11)
    (found,) = journal.give_up_dead(later)
    assert found.id == "elsewhere"


@pytest.mark.parametrize("process", [None, 7, {}, {"host": 1}, {"pid": "x"}, {"pid": -1}])
def test_an_intent_that_names_no_program_is_nobodys(journal: Journal, process: object) -> None:
    here = {**process, "host": this_process()["host"]} if isinstance(process, dict) else process
    journal.record(intent("a", process=here))
    assert [one.id for one in journal.give_up_dead(NOW)] == ["a"]
