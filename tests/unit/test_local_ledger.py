"""The ledger: private, durable, readable after a crash in the middle of a line, kept for good."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gwtui.local.ledger import Ledger, LedgerEntry, LedgerOutcome, may_run, this_process
from gwtui.local.private_file import LineFile
from thoroughness import FULL

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "gwtui" / "audit.jsonl")


def entry(identifier: str, outcome: LedgerOutcome, at: datetime = NOW, **more: Any) -> LedgerEntry:
    return LedgerEntry(id=identifier, outcome=outcome, at=at, **more)


def intent(identifier: str, **more: Any) -> LedgerEntry:
    known = {"action": "keys.create", "resource": "keys", **more}
    return entry(identifier, "intent", **known)


def test_an_intent_is_open_until_it_is_closed(ledger: Ledger) -> None:
    ledger.record(intent("a", summary={"name": "ci"}, gateway="http://g/api/v1"))
    ledger.record(intent("b"))
    ledger.record(entry("b", "applied", NOW + timedelta(seconds=1), identity="h"))

    (left,) = ledger.open_writes()

    assert (left.id, left.at, left.action) == ("a", NOW, "keys.create")
    assert left.summary == {"name": "ci"}
    assert left.gateway == "http://g/api/v1"
    assert left.outcome == "intent"


@pytest.mark.parametrize("outcome", ["applied", "refused", "resolved"])
def test_an_outcome_closes(ledger: Ledger, outcome: LedgerOutcome) -> None:
    ledger.record(intent("a"))
    ledger.record(entry("a", outcome))
    assert ledger.open_writes() == ()


def test_a_lost_answer_stays_open_until_it_is_resolved(ledger: Ledger) -> None:
    ledger.record(intent("a"))
    ledger.record(entry("a", "unknown", message="time-out"))
    (left,) = ledger.open_writes()
    assert left.outcome == "unknown"
    assert left.message == "time-out"
    ledger.record(entry("a", "resolved"))
    assert ledger.open_writes() == ()


def test_file_and_directory_are_private(ledger: Ledger) -> None:
    ledger.record(intent("a"))
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(ledger: Ledger) -> None:
    ledger.path.parent.mkdir(parents=True)
    ledger.path.touch(0o644)
    ledger.path.chmod(0o644)
    ledger.record(intent("a"))
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


def test_a_link_in_place_of_the_file_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    ledger.path.parent.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()
    ledger.path.symlink_to(elsewhere)
    with pytest.raises(OSError, match=r"symbolic|loop|links"):
        ledger.record(intent("a"))
    assert elsewhere.read_bytes() == b""


@pytest.mark.parametrize("torn_at", [1, 10, 40, -2, -1])
def test_a_torn_last_line_harms_no_other_line(ledger: Ledger, torn_at: int) -> None:
    ledger.record(intent("a"))
    whole = ledger.path.read_bytes()
    ledger.record(intent("torn"))
    second = ledger.path.read_bytes()[len(whole) :]
    ledger.path.write_bytes(whole + second[:torn_at])

    readable = {"a", "torn"} if torn_at == -1 else {"a"}
    assert {entry.id for entry in ledger.open_writes()} == readable
    ledger.record(intent("after"))
    assert {entry.id for entry in ledger.open_writes()} == readable | {"after"}


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b'{"v":1,"id":7,"outcome":"intent","at":"2026-11-21T07:00:00Z"}',
        b'{"v":1,"id":"x","outcome":"party","at":"2026-11-21T07:00:00Z"}',
        b'{"v":1,"id":"x","outcome":["intent"],"at":"2026-11-21T07:00:00Z"}',
        b'{"v":1,"id":"x","outcome":"intent","at":"soon"}',
        b'{"v":1,"id":"x","outcome":"intent","at":"2026-11-21T07:00:00"}',
        b'{"v":1,"id":"x","outcome":"intent","at":5}',
    ],
)
def test_foreign_lines_are_passed_over(ledger: Ledger, line: bytes) -> None:
    ledger.record(intent("a"))
    with ledger.path.open("ab") as file:
        file.write(line + b"\n")
    ledger.record(intent("b"))
    assert [entry.id for entry in ledger.open_writes()] == ["a", "b"]


def test_an_outcome_written_before_its_intent_still_closes_it(ledger: Ledger) -> None:
    ledger.record(entry("a", "refused"))
    ledger.record(intent("a"))
    assert ledger.open_writes() == ()


def test_nothing_was_ever_written(ledger: Ledger) -> None:
    assert ledger.open_writes() == ()


def test_one_line_per_event(ledger: Ledger) -> None:
    ledger.record(intent("a", summary={"name": "line\nbreak"}))
    ledger.record(entry("a", "applied"))
    lines = ledger.path.read_text().splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == ["intent", "applied"]


def _write_many(path: Path, name: str) -> None:
    ledger = Ledger(path)
    for number in range(25):
        ledger.record(intent(f"{name}{number}", summary={"padding": "x" * 500}))


def test_processes_share_the_file(ledger: Ledger) -> None:
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=_write_many, args=(ledger.path, name)) for name in ("a", "b", "c")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(ledger.open_writes()) == 75


# Writers beside each other, and files that cannot be written ------------------------------------


def _hold(path: Path, held: Any, let: Any) -> None:
    with LineFile(path).locked():
        held.set()
        let.wait()


def test_a_file_that_another_process_holds_is_not_waited_for_long(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.record(intent("a"))
    context = multiprocessing.get_context("fork")
    held, let = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(ledger.path, held, let))
    holder.start()
    assert held.wait(30)
    monkeypatch.setattr("gwtui.local.private_file.LOCK_PATIENCE", 0.05)
    try:
        with pytest.raises(OSError, match="another process holds"):
            ledger.record(intent("b"))
        assert [one.id for one in ledger.open_writes()] == ["a"], "reading needs no lock"
    finally:
        let.set()
        holder.join()
    ledger.record(intent("b"))
    assert [one.id for one in ledger.open_writes()] == ["a", "b"]


@pytest.mark.parametrize("fits", [0, 1, 20])
def test_a_full_disk_leaves_nothing_of_the_line(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, fits: int
) -> None:
    ledger.record(intent("a"))
    before = ledger.path.read_bytes()
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if not fits or not data.startswith(b"{"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[:fits])

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            ledger.record(intent("b"))
    assert ledger.path.read_bytes() == before
    ledger.record(intent("c"))
    assert [one.id for one in ledger.open_writes()] == ["a", "c"]


def test_a_disk_that_does_not_keep_its_word_is_an_error(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        ledger.record(intent("a"))
    assert ledger.path.read_bytes() == b""


def test_a_directory_that_nobody_may_write_is_an_error(ledger: Ledger) -> None:
    ledger.path.parent.parent.mkdir(parents=True)
    ledger.path.parent.write_text("a file where the directory should be")
    with pytest.raises(OSError, match=r"directory|exists"):
        ledger.record(intent("a"))


def test_lone_surrogates_and_control_characters_stay_in_their_line(ledger: Ledger) -> None:
    name = "\udfff\ud800\x00\x1b[2J\u2028\n"
    ledger.record(intent("a", identity=name, summary={"name": name}))
    (left,) = ledger.open_writes()
    assert left.identity == name
    assert left.summary == {"name": name}
    raw = ledger.path.read_bytes()
    assert raw.count(b"\n") == 1
    assert raw.isascii()
    assert b"\x1b" not in raw


def test_what_is_not_json_leaves_nothing(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="JSON"):
        ledger.record(intent("a", summary={"limit": float("nan")}))
    assert not ledger.path.exists()


# A new key ----------------------------------------------------------------------------------------


def made(ledger: Ledger, identifier: str, identity: str, **more: Any) -> None:
    """A key was created; its value was shown once."""
    known = {"action": "keys.create", "resource": "keys", "reveals": True, **more}
    ledger.record(entry(identifier, "intent", **known))
    ledger.record(entry(identifier, "applied", identity=identity, **known))


def test_a_new_key_is_open_until_somebody_says_that_it_is_stored(ledger: Ledger) -> None:
    made(ledger, "a", "h1", summary={"name": "ci"})
    made(ledger, "b", "h2")
    first, second = ledger.open_writes()
    assert (first.id, first.identity, first.summary) == ("a", "h1", {"name": "ci"})
    assert first.is_unacknowledged
    ledger.acknowledge("a", NOW)
    assert ledger.open_writes() == (second,)
    assert [one.outcome for one in ledger.audit()] == ["applied", "applied"], "no change by itself"
    ledger.acknowledge("a", NOW)
    assert len(list(ledger.entries())) == 5, "said once"


def test_a_new_key_that_is_deleted_is_open_no_more(ledger: Ledger) -> None:
    made(ledger, "a", "h1", gateway="http://g")
    made(ledger, "b", "h1", gateway="http://elsewhere")
    gone = {"action": "keys.delete", "resource": "keys", "identity": "h1", "gateway": "http://g"}
    ledger.record(entry("c", "intent", **gone))
    ledger.record(entry("c", "refused", **gone))
    assert [one.id for one in ledger.open_writes()] == ["a", "b"]
    ledger.record(entry("d", "intent", **gone))
    ledger.record(entry("d", "applied", **gone))
    assert [one.id for one in ledger.open_writes()] == ["b"]


def test_a_new_key_that_a_program_shows_is_in_its_hands(ledger: Ledger) -> None:
    made(ledger, "mine", "h1", process=this_process())
    made(ledger, "dead", "h2", process={**this_process(), "began": "another life"})
    made(ledger, "elsewhere", "h3", process={**this_process(), "host": "another.example"})
    later = NOW + timedelta(hours=2)
    assert [one.is_running(later) for one in ledger.open_writes()] == [True, False, True]
    ledger.give_up_dead(later)
    assert len(ledger.open_writes()) == 3, "its outcome is known"
    assert not any(one.is_running(NOW + timedelta(days=2)) for one in ledger.open_writes())


# Files that are full ------------------------------------------------------------------------------


def test_a_full_file_is_set_aside_and_never_touched_again(tmp_path: Path) -> None:
    log = Ledger(tmp_path / "audit.jsonl", full=2000)
    seen: dict[str, bytes] = {}
    for number in range(60):
        log.record(entry(f"{number}", "applied", NOW + timedelta(seconds=number)))
        for path in tmp_path.glob("audit-*.jsonl"):
            assert path.read_bytes() == seen.setdefault(path.name, path.read_bytes())
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(seen) > 3
    assert all(len(content) <= 2000 for content in seen.values())
    assert [one.id for one in log.entries()] == [f"{number}" for number in reversed(range(60))]


def test_what_is_open_is_carried_into_the_next_file(tmp_path: Path) -> None:
    log = Ledger(tmp_path / "audit.jsonl", full=5000)
    log.record(intent("begun", before={"limit": 5}, process=this_process()))
    log.record(intent("lost", summary={"name": "ci"}))
    log.record(entry("lost", "unknown", message="time-out"))
    made(log, "new", "h1")
    before = log.open_writes()
    for number in range(80):
        log.record(intent(f"{number}"))
        log.record(entry(f"{number}", "applied"))
    assert len(list(tmp_path.glob("audit-*.jsonl"))) > 3
    left = log.open_writes()
    assert [replace(one, carried=False) for one in left] == list(before)
    told = [one.id for one in log.audit()]
    assert len(told) == len(set(told)) == 82, "each outcome once"
    log.resolve(left[1], NOW, "it happened")
    log.acknowledge("new", NOW)
    log.record(entry("begun", "applied"))
    assert log.open_writes() == ()


def test_a_line_larger_than_a_file_is_written_all_the_same(tmp_path: Path) -> None:
    log = Ledger(tmp_path / "audit.jsonl", full=10)
    log.record(intent("a"))
    log.record(intent("b"))
    assert [one.id for one in log.entries()] == ["b", "a"]
    assert [one.id for one in log.open_writes()] == ["a", "b"]


def test_a_file_that_cannot_be_set_aside_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Ledger(tmp_path / "audit.jsonl", full=1000)

    def refused(*_given: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    for number in range(20):
        log.record(entry(f"{number}", "applied"))
    assert len(list(log.entries())) == 20
    assert [one.name for one in tmp_path.iterdir()] == ["audit.jsonl"]


def test_the_stamp_moves_with_every_line(ledger: Ledger) -> None:
    assert ledger.stamp() is None
    ledger.record(intent("a"))
    first = ledger.stamp()
    assert first == ledger.stamp()
    ledger.record(intent("b"))
    assert ledger.stamp() != first


def _write_and_close(path: Path, name: str, number: int) -> None:
    ledger = Ledger(path, full=8000)
    for each in range(number):
        ledger.record(intent(f"{name}{each}"))
        if each % 4:
            ledger.record(entry(f"{name}{each}", "applied"))


def test_processes_share_the_files_while_they_are_set_aside(tmp_path: Path) -> None:
    """Three writers at once lose and double no write."""
    number = 240 if FULL else 24
    path = tmp_path / "audit.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=_write_and_close, args=(path, name, number)) for name in "abc"
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    ledger = Ledger(path)
    assert list(tmp_path.glob("audit-*.jsonl"))
    every = [f"{name}{each}" for name in "abc" for each in range(number)]
    closed = [one for one in every if int(one[1:]) % 4]
    found = [one.id for one in ledger.audit()]
    assert sorted(found) == sorted(closed)
    assert {one.id for one in ledger.open_writes()} == set(every) - set(closed)
    for name in "abc":
        own = [int(one[1:]) for one in found if one[0] == name]
        assert own == sorted(own, reverse=True), "the newest comes first"


def test_a_log_is_read_whole_while_it_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process sets the file aside just after it was opened: no line is read twice."""
    log = Ledger(tmp_path / "audit.jsonl", full=1500)
    for number in range(8):
        log.record(entry(f"{number}", "applied"))
    before = [one.id for one in log.audit()]
    aside = Ledger._aside

    def with_a_rotation_first(self: Ledger) -> list[tuple[int, Path]]:
        monkeypatch.setattr(Ledger, "_aside", aside)
        Ledger(log.path, full=1).record(entry("more", "applied"))
        return aside(self)

    monkeypatch.setattr(Ledger, "_aside", with_a_rotation_first)
    assert [one.id for one in log.audit()] == before


