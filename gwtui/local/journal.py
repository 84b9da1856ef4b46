"""The journal of writes: what was about to be sent, and what became of it.

Append-only JSON lines in a private file. An intent stands on disk before its request leaves; one
outcome line closes it. A write whose program died, or whose answer was lost, stays open and can be
found after a restart. It holds summaries of plans, never a secret.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.local.durable import sync_directory, write_all
from gwtui.local.paths import PrivateDirectoryError, ensure_private

Event = Literal["intent", "applied", "refused", "unknown", "resolved"]
CLOSING: frozenset[str] = frozenset({"applied", "refused", "resolved"})
"""Events after which nothing about the write is in doubt."""

_VERSION = 1
_PRIVATE_FILE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: ``id`` ties the events of one write together; ``at`` is UTC."""

    id: str
    event: Event
    at: datetime
    details: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenIntent:
    """A write of which it is not known whether it happened.

    ``answer_lost`` tells a lost answer (True) from a program that ended, or still runs, between
    the intent and the outcome (False).
    """

    id: str
    at: datetime
    action: str
    resource: str
    identity: str | None
    gateway: str
    summary: Mapping[str, JsonValue]
    answer_lost: bool
    message: str


class Journal:
    """The journal file of one person on this machine; safe to share between processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def record(self, entry: Entry) -> None:
        """Append one line and wait until it is on the disk. Raises OSError."""
        line = json.dumps(
            {
                "v": _VERSION,
                "id": entry.id,
                "event": entry.event,
                "at": timestamp_text(entry.at),
                **entry.details,
            },
            separators=(",", ":"),
        ).encode()
        _private_directory(self.path.parent)
        is_new = not self.path.exists()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, _PRIVATE_FILE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_mode & _OTHERS:
                os.fchmod(descriptor, _PRIVATE_FILE)
            # A line torn by a crash or a full disk must not swallow this one.
            start = b"" if _ends_cleanly(descriptor) else b"\n"
            write_all(descriptor, start + line + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            sync_directory(self.path.parent)

    def entries(self) -> Iterator[Entry]:
        """Every readable line in file order; torn and foreign lines are passed over."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        for line in content.split(b"\n"):
            entry = _parse(line)
            if entry is not None:
                yield entry

    def open_intents(self) -> tuple[OpenIntent, ...]:
        """The writes in doubt, oldest first. Raises OSError when the file cannot be read."""
        intents: dict[str, Entry] = {}
        lost: dict[str, Entry] = {}
        closed: set[str] = set()
        for entry in self.entries():
            if entry.event == "intent":
                intents.setdefault(entry.id, entry)
            elif entry.event == "unknown":
                lost[entry.id] = entry
            else:
                closed.add(entry.id)
        return tuple(
            _open_intent(intent, lost.get(intent.id))
            for intent in intents.values()
            if intent.id not in closed
        )


def _open_intent(intent: Entry, lost: Entry | None) -> OpenIntent:
    details = intent.details
    summary = details.get("summary")
    identity = details.get("identity")
    return OpenIntent(
        id=intent.id,
        at=intent.at,
        action=str(details.get("action", "")),
        resource=str(details.get("resource", "")),
        identity=None if identity is None else str(identity),
        gateway=str(details.get("gateway", "")),
        summary=summary if isinstance(summary, dict) else {},
        answer_lost=lost is not None,
        message="" if lost is None else str(lost.details.get("message", "")),
    )


def _parse(line: bytes) -> Entry | None:
    try:
        data: Any = json.loads(line)
        event = data.pop("event")
        if event not in CLOSING | {"intent", "unknown"}:
            return None
        moment = datetime.fromisoformat(data.pop("at"))
        identifier = data.pop("id")
        data.pop("v")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if not isinstance(identifier, str) or moment.tzinfo is None:
        return None
    return Entry(identifier, event, moment, data)


def _ends_cleanly(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def _private_directory(directory: Path) -> None:
    """Raises OSError when the directory cannot be made private."""
    try:
        ensure_private(directory)
    except PrivateDirectoryError as error:
        raise OSError(str(error)) from error
