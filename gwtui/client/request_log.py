"""What the requests made for one purpose cost, and what their lists lacked.

A reading often joins several lists into rows of its own. What they cost and what one of them lacked
must not get lost on the way, whoever joins them: it is told where it happens.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from datetime import datetime
from typing import Any, NamedTuple

from gwtui.domain.clock import Clock
from gwtui.records import dataclass


@dataclass(slots=True)
class Shortfall:
    """``unreadable`` counts rows that were left out, ``cut`` lists that ended before their end.

    ``closed`` counts workspaces that came without an id: what is in them cannot be asked for.
    """

    unreadable: int = 0
    cut: int = 0
    closed: int = 0

    def __bool__(self) -> bool:
        return bool(self.unreadable or self.cut or self.closed)


PartListener = Callable[[Collection[Any], int | None], None]
"""Takes the rows that have come so far, and how many there are; None when nobody says."""

PageTaker = Callable[[Sequence[Any]], Awaitable[None]]
"""Takes the rows of a page that no page before it had; the next page waits for it."""


@dataclass(slots=True)
class ReadingLog:
    """Requests that were sent, repeated ones included, and what the lists lacked.

    ``trying`` is set for a reading that failed the last time: until something of it is answered
    nothing is repeated, for whoever reads comes again by itself. A gateway that is down must not
    be asked more often than one that is well. ``oldest`` is when the oldest part was read that was
    there before, None where all of it is read now.
    """

    requests: int = 0
    lacks: Shortfall = field(default_factory=Shortfall)
    trying: bool = False
    oldest: datetime | None = None
    parts: list[PartListener] = field(default_factory=list, repr=False)
    """Who is told what has come of a long list while the rest is still read."""
    taker: PageTaker | None = field(default=None, repr=False)
    """Who takes each page of a list instead of the whole."""


_current: ContextVar[ReadingLog | None] = ContextVar("reading_log", default=None)


@contextmanager
def logged(log: ReadingLog | None = None, *, trying: bool = False) -> Iterator[ReadingLog]:
    """Log everything that is read inside, in tasks begun inside too; in ``log`` where given."""
    if log is None:
        log = ReadingLog(trying=trying)
    token = _current.set(log)
    try:
        yield log
    finally:
        _current.reset(token)


def request_sent() -> None:
    """One more request."""
    log = _current.get()
    if log is not None:
        log.requests += 1


def request_answered() -> None:
    """The gateway is there: what fails from now on is worth repeating."""
    log = _current.get()
    if log is not None:
        log.trying = False


def repeats() -> bool:
    """Whether a read that fails is to be repeated."""
    log = _current.get()
    return log is None or not log.trying


def list_read(unreadable: int, *, complete: bool) -> None:
    """One list was read."""
    log = _current.get()
    if log is not None:
        log.lacks.unreadable += unreadable
        log.lacks.cut += not complete


def part_read(rows: Collection[Any], total: int | None) -> None:
    """So much of a list was read, and more is to come. ``rows`` grows on: take what is needed."""
    log = _current.get()
    for listener in () if log is None else tuple(log.parts):
        listener(rows, total)


def page_taker() -> PageTaker | None:
    """Who takes each page of what is read; None where the whole list is wanted."""
    log = _current.get()
    return None if log is None else log.taker


def workspaces_closed(number: int) -> None:
    """So many workspaces cannot be asked for what is in them."""
    log = _current.get()
    if log is not None:
        log.lacks.closed += number


def include(part: ReadingLog, *, requests: bool = False, read_at: datetime | None = None) -> None:
    """Something was read with a log of its own, and is used here.

    Its ``requests`` count where they were made for this reading. ``read_at`` is given when it was
    there before.
    """
    log = _current.get()
    if log is None:
        return
    log.lacks.unreadable += part.lacks.unreadable
    log.lacks.cut += part.lacks.cut
    log.lacks.closed += part.lacks.closed
    if requests:
        log.requests += part.requests
    if read_at is None:
        log.trying &= part.trying
    elif log.oldest is None or read_at < log.oldest:
        log.oldest = read_at


WINDOW = 60
"""Seconds that are counted."""


class Recent(NamedTuple):
    """The requests of the last ``WINDOW`` seconds; ``limited`` were answered with 429."""

    reads: int = 0
    writes: int = 0
    limited: int = 0

    @property
    def requests(self) -> int:
        """All of them."""
        return self.reads + self.writes


@dataclass(slots=True)
class _Second:
    at: int
    reads: int = 0
    writes: int = 0
    limited: int = 0


class Traffic:
    """Counts by whole seconds, so that it stays small however many requests there are."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds: deque[_Second] = deque()

    def sent(self, *, read: bool) -> None:
        """One more request leaves."""
        second = self._now()
        if read:
            second.reads += 1
        else:
            second.writes += 1

    def limited(self) -> None:
        """The gateway asked for fewer."""
        self._now().limited += 1

    def recent(self) -> Recent:
        """The last minute."""
        self._forget()
        return Recent(
            sum(second.reads for second in self._seconds),
            sum(second.writes for second in self._seconds),
            sum(second.limited for second in self._seconds),
        )

    def _now(self) -> _Second:
        self._forget()
        at = int(self._clock.monotonic())
        if not self._seconds or self._seconds[-1].at != at:
            self._seconds.append(_Second(at))
        return self._seconds[-1]

    def _forget(self) -> None:
        oldest = int(self._clock.monotonic()) - WINDOW
        while self._seconds and self._seconds[0].at <= oldest:
            self._seconds.popleft()


_collecting: ContextVar[list[str] | None] = ContextVar("request_ids", default=None)


@contextmanager
def request_ids() -> Iterator[list[str]]:
    """Collect the ids of the writes that are answered inside, in the order of the answers."""
    found: list[str] = []
    token = _collecting.set(found)
    try:
        yield found
    finally:
        _collecting.reset(token)


def answered(request_id: str | None) -> None:
    """Note the id of a write that was answered; nothing happens where nobody collects."""
    found = _collecting.get()
    if found is not None and request_id is not None:
        found.append(request_id)
