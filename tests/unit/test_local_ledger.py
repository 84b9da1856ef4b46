"""The ledger: private, durable, intact after a crash, and the executor's entries."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import stat
import subprocess
import sys
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from unittest import mock

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import ByokCredential, UpdateByokRequest
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Applied, Confirmation, Plan, Refused
from gwtui.domain.clock import Clock
from gwtui.local.ledger import (
    AuditedChange,
    Ledger,
    LedgerEntry,
    LedgerOutcome,
    Operator,
    may_run,
    this_process,
)
from gwtui.local.private_file import open_locked
from gwtui.resources.byok import CREDENTIALS
from thoroughness import FULL

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "gwtui" / "audit.jsonl")


def entry(identifier: str, outcome: LedgerOutcome, at: datetime = NOW, **more: Any) -> LedgerEntry:
    return LedgerEntry(id=identifier, outcome=outcome, at=at, **more)


def intent(identifier: str, **more: Any) -> LedgerEntry:
    fields = {"action": "keys.create", "resource": "keys", **more}
    return entry(identifier, "intent", **fields)


MOST = 100_000
"""More bytes than any test writes: only within one file is a late intent known to have ended."""
KEYS = ("key-1", "key-2", "key-3")
HISTORY = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("intent", "applied", "refused", "unknown", "resolved"),
                *("store", "delete", "edit", "tear"),
            ]
        ),
        st.sampled_from([*KEYS, "other"]),
    ),
    max_size=40,
)


def follow(state: dict[str, str], ended: set[str], name: str, outcome: str) -> None:
    stays = outcome == "unknown" or (outcome == "applied" and name != "other")
    if stays and name in state:
        state[name] = outcome
    else:
        ended.add(name)
        state.pop(name, None)


@settings(max_examples=200 if FULL else 60)
@example([("intent", "key-1"), ("applied", "key-1"), ("delete", "key-1")], 900)
@example([("intent", "key-1"), ("applied", "key-1"), ("edit", "key-1")], MOST)
@example(
    [(event, key) for key in KEYS for event in ("intent", "applied")] + [("store", KEYS[0])], MOST
)
@example([("refused", "other"), ("intent", "other")], MOST)
@example([("intent", "key-1"), ("tear", "key-1"), ("unknown", "key-1"), ("store", "key-1")], 900)
@given(HISTORY, st.sampled_from([900, 3_000, MOST]))
def test_open_writes_are_those_without_an_end(history: list[tuple[str, str]], full: int) -> None:
    """Compared with a model: torn lines and rotated files change nothing."""
    state: dict[str, str] = {}
    ended: set[str] = set()
    audited: list[str] = []
    with TemporaryDirectory() as folder, mock.patch("os.fsync"):
        ledger = Ledger(Path(folder) / "audit.jsonl", full=full)
        assert ledger.open_writes() == ()
        for number, (event, name) in enumerate(history):
            key = {"action": "keys.create", "resource": "keys", "reveals": name != "other"}
            match event:
                case "intent" if name not in ended or full == MOST:
                    ledger.record(entry(name, "intent", identity=name, **key))
                    if name not in ended:
                        state.setdefault(name, "intent")
                case "store":
                    ledger.acknowledge(name, NOW)
                    if state.get(name) == "applied":
                        ended.add(name)
                        del state[name]
                case "delete" | "edit":
                    change = {"action": f"keys.{event}", "resource": "keys", "identity": name}
                    ledger.record(entry(f"{number}", "applied", **change))
                    audited.insert(0, f"{number}")
                    if (event, state.get(name)) == ("delete", "applied"):
                        del state[name]
                case "tear":
                    with ledger.path.open("ab") as file:
                        file.write(b'{"v":1,"id":"tor')
                case "applied" | "refused" | "unknown" | "resolved":
                    ledger.record(entry(name, cast("LedgerOutcome", event), **key))
                    audited.insert(0, name)
                    follow(state, ended, name, event)
        open_writes = ledger.open_writes()
        assert {item.id: item.outcome for item in open_writes} == state
        assert all(item.identity == item.id for item in open_writes if item.is_unacknowledged)
        assert [item.id for item in ledger.audit()] == audited


@pytest.mark.parametrize("mode", [None, 0o644])
def test_file_and_directory_are_private(ledger: Ledger, mode: int | None) -> None:
    if mode is not None:
        ledger.path.parent.mkdir(parents=True)
        ledger.path.touch()
        ledger.path.chmod(mode)
    ledger.record(intent("a"))
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    if mode is None:
        assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


def test_a_link_in_place_of_the_file_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    ledger.path.parent.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()
    ledger.path.symlink_to(elsewhere)
    with pytest.raises(OSError, match=r"symbolic|loop|links"):
        ledger.record(intent("a"))
    assert elsewhere.read_bytes() == b""


# Writers beside each other, and files that cannot be written ------------------------------------


def _hold(path: Path, locked: Any, release: Any) -> None:
    with open_locked(path):
        locked.set()
        release.wait()


def test_a_file_that_another_process_holds_is_not_waited_for_long(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.record(intent("a"))
    context = multiprocessing.get_context("fork")
    locked, release = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(ledger.path, locked, release))
    holder.start()
    assert locked.wait(30)
    monkeypatch.setattr("gwtui.local.private_file.LOCK_PATIENCE", 0.05)
    try:
        with pytest.raises(OSError, match="another process holds"):
            ledger.record(intent("b"))
        assert [item.id for item in ledger.open_writes()] == ["a"], "reading needs no lock"
    finally:
        release.set()
        holder.join()
    ledger.record(intent("b"))
    assert [item.id for item in ledger.open_writes()] == ["a", "b"]


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
    assert [item.id for item in ledger.open_writes()] == ["a", "c"]


def test_a_failed_fsync_is_an_error(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        ledger.record(intent("a"))
    assert ledger.path.read_bytes() == b""


FOREIGN = [
    b"\xff\xfe",
    b"[]",
    b"[" * 100_000,
    *(
        b'{"v":1,"id":"x","at":"2026-11-21T07:00:00Z","outcome":"applied"' + more + b"}"
        for more in (
            b',"v":9',
            b',"id":7',
            b',"at":"2026-11-21T07:00:00"',
            b',"at":"soon"',
            b',"at":5',
            b',"outcome":"perhaps"',
            b',"outcome":["applied"]',
            b',"status":"5"',
            b',"changes":7',
            b',"changes":[7]',
            b',"summary":7',
        )
    ),
]


@pytest.mark.parametrize("line", FOREIGN)
def test_foreign_lines_are_passed_over(ledger: Ledger, line: bytes) -> None:
    ledger.record(intent("a"))
    with ledger.path.open("ab") as file:
        file.write(line)
    ledger.record(intent("b"))
    assert [item.id for item in ledger.entries()] == ["b", "a"]


def test_values_that_are_not_json_leave_nothing(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="JSON"):
        ledger.record(intent("a", summary={"limit": float("nan")}))
    assert not ledger.path.exists()


def test_every_field_survives_in_one_line_of_ascii(ledger: Ledger) -> None:
    odd = "\udfff\ud800\x00\x1b[2J\u2028\n"
    texts = {item.name: odd for item in fields(LedgerEntry) if item.type in ("str", "str | None")}
    full_entry = LedgerEntry(
        **{**texts, "id": "a"},
        at=NOW,
        outcome="unknown",
        status=500,
        changes=(AuditedChange("Limit", None, "$5.00"), AuditedChange("Name", "a", None)),
        summary={"limit": "5", "list": [1, None, odd]},
        before={"limit": "4"},
        process=this_process(),
        reveals=True,
    )
    ledger.record(full_entry)
    assert tuple(ledger.entries()) == (full_entry,)
    raw = ledger.path.read_bytes()
    assert raw.count(b"\n") == 1
    assert raw.isascii()
    assert b"\x1b" not in raw
    assert json.loads(json.dumps(full_entry.as_json()))["changes"][0] == {
        "field": "Limit",
        "before": None,
        "after": "$5.00",
    }


# A new key ----------------------------------------------------------------------------------------


def record_created_key(ledger: Ledger, identifier: str, identity: str, **more: Any) -> None:
    """A key was created; its value was shown once."""
    fields = {"action": "keys.create", "resource": "keys", "reveals": True, **more}
    ledger.record(entry(identifier, "intent", **fields))
    ledger.record(entry(identifier, "applied", identity=identity, **fields))


def test_a_new_key_is_running_only_while_its_process_runs(ledger: Ledger) -> None:
    record_created_key(ledger, "mine", "h1", process=this_process())
    record_created_key(ledger, "dead", "h2", process={**this_process(), "began": "another life"})
    record_created_key(
        ledger, "elsewhere", "h3", process={**this_process(), "host": "another.example"}
    )
    later = NOW + timedelta(hours=2)
    assert [item.is_running(later) for item in ledger.open_writes()] == [True, False, True]
    ledger.mark_dead_as_unknown(later)
    assert len(ledger.open_writes()) == 3, "writes with a known outcome stay"
    assert not any(item.is_running(NOW + timedelta(days=2)) for item in ledger.open_writes())


# Files that are full ------------------------------------------------------------------------------


def test_a_full_file_is_set_aside_and_never_touched_again(tmp_path: Path) -> None:
    log = Ledger(tmp_path / "audit.jsonl", full=2000)
    contents: dict[str, bytes] = {}
    for number in range(60):
        log.record(entry(f"{number}", "applied", NOW + timedelta(seconds=number)))
        for path in tmp_path.glob("audit-*.jsonl"):
            assert path.read_bytes() == contents.setdefault(path.name, path.read_bytes())
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(contents) > 3
    assert all(len(content) <= 2000 for content in contents.values())
    assert [item.id for item in log.entries()] == [f"{number}" for number in reversed(range(60))]


def test_a_file_that_cannot_be_set_aside_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Ledger(tmp_path / "audit.jsonl", full=1000)

    def refused(*_arguments: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    for number in range(20):
        log.record(entry(f"{number}", "applied"))
    assert len(list(log.entries())) == 20
    assert [item.name for item in tmp_path.iterdir()] == ["audit.jsonl"]


def _write_and_close(path: Path, name: str, number: int) -> None:
    ledger = Ledger(path, full=8000)
    for index in range(number):
        ledger.record(intent(f"{name}{index}"))
        if index % 4:
            ledger.record(entry(f"{name}{index}", "applied"))


def test_processes_share_the_files_while_they_are_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three concurrent writers lose and duplicate nothing."""
    # A process that writes without pause could keep the lock from others.
    monkeypatch.setattr("gwtui.local.private_file.LOCK_PATIENCE", 100.0)
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
    every = [f"{name}{index}" for name in "abc" for index in range(number)]
    closed = [item for item in every if int(item[1:]) % 4]
    audited = [item.id for item in ledger.audit()]
    assert sorted(audited) == sorted(closed)
    assert {item.id for item in ledger.open_writes()} == set(every) - set(closed)
    for name in "abc":
        indexes = [int(item[1:]) for item in audited if item[0] == name]
        assert indexes == sorted(indexes, reverse=True), "newest first"


