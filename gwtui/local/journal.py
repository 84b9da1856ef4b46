"""The journal of writes: what was about to be sent, and what became of it.

Append-only JSON lines in a private file. An intent stands on disk before its request leaves; one
outcome line closes it. A write whose program died, or whose answer was lost, stays open and can be
found after a restart. It holds summaries of plans, never a secret.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.local.jsonl import LineFile, add, encoded, parsed, parsed_line

_START = 19
"""Place of the start time behind the name in /proc/PID/stat: proc(5)."""


def this_process() -> dict[str, JsonValue]:
    """An identity of this process among all on this host and elsewhere."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "began": _began(os.getpid())}


def may_run(process: Any) -> bool:
    """Whether the process with that identity may still run; True for other hosts."""
    if not isinstance(process, dict):
        return False
    if process.get("host") != socket.gethostname():
        return True
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


Event = Literal["intent", "applied", "refused", "unknown", "resolved"]
CLOSING: frozenset[str] = frozenset({"applied", "refused", "resolved"})
"""Events after which nothing about the write is in doubt."""

FILE_NAME = "journal.jsonl"
KEPT = timedelta(days=30)
"""How long what is closed stays in the journal at least."""
LARGE = 512 * 1024
"""Bytes up to which nothing is taken out of it."""
DID_NOT_HAPPEN = "it did not happen"
"""What it says of a write in doubt of which a person found so."""
DIED = "the program ended before the outcome was known"
_LONGEST = timedelta(minutes=10)
"""No write is under way for longer: each request has its limit of time."""
_VERSION = 1
_EVENTS = CLOSING | {"intent", "unknown"}


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One line: ``id`` ties the events of one write together; ``at`` is UTC."""

    id: str
    event: Event
    at: datetime
    details: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenIntent:
    """A write of which it is not known whether it happened.

    ``gateway`` is the base URL that it went to and ``profile`` what that was called; ``title``,
    ``changes`` (field, before, after) and ``summary`` tell what was wanted. ``answer_lost`` tells a
    lost answer (True) from a program that ended, or still runs, between the intent and the outcome
    (False); ``running`` whether that program runs still.
    """

    id: str
    at: datetime
    action: str
    title: str
    resource: str
    identity: str | None
    gateway: str
    profile: str
    changes: tuple[Mapping[str, JsonValue], ...]
    summary: Mapping[str, JsonValue]
    answer_lost: bool
    message: str
    running: bool
    details: Mapping[str, JsonValue]
    """Everything that the intent's line says."""


class Journal:
    """The journal file of one person on this machine; safe to share between processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = LineFile(path)

    def record(self, entry: JournalEntry) -> None:
        """Append one line and wait until it is on the disk. Raises OSError, ValueError, TypeError.

        What raises leaves nothing of the line behind.
        """
        self._file.append(_line(entry))

    def entries(self) -> Iterator[JournalEntry]:
        """Every readable line in file order; torn and foreign lines are passed over.

        Raises OSError.
        """
        return filter(None, map(_entry, self._file.objects()))

    def open_intents(self, now: datetime | None = None) -> tuple[OpenIntent, ...]:
        """The writes in doubt, oldest first. Raises OSError when the file cannot be read.

        With ``now`` a write that began long ago does not count as running, whatever runs.
        """
        return _open(self.entries(), now)

    def give_up_dead(self, now: datetime) -> tuple[OpenIntent, ...]:
        """Say "unknown" of each write whose program ended before the outcome; gives those.

        Only one process gets each of them. Raises OSError.
        """
        if not self.path.exists():
            return ()
        with self._file.locked() as descriptor:
            content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
            left = _open(filter(None, map(_entry, parsed(content))), now)
            dead = tuple(one for one in left if not (one.answer_lost or one.running))
            details: dict[str, JsonValue] = {"message": DIED}
            lines = [encoded(_line(JournalEntry(one.id, "unknown", now, details))) for one in dead]
            if lines:
                add(descriptor, b"".join(lines))
        return dead

    def compact(self, now: datetime, *, keep: timedelta = KEPT, over: int = LARGE) -> bool:
        """Take out what was closed longer ago than ``keep``, once the file is large.

        What is open stays, however old. Whether anything was taken out. Raises OSError, and then
        the journal is as it was.
        """

        def kept_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
            found = [(line, parsed_line(line)) for line in lines]
            entries = [(line, data, None if data is None else _entry(data)) for line, data in found]
            last: dict[str, datetime] = {}
            closed: set[str] = set()
            for _, _, entry in entries:
                if entry is not None:
                    last[entry.id] = max(entry.at, last.get(entry.id, entry.at))
                    if entry.event in CLOSING:
                        closed.add(entry.id)
            for line, data, entry in entries:
                # A line of a later version is not ours to drop; a torn one is of no use.
                foreign = entry is None and data is not None
                if foreign or (
                    entry is not None and (entry.id not in closed or now - last[entry.id] <= keep)
                ):
                    yield line

        return self._file.keep(kept_lines, over)


def _open(entries: Iterable[JournalEntry], now: datetime | None) -> tuple[OpenIntent, ...]:
    intents: dict[str, JournalEntry] = {}
    lost: dict[str, JournalEntry] = {}
    closed: set[str] = set()
    for entry in entries:
        if entry.event == "intent":
            intents.setdefault(entry.id, entry)
        elif entry.event == "unknown":
            lost[entry.id] = entry
        else:
            closed.add(entry.id)
    return tuple(
        _open_intent(intent, lost.get(intent.id), now)
        for intent in intents.values()
        if intent.id not in closed
    )


def _open_intent(
    intent: JournalEntry, lost: JournalEntry | None, now: datetime | None
) -> OpenIntent:
    details = intent.details
    recent = now is None or now - intent.at < _LONGEST
    summary, changes = details.get("summary"), details.get("changes")
    identity = details.get("identity")
    return OpenIntent(
        id=intent.id,
        at=intent.at,
        action=str(details.get("action", "")),
        title=str(details.get("title", "")),
        resource=str(details.get("resource", "")),
        identity=None if identity is None else str(identity),
        gateway=str(details.get("gateway", "")),
        profile=str(details.get("profile", "")),
        changes=tuple(one for one in changes if isinstance(one, dict))
        if isinstance(changes, list)
        else (),
        summary=summary if isinstance(summary, dict) else {},
        answer_lost=lost is not None,
        message="" if lost is None else str(lost.details.get("message", "")),
        running=lost is None and recent and may_run(details.get("process")),
        details=details,
    )


def _line(entry: JournalEntry) -> dict[str, JsonValue]:
    return {
        **entry.details,
        "v": _VERSION,
        "id": entry.id,
        "event": entry.event,
        "at": timestamp_text(entry.at),
    }


def _entry(data: dict[str, Any]) -> JournalEntry | None:
    """The entry of a line; None when it is not one of this version."""
    rest = dict(data)
    try:
        event, identifier = rest.pop("event"), rest.pop("id")
        moment = datetime.fromisoformat(rest.pop("at"))
        version = rest.pop("v")
        known = version == _VERSION and event in _EVENTS
    except (ValueError, KeyError, TypeError):
        return None
    if not known or not isinstance(identifier, str) or moment.tzinfo is None:
        return None
    return JournalEntry(identifier, event, moment, rest)