def test_a_replacement_that_fails_changes_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.record(intent("a"))
    ledger.record(intent("b"))
    before = ledger.path.read_bytes()

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            LineFile(ledger.path).keep(lambda lines: [*lines][:1], 0)
    assert ledger.path.read_bytes() == before
    assert [one.name for one in ledger.path.parent.iterdir()] == [ledger.path.name]


# Programs that died -----------------------------------------------------------------------------


def test_a_program_that_got_the_number_of_another_is_not_taken_for_it() -> None:
    """Told apart by when they began."""
    describe = "import json; from gwtui.local.ledger import *; print(json.dumps(this_process()))"
    told = subprocess.run([sys.executable, "-c", describe], capture_output=True, check=True)
    other = json.loads(told.stdout)
    assert may_run(this_process())
    assert not may_run(other), "it ended"
    assert not may_run({**other, "pid": os.getpid()})


def test_what_a_dead_program_left_is_unknown_once(ledger: Ledger) -> None:
    mine, dead = this_process(), {**this_process(), "began": "another life"}
    ledger.record(intent("mine", process=mine))
    ledger.record(intent("dead", process=dead, title="Create key “ci”", profile="work"))
    ledger.record(intent("elsewhere", process={**mine, "host": "another.example"}))
    ledger.record(intent("lost", process=dead))
    ledger.record(entry("lost", "unknown"))

    for _ in range(2):
        ledger.give_up_dead(NOW)

    found, _ = ledger.audit()
    assert (found.id, found.title, found.profile) == ("dead", "Create key “ci”", "work")
    state = {one.id: (one.outcome, one.is_running(NOW)) for one in ledger.open_writes()}
    assert state == {
        "mine": ("intent", True),
        "dead": ("unknown", False),
        "elsewhere": ("intent", True),
        "lost": ("unknown", False),
    }


def test_no_write_runs_for_ever(ledger: Ledger) -> None:
    ledger.record(intent("elsewhere", process={**this_process(), "host": "another.example"}))
    later = NOW + timedelta(minutes=11)
    ledger.give_up_dead(later)
    assert [one.id for one in ledger.audit()] == ["elsewhere"]


@pytest.mark.parametrize("process", [{}, {"pid": 1.5}, {"pid": "x"}, {"pid": True}, {"pid": -1}])
def test_an_intent_that_names_no_program_is_nobodys(
    ledger: Ledger, process: dict[str, Any]
) -> None:
    here = {**process, "host": this_process()["host"]} if process else process
    ledger.record(intent("a", process=here))
    ledger.give_up_dead(NOW)
    assert [one.outcome for one in ledger.open_writes()] == ["unknown"]
