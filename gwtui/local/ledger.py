"""The ledger of writes: every request before it is sent, and its outcome. Users call it audit log.

It consists of JSON lines in private files, without secrets. Lines are only appended. The line of an
intent is on disk before its request is sent; later lines with the same id tell the outcome. A full
file is renamed with a number, and a new one is started.

``audit`` returns all outcomes. ``open_writes`` returns the writes that the user must resolve: those
with an unknown outcome, and new keys whose value nobody has acknowledged. A new file starts with
copies of them, so only the newest file is needed to find them.
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
    append,
    encode_line,
    ensure_private,
    open_locked,
    parse_lines,
    read_all,
    replace_file,
)

LedgerOutcome = Literal["intent", "applied", "refused", "unknown", "resolved", "acknowledged"]
"""The state of a write.

"resolved" follows "unknown" once the user has found out what happened. "acknowledged" follows
"applied" once the user has stored the value of the new key.
"""

FILE_NAME = "audit.jsonl"
FULL = 1024 * 1024
"""The size in bytes from which a file is renamed."""
NOT_APPLIED = "not applied"
"""The message of a write that, as the user found out, was not applied."""
DIED = "the program ended before the outcome was known"
_LONGEST = timedelta(minutes=10)
"""The maximum duration of a write; every request has a time limit."""
_LONGEST_SHOWN = timedelta(days=1)
"""The maximum time that a new key is assumed to be on the screen of another process."""
_VERSION = 1
_OUTCOMES = frozenset(get_args(LedgerOutcome))
AUDITED = frozenset({"applied", "refused", "unknown", "resolved"})
_SET_ASIDE = re.compile(r"-(\d{6,})\.jsonl\Z")
_START = 19
"""The index of the start time after the name in /proc/PID/stat: proc(5)."""


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """The displayed values of a field before and after a change; None if absent."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One line of the ledger.

    ``id`` is the id of the plan, ``undoes`` that of the plan it reverts. ``at`` is UTC. ``key`` is
    the masked label of the management key, empty if unknown; ``token_source`` is where it was
    found. ``consent`` is how the user confirmed. ``error``, ``status`` and ``message`` explain a
    refusal or an unknown outcome. ``request_id`` is given by the gateway. ``summary`` is the
    request body, ``before`` the same fields before the write; ``process`` identifies the sending
    process. ``reveals``: the response contains a value that the gateway gives only once.
    ``carried``: a copy of an open write of the previous file.
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
        """The user and the machine, such as "ann@desk"."""
        return f"{self.user}@{self.host}"

    @property
    def is_unacknowledged(self) -> bool:
        """Whether an open write created a key whose value is not acknowledged."""
        return self.outcome == "applied"

    def is_running(self, now: datetime) -> bool:
        """Whether the process that began this unfinished write may still be running."""
        longest = _LONGEST_SHOWN if self.is_unacknowledged else _LONGEST
        return self.outcome != "unknown" and now - self.at < longest and may_run(self.process)

    def as_json(self) -> dict[str, JsonValue]:
        """The entry as JSON for an export."""
        return {
            "v": _VERSION,
            **{name: getattr(self, name) for name in _PLAIN},
            "at": timestamp_text(self.at),
            "changes": [asdict(change) for change in self.changes],
            "summary": dict(self.summary),
        }

    def as_line(self) -> dict[str, JsonValue]:
        """The entry as JSON for the file, with the fields that exports leave out."""
        further = {name: getattr(self, name) for name in _FURTHER if getattr(self, name)}
        return {**self.as_json(), **further}


_FURTHER = ("before", "process", "reveals", "carried")
EXPORTED = tuple(declared.name for declared in fields(LedgerEntry) if declared.name not in _FURTHER)
"""The names of the exported fields."""
_PLAIN = tuple(name for name in EXPORTED if name not in {"at", "changes", "summary"})


@dataclass(frozen=True, slots=True)
class Operator:
    """The user and the machine, as reported by the operating system."""

    user: str
    host: str

    @classmethod
    def present(cls) -> Operator:
        """The user of this process. Environment variables have no influence."""
        identity = os.geteuid()
        try:
            user = pwd.getpwuid(identity).pw_name
        except KeyError:
            user = str(identity)
        return cls(user, socket.gethostname())


