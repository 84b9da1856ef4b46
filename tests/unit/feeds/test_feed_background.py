"""Viewers in the background: no pause stops them, and they set no faster pace than they need."""

from __future__ import annotations

from typing import cast

from feed_kit import CADENCE, Source

from fake_clock import FakeClock
from gwtui.client.gateway import GatewayClient
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.hub import FeedHub


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


async def test_a_write_waits_for_what_is_shown_and_lets_the_rest_follow(
    source: Source, time: FakeClock
) -> None:
    hub = FeedHub(cast("GatewayClient", object()), time.clock)
    hub.feed(FeedKey("keys"), lambda _client: source(), CADENCE).watch(
        ignore, background=True, every=300
    )
    await time.advance(5)
    await hub.refresh("keys")
    assert source.calls == 1
    await time.settle()
    assert source.calls == 2
    await hub.close()
