"""When a feed reads: who looks, how often, and what pauses and invalidates it."""

from __future__ import annotations

import pytest
from feed_kit import Source, Viewer

from fake_clock import START, FakeClock
from gwtui.watch.feed import Feed, FeedState


async def test_it_reads_nothing_until_somebody_looks(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    await time.advance(100)
    assert source.calls == 0
    assert feed.state == FeedState(stale_after=45)
    assert feed.state.phase(time.now()) == "loading"


async def test_it_reads_at_once_and_then_at_its_cadence(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    viewer = Viewer(feed)
    await time.settle()
    assert feed.state.value == 1
    assert feed.state.fetched_at == START
    await time.advance(9.9)
    assert source.calls == 1
    await time.advance(0.1)
    assert source.calls == 2
    await time.advance(30)
    assert viewer.values == [None, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("luck", "due"), [(0.0, 9.0), (0.5, 10.0), (0.999999, 11.0)])
async def test_jitter_spreads_the_reads(
    feed: Feed[int], source: Source, time: FakeClock, luck: float, due: float
) -> None:
    time.luck = luck
    Viewer(feed)
    await time.advance(due - 0.01)
    assert source.calls == 1
    await time.advance(0.02)
    assert source.calls == 2


async def test_the_last_viewer_that_leaves_ends_the_reading(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    one, other = Viewer(feed), Viewer(feed)
    await time.settle()
    one.leave()
    await time.advance(10)
    assert source.calls == 2
    other.leave()
    other.leave()
    assert not feed.polling
    await time.settle()
    assert time.sleeping == 0
    await time.advance(100)
    assert source.calls == 2
    assert time.sleeping == 0
    assert feed.state.value == 2


@pytest.mark.parametrize(("away", "calls"), [(4, 1), (60, 2)])
async def test_coming_back_reads_only_what_is_older_than_the_cadence(
    feed: Feed[int], source: Source, time: FakeClock, away: float, calls: int
) -> None:
    Viewer(feed).leave()
    await time.settle()
    viewer = Viewer(feed)
    await time.settle()
    viewer.leave()
    await time.advance(away)
    Viewer(feed)
    await time.settle()
    assert source.calls == calls
    if calls == 1:
        await time.advance(10 - away)
        assert source.calls == 2


async def test_a_paused_feed_reads_nothing_until_it_resumes(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    Viewer(feed)
    await time.settle()
    feed.pause()
    feed.pause()
    await time.settle()
    assert time.sleeping == 0
    await time.advance(60)
    assert source.calls == 1
    feed.resume()
    await time.settle()
    assert source.calls == 2


async def test_a_read_under_way_may_finish_while_paused_and_is_kept(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.hold = True
    Viewer(feed)
    await time.settle()
    feed.pause()
    source.held[0].set_result(7)
    await time.advance(60)
    assert feed.state.value == 7
    assert not feed.state.refreshing
    assert source.calls == 1


async def test_after_the_machine_slept_resuming_reads_at_once(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    Viewer(feed)
    await time.settle()
    feed.pause()
    time.suspend(3600)
    feed.resume()
    await time.settle()
    assert source.calls == 2


async def test_an_invalidated_feed_reads_as_soon_as_somebody_looks(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    viewer = Viewer(feed)
    await time.settle()
    viewer.leave()
    feed.invalidate()
    await time.settle()
    assert source.calls == 1
    Viewer(feed)
    await time.settle()
    assert source.calls == 2


async def test_invalidating_during_a_read_makes_another_one(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.hold = True
    viewer = Viewer(feed)
    await time.settle()
    feed.invalidate()
    source.hold = False
    source.held[0].set_result(1)
    await time.settle()
    assert source.calls == 2
    assert viewer.values[-1] == 2
