"""A feed: one resource, read again and again while somebody looks, with its last good value.

A feed reads while it has a viewer and is not paused; viewers in the background, such as the
recorder of the history, keep it reading through a pause, at a pace of their own. It never has two
reads under way, so an older answer cannot come after a newer one. A failed read leaves the last
good value in place and sets the error and the moment of the next attempt; nothing but ``close``
ends a feed.
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
    PageListener,
    ReadingLog,
    Shortfall,
    include,
    may_retry,
    reading_log,
)
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.caught_errors import caught_errors
from gwtui.watch.cadence import FIRST_RETRY, Cadence, Load, Restraint, retry_delay

T = TypeVar("T")

Phase = Literal["loading", "ready", "stale", "failed"]

REQUESTS_PER_SECOND = 1.0
"""What one feed asks of the gateway in the long run: a costly reading is repeated less often."""


class ReadAbandonedError(GatewayError):
    """A long reading ended early because nobody waits for it: neither a value nor a fault."""


@dataclass(frozen=True, slots=True)
class FeedState(Generic[T]):
    """What a feed knows at one moment.

    ``fetched_at`` is when the value arrived, None before the first. ``error`` is the fault of the
    last read, None when it went well; ``retry_at`` says when the next attempt is due. ``lacks`` is
    what the lists lacked that the value was made of; ``oldest`` is when the oldest of them was
    read, None where all of them were read for this value.
    """

    value: T | None = None
    part: T | None = None
    """What has come so far of the first reading, None once there is a whole value."""
    fetched_at: datetime | None = None
    error: GatewayError | None = None
    retry_at: datetime | None = None
    refreshing: bool = False
    stale_after: float = math.inf
    lacks: Shortfall = field(default_factory=Shortfall)
    oldest: datetime | None = None
    progress: str = ""
    """How far the reading of ``part`` is; "" without one."""

    @property
    def shown(self) -> T | None:
        """What a list shows: the value, else the part of it that is there. None before both."""
        return self.part if self.value is None else self.value

    @property
    def unanswered(self) -> bool:
        """Whether neither a whole value nor an error has come."""
        return self.fetched_at is None and self.error is None

    @property
    def read_at(self) -> datetime | None:
        """When the oldest part of the value was read, None before the first."""
        return self.oldest or self.fetched_at

    def age(self, now: datetime) -> float | None:
        """Seconds since ``read_at``, None before the first value."""
        return None if self.read_at is None else max(0.0, (now - self.read_at).total_seconds())

    def is_stale(self, now: datetime) -> bool:
        """Whether there is a value and it is older than the feed allows."""
        age = self.age(now)
        return age is not None and age > self.stale_after

    def phase(self, now: datetime) -> Phase:
        """The state to draw: "failed" means that there is an error and nothing to show at all."""
        if self.fetched_at is None and self.part is None:
            return "loading" if self.error is None else "failed"
        return "stale" if self.is_stale(now) else "ready"


Listener = Callable[[FeedState[T]], None]


@dataclass(slots=True, eq=False)
class _Flight:
    """One read: ``requested`` when somebody asked for it, ``started`` once it left the queue.

    ``number`` orders the reads of all feeds by when they were asked for, ``log`` is what it costs
    and lacks so far. ``fault`` is why it gave no value.
    """

    landed: asyncio.Future[None]
    requested: bool
    number: int
    log: ReadingLog = field(default_factory=ReadingLog)
    started: bool = False
    fault: GatewayError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Viewer(Generic[T]):
    """Who watches a feed, how often it needs a read, and whether a pause concerns it."""

    listener: Listener[T]
    background: bool
    every: float


class Feed(Generic[T]):
    """Reads one resource at its cadence; made by ``FeedHub.feed``. Needs a running event loop.

    ``gate`` bounds how many feeds read at the same time, ``restraint`` holds them all back,
    ``next_number`` counts the reads of all of them. ``outdate`` is called when somebody says that
    the value is out of date, for a ``fetch`` that takes values of other feeds.
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
        self._flight: _Flight | None = None
        self._value_of: _Flight | None = None
        """The read that gave the value."""
        self._timer: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._due: float | None = -math.inf
        self._read_at = -math.inf
        self._luck = 0.5
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
        """Whether somebody looks, viewers in the background aside."""
        return any(not one.background for one in self._viewers)

    @property
    def polling(self) -> bool:
        """Whether the feed reads by itself now."""
        return self._pace() is not None

    @property
    def awaited(self) -> bool:
        """Whether somebody still waits for the read under way."""
        return self.polling or (self._flight is not None and self._flight.requested)

    @property
    def least_pace(self) -> float:
        """Seconds between two reads at the least, by what the last one cost in requests."""
        return self._cost / REQUESTS_PER_SECOND

    @property
    def load(self) -> Load | None:
        """What it asks of the gateway as long as the same look; None while it does not read."""
        pace = self._pace()
        if pace is None:
            return None
        known = self._state.fetched_at is not None or self._state.error is not None
        return Load(self._cost if known else int(not self.cadence.local), pace)

    def watch(
        self, listener: Listener[T], *, background: bool = False, every: float | None = None
    ) -> Callable[[], None]:
        """Call ``listener`` with the state now and at every change; returns the way to stop.

        The first viewer starts the reading (at once when the value is older than the cadence), the
        last one that leaves ends it. A listener that raises is logged and called again next time.
        ``background``: no pause concerns this viewer. ``every``: seconds between the reads that
        this viewer needs, the cadence when not given; the most eager one sets the pace, as far as
        the cost of a reading allows.
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
        """Nobody looks until ``resume``; viewers in the background still get their reads."""
        self._paused = True
        self._schedule()

    def resume(self) -> None:
        """End the pause; reads at once when the value is older than the cadence."""
        self._paused = False
        self._schedule()

    def invalidate(self) -> None:
        """The value is known to be out of date: read as soon as somebody looks."""
        self._outdate()
        self._due = -math.inf
        self._outdated = self._flight is not None and self._flight.started
        self._schedule()

    async def refresh(self) -> FeedState[T]:
        """Read now and return the state after a read that began no earlier than this call.

        Callers share a read where that promise allows it. Never raises on a failed read: the error
        is in the state. Works without viewers and while paused; a closed feed reads nothing.
        """
        self._outdate()
        earlier = self._flight if self._flight is not None and self._flight.started else None
        while not self._closed:
            flight = self._flight or self._begin(requested=True)
            if flight is not earlier:
                flight.requested = True
            await asyncio.shield(flight.landed)
            if flight is not earlier:
                break
        return self._state

    async def latest(
        self, *, after: int, within: float, since: int, on_page: PageListener | None = None
    ) -> T:
        """The value of a read that was asked for later than number ``after``, for another feed.

        It is not older than ``within`` seconds, unless the read was under way already. What it
        lacks and what it costs counts for the reading of the caller, and so does its age where it
        was asked for no later than number ``since``. ``on_page`` gets the pages of a long list
        that come meanwhile. Raises GatewayError.
        """
        known = self._value_of
        if known is not None and known.number > after and self.seconds_old <= within:
            fetched_at = self._state.fetched_at
            include(known.log, read_at=None if known.number > since else fetched_at)
            return cast("T", self._state.value)
        while True:
            joined = self._flight is not None
            flight = self._flight or self._begin(requested=True)
            flight.log.trying |= not may_retry()
            fits = flight.number > after
            if on_page is not None and fits:
                flight.log.listeners.append(on_page)
            try:
                await asyncio.shield(flight.landed)
            finally:
                if fits:
                    include(flight.log, requests=not joined)
                    if on_page is not None:
                        flight.log.listeners.remove(on_page)
            if self._value_of is flight and fits:
                return cast("T", self._state.value)
            if self._closed or fits:
                raise flight.fault or GatewayError("The connection is closed")

    @property
    def seconds_old(self) -> float:
        """The age of its value by both clocks: one stands still while a machine sleeps."""
        if self._state.fetched_at is None:
            return math.inf
        passed = (self._clock.now() - self._state.fetched_at).total_seconds()
        return max(passed, self._clock.monotonic() - self._read_at)

    @property
    def reading(self) -> bool:
        """Whether a read is under way."""
        return self._flight is not None

    def show_part(self, value: T | None, progress: str) -> None:
        """Show what has come so far of the read under way, which goes on.

        For a long reading that has no whole value yet; nothing happens once there is one.
        ``progress`` says how far it is. None: no part of it can be shown.
        """
        if self._flight is not None and self._state.value is None and not self._closed:
            self._publish(replace(self._state, part=value, progress=progress))

    async def close(self) -> None:
        """End every read and wait for it; who waits in ``refresh`` gets the last state."""
        self._closed = True
        self._viewers.clear()
        self._stop_timer()
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # One read -------------------------------------------------------------------------------

    def _begin(self, *, requested: bool) -> _Flight:
        self._stop_timer()
        landed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        flight = _Flight(landed, requested, self._next_number())
        flight.log.trying = self._failures > 0
        self._flight = flight
        self._spawn(self._fly(flight)).add_done_callback(lambda _: self._land(flight))
        return flight

    async def _fly(self, flight: _Flight) -> None:
        async with self._gate:
            if self._closed or not (flight.requested or (self.polling and self._held_for() <= 0)):
                return  # nobody is left who wants it now
            flight.started = True
            self._publish(replace(self._state, refreshing=True))
            with reading_log(flight.log):
                await self._read(flight)

    async def _read(self, flight: _Flight) -> None:
        """Fetch once and publish what came of it."""
        try:
            value = await self._fetch()
        except ReadAbandonedError:
            self._due = -math.inf
            self._publish(replace(self._state, refreshing=False))
            return
        except GatewayError as error:
            flight.fault = error
        except Exception as error:
            flight.fault = _unforeseen(self.name, error)
        if self._closed:
            return
        self._cost = flight.log.requests
        if flight.fault is not None:
            self._failed(flight.fault)
        else:
            self._arrived(value, flight)

    def _arrived(self, value: T, flight: _Flight) -> None:
        self._value_of = flight
        self._failures = 0
        self._due = None
        self._read_at = self._clock.monotonic()
        self._luck = self._clock.chance()
        slowdown = max(1.0, self.least_pace / self.cadence.seconds)
        self._publish(
            FeedState(
                value,
                fetched_at=self._clock.now(),
                stale_after=self.cadence.stale_after * slowdown,
                lacks=flight.log.lacks,
                oldest=flight.log.oldest,
            )
        )

    def _failed(self, error: GatewayError) -> None:
        self._failures += 1
        # A long list that fails near its end costs as much as one that is read.
        delay = max(retry_delay(error, self._failures, self._clock.chance()), self.least_pace)
        self._due = self._clock.monotonic() + delay
        if isinstance(error, RateLimitedError):
            self._restraint.hold(self._due)
        retry_at = self._clock.now() + timedelta(seconds=delay)
        self._publish(replace(self._state, error=error, retry_at=retry_at, refreshing=False))

    def _land(self, flight: _Flight) -> None:
        """After a read, however it ended: release who waits, then go on."""
        self._flight = None
        flight.landed.set_result(None)
        if self._closed:
            return
        if self._state.refreshing:  # cancelled from outside: neither a value nor an error came
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
        if pace is None or self._flight is not None:
            return
        delay = max(self._until_due(pace), self._held_for())
        if delay <= 0:
            self._begin(requested=False)
        else:
            self._timer = self._spawn(self._wait(delay))

    def _pace(self) -> float | None:
        """Seconds between two reads for the most eager viewer who is awake; None without one."""
        awake = [one.every for one in self._viewers if one.background or not self._paused]
        return max(min(awake), self.least_pace) if awake and not self._closed else None

    def _until_due(self, pace: float) -> float:
        """Seconds to the next read by itself; back-off holds whoever comes and goes."""
        if self._due is not None:
            return self._due - self._clock.monotonic()
        share = pace / self.cadence.seconds
        return self.cadence.next_delay(self._luck) * share - self.seconds_old

    def _held_for(self) -> float:
        """Seconds that every feed waits, because the gateway asked one of them to."""
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
        # A task keeps alive whatever is in its context: not the screen that looked first.
        task = asyncio.get_running_loop().create_task(
            work, name=f"feed {self.name}", context=Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Telling --------------------------------------------------------------------------------

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


def _unforeseen(name: str, error: Exception) -> GatewayError:
    """A fault that no layer below typed; only its type is told, its text may quote a body."""
    fault = GatewayError(f"Reading {name} failed unexpectedly ({type(error).__name__})")
    fault.__cause__ = error
    caught_errors.add(f"feed {name}", error)
    return fault