def test_a_log_is_read_whole_while_it_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process rotates the file right after it was opened: no line is read twice."""
    log = Ledger(tmp_path / "audit.jsonl", full=1500)
    for number in range(8):
        log.record(entry(f"{number}", "applied"))
    before = [item.id for item in log.audit()]
    aside = Ledger._aside

    def with_a_rotation_first(self: Ledger) -> list[tuple[int, Path]]:
        monkeypatch.setattr(Ledger, "_aside", aside)
        Ledger(log.path, full=1).record(entry("more", "applied"))
        return aside(self)

    monkeypatch.setattr(Ledger, "_aside", with_a_rotation_first)
    assert [item.id for item in log.audit()] == before


# Programs that died -----------------------------------------------------------------------------


def test_a_reused_process_id_is_recognized() -> None:
    """The start times tell them apart."""
    describe = "import json; from gwtui.local.ledger import *; print(json.dumps(this_process()))"
    child = subprocess.run([sys.executable, "-c", describe], capture_output=True, check=True)
    other = json.loads(child.stdout)
    assert may_run(this_process())
    assert not may_run(other), "the process has ended"
    assert not may_run({**other, "pid": os.getpid()})


def test_open_writes_of_a_dead_program_become_unknown_once(ledger: Ledger) -> None:
    mine, dead = this_process(), {**this_process(), "began": "another life"}
    ledger.record(intent("mine", process=mine))
    ledger.record(intent("dead", process=dead, title="Create key “ci”", profile="work"))
    ledger.record(intent("elsewhere", process={**mine, "host": "another.example"}))
    ledger.record(intent("lost", process=dead))
    ledger.record(entry("lost", "unknown"))

    for _ in range(2):
        ledger.mark_dead_as_unknown(NOW)

    given_up, _ = ledger.audit()
    assert (given_up.id, given_up.title, given_up.profile) == ("dead", "Create key “ci”", "work")
    state = {item.id: (item.outcome, item.is_running(NOW)) for item in ledger.open_writes()}
    assert state == {
        "mine": ("intent", True),
        "dead": ("unknown", False),
        "elsewhere": ("intent", True),
        "lost": ("unknown", False),
    }


def test_writes_without_a_process_and_old_writes_are_given_up(ledger: Ledger) -> None:
    host = this_process()["host"]
    ledger.record(intent("elsewhere", process={**this_process(), "host": "another.example"}))
    for number, process in enumerate(
        [{}, *({"host": host, "pid": pid} for pid in (1.5, "x", True, -1))]
    ):
        ledger.record(intent(f"{number}", process=process))
    ledger.mark_dead_as_unknown(NOW)
    assert [item.id for item in ledger.audit()] == ["4", "3", "2", "1", "0"]
    ledger.mark_dead_as_unknown(NOW + timedelta(minutes=11))
    assert next(ledger.audit()).id == "elsewhere"


# Lines of the executor ----------------------------------------------------------------------------


CLOCK = Clock(now=lambda: NOW)
TOKEN = "sk-sentinel-token-of-the-operator"
PROVIDER_KEY = "sk-sentinel-key-of-the-provider"


class Answering:
    """A client whose writes get one scripted response through the real transport."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self.requests = 0

        def answer(request: httpx.Request) -> httpx.Response:
            self.requests += 1
            kind = {"content-type": "application/json"}
            content = json.dumps(body)
            return httpx.Response(status, content=content, headers={**kind, **(headers or {})})

        where = Connection(
            "https://gateway.test",
            token=SecretStr(TOKEN),
            label="production",
            token_source="keyring",
        )
        transport = Transport(where, clock=CLOCK, http=httpx.MockTransport(answer))
        self.client = GatewayClient(where, clock=CLOCK, transport=transport)


