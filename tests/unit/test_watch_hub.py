"""The hub: one feed per key, a bound on reads, all feeds held, refreshed and ended together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

import pytest

from fake_clock import FakeClock
from gwtui.client.errors import RateLimitedError
from gwtui.client.gateway import GatewayClient
from gwtui.watch import cadence
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import FeedState
from gwtui.watch.hub import MOST_TRANSIENT, READS_AT_A_TIME, FeedHub

CADENCE = Cadence(10, stale_after=45)


class Counter:
    """Stands for a client: counts what was read of what, and how much at a time."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.running = 0
        self.most_running = 0
        self.release = asyncio.Event()
        self.release.set()

    async def read(self, what: str) -> int:
        self.calls.append(what)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await self.release.wait()
        self.running -= 1
        return len(self.calls)


@pytest.fixture
async def counter() -> Counter:
    return Counter()


@pytest.fixture
async def hub(time: FakeClock, counter: Counter) -> AsyncIterator[FeedHub]:
    made = FeedHub(cast("GatewayClient", counter), time.clock)
    yield made
    await made.close()


def look(hub: FeedHub, name: str) -> list[FeedState[int]]:
    states: list[FeedState[int]] = []

    async def fetch(client: GatewayClient) -> int:
        return await cast("Counter", client).read(name)

    hub.feed(FeedKey(name), fetch, CADENCE).watch(states.append)
    return states


async def test_the_same_key_is_the_same_feed(hub: FeedHub, counter: Counter) -> None:
    async def fetch(_client: GatewayClient) -> int:
        return 1

    feed = hub.feed(FeedKey("keys"), fetch, CADENCE)
    assert hub.feed(FeedKey("keys"), fetch, cadence.MODELS) is feed
    assert hub.feed(FeedKey("keys", ("w",)), fetch, CADENCE) is not feed
    assert [known.name for known in hub.feeds] == ["keys", "keys:w"]
    assert feed.cadence is CADENCE


async def test_no_more_feeds_read_at_a_time_than_allowed(
    hub: FeedHub, counter: Counter, time: FakeClock
) -> None:
    counter.release.clear()
    for number in range(10):
        look(hub, f"endpoints:{number}")
    await time.settle()
    assert counter.running == READS_AT_A_TIME
    counter.release.set()
    await time.settle()
    assert len(counter.calls) == 10
    assert counter.most_running == READS_AT_A_TIME


async def test_a_blurred_terminal_reads_nothing_not_even_for_new_feeds(
    hub: FeedHub, counter: Counter, time: FakeClock
) -> None:
    look(hub, "credits")
    await time.settle()
    hub.pause_all()
    assert hub.paused
    look(hub, "keys")
    await time.advance(300)
    assert counter.calls == ["credits"]
    hub.resume_all()
    await time.settle()
    assert counter.calls == ["credits", "credits", "keys"]


async def test_refresh_after_a_write_reads_the_family_and_marks_what_nobody_watches(
    hub: FeedHub, counter: Counter, time: FakeClock
) -> None:
    async def fetch(client: GatewayClient) -> int:
        return await cast("Counter", client).read("keys:away")

    away = hub.feed(FeedKey("keys", ("away",)), fetch, CADENCE)
    await away.refresh()
    look(hub, "keys")
    look(hub, "keys:w")
    look(hub, "credits")
    await time.settle()
    counter.calls.clear()
    await hub.refresh("keys")
    assert sorted(counter.calls) == ["keys", "keys:w"]
    away.watch(lambda _state: None)
    await time.settle()
    assert sorted(counter.calls) == ["keys", "keys:away", "keys:w"]


async def test_a_closed_hub_is_quiet_and_makes_no_feeds(
    hub: FeedHub, counter: Counter, time: FakeClock
) -> None:
    counter.release.clear()
    states = look(hub, "credits")
    await time.settle()
    await hub.close()
    told = len(states)
    await time.advance(100)
    assert counter.calls == ["credits"]
    assert len(states) == told
    with pytest.raises(RuntimeError, match="closed"):
        look(hub, "keys")


class Limited:
    """A gateway that answers each of its first ``refusals`` requests with 429."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.at: list[tuple[str, float]] = []

    def fetch(self, name: str, time: FakeClock) -> Callable[[GatewayClient], Awaitable[int]]:
        async def read(_client: GatewayClient) -> int:
            self.at.append((name, time.elapsed))
            if len(self.at) <= self.refusals:
                raise RateLimitedError("slow down", status=429, retry_after=40)
            return 1

        return read


async def test_a_gateway_that_asks_one_feed_to_wait_is_left_alone_by_all(
    hub: FeedHub, time: FakeClock
) -> None:
    gateway = Limited(refusals=1)
    for name in ("credits", "keys"):
        hub.feed(FeedKey(name), gateway.fetch(name, time), CADENCE).watch(lambda _state: None)
        await time.settle()
    hub.feed(FeedKey("late"), gateway.fetch("late", time), CADENCE).watch(lambda _state: None)
    await time.advance(39)
    assert [name for name, _ in gateway.at] == ["credits"]
    await time.advance(5)
    assert {name for name, _ in gateway.at[1:]} == {"credits", "keys", "late"}
    assert all(at >= 40 for _, at in gateway.at[1:])


async def test_a_person_may_still_ask_while_feeds_are_held_back(
    hub: FeedHub, time: FakeClock
) -> None:
    gateway = Limited(refusals=1)
    hub.feed(FeedKey("credits"), gateway.fetch("credits", time), CADENCE).watch(lambda _state: None)
    await time.settle()
    other = hub.feed(FeedKey("keys"), gateway.fetch("keys", time), CADENCE)
    assert (await other.refresh()).value == 1
    assert [name for name, _ in gateway.at] == ["credits", "keys"]


async def test_only_recent_and_used_feeds_of_rows_are_kept(
    hub: FeedHub,
) -> None:
    async def fetch(_client: GatewayClient) -> int:
        return 1

    lasting = [
        hub.feed(FeedKey("lasting", (str(number),)), fetch, CADENCE).name for number in range(30)
    ]
    used = hub.feed(FeedKey("row", ("used",)), fetch, CADENCE, transient=True)
    leave = used.watch(lambda _state: None)
    for number in range(100):
        hub.feed(FeedKey("row", (str(number),)), fetch, CADENCE, transient=True)
    names = {feed.name for feed in hub.feeds}
    assert names >= {*lasting, "row:used", "row:99"}
    assert len(names) <= len(lasting) + 1 + MOST_TRANSIENT
    assert hub.feed(FeedKey("row", ("used",)), fetch, CADENCE, transient=True) is used
    leave()
