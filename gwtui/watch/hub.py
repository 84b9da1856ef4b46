"""The hub owns the feeds of one connection, and limits how many of them read at the same time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import WeakValueDictionary

from gwtui.client.request_log import (
    PageListener,
    ReadingLog,
    include_part,
    may_retry,
    reading_log,
)
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.cadence import Cadence, Restraint
from gwtui.watch.feed import Feed
from gwtui.watch.reads import BaseRead, FeedKey

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
"""Receives rows as they arrive; reading continues once it returns."""

READS_AT_A_TIME = 4
"""The maximum number of feeds that read at the same time."""

MOST_TRANSIENT = 12
"""The number of ``transient`` feeds that are kept, those that were requested last."""


SHARED_FOR = 0.5
"""A feed reuses values that were read for other feeds within this share of its cadence."""
SHARED_AT_MOST = 30.0
"""The maximum age of a reused value, in seconds."""
KEPT = 600.0
"""Seconds for which the values of base feeds are kept."""
_ON_DEMAND = Cadence(KEPT, stale_after=math.inf)
"""The cadence of base feeds, which are read on demand and never polled."""

ACCOUNT_FEEDS = "findings"
"""The prefix of feeds that combine the whole account: any write may make them out of date."""


async def _do_nothing() -> None:
    pass


class FeedHub:
    """Creates the feeds of a connection and keeps them until it is closed.

    Of the ``transient`` feeds, those of single rows and moments, only the last few are kept.
    """

    def __init__(self, client: GatewayClient, clock: Clock = SYSTEM_CLOCK) -> None:
        self.client = client
        self.clock = clock
        self._gate = asyncio.Semaphore(READS_AT_A_TIME)
        self._restraint = Restraint()
        self._base: dict[FeedKey[Any], Feed[Any]] = {}
        """The base feeds, the least recently used first."""
        self.last_number = 0
        """The number of the latest read of a base feed."""
        self._outdated = 0
        """Reads up to this number began before the last write."""
        self._feeds: WeakValueDictionary[FeedKey[Any], Feed[Any]] = WeakValueDictionary()
        self._lasting: list[Feed[Any]] = []
        self._transient: dict[FeedKey[Any], Feed[Any]] = {}
        self.paused = False
        """Whether all feeds are paused."""
        self._closed = False
        self._take: TakeRows | None = None
        self.wait_until_open: Callable[[], Awaitable[None]] = _do_nothing
        """Waits until the ledger and the history are open; they open after the hub."""
        self.ledger: Ledger | None = None
        """The ledger of the connection, None without one."""
        self.alerts: Alerts | None = None
        """The alerts of the connection, None if no rules are evaluated."""
        self.recorder: Recorder | None = None
        """The recorder of the connection, None without one."""
        self.history_file: Path | None = None
        """The path of the history to read if there is no recorder."""
        self.fill_past: Callable[[], Awaitable[None]] = _do_nothing
        """To be awaited before reading ``history_file``: the demo fills its past in here."""

    def feed(
        self,
        key: FeedKey[T],
        read: Callable[[FeedReader], Awaitable[T]],
        cadence: Cadence,
        *,
        transient: bool = False,
    ) -> Feed[T]:
        """The feed of this key, created on the first call.

        ``read`` computes the value from base feeds. It may reuse a base value that was read for
        another feed, if that value is not older than ``SHARED_FOR`` of the cadence or
        ``SHARED_AT_MOST`` seconds. After the value of this feed was marked as out of date, only
        base values that were read later are reused. An error of a base read fails the feed, unless
        ``read`` catches the error. ``transient`` feeds are those of single rows or moments. Raises
        RuntimeError if the hub is closed.
        """
        if self._closed:
            raise RuntimeError("the hub is closed")
        known = self._feeds.get(key)
        if known is None:
            known = self._feeds[key] = self._created(key, read, cadence)
            if self.paused:
                known.pause()
            if not transient:
                self._lasting.append(known)
        if transient:
            self._keep_transient(key, known)
        return cast("Feed[T]", known)

    def _created(
        self, key: FeedKey[T], read: Callable[[FeedReader], Awaitable[T]], cadence: Cadence
    ) -> Feed[T]:
        after = 0
        max_age = min(SHARED_FOR * cadence.seconds, SHARED_AT_MOST)

        def outdate() -> None:
            nonlocal after
            after = self.last_number

        return Feed(
            key.name,
            lambda: read(
                FeedReader(self, after, max_age, partial(self._feeds.get, key), self._take)
            ),
            cadence,
            clock=self.clock,
            gate=self._gate,
            restraint=self._restraint,
            outdate=outdate,
        )

    async def base_value(
        self,
        read: BaseRead[T],
        *,
        after: int,
        max_age: float,
        since: int,
        on_page: PageListener | None = None,
    ) -> T:
        """The value of a base feed. Raises GatewayError.

        The arguments are those of ``Feed.latest``. Values from before the last write are not
        reused, unless ``after`` is -1.
        """
        feed: Feed[T] | None = self._base.pop(read.key, None)
        if feed is None:
            feed = Feed(
                read.key.name,
                lambda: read.read(self.client),
                _ON_DEMAND,
                clock=self.clock,
                next_number=self._number,
            )
        self._base[read.key] = feed
        if after >= 0:
            after = max(after, self._outdated)
        try:
            return await feed.latest(after=after, max_age=max_age, since=since, on_page=on_page)
        finally:
            self._drop_old()

    def read_at(self, read: BaseRead[Any]) -> datetime | None:
        """When the value of a base feed was last read, None if there is no value."""
        feed = self._base.get(read.key)
        return None if feed is None else feed.state.fetched_at

    def _number(self) -> int:
        self.last_number += 1
        return self.last_number

    def _drop_old(self) -> None:
        while self._base:
            key, oldest = next(iter(self._base.items()))
            if oldest.reading or oldest.seconds_old <= KEPT:
                break
            del self._base[key]

    def streaming(self, take: TakeRows) -> FeedHub:
        """A hub of the same connection for a single refresh of one feed.

        A feed that reads a list page by page passes the rows to ``take`` as they arrive and keeps
        none of them. Other feeds read as usual.
        """
        other = copy(self)
        other._feeds, other._lasting, other._transient = WeakValueDictionary(), [], {}
        other._take = take
        return other

    def _keep_transient(self, key: FeedKey[Any], feed: Feed[Any]) -> None:
        self._transient.pop(key, None)
        self._transient[key] = feed
        while len(self._transient) > MOST_TRANSIENT:
            self._transient.pop(next(iter(self._transient)))

    @property
    def archive(self) -> Archive | None:
        """The recorded history, None while none is open."""
        return None if self.recorder is None else self.recorder.open_archive

    @property
    def connection(self) -> Connection:
        """The connection to the gateway."""
        return self.client.connection

    @property
    def feeds(self) -> tuple[Feed[Any], ...]:
        """All current feeds, without base feeds."""
        return tuple(self._feeds.values())

    def pause_all(self) -> None:
        """Pause all feeds, including those created later, while the terminal has no focus."""
        self.paused = True
        for feed in self.feeds:
            feed.pause()

    def resume_all(self) -> None:
        """Resume all feeds; each reads at once if its value is older than its cadence."""
        self.paused = False
        for feed in self.feeds:
            feed.resume()

    async def refresh(self, prefix: str = "") -> None:
        """Read the feeds whose names start with ``prefix`` again, after a write.

        Returns once the watched ones are read; the others are read when next watched. Values from
        before the write are not reused.
        """
        self._outdated = self.last_number
        reads = []
        for feed in self.feeds:
            if not feed.name.startswith((prefix, ACCOUNT_FEEDS)):
                continue
            if feed.watched:
                reads.append(feed.refresh())
            else:
                feed.invalidate()
        await asyncio.gather(*reads)

    async def close(self) -> None:
        """Close all feeds and wait for their reads to end."""
        self._closed = True
        await asyncio.gather(*(feed.close() for feed in (*self.feeds, *self._base.values())))


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the account that a list shows; ``workspace`` None means every workspace."""

    workspace: str | None = None
    parent: str | None = None
    """The identity of the resource that the list belongs to, such as a model id."""


