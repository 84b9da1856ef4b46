"""A refresh: whom it waits for and with whom it shares a read."""

from __future__ import annotations

import asyncio

from feed_kit import CADENCE, Source, Viewer, unreachable

from fake_clock import FakeClock
from gwtui.watch.feed import Feed


async def test_refresh_waits_for_a_read_that_began_after_the_call(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.hold = True
    Viewer(feed)
    await time.settle()
    waiting = [asyncio.create_task(feed.refresh()) for _ in range(5)]
    await time.settle()
    assert source.calls == 1
    source.held[0].set_result(100)
    await time.settle()
    assert not any(task.done() for task in waiting)
    assert source.calls == 2
    source.held[1].set_result(200)
    states = await asyncio.gather(*waiting)
    assert {state.value for state in states} == {200}
    assert source.calls == 2
    assert source.most_running == 1


async def test_refresh_shares_a_read_that_has_not_begun(time: FakeClock, source: Source) -> None:
    gate = asyncio.Semaphore(1)
    feed = Feed("keys", source, CADENCE, clock=time.clock, gate=gate)
    await gate.acquire()
    Viewer(feed)
    waiting = asyncio.create_task(feed.refresh())
    await time.settle()
    assert source.calls == 0
    assert not feed.state.refreshing
    gate.release()
    assert (await waiting).value == 1
    assert source.calls == 1
    await feed.close()


async def test_a_queued_read_that_nobody_wants_any_more_is_dropped(
    time: FakeClock, source: Source
) -> None:
    gate = asyncio.Semaphore(1)
    feed = Feed("keys", source, CADENCE, clock=time.clock, gate=gate)
    await gate.acquire()
    viewer = Viewer(feed)
    await time.settle()
    viewer.leave()
    gate.release()
    await time.settle()
    assert source.calls == 0
    again = Viewer(feed)
    await time.settle()
    assert again.values == [None, 1]
    await feed.close()


async def test_a_queued_read_that_somebody_waits_for_outlives_the_viewer(
    time: FakeClock, source: Source
) -> None:
    gate = asyncio.Semaphore(1)
    feed = Feed("keys", source, CADENCE, clock=time.clock, gate=gate)
    await gate.acquire()
    viewer = Viewer(feed)
    waiting = asyncio.create_task(feed.refresh())
    await time.settle()
    viewer.leave()
    gate.release()
    assert (await waiting).value == 1
    await feed.close()


async def test_a_waiter_that_is_cancelled_takes_nothing_from_the_others(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.hold = True
    one, other = asyncio.create_task(feed.refresh()), asyncio.create_task(feed.refresh())
    await time.settle()
    one.cancel()
    await time.settle()
    source.held[0].set_result(1)
    assert (await other).value == 1
    assert one.cancelled()


async def test_refresh_puts_the_next_read_off(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    Viewer(feed)
    await time.advance(8)
    await feed.refresh()
    await time.advance(9)
    assert source.calls == 2
    await time.advance(1)
    assert source.calls == 3


async def test_refresh_goes_through_a_pause_and_a_back_off(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.answer = unreachable()
    Viewer(feed)
    await time.settle()
    feed.pause()
    source.answer = 5
    assert (await feed.refresh()).value == 5
    assert feed.state.error is None
    assert feed.state.retry_at is None
