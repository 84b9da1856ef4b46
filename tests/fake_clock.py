"""A clock that only moves when a test advances it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta

from gwtui.domain.clock import Clock

START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


class FakeClock:
    """A manual clock: ``advance`` wakes sleepers one by one, in the order of their deadlines.

    ``chance`` is returned for every random number; 0.5 means no jitter.
    """

    def __init__(self, start: datetime = START, chance: float = 0.5) -> None:
        self.start = start
        self.luck = chance
        self.elapsed = 0.0
        self.suspended = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self.clock = Clock(self.now, self.monotonic, self.sleep, lambda: self.luck)

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.elapsed + self.suspended)

    def monotonic(self) -> float:
        return 1000.0 + self.elapsed

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.elapsed + seconds, next(self._order), woken))
        await woken

    @property
    def sleeping(self) -> int:
        """The number of sleepers."""
        return sum(not woken.done() for _, _, woken in self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Let time pass; everything that becomes due runs at its own time."""
        until = self.elapsed + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                self.elapsed = max(self.elapsed, due)
                woken.set_result(None)
                await self.settle()
        self.elapsed = until
        await self.settle()

    def suspend(self, seconds: float) -> None:
        """Suspend the machine: the wall clock continues, the monotonic clock stops."""
        self.suspended += seconds

    async def settle(self) -> None:
        """Run all tasks until they wait for something."""
        for _ in range(40):
            await asyncio.sleep(0)
