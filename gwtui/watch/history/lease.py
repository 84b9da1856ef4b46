"""Who records: one instance at a time holds the lease, the others read.

The holder counts a beat up every ``BEAT`` seconds. Another instance takes the lease over when the
beat has stood still for ``TIME_LIMIT`` seconds *of its own monotonic clock*, or at once when the
holder was a process of this machine that is gone. No wall clocks are compared, so that one that
jumps ends no lease. Whoever writes checks in the same transaction that the lease is still its own
(``HistoryWriter.fenced``): a holder that was stopped and wakes up late writes nothing.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from gwtui.domain.clock import Clock
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import moment_of, seconds_of

BEAT = 10.0
"""Seconds between two signs of life."""
TIME_LIMIT = 35.0
"""Seconds without a sign of life after which the lease is free: three beats and a bit."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lease. ``expires_at`` is for people; see the module for what really counts."""

    id: str
    pid: int
    host: str
    beat: int
    taken_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _LastBeat:
    """The beat that was seen last, and when by the own monotonic clock."""

    holder: str
    beat: int
    at: float


class Lease:
    """One instance's claim to record; keep one for as long as the file is open."""

    def __init__(self, clock: Clock, *, pid: int | None = None, host: str | None = None) -> None:
        self.id = uuid.uuid4().hex
        self._clock = clock
        self._pid = os.getpid() if pid is None else pid
        self._host = this_host() if host is None else host
        self._seen: _LastBeat | None = None

    def hold(self, connection: sqlite3.Connection) -> bool:
        """Renew the lease, or take it if it is free; whether it is ours now.

        Call it every ``BEAT`` seconds, also while it is another's. Raises sqlite3.Error.
        """
        now = seconds_of(self._clock.now())
        with transaction(connection):
            found = current(connection)
            if found is not None and found.id == self.id:
                connection.execute(
                    "UPDATE lease SET beat = beat + 1, expires_at = ?", (now + int(TIME_LIMIT),)
                )
                return True
            if found is not None and not self._is_free(found):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO lease VALUES (1, ?, ?, ?, 0, ?, ?)",
                (self.id, self._pid, self._host, now, now + int(TIME_LIMIT)),
            )
            return True

    def release(self, connection: sqlite3.Connection) -> None:
        """Let others record at once; nothing happens when it is not ours. Raises sqlite3.Error."""
        with transaction(connection):
            connection.execute("DELETE FROM lease WHERE holder = ?", (self.id,))

    def _is_free(self, found: Holder) -> bool:
        if found.host == self._host and not _alive(found.pid):
            return True
        now = self._clock.monotonic()
        seen = self._seen
        if seen is None or (seen.holder, seen.beat) != (found.id, found.beat):
            self._seen = _LastBeat(found.id, found.beat, now)
            return False
        return now - seen.at >= TIME_LIMIT


def current(connection: sqlite3.Connection) -> Holder | None:
    """Who holds the lease, None when nobody does."""
    row = connection.execute(
        "SELECT holder, pid, host, beat, taken_at, expires_at FROM lease"
    ).fetchone()
    if row is None:
        return None
    holder, pid, host, beat, taken_at, expires_at = row
    return Holder(holder, pid, host, beat, moment_of(taken_at), moment_of(expires_at))


@cache
def this_host() -> str:
    """A name for where process numbers mean the same: machine, boot and process namespace."""
    parts = [platform.node() or "?"]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    except (OSError, ValueError):  # not Linux: the name of the machine must do
        pass
    return "/".join(parts)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists and belongs to another user
        return True
    return True
