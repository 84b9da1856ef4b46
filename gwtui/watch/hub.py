"""The hub owns every feed of one connection: one feed per key, a bound on reads at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakValueDictionary

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.cadence import Cadence, Restraint
from gwtui.watch.feed import Feed
from gwtui.watch.shared_reads import SHARED_AT_MOST, SHARED_FOR, FeedKey, PoolReader, ReadPool

if TYPE_CHECKING:
    from pathlib import Path

    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient
    from gwtui.client.request_log import PageHandler
    from gwtui.local.audit import AuditLog
    from gwtui.local.journal import Journal
    from gwtui.watch.history.archive import Archive


T = TypeVar("T")

READS_AT_A_TIME = 4
"""Feeds that read at the same time; more would only queue at the gateway."""

MOST_PASSING = 12
"""Feeds of one row or one moment that are kept with their values once nobody uses them."""

_PAUSED_BY_HUB = "hub"

OF_ACCOUNT = "findings"
"""The feeds made of the whole account begin so: every write may make them out of date."""


async def _nothing() -> None:
    """There is nothing to wait for."""


def _no_archive() -> Archive | None:
    """Nothing is recorded."""
    return None


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
        self._pool = ReadPool(client, clock)
        self._feeds: WeakValueDictionary[FeedKey[Any], Feed[Any]] = WeakValueDictionary()
        self._lasting: list[Feed[Any]] = []
        self._passing: dict[FeedKey[Any], Feed[Any]] = {}
        self._paused = False
        self._closed = False
        self._take: PageHandler | None = None
        self.complete: Callable[[], Awaitable[None]] = _nothing
        """Waits for what this machine keeps of the connection: it may be opened after this hub."""
        self.journal: Journal | None = None
        """The journal that the connection writes, None where none is served."""
        self.audit_log: AuditLog | None = None
        """The audit log that the connection writes, None where none is served."""
        self.served: dict[str, Callable[[], Awaitable[Any]]] = {}
        """What reads the feeds of this machine, by their names, once ``complete`` returned."""
        self.find_archive: Callable[[], Archive | None] = _no_archive
        """Gives the recorded history of this connection, None while none is open."""
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
                known.pause(_PAUSED_BY_HUB)
            self._feeds[key] = known
            if not passing:
                self._lasting.append(known)
        if passing:
            self._hold(key, known)
        return cast("Feed[T]", known)

    def derive(
        self,
        key: FeedKey[T],
        compose: Callable[[PoolReader], Awaitable[T]],
        cadence: Cadence,
        *,
        outdate: Callable[[], None] = lambda: None,
        passing: bool = False,
    ) -> Feed[T]:
        """The feed of what ``compose`` makes of shared reads; otherwise like ``feed``.

        It takes what was read for other feeds in the last part of its cadence (``SHARED_FOR``), or
        in the last seconds (``SHARED_AT_MOST``) where that is less. A value that is said to be out
        of date is made of what is read afterwards. A read that fails fails the feed with its error,
        unless ``compose`` can do without.
        """
        after = 0

        def outdated() -> None:
            nonlocal after
            after = self._pool.begun
            outdate()

        def fetch(_client: GatewayClient) -> Awaitable[T]:
            within = min(SHARED_FOR * cadence.seconds, SHARED_AT_MOST)
            found = partial(self._feeds.get, key)
            return compose(
                PoolReader(self._pool, after=after, within=within, feed=found, take=self._take)
            )

        return self.feed(key, fetch, cadence, outdate=outdated, passing=passing)

    def streaming(self, take: PageHandler) -> FeedHub:
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
        return self.find_archive()

    @property
    def connection(self) -> Connection:
        """The gateway that is read."""
        return self._client.connection

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
            feed.pause(_PAUSED_BY_HUB)

    def resume_all(self) -> None:
        """Let the feeds go on; each reads at once when its value is older than its cadence."""
        self._paused = False
        for feed in self.feeds:
            feed.resume(_PAUSED_BY_HUB)

    async def refresh(self, prefix: str = "") -> None:
        """Read again what a write may have changed: the feeds whose name begins so.

        Returns after the watched ones were read; the others are read when next looked at. A write
        may change more than it names: nothing that was read before it is shared any more.
        """
        self._pool.forget()
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
        await asyncio.gather(*(feed.close() for feed in self.feeds))
        await self._pool.close()


@dataclass(frozen=True, slots=True)
class Scope:
    """What part of the account a list shows. ``workspace`` None means every workspace."""

    workspace: str | None = None
    parent: str | None = None
    """Identity of the resource that was opened to get here, such as a model id."""