CREDENTIAL = {"id": "c1", "name": "openai \ud800", "provider": "openai", "label": "sk-…9f2"}


def rotation() -> Plan[ByokCredential]:
    fresh = ByokCredential.model_validate(CREDENTIAL)
    return CREDENTIALS.plan_update(
        fresh, UpdateByokRequest(key=SecretStr(PROVIDER_KEY)), PlanContext(NOW)
    )


async def carried(world: Answering, folder: Path, plan: Plan[Any]) -> tuple[Any, LedgerEntry, str]:
    """The outcome, the one line of the log, and its text."""
    executor = WriteExecutor(world.client, Ledger(folder / "audit.jsonl"), CLOCK)
    executor.write_log.key_label = lambda: "sk-man…4c1"
    async with world.client:
        outcome = await executor.execute(Confirmation(plan, "typed"))
    assert executor.write_log.fault is None
    (line,) = executor.ledger.audit()
    return outcome, line, executor.ledger.path.read_text()


async def test_an_applied_write_records_actor_title_and_request_id(tmp_path: Path) -> None:
    world = Answering(200, {"data": CREDENTIAL}, {"x-request-id": "req-7"})
    outcome, line, text = await carried(world, tmp_path, rotation())
    assert isinstance(outcome, Applied)
    present = Operator.present()
    assert (line.user, line.host, line.at) == (present.user, present.host, NOW)
    assert (line.profile, line.key, line.token_source) == ("production", "sk-man…4c1", "keyring")
    assert (line.action, line.resource, line.identity) == ("byok.replace_key", "byok", "c1")
    assert (line.outcome, line.consent, line.request_id) == ("applied", "typed", "req-7")
    assert line.changes == (AuditedChange("Key", "sk-…9f2", "the new key that you typed"),)
    assert line.gateway == "https://gateway.test/api/v1"
    for secret in (TOKEN, PROVIDER_KEY):
        assert secret not in text
        assert secret not in (tmp_path / "audit.jsonl").read_text()


async def test_a_refusal_says_why_and_repeats_no_secret(tmp_path: Path) -> None:
    message = f"bad key {PROVIDER_KEY} of {TOKEN}"
    body = {"error": {"code": 400, "message": message}}
    world = Answering(400, body, {"x-request-id": "req-8"})
    outcome, line, text = await carried(world, tmp_path, rotation())
    assert isinstance(outcome, Refused)
    assert (line.outcome, line.error, line.status) == ("refused", "BadRequestError", 400)
    assert line.request_id == "req-8"
    assert PROVIDER_KEY not in text
    assert TOKEN not in text


async def test_an_answer_that_cannot_be_read_keeps_its_request_id(tmp_path: Path) -> None:
    world = Answering(200, {"data": "nothing of the kind"}, {"x-request-id": "req-9"})
    _, line, _ = await carried(world, tmp_path, rotation())
    assert (line.outcome, line.request_id) == ("unknown", "req-9")
