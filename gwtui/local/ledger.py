"""The ledger of writes: each request that was about to be sent, and its outcome.

JSON lines in private files. Lines are only ever added: a file that is full is set aside under a
number and stays as it is. An intent stands on the disk before its request leaves; further lines of
the same id say what became of it. No line holds a secret.

The ledger is seen in two ways. ``audit`` gives the outcomes, for good. ``open_writes`` gives the
writes that a person has to resolve: nobody knows whether they happened, or they made a key and
nobody has said that its value is stored. They survive a restart, and are carried over into the new
file when one is set aside, so that it alone tells them.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.local.private_file import (
    add,
    encoded,
    ensure_private,
    exclusive,
    parsed,
    replace_file,
    whole,
)

LedgerOutcome = Literal["intent", "applied", "refused", "unknown", "resolved", "acknowledged"]
"""The state of a write after a line.

"resolved" follows "unknown" once a person looked into it, "acknowledged" follows "applied" once a
person has stored the value of the key that it made.
"""

FILE_NAME = "audit.jsonl"
FULL = 1024 * 1024
"""Bytes of a file before it is set aside."""
DID_NOT_HAPPEN = "it did not happen"
"""Message for an uncertain write that a person found not to have happened."""
DIED = "the program ended before the outcome was known"
_LONGEST = timedelta(minutes=10)
"""No write is under way for longer: each request has its limit of time."""
_LONGEST_SHOWN = timedelta(days=1)
"""No new key is on the screen of another machine for longer."""
_VERSION = 1
_OUTCOMES = frozenset(get_args(LedgerOutcome))
AUDITED = frozenset({"applied", "refused", "unknown", "resolved"})
_SET_ASIDE = re.compile(r"-(\d{6,})\.jsonl\Z")
_START = 19
"""Place of the start time behind the name in /proc/PID/stat: proc(5)."""


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """One field before and after, as people read it; None where there is none."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One line: when, who, what, and what became of it.

    ``id`` is that of the plan, ``undoes`` that of the plan whose change it takes back. ``at`` is
    UTC. ``key`` is the label of the management key, as the gateway masks it, empty when it was not
    known; ``token_source`` where its value came from. ``consent`` is how the person agreed.
    ``error``, ``status`` and ``message`` say why it was refused or is not known. ``request_id`` is
    what the gateway calls the request. ``summary`` is what was sent, ``before`` the same fields
    before the write, as the gateway gave them; ``process`` is the program that sends.
    ``reveals`` tells that the answer holds a value which the gateway gives only once. ``carried``
    marks an open write that stands in the file before.
    """

    id: str
    at: datetime
    outcome: LedgerOutcome
    user: str = ""
    host: str = ""
    profile: str = ""
    gateway: str = ""
    key: str = ""
    token_source: str = ""
    action: str = ""
    title: str = ""
    resource: str = ""
    identity: str | None = None
    consent: str = ""
    undoes: str | None = None
    error: str | None = None
    status: int | None = None
    message: str | None = None
    request_id: str | None = None
    changes: tuple[AuditedChange, ...] = ()
    summary: Mapping[str, JsonValue] = field(default_factory=dict)
    before: Mapping[str, JsonValue] = field(default_factory=dict)
    process: Mapping[str, JsonValue] = field(default_factory=dict)
    reveals: bool = False
    carried: bool = False

    @property
    def who(self) -> str:
        """The person and the machine: "ann@desk"."""
        return f"{self.user}@{self.host}"

    @property
    def is_unacknowledged(self) -> bool:
        """Whether this open write created a key whose value nobody has acknowledged."""
        return self.outcome == "applied"

    def is_running(self, now: datetime) -> bool:
        """Whether an open write is in the hands of a program that still runs."""
        longest = _LONGEST_SHOWN if self.is_unacknowledged else _LONGEST
        return self.outcome != "unknown" and now - self.at < longest and may_run(self.process)

    def as_json(self) -> dict[str, JsonValue]:
        """The line of an export."""
        return {
            "v": _VERSION,
            **{name: getattr(self, name) for name in _PLAIN},
            "at": timestamp_text(self.at),
            "changes": [asdict(change) for change in self.changes],
            "summary": dict(self.summary),
        }

    def as_line(self) -> dict[str, JsonValue]:
        """The line of the file: what only some writes have stands there only for them."""
        further = {name: getattr(self, name) for name in _FURTHER if getattr(self, name)}
        return {**self.as_json(), **further}


_FURTHER = ("before", "process", "reveals", "carried")
EXPORTED = tuple(one.name for one in fields(LedgerEntry) if one.name not in _FURTHER)
"""The fields of an export."""
_PLAIN = tuple(name for name in EXPORTED if name not in {"at", "changes", "summary"})


@dataclass(frozen=True, slots=True)
class Operator:
    """The person at this machine, as the system knows them: no variable can claim another."""

    user: str
    host: str

    @classmethod
    def present(cls) -> Operator:
        """Whoever runs this program."""
        identity = os.geteuid()
        try:
            user = pwd.getpwuid(identity).pw_name
        except KeyError:
            user = str(identity)
        return cls(user, socket.gethostname())


class Ledger:
    """The ledger of one person on this machine; safe to share between processes.

    Every method blocks and raises OSError.
    """

    def __init__(self, path: Path, *, full: int = FULL) -> None:
        self.path = path
        self._full = full

    def record(self, entry: LedgerEntry) -> None:
        """Append one line and wait until it is on the disk. Raises ValueError and TypeError, too.

        What raises leaves nothing of the line behind.
        """
        data = encoded(entry.as_line())
        with self._locked() as descriptor:
            size = os.fstat(descriptor).st_size
            if not size or size + len(data) <= self._full or not self._set_aside(descriptor, data):
                add(descriptor, data)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        ensure_private(self.path.parent)
        with exclusive(self.path) as descriptor:
            yield descriptor

    def entries(self) -> Iterator[LedgerEntry]:
        """Every readable line of every file, the newest first; torn and foreign ones not."""
        for content in self._contents():
            yield from reversed(list(_entries(content)))

    def audit(self) -> Iterator[LedgerEntry]:
        """The outcomes of all writes, newest first."""
        return (entry for entry in self.entries() if entry.outcome in AUDITED and not entry.carried)

    def open_writes(self) -> tuple[LedgerEntry, ...]:
        """The writes that are not resolved, oldest first, each with the last that is known of it.

        "intent" is under way, or its program died; "unknown" lost its answer; "applied" made a key
        that nobody has acknowledged.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        return tuple(_open(_entries(content)).values())

    def give_up_dead(self, now: datetime) -> None:
        """Record "unknown" for each write whose program ended before the outcome."""
        if not self.path.exists():
            return
        with self._locked() as descriptor:
            found = _open(_entries(whole(descriptor))).values()
            lines = [
                encoded(replace(one, outcome="unknown", at=now, message=DIED, process={}).as_line())
                for one in found
                if one.outcome == "intent" and not one.is_running(now)
            ]
            if lines:
                add(descriptor, b"".join(lines))

    def resolve(
        self, one: LedgerEntry, at: datetime, finding: str, identity: str | None = None
    ) -> None:
        """Close an open write with a person's finding.

        ``identity`` is that of what it made, where a person pointed at it. What raises leaves it
        open.
        """
        found = replace(one, message=finding, identity=identity or one.identity)
        self._resolve(found, "resolved", at)

    def acknowledge(self, plan: str, at: datetime) -> None:
        """Close the creation of a key by that plan: a person has stored its value."""
        for write in self.open_writes():
            if write.id == plan and write.is_unacknowledged:
                self._resolve(write, "acknowledged", at)

    def _resolve(self, one: LedgerEntry, outcome: LedgerOutcome, at: datetime) -> None:
        now = Operator.present()
        closed = replace(one, outcome=outcome, at=at, carried=False, process={})
        self.record(replace(closed, user=now.user, host=now.host))

    def stamp(self) -> object:
        """Changes with every line that is added; equal while there is nothing new to read."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size

    def _contents(self) -> Iterator[bytes]:
        """The content of every file, the newest first, each once even while one is set aside."""
        now = None
        if self.path.exists():
            with self.path.open("rb") as file:
                now = os.fstat(file.fileno())
                content = file.read()
            yield content
        for _, path in sorted(self._aside(), reverse=True):
            if now is None or not os.path.samestat(now, path.stat()):
                yield path.read_bytes()

    def _set_aside(self, descriptor: int, data: bytes) -> bool:
        """Give the full file its number, and begin the next with what is open and ``data``.

        The caller holds its lock, so that nobody else does. False where that cannot be done, or
        what is open fills a file by itself.
        """
        carried = b"".join(
            encoded(replace(one, carried=True).as_line())
            for one in _open(_entries(whole(descriptor))).values()
        )
        if len(carried) + len(data) > self._full:
            return False
        last = max((number for number, _ in self._aside()), default=0)
        aside = self.path.with_name(f"{self.path.stem}-{last + 1:06}.jsonl")
        try:
            # A second name first: at no moment is there no ledger.
            os.link(self.path, aside)
        except OSError:  # not on every file system
            return False
        replace_file(self.path, carried + data)
        return True

    def _aside(self) -> list[tuple[int, Path]]:
        found = []
        for path in self.path.parent.glob(f"{self.path.stem}-*.jsonl"):
            match = _SET_ASIDE.search(path.name)
            if match is not None:
                found.append((int(match[1]), path))
        return found


def _open(entries: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    """The open writes of lines in file order, by id."""
    found: dict[str, LedgerEntry] = {}
    closed: set[str] = set()
    for entry in entries:
        if entry.outcome == "intent" or entry.carried:
            if entry.id not in closed:
                found.setdefault(entry.id, entry)
            continue
        one = found.pop(entry.id, None)
        stays = entry.outcome == "unknown" or (entry.outcome == "applied" and entry.reveals)
        if one is not None and stays:
            identity = entry.identity or one.identity
            found[one.id] = replace(
                one, outcome=entry.outcome, message=entry.message, identity=identity
            )
            continue
        closed.add(entry.id)
        if entry.outcome == "applied" and entry.action.endswith(".delete"):
            found = {name: one for name, one in found.items() if not _is_of(one, entry)}
    return found


def _is_of(one: LedgerEntry, deletion: LedgerEntry) -> bool:
    """Whether a deletion deleted the key that an open write created."""
    return one.is_unacknowledged and (one.gateway, one.resource, one.identity) == (
        deletion.gateway,
        deletion.resource,
        deletion.identity,
    )


def _entries(content: bytes) -> Iterator[LedgerEntry]:
    return filter(None, map(_entry, parsed(content)))


def _entry(line: Mapping[str, Any]) -> LedgerEntry | None:
    """The entry of a line; None when it is not one of this version."""
    try:
        if line["v"] != _VERSION or line["outcome"] not in _OUTCOMES:
            return None
        at = datetime.fromisoformat(line["at"])
        known = {name: line[name] for name in _PLAIN if name in line}
        changes = tuple(
            AuditedChange(str(one["field"]), _text(one["before"]), _text(one["after"]))
            for one in line.get("changes", ())
        )
        parts = {name: line.get(name, {}) for name in ("summary", "before", "process")}
        if at.tzinfo is None or not _well_typed(known, parts):
            return None
        return LedgerEntry(
            **known,
            **parts,
            at=at,
            changes=changes,
            reveals=line.get("reveals") is True,
            carried=line.get("carried") is True,
        )
    except (KeyError, TypeError, ValueError):
        return None


def _well_typed(known: Mapping[str, Any], parts: Mapping[str, Any]) -> bool:
    status = known.get("status")
    texts = (value for name, value in known.items() if name != "status")
    return (
        all(value is None or isinstance(value, str) for value in texts)
        and (status is None or isinstance(status, int))
        and all(isinstance(part, dict) for part in parts.values())
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def one_line(changes: Iterable[AuditedChange]) -> str:
    """The changes in a line: "Limit: $5.00 → $10.00; State: enabled → disabled"."""
    return "; ".join(
        f"{change.field}: {change.after}"
        if change.before is None
        else f"{change.field}: {change.before} → {change.after}"
        for change in changes
    )


def summary_text(summary: Mapping[str, JsonValue]) -> str:
    """The summary as compact JSON."""
    return json.dumps(dict(summary), separators=(", ", ": ")) if summary else ""


# Processes ----------------------------------------------------------------------------------------


def this_process() -> dict[str, JsonValue]:
    """An identity of this process among all on this host and elsewhere."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "began": _began(os.getpid())}


def may_run(process: Mapping[str, Any]) -> bool:
    """Whether the process with that identity may still run; True for other hosts."""
    if process.get("host") != socket.gethostname():
        return bool(process)
    pid = process.get("pid")
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    # The number may have gone to another program since.
    return process.get("began") == _began(pid)


def _began(pid: int) -> str:
    """The boot, and when in it a process started (clock ticks); "" where that is unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (OSError, ValueError):
        return ""
    # The name, in brackets, may hold anything.
    fields = stat.rpartition(")")[2].split()
    return f"{boot}/{fields[_START]}" if len(fields) > _START else ""
