"""Records about requests: those of a reading, pending ones, silence, and the clock skew.

A reading often combines several lists. The number of its requests and the gaps of its lists are
recorded in the ``ReadingLog`` of the context (see ``reading_log``).
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gwtui.domain.clock import Clock


@dataclass(slots=True)
class ListGaps:
    """Counts of the gaps in the lists of a reading; False if there are none.

    ``unreadable_rows`` were left out. ``incomplete_lists`` were not read to their end.
    """

    unreadable_rows: int = 0
    incomplete_lists: int = 0

    def __bool__(self) -> bool:
        return bool(self.unreadable_rows or self.incomplete_lists)


PageListener = Callable[[Sequence[Any], int | None], Awaitable[None]]
"""Called with the new rows of a page, and the total if known. The next page is read afterwards."""


@dataclass(slots=True)
class ReadingLog:
    """What happens while data is read, possibly from several lists.

    ``requests`` is their number, including retries. ``retries_paused`` is True after a reading that
    failed: nothing is retried until a request succeeds, so that a failing gateway gets no more
    requests than a working one. ``oldest`` is when the oldest reused part was read, None if all
    parts are new.
    """

    requests: int = 0
    list_gaps: ListGaps = field(default_factory=ListGaps)
    retries_paused: bool = False
    oldest: datetime | None = None
    listeners: list[PageListener] = field(default_factory=list, repr=False)
    """Called with each page of a list, during the reading."""
    keeps_rows: bool = True
    """Whether lists keep their rows; otherwise only ``listeners`` get them."""


_current: ContextVar[ReadingLog | None] = ContextVar("reading_log", default=None)


@contextmanager
def reading_log(log: ReadingLog) -> Iterator[ReadingLog]:
    """Log all reads within the context and its tasks in ``log``."""
    token = _current.set(log)
    try:
        yield log
    finally:
        _current.reset(token)


def _log() -> ReadingLog:
    """The log of the current read; without one, a new log that nobody reads."""
    return _current.get() or ReadingLog()


def count_request() -> None:
    """Count a request in the log of the context."""
    _log().requests += 1


def allow_retries() -> None:
    """Allow retries from now on, because the gateway has answered."""
    _log().retries_paused = False


def may_retry() -> bool:
    """Whether failed reads may be retried; see ``ReadingLog.retries_paused``."""
    return not _log().retries_paused


def record_list_gaps(unreadable: int, *, complete: bool) -> None:
    """Record how many rows of a list were left out, and whether it was read to its end."""
    gaps = _log().list_gaps
    gaps.unreadable_rows += unreadable
    gaps.incomplete_lists += not complete


async def pass_to_listeners(rows: Sequence[Any], total: int | None) -> None:
    """Pass the new rows of a page to the listeners."""
    for listener in tuple(_log().listeners):
        await listener(rows, total)


def keeps_rows() -> bool:
    """Whether lists that are read in this context keep their rows (not while streaming)."""
    return _log().keeps_rows


def include_part(
    part: ReadingLog, *, requests: bool = False, read_at: datetime | None = None
) -> None:
    """Add the log of a part of the reading that had its own log.

    ``requests`` is whether to count its requests, which were made for this reading. ``read_at`` is
    when a reused part was read, None if it was read now.
    """
    log = _log()
    log.list_gaps.unreadable_rows += part.list_gaps.unreadable_rows
    log.list_gaps.incomplete_lists += part.list_gaps.incomplete_lists
    if requests:
        log.requests += part.requests
    if read_at is None:
        log.retries_paused &= part.retries_paused
    elif log.oldest is None or read_at < log.oldest:
        log.oldest = read_at


class PendingRequests:
    """The unanswered requests of a task and its child tasks.

    Requests in direct succession count as one wait if all of them are reads or all are writes. A
    read includes its retries.
    """

    def __init__(self, clock: Clock) -> None:
        self.write_sent = False
        """Whether any write was sent so far, answered or not."""
        self._clock = clock
        self._reads = self._writes = 0
        self._since = self._ended = -math.inf
        self._writing = False

    @property
    def reading(self) -> bool:
        """Whether only reads are pending."""
        return self._reads > 0 and not self._writes

    @property
    def writing(self) -> bool:
        """Whether a write is pending."""
        return self._writes > 0

    @property
    def seconds(self) -> float:
        """Seconds since the current wait began; 0 if nothing is pending."""
        return self._clock.monotonic() - self._since if self._reads or self._writes else 0.0

    def begin(self, *, read: bool) -> None:
        """Count a request as sent and not yet answered; ``read`` is False for a write."""
        now = self._clock.monotonic()
        is_new = not (self._reads or self._writes) and now - self._ended > _AT_ONCE
        is_of_other_kind = self._writing == read
        if is_new or is_of_other_kind:
            self._since = now
        self._writing = not read
        self.write_sent |= not read
        self._reads += read
        self._writes += not read

    def end(self, *, read: bool) -> None:
        """Count a request as ended, successfully or not; ``read`` as for ``begin``."""
        self._ended = self._clock.monotonic()
        self._reads -= read
        self._writes -= not read


_AT_ONCE = 0.5
"""Maximum seconds between two requests that belong to one wait."""
_pending: ContextVar[PendingRequests | None] = ContextVar("pending_requests", default=None)


@contextmanager
def pending_in(pending: PendingRequests) -> Iterator[None]:
    """Record in ``pending`` all requests sent within the context and its tasks."""
    token = _pending.set(pending)
    try:
        yield
    finally:
        _pending.reset(token)


@contextmanager
def request_pending(*, read: bool) -> Iterator[None]:
    """Count a request as pending within the context."""
    pending = _pending.get()
    if pending is None:
        yield
        return
    pending.begin(read=read)
    try:
        yield
    finally:
        pending.end(read=read)


SILENT_FROM = 3.0
"""Seconds without a response after which the gateway counts as silent."""


class Traffic:
    """Detects that the gateway has stopped answering."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pending = 0
        self._unanswered_since: float | None = None
        """Since when a request has been waiting without any response; None if none is pending."""

    @property
    def silent(self) -> bool:
        """Whether requests are pending and none was answered for ``SILENT_FROM`` seconds."""
        since = self._unanswered_since
        return since is not None and self._clock.monotonic() - since >= SILENT_FROM

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a request as pending within the context; see ``answered``."""
        self._pending += 1
        if self._unanswered_since is None:
            self._unanswered_since = self._clock.monotonic()
        try:
            yield
        except BaseException:
            # The caller gave up, which says nothing about the gateway unless it took long.
            if self._pending == 1 and not self.silent:
                self._unanswered_since = None
            raise
        finally:
            self._pending -= 1

    def answered(self) -> None:
        """Record that a response has arrived, whatever its status."""
        self._unanswered_since = self._clock.monotonic() if self._pending else None


_collecting: ContextVar[list[str] | None] = ContextVar("request_ids", default=None)


@contextmanager
def request_ids() -> Iterator[list[str]]:
    """Collect the request ids of all writes that are answered within the context, in order."""
    ids: list[str] = []
    token = _collecting.set(ids)
    try:
        yield ids
    finally:
        _collecting.reset(token)


def record_write_id(request_id: str | None) -> None:
    """Add the request id of an answered write to the list of ``request_ids``."""
    ids = _collecting.get()
    if ids is not None and request_id is not None:
        ids.append(request_id)


TOLERATED = 5.0
"""Maximum clock skew in seconds that is not reported."""
_RESOLUTION = 1.0
"""The Date header has whole seconds, rounded down."""


class ClockSkew:
    """The clock skew of the gateway: between ``low`` and ``high`` seconds, positive if ahead.

    Each response narrows the range. A response that contradicts it means that a clock was set:
    the range starts over.
    """

    def __init__(self) -> None:
        self.low = float("-inf")
        self.high = float("inf")

    def observe(self, headers: Mapping[str, str], received: datetime, elapsed: float) -> None:
        """Narrow the range by the Date in a response's headers (names in lower case).

        ``received`` is this machine's time at the response, ``elapsed`` the seconds since the
        request. Responses from a cache are ignored.
        """
        stamped = http_date(headers.get("date"))
        if stamped is None or "age" in headers:
            return
        low = (stamped - received).total_seconds()
        high = low + elapsed + _RESOLUTION
        if low > self.high or high < self.low:
            self.low, self.high = low, high
        else:
            self.low, self.high = max(self.low, low), min(self.high, high)

    @property
    def seconds(self) -> float:
        """The most likely skew; 0 before any response."""
        known = self.low <= self.high < float("inf")
        return (self.low + self.high) / 2 if known else 0.0

    @property
    def is_notable(self) -> bool:
        """Whether the clock skew exceeds the tolerance, even allowing for measurement error."""
        return self.low > TOLERATED or self.high < -TOLERATED


def http_date(text: str | None) -> datetime | None:
    """Parse a header such as Date; returns UTC, or None if it is missing or unreadable."""
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
