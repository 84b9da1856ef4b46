"""The hub owns every feed of one connection: one feed per name, a bound on reads at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.backoff import Restraint
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed

if TYPE_CHECKING:
    from pathlib import Path

    from gwtui.client.gateway import GatewayClient
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.recording import Recording

T = TypeVar("T")

READS_AT_A_TIME = 4
"""Feeds that read at the same time; more would only queue at the gateway."""

_PAUSED_BY_HUB = "hub"


class FeedHub:
    """Makes feeds and holds them for as long as the connection lives."""

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
        self._feeds: dict[str, Feed[Any]] = {}
        self._paused = False
        self._closed = False
        self.recording: Recording | None = None
        """The history of this connection, once it is served."""
        self.history_file: Path | None = None
        """What was recorded before, for who only reads: there is no recorder then."""

    def feed(
        self,
        name: str,
        fetch: Callable[[GatewayClient], Awaitable[T]],
        cadence: Cadence,
        *,
        outdate: Callable[[], None] = lambda: None,
    ) -> Feed[T]:
        """The feed of this name, made on first demand; later calls get the same one.

        Names go from general to particular ("keys", "keys:WORKSPACE"), so that ``refresh`` can
        reach a family by its beginning. ``outdate`` is called when the value is said to be out of
        date, for a ``fetch`` that remembers something. Raises RuntimeError when the hub is closed.
        """
        if self._closed:
            raise RuntimeError("the hub is closed")
        known = self._feeds.get(name)
        if known is None:
            known = Feed(
                name,
                lambda: fetch(self._client),
                cadence,
                clock=self._clock,
                gate=self._gate,
                restraint=self._restraint,
                outdate=outdate,
            )
            if self._paused:
                known.pause(_PAUSED_BY_HUB)
            self._feeds[name] = known
        return cast("Feed[T]", known)

    @property
    def archive(self) -> Archive | None:
        """What is recorded, to read from; None while no history is open."""
        recorder = None if self.recording is None else self.recording.recorder
        return None if recorder is None else recorder.archive

    @property
    def clock(self) -> Clock:
        """The time that its feeds keep."""
        return self._clock

    @property
    def feeds(self) -> tuple[Feed[Any], ...]:
        """Every feed made so far."""
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

        Returns after the watched ones were read; the others are read when next looked at.
        """
        reads = []
        for feed in self.feeds:
            if not feed.name.startswith(prefix):
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
