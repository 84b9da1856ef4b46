"""Listeners, states, and that nothing but close ends a feed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from feed_kit import CADENCE, Source, Viewer

from fake_clock import START, FakeClock
from gwtui.local.caught_errors import caught_errors
from gwtui.watch.feed import Feed, FeedState

# Listeners ----------------------------------------------------------------------------------------


async def test_a_listener_that_raises_hurts_nobody(
    feed: Feed[int], time: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_state: FeedState[int]) -> None:
        raise RuntimeError("widget is gone")

    feed.watch(broken)
    viewer = Viewer(feed)
    await time.advance(10)
    assert viewer.values == [None, 1, 2]
    assert caplog.messages == ["listener of feed credits failed"], "once, however often it fails"
    caught_errors.clear()


async def test_viewers_see_refreshing_begin_and_end(feed: Feed[int], time: FakeClock) -> None:
    viewer = Viewer(feed)
    await time.settle()
    assert [state.refreshing for state in viewer.states] == [False, True, False]


async def test_a_listener_may_leave_and_make_others_leave(feed: Feed[int], time: FakeClock) -> None:
    told: list[str] = []
    leaves = []

    def first(state: FeedState[int]) -> None:
        if state.value is not None:
            told.append("first")
            for leave in leaves:
                leave()

    def second(state: FeedState[int]) -> None:
        if state.value is not None:
            told.append("second")

    leaves += [feed.watch(first), feed.watch(second)]
    await time.advance(60)
    assert told == ["first"]
    assert not feed.watched


# The end ------------------------------------------------------------------------------------------


async def test_close_ends_reads_timers_and_waiters(source: Source, time: FakeClock) -> None:
    feed = Feed("credits", source, CADENCE, clock=time.clock)
    source.hold = True
    viewer = Viewer(feed)
    await time.settle()
    waiting = asyncio.create_task(feed.refresh())
    await time.settle()
    told = len(viewer.states)
    await feed.close()
    assert source.running == 0
    assert (await waiting).value is None
    assert source.held[0].cancelled()
    assert len(viewer.states) == told
    assert (await feed.refresh()).value is None
    feed.resume()
    await time.advance(100)
    assert source.calls == 1
    assert time.sleeping == 0
    await feed.close()


async def test_an_answer_that_outlives_close_is_dropped(time: FakeClock) -> None:
    async def stubborn() -> int:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return 1
        return 2

    feed = Feed("credits", stubborn, CADENCE, clock=time.clock)
    Viewer(feed)
    await time.settle()
    await feed.close()
    assert feed.state.value is None


# States -------------------------------------------------------------------------------------------


def test_age_and_staleness_are_measured_from_the_arrival() -> None:
    state = FeedState(value=0, fetched_at=START, stale_after=45)
    assert state.age(START + timedelta(seconds=45)) == 45
    assert not state.is_stale(START + timedelta(seconds=45))
    assert state.is_stale(START + timedelta(seconds=46))
    assert state.age(START - timedelta(seconds=5)) == 0
    assert FeedState().age(START) is None
    assert not FeedState().is_stale(START)