class FeedSpec(Generic[T]):
    """Declares a feed; calling it with a hub and a scope returns the feed.

    ``read`` computes the value from base feeds (``FeedHub.feed``). ``workspace``: there is a feed
    for each workspace. ``parent``: there is a feed for each parent. ``needs``, if not empty, is the
    message of the error for a scope without a parent; it implies ``parent``.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[FeedReader, Scope], Awaitable[T]],
        cadence: Cadence,
        *,
        workspace: bool = False,
        parent: bool = False,
        needs: str = "",
    ) -> None:
        self._name = name
        self._read = read
        self._cadence = cadence
        self._workspace = workspace
        self._parent = parent or bool(needs)
        self._needs = needs

    def __call__(self, hub: FeedHub, scope: Scope = Scope()) -> Feed[T]:
        """The feed of a scope. Raises ValueError if the feed needs a parent and there is none."""
        if self._needs and scope.parent is None:
            raise ValueError(self._needs)
        part = Scope(
            scope.workspace if self._workspace else None, scope.parent if self._parent else None
        )
        parts = tuple(filter(None, (part.workspace, part.parent)))
        key: FeedKey[T] = FeedKey(self._name, parts)
        return hub.feed(
            key, lambda reader: self._read(reader, part), self._cadence, transient=bool(parts)
        )


class FeedReader:
    """Reads base feeds during one read of a derived feed.

    A base value is reused if it is at most ``max_age`` seconds old and the number of its read is
    above ``after``. ``feed`` returns the derived feed, None without one. ``take``, if given,
    receives the rows of a list as they arrive.
    """

    def __init__(
        self,
        hub: FeedHub,
        after: int = 0,
        max_age: float = 0.0,
        feed: Callable[[], Feed[Any] | None] = lambda: None,
        take: TakeRows | None = None,
    ) -> None:
        self.take = take
        self.hub = hub
        self.client = hub.client
        self.clock = hub.clock
        self._feed = feed
        self._after = after
        self._max_age = max_age
        self._begun = hub.last_number

    async def get(self, read: BaseRead[T], on_page: PageListener | None = None) -> T:
        """The value of a base feed, which may have been read for another feed.

        ``on_page`` receives the pages of a long list as they arrive. Raises GatewayError.
        """
        return await self.hub.base_value(
            read, after=self._after, max_age=self._max_age, since=self._begun, on_page=on_page
        )

    async def fresh(self, read: BaseRead[T], on_page: PageListener | None = None) -> T:
        """The value of a base feed, from a read that began after the read of the derived feed.

        ``on_page`` receives the pages of a long list as they arrive. Raises GatewayError.
        """
        after = max(self._after, self._begun)
        return await self.hub.base_value(
            read, after=after, max_age=math.inf, since=self._begun, on_page=on_page
        )

    async def get_cached(self, read: BaseRead[T], max_age: float) -> T:
        """The value of a base feed, for data that gwtui's own writes do not change.

        A value up to ``max_age`` seconds old is reused, even from before a write, and its age does
        not make the derived feed stale. Raises GatewayError.
        """
        return await self.hub.base_value(read, after=-1, max_age=max_age, since=-1)

    def reusing(self, max_age: float) -> FeedReader:
        """A copy of this reader that reuses base values up to ``max_age`` seconds old.

        It is meant for data that rarely changes: the age of these values does not make the derived
        feed stale.
        """
        other = copy(self)
        other._max_age, other._begun = max_age, -1
        return other

    async def stream(self, read: BaseRead[tuple[Any, ...]], take: PageListener) -> None:
        """Read a list now and pass each page to ``take``. Raises GatewayError.

        The rows are neither kept nor shared. A list in one response is one page.
        """
        log = ReadingLog(retries_paused=not may_retry(), listeners=[take], keeps_rows=False)
        try:
            with reading_log(log):
                whole = await read.read(self.client)
        finally:
            include_part(log, requests=True)
        if whole:
            await take(whole, len(whole))

    @property
    def feed(self) -> Feed[Any] | None:
        """The derived feed, None without one."""
        return self._feed()


def single_use_reader(client: GatewayClient) -> FeedReader:
    """A reader without a feed, for a single use such as a form; it reuses no values of feeds."""
    return FeedReader(FeedHub(client))
