"""The audit log: every change that this person sent to a gateway from this machine, for good.

JSON lines in private files beside the journal. Lines are only ever added: a file that is full is
set aside under a number and stays as it is. No line holds a secret.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.local.jsonl import LineFile, add, encoded, parsed
from gwtui.local.private_file import sync_directory

AuditOutcome = Literal["applied", "refused", "unknown", "resolved"]
"""What became of a change. A "resolved" line follows an "unknown" one that a person looked into."""

FILE_NAME = "audit.jsonl"
FULL = 4 * 1024 * 1024
"""Bytes of a file before it is set aside."""
_VERSION = 1
_OUTCOMES = frozenset(get_args(AuditOutcome))
_KEPT_ASIDE = re.compile(r"-(\d{6,})\.jsonl\Z")


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """One field before and after, as people read it; None where there is none."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One change: when, who, what, and what became of it.

    ``id`` is that of the plan, ``undoes`` that of the plan whose change it takes back. ``at`` is
    UTC. ``key`` is the label of the management key, as the gateway masks it, empty when it was not
    known; ``token_source`` where its value came from. ``consent`` is how the person agreed.
    ``error``, ``status`` and ``message`` say why it was refused or is not known. ``request_id`` is
    what the gateway calls the request.
    """

    id: str
    at: datetime
    outcome: AuditOutcome
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

    @classmethod
    def of(
        cls, facts: Mapping[str, Any], *, id: str, at: datetime, outcome: AuditOutcome
    ) -> AuditEntry | None:
        """From the fields by name, whatever else is there; None where one is of a wrong kind."""
        envelope = {"v": _VERSION, "id": id, "at": timestamp_text(at), "outcome": outcome}
        return _entry({**facts, **envelope})

    @property
    def who(self) -> str:
        """The person and the machine: "ann@desk"."""
        return f"{self.user}@{self.host}"

    def as_json(self) -> dict[str, JsonValue]:
        """The line in the log, and in an export."""
        return {
            "v": _VERSION,
            **{name: getattr(self, name) for name in _PLAIN},
            "at": timestamp_text(self.at),
            "changes": [asdict(change) for change in self.changes],
            "summary": dict(self.summary),
        }


_PLAIN = tuple(
    one.name for one in fields(AuditEntry) if one.name not in {"at", "changes", "summary"}
)


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


class AuditLog:
    """The audit log of one person on this machine; safe to share between processes."""

    def __init__(self, path: Path, *, full: int = FULL) -> None:
        self.path = path
        self._file = LineFile(path)
        self._full = full

    def record(self, entry: AuditEntry) -> None:
        """Add one line and wait until it is on the disk. Raises OSError, ValueError, TypeError."""
        data = encoded(entry.as_json())
        while True:
            with self._file.locked() as descriptor:
                size = os.fstat(descriptor).st_size
                if not size or size + len(data) <= self._full:
                    add(descriptor, data)
                    return
                self._set_aside()

    def entries(self) -> Iterator[AuditEntry]:
        """Every readable line, the newest first. Raises OSError."""
        for content in self._contents():
            for line in reversed(list(parsed(content))):
                entry = _entry(line)
                if entry is not None:
                    yield entry

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

    def _set_aside(self) -> None:
        """Give the full file its number. The caller holds its lock, so that nobody else does."""
        last = max((number for number, _ in self._aside()), default=0)
        self.path.rename(self.path.with_name(f"{self.path.stem}-{last + 1:06}.jsonl"))
        sync_directory(self.path.parent)

    def _aside(self) -> list[tuple[int, Path]]:
        found = []
        for path in self.path.parent.glob(f"{self.path.stem}-*.jsonl"):
            match = _KEPT_ASIDE.search(path.name)
            if match is not None:
                found.append((int(match[1]), path))
        return found


def _entry(line: dict[str, Any]) -> AuditEntry | None:
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
        summary = line.get("summary", {})
        if at.tzinfo is None or not isinstance(summary, dict) or not _well_typed(known):
            return None
        return AuditEntry(**known, at=at, changes=changes, summary=summary)
    except (KeyError, TypeError, ValueError):
        return None


def _well_typed(known: Mapping[str, Any]) -> bool:
    status = known.get("status")
    texts = (value for name, value in known.items() if name != "status")
    return all(value is None or isinstance(value, str) for value in texts) and (
        status is None or isinstance(status, int)
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def one_line(changes: tuple[AuditedChange, ...]) -> str:
    """The changes in a line: "Limit: $5.00 → $10.00; State: enabled → disabled"."""
    return "; ".join(
        f"{one.field}: {one.after}"
        if one.before is None
        else f"{one.field}: {one.before} → {one.after}"
        for one in changes
    )


def summary_text(summary: Mapping[str, JsonValue]) -> str:
    """The summary as compact JSON."""
    return json.dumps(dict(summary), separators=(", ", ": ")) if summary else ""
