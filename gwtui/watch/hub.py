"""The hub owns every feed of one connection: one feed per key, a bound on reads at a time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import WeakValueDictionary

from gwtui.client.request_log import (
    PageListener,
    ReadingLog,
    include,
    may_retry,
    reading_log,
)
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.base_reads import BaseRead, FeedKey
from gwtui.watch.cadence import Cadence, Restraint
from gwtui.watch.feed import Feed

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient
    from gwtui.local.ledger import Ledger
    from gwtui.watch.alerts.session import Alerts
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.recorder import Recorder


T = TypeVar("T")
TakeRows = Callable[[Sequence[Any]], Awaitable[None]]
"""Takes rows as they come; the next ones wait for it."""

READS_AT_A_TIME = 4
"""Feeds that read at the same time; more would only queue at the gateway."""

MOST_PASSING = 12
"""Feeds of one row or one moment that are kept with their values once nobody uses them."""


SHARED_FOR = 0.5
"""Share of its cadence for which a feed takes what was read for another one."""
SHARED_AT_MOST = 30.0
"""Seconds after which it takes it no more, however slow the feed is."""
KEPT = 600.0
"""Seconds for which the values of base feeds are kept for who needs no newer ones."""
_ASKED = Cadence(KEPT, stale_after=math.inf)
"""Of base feeds, which nobody watches: they are read when they are asked."""

OF_ACCOUNT = "findings"
"""The feeds made of the whole account begin so: every write may make them out of date."""


async def _nothing() -> None:
    """There is nothing to wait for."""


class FeedHub:
    """Makes feeds and holds them for as long as the connection lives.

    Of the feeds that are one of many (``passing``) it holds the last few; others live as long as
    somebody uses them, and their values go with them.
    """

    def __init__(
        self,
        client: GatewayClient,
        clock: Clock = SYSTEM_CLOCK,
        *,
        reads_at_a_time: int = READS_AT_A_TIME,
    ) -> None:
        self._client = client
        self._clock = clock
        self._gate = asyncio.Semaphore(reads_at_a_time)
        self._restraint = Restraint()
        self._base: dict[FeedKey[Any], Feed[Any]] = {}
        """The feeds that others are made of, those that were asked for longest ago first."""
        self._numbers = count(1)
        self._begun = 0
        self._outdated = 0
        """Values of reads up to this number are from before a write."""
        self._feeds: WeakValueDictionary[FeedKey[Any], Feed[Any]] = WeakValueDictionary()
        self._lasting: list[Feed[Any]] = []
        self._passing: dict[FeedKey[Any], Feed[Any]] = {}
        self._paused = False
        self._closed = False
        self._take: TakeRows | None = None
        self.complete: Callable[[], Awaitable[None]] = _nothing
        """Waits for what this machine keeps of the connection: it may be opened after this hub."""
        self.ledger: Ledger | None = None
        """The ledger that the connection writes, None where none is served."""
        self.alerts: Alerts | None = None
        """The alerts of this connection, None where nothing is watched."""
        self.recorder: Recorder | None = None
        """What records this connection, None where nothing is recorded."""
        self.history_file: Path | None = None
        """What was recorded before, for who only reads: there is no recorder then."""
        self.fill_past: Callable[[], Awaitable[None]] = _nothing
        """Fills that in from a gateway that can tell its past; to be waited for before it is read.
        """

    def feed(
        self,
        key: FeedKey[T],
        fetch: Callable[[GatewayClient], Awaitable[T]],
        cadence: Cadence,
        *,
        outdate: Callable[[], None] = lambda: None,
        passing: bool = False,
    ) -> Feed[T]:
        """The feed of this key, made on first demand; later calls get the same one.

        ``outdate`` is called when the value is said to be out of date, for a ``fetch`` that
        remembers something. ``passing`` says that there are any number of such feeds, one for each
        row or moment. Raises RuntimeError when the hub is closed.
        """
        if self._closed:
            raise RuntimeError("the hub is closed")
        known = self._feeds.get(key)
        if known is None:
            known = Feed(
                key.name,
                lambda: fetch(self._client),
                cadence,
                clock=self._clock,
                gate=self._gate,
                restraint=self._restraint,
                outdate=outdate,
            )
            if self._paused:
                known.pause()
            self._feeds[key] = known
            if not passing:
                self._lasting.append(known)
        if passing:
            self._hold(key, known)
        return cast("Feed[T]", known)

    def derive(
        self,
        key: FeedKey[T],
        compose: Callable[[FeedReader], Awaitable[T]],
        cadence: Cadence,
        *,
        passing: bool = False,
    ) -> Feed[T]:
        """The feed of what ``compose`` makes of base feeds; otherwise like ``feed``.

        It takes what was read for other feeds in the last part of its cadence (``SHARED_FOR``), or
        in the last seconds (``SHARED_AT_MOST``) where that is less. A value that is said to be out
        of date is made of what is read afterwards. A read that fails fails the feed with its error,
        unless ``compose`` can do without.
        """
        after = 0

        def outdated() -> None:
            nonlocal after
            after = self._begun

        def fetch(_client: GatewayClient) -> Awaitable[T]:
            within = min(SHARED_FOR * cadence.seconds, SHARED_AT_MOST)
            found = partial(self._feeds.get, key)
            return compose(FeedReader(self, after, within, found, self._take))

        return self.feed(key, fetch, cadence, outdate=outdated, passing=passing)

    async def base_value(
        self,
        read: BaseRead[T],
        *,
        after: int,
        within: float,
        since: int,
        on_page: PageListener | None = None,
    ) -> T:
        """The value of a base feed; see ``Feed.latest``. Raises GatewayError.

        ``after`` -1 takes values from before a write, too.
        """
        feed: Feed[T] | None = self._base.pop(read.key, None)
        if feed is None:
            feed = Feed(
                read.key.name,
                lambda: read.read(self._client),
                _ASKED,
                clock=self._clock,
                next_number=self._number,
            )
        self._base[read.key] = feed
        if after >= 0:
            after = max(after, self._outdated)
        try:
            return await feed.latest(after=after, within=within, since=since, on_page=on_page)
        finally:
            self._let_go()

    def base(self, key: FeedKey[T]) -> Feed[T] | None:
        """The base feed of this key, None before it was asked for."""
        return self._base.get(key)

    def _number(self) -> int:
        self._begun = next(self._numbers)
        return self._begun

    def _let_go(self) -> None:
        """Let go of the base feeds whose values are too old for anybody."""
        while self._base:
            key, oldest = next(iter(self._base.items()))
            if oldest.reading or oldest.seconds_old <= KEPT:
                break
            del self._base[key]

    @property
    def begun(self) -> int:
        """The number of the latest read of a base feed."""
        return self._begun

    def streaming(self, take: TakeRows) -> FeedHub:
        """A hub of the same connection for one feed, which is to be refreshed once.

        A feed whose list can be read page by page hands its rows to ``take`` as they come, and
        keeps none of them: its value is what is left. Any other feed reads as usual.
        """
        other = copy(self)
        other._feeds, other._lasting, other._passing = WeakValueDictionary(), [], {}
        other._take = take
        return other

    def _hold(self, key: FeedKey[Any], feed: Feed[Any]) -> None:
        """Keep a passing feed, and let go of those that were asked for longest ago."""
        self._passing.pop(key, None)
        self._passing[key] = feed
        while len(self._passing) > MOST_PASSING:
            self._passing.pop(next(iter(self._passing)))

    @property
    def archive(self) -> Archive | None:
        """The recorded history, to read from; None while none is open."""
        return None if self.recorder is None else self.recorder.open_archive

    @property
    def connection(self) -> Connection:
        """The gateway that is read."""
        return self._client.connection

    @property
    def client(self) -> GatewayClient:
        """The services of the gateway."""
        return self._client

    @property
    def clock(self) -> Clock:
        """The time that its feeds keep."""
        return self._clock

    @property
    def feeds(self) -> tuple[Feed[Any], ...]:
        """Every feed that is there."""
        return tuple(self._feeds.values())

    @property
    def expected_per_minute(self) -> float:
        """The requests in a minute that its feeds make as long as the same is looked at."""
        loads = (feed.load for feed in self.feeds)
        return sum(load.per_minute for load in loads if load is not None)

    @property
    def paused(self) -> bool:
        """Whether all feeds are held."""
        return self._paused

    def pause_all(self) -> None:
        """Hold every feed, also those made later: the terminal lost the focus."""
        self._paused = True
        for feed in self.feeds:
            feed.pause()

    def resume_all(self) -> None:
        """Let the feeds go on; each reads at once when its value is older than its cadence."""
        self._paused = False
        for feed in self.feeds:
            feed.resume()

    async def refresh(self, prefix: str = "") -> None:
        """Read again what a write may have changed: the feeds whose name begins so.

        Returns after the watched ones were read; the others are read when next looked at. A write
        may change more than it names: nothing that was read before it is shared any more.
        """
        self._outdated = self._begun
        reads = []
        for feed in self.feeds:
            if not feed.name.startswith((prefix, OF_ACCOUNT)):
                continue
            if feed.watched:
                reads.append(feed.refresh())
            else:
                feed.invalidate()
        await asyncio.gather(*reads)

    async def close(self) -> None:
        """End every feed and wait for its reads to stop."""
        self._closed = True
        await asyncio.gather(*(feed.close() for feed in (*self.feeds, *self._base.values())))


@dataclass(frozen=True, slots=True)
class Scope:
    """What part of the account a list shows. ``workspace`` None means every workspace."""

    workspace: str | None = None
    parent: str | None = None
    """Identity of the resource that was opened to get here, such as a model id."""


def whole_account(_scope: Scope) -> Scope:
    """For a feed that is the same in every scope."""
    return Scope()


def of_workspace(scope: Scope) -> Scope:
    """For a feed of one workspace, or of all of them."""
    return Scope(scope.workspace)


def of_parent(needs: str) -> Callable[[Scope], Scope]:
    """For a feed of what the scope names as parent; without one, ValueError says ``needs``."""

    def part(scope: Scope) -> Scope:
        if scope.parent is None:
            raise ValueError(needs)
        return Scope(parent=scope.parent)

    return part


def of_parent_or_workspace(scope: Scope) -> Scope:
    """For a feed of the parent, which is in one workspace only; without one, of a workspace."""
    return Scope(scope.workspace if scope.parent is None else None, scope.parent)


class FeedSpec(Generic[T]):
    """Declares a feed: called with a hub and a scope, it gives the feed of that part.

    ``read`` makes the value of what base feeds have (``FeedHub.derive``). ``part`` leaves of a
    scope what tells one feed of this name from another; ``read`` gets no more than that. The feeds
    of parts of the account pass (``FeedHub.feed``).
    """

    def __init__(
        self,
        name: str,
        read: Callable[[FeedReader, Scope], Awaitable[T]],
        cadence: Cadence,
        part: Callable[[Scope], Scope] = whole_account,
    ) -> None:
        self._name = name
        self._read = read
        self._cadence = cadence
        self._part = part

    def __call__(self, hub: FeedHub, scope: Scope = Scope()) -> Feed[T]:
        """The feed of a scope. Raises ValueError for a scope that lacks what it needs."""
        part = self._part(scope)
        parts = tuple(filter(None, (part.workspace, part.parent)))
        key: FeedKey[T] = FeedKey(self._name, parts)
        read = partial(self._read_part, part)
        return hub.derive(key, read, self._cadence, passing=bool(parts))

    async def _read_part(self, part: Scope, reader: FeedReader) -> T:
        return await self._read(reader, part)


class FeedReader:
    """Asks base feeds for values, for one reading of a feed that is made of them.

    What it gets was asked for later than number ``after``, and is not older than ``within``
    seconds. ``feed`` gives the feed that reads, if one does. ``take`` is who takes the rows of the
    feed's list as they come, where that is wanted instead of the whole.
    """

    def __init__(
        self,
        hub: FeedHub,
        after: int = 0,
        within: float = 0.0,
        feed: Callable[[], Feed[Any] | None] = lambda: None,
        take: TakeRows | None = None,
    ) -> None:
        self.take = take
        self.hub = hub
        self.client = hub.client
        self.clock = hub.clock
        self._feed = feed
        self._after = after
        self._within = within
        self._begun = hub.begun

    async def get(self, read: BaseRead[T], on_page: PageListener | None = None) -> T:
        """The value, read now or a moment ago for another feed. Raises GatewayError.

        ``on_page`` gets the pages of a long list while the rest of it is read.
        """
        return await self.hub.base_value(
            read, after=self._after, within=self._within, since=self._begun, on_page=on_page
        )

    async def fresh(self, read: BaseRead[T], on_page: PageListener | None = None) -> T:
        """The value, read since this reading began; otherwise like ``get``."""
        after = max(self._after, self._begun)
        return await self.hub.base_value(
            read, after=after, within=math.inf, since=self._begun, on_page=on_page
        )

    async def lasting(self, read: BaseRead[T], within: float) -> T:
        """The value, not older than ``within`` seconds: no write of this program changes it."""
        return await self.hub.base_value(read, after=-1, within=within, since=-1)

    def relaxed(self, within: float) -> FeedReader:
        """The same reader for what seldom changes: not older than ``within`` seconds.

        Its age does not count for the reading.
        """
        other = copy(self)
        other._within, other._begun = within, -1
        return other

    async def hand_on(self, read: BaseRead[tuple[Any, ...]], take: PageListener) -> None:
        """Read a list now, each page of it handed to ``take``. Raises GatewayError.

        Nothing of it is kept or shared. A list that comes in one answer is one page.
        """
        log = ReadingLog(trying=not may_retry(), listeners=[take], keeps_rows=False)
        try:
            with reading_log(log):
                whole = await read.read(self.client)
        finally:
            include(log, requests=True)
        if whole:
            await take(whole, len(whole))

    def read_at(self, read: BaseRead[Any]) -> datetime | None:
        """When the present value of a base feed was read."""
        feed = self.hub.base(read.key)
        return None if feed is None else feed.state.fetched_at

    @property
    def feed(self) -> Feed[Any] | None:
        """The feed that reads, None where none does."""
        return self._feed()


def unshared(client: GatewayClient) -> FeedReader:
    """A reader for what reads once, such as a form: nothing is shared with any feed."""
    return FeedReader(FeedHub(client))
