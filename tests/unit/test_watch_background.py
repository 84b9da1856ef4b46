"""Viewers in the background: no pause stops them, and they set no faster pace than they need."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fake_clock import FakeClock
from gwtui.client.errors import ConnectFailedError
from gwtui.client.gateway import GatewayClient
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.hub import FeedHub

CADENCE = Cadence(10, stale_after=45)


class Source:
    def __init__(self) -> None:
        self.calls = 0
        self.fails = False

    async def __call__(self, _client: object = None) -> int:
        self.calls += 1
        if self.fails:
            raise ConnectFailedError("no connection")
        return self.calls


@pytest.fixture
def time() -> FakeClock:
    return FakeClock()


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def feed(time: FakeClock, source: Source) -> AsyncIterator[Feed[int]]:
    made = Feed("credits", source, CADENCE, clock=time.clock)
    yield made
    await made.close()


def ignore(_state: FeedState[int]) -> None:
    pass


async def test_it_reads_at_its_own_pace(feed: Feed[int], source: Source, time: FakeClock) -> None:
    feed.watch(ignore, background=True, every=60)
    await time.advance(301)
    assert source.calls == 6
    assert feed.polling
    assert not feed.watched


async def test_a_pause_does_not_concern_it(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    feed.watch(ignore)
    feed.watch(ignore, background=True, every=60)
    await time.advance(61)
    assert source.calls == 7
    feed.pause()
    await time.advance(300)
    assert source.calls == 12
    feed.resume()
    await time.advance(30)
    assert source.calls in {14, 15, 16}


async def test_one_request_serves_both(feed: Feed[int], source: Source, time: FakeClock) -> None:
    here: list[FeedState[int]] = []
    there: list[FeedState[int]] = []
    feed.watch(here.append)
    feed.watch(there.append, background=True, every=60)
    await time.advance(65)
    assert source.calls == 7
    assert here == there


async def test_when_the_screen_leaves_the_slower_pace_is_back(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    feed.watch(ignore, background=True, every=60)
    leave = feed.watch(ignore)
    await time.advance(25)
    assert source.calls == 3
    leave()
    await time.advance(54)
    assert source.calls == 3
    await time.advance(2)
    assert source.calls == 4


async def test_the_last_one_that_leaves_ends_the_reading(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    leave = feed.watch(ignore, background=True, every=60)
    await time.settle()
    leave()
    leave()
    await time.advance(1000)
    assert source.calls == 1
    assert not feed.polling


async def test_back_off_holds_for_it_too(feed: Feed[int], source: Source, time: FakeClock) -> None:
    source.fails = True
    feed.watch(ignore, background=True, every=600)
    await time.advance(1)
    assert source.calls == 1
    await time.advance(60)
    assert 3 <= source.calls <= 6


async def test_after_a_machine_slept_it_reads_at_once(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    feed.watch(ignore, background=True, every=60)
    await time.advance(5)
    time.suspend(3600)
    feed.pause()
    await time.settle()
    assert source.calls == 2


async def test_a_blurred_terminal_stops_only_what_screens_show(time: FakeClock) -> None:
    shown, recorded = Source(), Source()
    client: GatewayClient = object()  # type: ignore[assignment]
    hub = FeedHub(client, time.clock)
    hub.feed(FeedKey("keys"), shown, CADENCE).watch(ignore)
    hub.feed(FeedKey("credits"), recorded, CADENCE).watch(ignore, background=True, every=30)
    await time.settle()
    hub.pause_all()
    await time.advance(91)
    assert (shown.calls, recorded.calls) == (1, 4)
    hub.resume_all()
    await time.settle()
    assert shown.calls == 2
    await hub.close()


async def test_a_write_waits_for_what_is_shown_and_lets_the_rest_follow(time: FakeClock) -> None:
    recorded = Source()
    client: GatewayClient = object()  # type: ignore[assignment]
    hub = FeedHub(client, time.clock)
    hub.feed(FeedKey("keys"), recorded, CADENCE).watch(ignore, background=True, every=300)
    await time.advance(5)
    await hub.refresh("keys")
    assert recorded.calls == 1
    await time.settle()
    assert recorded.calls == 2
    await hub.close()
