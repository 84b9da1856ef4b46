"""A feed polls one resource while it has viewers, and keeps the last good value.

Background viewers, such as the recorder of the history, keep it polling while it is paused. At most
one read is in progress, so an older response never replaces a newer one. A failed read keeps the
last good value and sets the error and the time of the next attempt.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from contextvars import Context
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar, cast

from gwtui.client.errors import GatewayError, RateLimitedError
from gwtui.client.request_log import (
    ListGaps,
    PageListener,
    ReadingLog,
    include_part,
    may_retry,
    reading_log,
)
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.caught_errors import caught_errors
from gwtui.watch.cadence import FIRST_RETRY, Cadence, Restraint, retry_delay

T = TypeVar("T")

Phase = Literal["loading", "ready", "stale", "failed"]

REQUESTS_PER_SECOND = 1.0
"""The average limit of one feed: a read of 60 requests is repeated after a minute or later."""


class ReadAbandonedError(GatewayError):
    """A long read ended early, without a value or an error, because nobody waits for it."""


@dataclass(frozen=True, slots=True)
class FeedState(Generic[T]):
    """The value of a feed and the result of its last read.

    ``fetched_at`` is when the value was read, None before the first one. ``refreshing``: a read is
    in progress. ``error`` is the error of the last read, None after a success; ``retry_at`` is the
    time of the next attempt. ``stale_after`` is in seconds. ``list_gaps`` counts the rows missing
    from the lists behind the value. ``oldest`` is when the oldest of these lists was read, None if
    all were read for this value.
    """

    value: T | None = None
    part: T | None = None
    """The rows received so far during the first read, else None."""
    fetched_at: datetime | None = None
    error: GatewayError | None = None
    retry_at: datetime | None = None
    refreshing: bool = False
    stale_after: float = math.inf
    list_gaps: ListGaps = field(default_factory=ListGaps)
    oldest: datetime | None = None
    progress: str = ""
    """How much of ``part`` has been read, as text."""

    @property
    def shown(self) -> T | None:
        """The value, else the part read so far; None before both."""
        return self.part if self.value is None else self.value

    @property
    def unanswered(self) -> bool:
        """Whether there is neither a complete value nor an error yet."""
        return self.fetched_at is None and self.error is None

    @property
    def read_at(self) -> datetime | None:
        """When the oldest part of the value was read; None without a value."""
        return self.oldest or self.fetched_at

    def age(self, now: datetime) -> float | None:
        """Seconds since ``read_at``, None without a value."""
        return None if self.read_at is None else max(0.0, (now - self.read_at).total_seconds())

    def is_stale(self, now: datetime) -> bool:
        """Whether there is a value older than ``stale_after``."""
        age = self.age(now)
        return age is not None and age > self.stale_after

    def is_old(self, now: datetime) -> bool:
        """Whether to show the age: the value is stale, or the last read failed."""
        return self.is_stale(now) or (self.fetched_at is not None and self.error is not None)

    def phase(self, now: datetime) -> Phase:
        """The state to draw; "failed" means an error and nothing to show."""
        if self.fetched_at is None and self.part is None:
            return "loading" if self.error is None else "failed"
        return "stale" if self.is_stale(now) else "ready"


Listener = Callable[[FeedState[T]], None]


@dataclass(slots=True, eq=False)
class _Read:
    """One read of a feed.

    ``requested``: a caller waits for it. ``number`` orders the reads of all feeds. ``log`` counts
    requests and missing rows. ``started``: it has left the queue. ``error``: why there is no value.
    """

    done: asyncio.Future[None]
    requested: bool
    number: int
    log: ReadingLog = field(default_factory=ReadingLog)
    started: bool = False
    error: GatewayError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Viewer(Generic[T]):
    """A listener, the seconds between the reads it needs, and whether it ignores pauses."""

    listener: Listener[T]
    background: bool
    every: float


class Feed(Generic[T]):
    """Polls one resource; created by ``FeedHub.feed``. Needs a running event loop.

    ``fetch`` reads the value. ``gate`` limits concurrent reads. ``restraint`` pauses all feeds
    after a 429. ``next_number`` numbers the reads of all feeds. ``outdate`` is called when the
    value is marked as out of date or read on request, so that ``fetch`` reuses no older values of
    other feeds.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        name: str,
        fetch: Callable[[], Awaitable[T]],
        cadence: Cadence,
        *,
        clock: Clock = SYSTEM_CLOCK,
        gate: AbstractAsyncContextManager[Any] | None = None,
        outdate: Callable[[], None] = lambda: None,
        restraint: Restraint | None = None,
        next_number: Callable[[], int] = lambda: 0,
    ) -> None:
        self.name = name
        self._next_number = next_number
        self._outdate = outdate
        self.cadence = cadence
        self._fetch = fetch
        self._clock = clock
        self._gate = gate if gate is not None else nullcontext()
        self._restraint = restraint or Restraint()
        self._state: FeedState[T] = FeedState(stale_after=cadence.stale_after)
        self._viewers: list[_Viewer[T]] = []
        self._paused = False
        self._current: _Read | None = None
        self._latest_read: _Read | None = None
        """The read that returned the value."""
        self._timer: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._due: float | None = -math.inf
        self._read_at = -math.inf
        self._jitter = 0.5
        self._cost = 0
        self._failures = 0
        self._outdated = False
        self._closed = False

    @property
    def state(self) -> FeedState[T]:
        """The latest state."""
        return self._state

    @property
    def watched(self) -> bool:
        """Whether it has a viewer that is not in the background."""
        return any(not viewer.background for viewer in self._viewers)

    @property
    def polling(self) -> bool:
        """Whether a viewer keeps the feed polling: a background one, or any while not paused."""
        return self._pace() is not None

    @property
    def awaited(self) -> bool:
        """Whether a viewer or a caller waits for the read in progress."""
        return self.polling or (self._current is not None and self._current.requested)

    @property
    def min_interval(self) -> float:
        """Minimum seconds between two reads, to stay within ``REQUESTS_PER_SECOND``.

        Based on the number of requests that the last read took.
        """
        return self._cost / REQUESTS_PER_SECOND

    def watch(
        self, listener: Listener[T], *, background: bool = False, every: float | None = None
    ) -> Callable[[], None]:
        """Call ``listener`` now and after every change of the state; returns a function to stop.

        The first viewer starts polling, at once if the value is older than the cadence; the last
        one to leave ends it. An exception of the listener is logged. ``background`` viewers ignore
        pauses. ``every`` is how often this viewer needs a read, in seconds, by default the cadence;
        the shortest of all viewers applies, but not below ``min_interval``.
        """
        viewer = _Viewer(listener, background, every or self.cadence.seconds)
        self._viewers.append(viewer)
        self._call(listener)
        self._schedule()

        def leave() -> None:
            if viewer in self._viewers:
                self._viewers.remove(viewer)
                self._schedule()

        return leave

    def pause(self) -> None:
        """Stop polling until ``resume``, unless there are background viewers."""
        self._paused = True
        self._schedule()

    def resume(self) -> None:
        """End the pause, and read at once if the value is older than the cadence."""
        self._paused = False
        self._schedule()

    def invalidate(self) -> None:
        """Mark the value as out of date, so that it is read again as soon as there is a viewer."""
        self._outdate()
        self._due = -math.inf
        self._outdated = self._current is not None and self._current.started
        self._schedule()

    async def refresh(self) -> FeedState[T]:
        """Read now and return the state after a read that started after this call.

        Concurrent callers share a read. A failure does not raise; it is in the state. Works without
        viewers and while paused. A closed feed does not read.
        """
        self._outdate()
        earlier = self._current if self._current is not None and self._current.started else None
        while not self._closed:
            read = self._current or self._begin(requested=True)
            if read is not earlier:
                read.requested = True
            await asyncio.shield(read.done)
            if read is not earlier:
                break
        return self._state

    async def latest(
        self, *, after: int, max_age: float, since: int, on_page: PageListener | None = None
    ) -> T:
        """Return a value that another feed is computed from. Raises GatewayError.

        The value comes from a read whose number (``next_number``) is above ``after``. The last
        value is reused if it is at most ``max_age`` seconds old; if not, the call joins the read in
        progress or begins a new one. ``on_page`` receives the pages of a long list as they arrive.

        The rows missing from the value are reported to the reading log of the caller, and so are
        the requests of a read that this call began. The age of a reused value is reported only if
        the number of its read is not above ``since``.
        """
        known = self._latest_read
        if known is not None and known.number > after and self.seconds_old <= max_age:
            fetched_at = self._state.fetched_at
            include_part(known.log, read_at=None if known.number > since else fetched_at)
            return cast("T", self._state.value)
        while True:
            joined = self._current is not None
            read = self._current or self._begin(requested=True)
            read.log.retries_paused |= not may_retry()
            fits = read.number > after
            if on_page is not None and fits:
                read.log.listeners.append(on_page)
            try:
                await asyncio.shield(read.done)
            finally:
                if fits:
                    include_part(read.log, requests=not joined)
                    if on_page is not None:
                        read.log.listeners.remove(on_page)
            if self._latest_read is read and fits:
                return cast("T", self._state.value)
            if self._closed or fits:
                raise read.error or GatewayError("The connection is closed")

    @property
    def seconds_old(self) -> float:
        """The age of the value in seconds, by the clock that shows the longer time.

        The monotonic clock stops while the machine sleeps.
        """
        if self._state.fetched_at is None:
            return math.inf
        passed = (self._clock.now() - self._state.fetched_at).total_seconds()
        return max(passed, self._clock.monotonic() - self._read_at)

    @property
    def reading(self) -> bool:
        """Whether a read is in progress."""
        return self._current is not None

    def show_part(self, value: T | None, progress: str) -> None:
        """Show viewers the rows of a long first read that have arrived, and its progress as text.

        Does nothing once there is a value. None means that no rows can be shown yet.
        """
        if self._current is not None and self._state.value is None and not self._closed:
            self._publish(replace(self._state, part=value, progress=progress))

    async def close(self) -> None:
        """Cancel all reads and wait for them; callers of ``refresh`` get the last state."""
        self._closed = True
        self._viewers.clear()
        self._stop_timer()
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # One read -------------------------------------------------------------------------------

    def _begin(self, *, requested: bool) -> _Read:
        self._stop_timer()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        read = _Read(done, requested, self._next_number())
        read.log.retries_paused = self._failures > 0
        self._current = read
        self._spawn(self._run(read)).add_done_callback(lambda _: self._finish(read))
        return read

    async def _run(self, read: _Read) -> None:
        async with self._gate:
            if self._closed or not (read.requested or (self.polling and self._held_for() <= 0)):
                return  # nobody waits for it any more
            read.started = True
            self._publish(replace(self._state, refreshing=True))
            with reading_log(read.log):
                await self._fetch_once(read)

    async def _fetch_once(self, read: _Read) -> None:
        try:
            value = await self._fetch()
        except ReadAbandonedError:
            self._due = -math.inf
            self._publish(replace(self._state, refreshing=False))
            return
        except GatewayError as error:
            read.error = error
        except Exception as error:
            read.error = _unexpected(self.name, error)
        if self._closed:
            return
        self._cost = read.log.requests
        if read.error is not None:
            self._failed(read.error)
        else:
            self._arrived(value, read)

    def _arrived(self, value: T, read: _Read) -> None:
        self._latest_read = read
        self._failures = 0
        self._due = None
        self._read_at = self._clock.monotonic()
        self._jitter = self._clock.chance()
        slowdown = max(1.0, self.min_interval / self.cadence.seconds)
        self._publish(
            FeedState(
                value,
                fetched_at=self._clock.now(),
                stale_after=self.cadence.stale_after * slowdown,
                list_gaps=read.log.list_gaps,
                oldest=read.log.oldest,
            )
        )

    def _failed(self, error: GatewayError) -> None:
        self._failures += 1
        # A long list that fails near its end takes as many requests as a complete one.
        delay = max(retry_delay(error, self._failures, self._clock.chance()), self.min_interval)
        self._due = self._clock.monotonic() + delay
        if isinstance(error, RateLimitedError):
            self._restraint.hold(self._due)
        retry_at = None if math.isinf(delay) else self._clock.now() + timedelta(seconds=delay)
        self._publish(replace(self._state, error=error, retry_at=retry_at, refreshing=False))

    def _finish(self, read: _Read) -> None:
        self._current = None
        read.done.set_result(None)
        if self._closed:
            return
        if self._state.refreshing:  # cancelled from outside: neither a value nor an error
            self._due = self._clock.monotonic() + FIRST_RETRY
            self._publish(replace(self._state, refreshing=False))
        if self._outdated:
            self._outdated = False
            self._due = -math.inf
        self._schedule()

    # Timing ---------------------------------------------------------------------------------

    def _schedule(self) -> None:
        self._stop_timer()
        pace = self._pace()
        if pace is None or self._current is not None:
            return
        delay = max(self._until_due(pace), self._held_for())
        if delay <= 0:
            self._begin(requested=False)
        else:
            self._timer = self._spawn(self._wait(delay))

    def _pace(self) -> float | None:
        awake = [viewer.every for viewer in self._viewers if viewer.background or not self._paused]
        return max(min(awake), self.min_interval) if awake and not self._closed else None

    def _until_due(self, pace: float) -> float:
        if self._due is not None:
            return self._due - self._clock.monotonic()
        share = pace / self.cadence.seconds
        return self.cadence.next_delay(self._jitter) * share - self.seconds_old

    def _held_for(self) -> float:
        if self.cadence.local:
            return 0.0
        return self._restraint.until - self._clock.monotonic()

    async def _wait(self, delay: float) -> None:
        await self._clock.sleep(delay)
        self._timer = None
        self._schedule()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # A task keeps its context alive, which must not be that of the first screen.
        task = asyncio.get_running_loop().create_task(
            work, name=f"feed {self.name}", context=Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Listeners ------------------------------------------------------------------------------

    def _publish(self, state: FeedState[T]) -> None:
        self._state = state
        for viewer in tuple(self._viewers):
            if viewer in self._viewers:  # an earlier listener may have made it leave
                self._call(viewer.listener)

    def _call(self, listener: Listener[T]) -> None:
        try:
            listener(self._state)
        except Exception as error:
            caught_errors.add(f"listener of feed {self.name}", error)


def _unexpected(name: str, error: Exception) -> GatewayError:
    # Only the type is shown, because the message may quote the body of a response.
    typed = GatewayError(f"Reading {name} failed unexpectedly ({type(error).__name__})")
    typed.__cause__ = error
    caught_errors.add(f"feed {name}", error)
    return typed
