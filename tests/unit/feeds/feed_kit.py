"""A source that a test scripts, and viewers that remember what they saw."""

from __future__ import annotations

import asyncio

from gwtui.client.errors import ConnectFailedError, GatewayError
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed, FeedState

CADENCE = Cadence(10, stale_after=45)


class Source:
    """A gateway's answer that the test gives by hand, or at once when nothing is held."""

    def __init__(self) -> None:
        self.calls = 0
        self.running = 0
        self.most_running = 0
        self.answer: int | BaseException | None = None
        self.held: list[asyncio.Future[int]] = []
        self.hold = False

    async def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self.hold:
                reply = asyncio.get_running_loop().create_future()
                self.held.append(reply)
                return await reply
            if isinstance(self.answer, BaseException):
                raise self.answer
            return number if self.answer is None else self.answer
        finally:
            self.running -= 1


def unreachable() -> GatewayError:
    return ConnectFailedError("no connection")


class Viewer:
    def __init__(self, feed: Feed[int]) -> None:
        self.states: list[FeedState[int]] = []
        self.leave = feed.watch(self.states.append)

    @property
    def values(self) -> list[int | None]:
        """What was delivered, each value once."""
        seen: list[int | None] = []
        for state in self.states:
            if not seen or seen[-1] != state.value:
                seen.append(state.value)
        return seen
