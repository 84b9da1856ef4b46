"""Counts requests: those of one reading, with what its lists lacked, and those of the last minute.

A reading often joins several lists into rows of its own. The number of their requests and what one
of them lacked is noted where it happens, in the ``ReadingLog`` of the context (``reading_log``).
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
from gwtui.lazy_dataclass import dataclass


@dataclass(slots=True)
class Shortfall:
    """``unreadable`` counts rows that were left out, ``cut`` lists that ended before their end.

    ``closed`` counts workspaces that came without an id, so that their content cannot be read.
    """

    unreadable: int = 0
    cut: int = 0
    closed: int = 0

    def __bool__(self) -> bool:
        return bool(self.unreadable or self.cut or self.closed)


PartListener = Callable[[Collection[Any], int | None], None]
"""Takes the rows that have come so far, and the total; None where that is unknown."""

PageHandler = Callable[[Sequence[Any]], Awaitable[None]]
"""Takes the rows of a page that no page before it had; the next page waits for it."""


@dataclass(slots=True)
class ReadingLog:
    """Requests that were sent, repeated ones included, and what the lists lacked.

    ``trying`` is set for a reading that failed the last time: until a request of it is answered,
    none is repeated, so that a gateway that is down gets no more requests than one that is up.
    ``oldest`` is when the oldest reused part was read, None where all of it is read now.
    """

    requests: int = 0
    lacks: Shortfall = field(default_factory=Shortfall)
    trying: bool = False
    oldest: datetime | None = None
    parts: list[PartListener] = field(default_factory=list, repr=False)
    """Called with the rows of a long list so far, while the rest is still read."""
    page_handler: PageHandler | None = field(default=None, repr=False)
    """Called with each page of a list, which is then not kept."""


_current: ContextVar[ReadingLog | None] = ContextVar("reading_log", default=None)


@contextmanager
def reading_log(log: ReadingLog | None = None, *, trying: bool = False) -> Iterator[ReadingLog]:
    """Log everything that is read inside, in tasks begun inside too; in ``log`` where given."""
    if log is None:
        log = ReadingLog(trying=trying)
    token = _current.set(log)
    try:
        yield log
    finally:
        _current.reset(token)


def request_sent() -> None:
    """Count one more request."""
    log = _current.get()
    if log is not None:
        log.requests += 1


def request_answered() -> None:
    """Note that the gateway answers: reads that fail from now on are repeated."""
    log = _current.get()
    if log is not None:
        log.trying = False


def may_retry() -> bool:
    """Whether a read that fails is to be repeated."""
    log = _current.get()
    return log is None or not log.trying


def list_read(unreadable: int, *, complete: bool) -> None:
    """Note that one list was read, and what it lacks."""
    log = _current.get()
    if log is not None:
        log.lacks.unreadable += unreadable
        log.lacks.cut += not complete


def part_read(rows: Collection[Any], total: int | None) -> None:
    """Report the rows of a list so far. ``rows`` still grows: listeners copy what they need."""
    log = _current.get()
    for listener in () if log is None else tuple(log.parts):
        listener(rows, total)


def page_handler() -> PageHandler | None:
    """What each page is handed to; None where the list is read as a whole."""
    log = _current.get()
    return None if log is None else log.page_handler


def workspaces_without_id(number: int) -> None:
    """Count workspaces without an id, whose content cannot be read."""
    log = _current.get()
    if log is not None:
        log.lacks.closed += number


def include(part: ReadingLog, *, requests: bool = False, read_at: datetime | None = None) -> None:
    """Add a part that was read with a log of its own.

    Its ``requests`` count where they were made for this reading; ``read_at`` is given for a part
    that is reused.
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


class RecentRequests(NamedTuple):
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
        """Count one more request."""
        second = self._now()
        if read:
            second.reads += 1
        else:
            second.writes += 1

    def limited(self) -> None:
        """Count an answer of 429."""
        self._now().limited += 1

    def recent(self) -> RecentRequests:
        """The counts of the last minute."""
        self._forget()
        return RecentRequests(
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


def write_answered(request_id: str | None) -> None:
    """Note the id of a write that was answered, for ``request_ids``."""
    found = _collecting.get()
    if found is not None and request_id is not None:
        found.append(request_id)