class Ledger:
    """The ledger of one user. Several processes may use it at the same time.

    Every method blocks and raises OSError.
    """

    def __init__(self, path: Path, *, full: int = FULL) -> None:
        self.path = path
        self._full = full

    def record(self, entry: LedgerEntry) -> None:
        """Append an entry and wait until it is on disk; nothing is left of it on an error.

        Raises ValueError or TypeError if the entry cannot be written as JSON.
        """
        data = encode_line(entry.as_line())
        with self._locked() as descriptor:
            size = os.fstat(descriptor).st_size
            if not size or size + len(data) <= self._full or not self._set_aside(descriptor, data):
                append(descriptor, data)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        ensure_private(self.path.parent)
        with open_locked(self.path) as descriptor:
            yield descriptor

    def entries(self) -> Iterator[LedgerEntry]:
        """The valid entries of all files, newest first; invalid lines are skipped."""
        for content in self._contents():
            yield from reversed(list(_entries(content)))

    def audit(self) -> Iterator[LedgerEntry]:
        """The outcomes of all writes, newest first."""
        return (entry for entry in self.entries() if entry.outcome in AUDITED and not entry.carried)

    def open_writes(self) -> tuple[LedgerEntry, ...]:
        """The writes that are not resolved, oldest first, each in its latest state.

        "intent": still running, or its process died; "unknown": the response was lost; "applied": a
        new key that nobody has acknowledged.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        return tuple(_open(_entries(content)).values())

    def mark_dead_as_unknown(self, now: datetime) -> None:
        """Record "unknown" for each write whose process died before the outcome."""
        if not self.path.exists():
            return
        with self._locked() as descriptor:
            writes = _open(_entries(read_all(descriptor))).values()
            lines = [
                encode_line(
                    replace(write, outcome="unknown", at=now, message=DIED, process={}).as_line()
                )
                for write in writes
                if write.outcome == "intent" and not write.is_running(now)
            ]
            if lines:
                append(descriptor, b"".join(lines))

    def resolve(
        self, write: LedgerEntry, at: datetime, finding: str, identity: str | None = None
    ) -> None:
        """Close an open write with ``finding``, a text of what the user found out.

        ``identity`` is that of the created resource, if the user identified it.
        """
        resolved = replace(write, message=finding, identity=identity or write.identity)
        self._resolve(resolved, "resolved", at)

    def acknowledge(self, plan: str, at: datetime) -> None:
        """Close the creation of a key, given by its plan id: the user has stored its value."""
        for write in self.open_writes():
            if write.id == plan and write.is_unacknowledged:
                self._resolve(write, "acknowledged", at)

    def _resolve(self, write: LedgerEntry, outcome: LedgerOutcome, at: datetime) -> None:
        now = Operator.present()
        closed = replace(write, outcome=outcome, at=at, carried=False, process={})
        self.record(replace(closed, user=now.user, host=now.host))

    def _contents(self) -> Iterator[bytes]:
        # A file may be renamed between the reads, so the newest one is skipped the second time.
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
        # The caller holds the lock. False: renaming failed, or the open writes alone fill a file.
        carried = b"".join(
            encode_line(replace(write, carried=True).as_line())
            for write in _open(_entries(read_all(descriptor))).values()
        )
        if len(carried) + len(data) > self._full:
            return False
        last = max((number for number, _ in self._aside()), default=0)
        aside = self.path.with_name(f"{self.path.stem}-{last + 1:06}.jsonl")
        try:
            # The second name is added first, so that the ledger exists at any moment.
            os.link(self.path, aside)
        except OSError:  # some file systems have no links
            return False
        replace_file(self.path, carried + data)
        return True

    def _aside(self) -> list[tuple[int, Path]]:
        files = []
        for path in self.path.parent.glob(f"{self.path.stem}-*.jsonl"):
            match = _SET_ASIDE.search(path.name)
            if match is not None:
                files.append((int(match[1]), path))
        return files


def _open(entries: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    writes: dict[str, LedgerEntry] = {}
    closed: set[str] = set()
    for entry in entries:
        if entry.outcome == "intent" or entry.carried:
            if entry.id not in closed:
                writes.setdefault(entry.id, entry)
            continue
        write = writes.pop(entry.id, None)
        stays = entry.outcome == "unknown" or (entry.outcome == "applied" and entry.reveals)
        if write is not None and stays:
            identity = entry.identity or write.identity
            writes[write.id] = replace(
                write, outcome=entry.outcome, message=entry.message, identity=identity
            )
            continue
        closed.add(entry.id)
        if entry.outcome == "applied" and entry.action.endswith(".delete"):
            writes = {name: write for name, write in writes.items() if not _is_of(write, entry)}
    return writes


def _is_of(write: LedgerEntry, deletion: LedgerEntry) -> bool:
    return write.is_unacknowledged and (write.gateway, write.resource, write.identity) == (
        deletion.gateway,
        deletion.resource,
        deletion.identity,
    )


def _entries(content: bytes) -> Iterator[LedgerEntry]:
    return filter(None, map(_entry, parse_lines(content)))


def _entry(line: Mapping[str, Any]) -> LedgerEntry | None:
    try:
        if line["v"] != _VERSION or line["outcome"] not in _OUTCOMES:
            return None
        at = datetime.fromisoformat(line["at"])
        known = {name: line[name] for name in _PLAIN if name in line}
        changes = tuple(
            AuditedChange(str(change["field"]), _text(change["before"]), _text(change["after"]))
            for change in line.get("changes", ())
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


def changes_text(changes: Iterable[AuditedChange]) -> str:
    """The changes as one line: "Limit: $5.00 → $10.00; State: enabled → disabled"."""
    return "; ".join(
        f"{change.field}: {change.after}"
        if change.before is None
        else f"{change.field}: {change.before} → {change.after}"
        for change in changes
    )


def summary_text(summary: Mapping[str, JsonValue]) -> str:
    """The body of a request as compact JSON, empty for none."""
    return json.dumps(dict(summary), separators=(", ", ": ")) if summary else ""


# Processes ----------------------------------------------------------------------------------------


def this_process() -> dict[str, JsonValue]:
    """The identity of this process: host, process id and start.

    ``may_run`` tells later whether the process still runs.
    """
    return {"host": socket.gethostname(), "pid": os.getpid(), "began": _began(os.getpid())}


def may_run(process: Mapping[str, Any]) -> bool:
    """Whether the process with this identity may still run; True for processes of other hosts."""
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
    # Another process may have the same number by now.
    return process.get("began") == _began(pid)


def _began(pid: int) -> str:
    # The boot and the start time within it, in clock ticks.
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (OSError, ValueError):
        return ""
    # The name of the program, in parentheses, may contain spaces and parentheses.
    fields = stat.rpartition(")")[2].split()
    return f"{boot}/{fields[_START]}" if len(fields) > _START else ""
