"""One feed: when it reads, whom a refresh waits for, and what it keeps while reads fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import cast

import pytest

from fake_clock import START, FakeClock
from gwtui.client.errors import (
    ConnectFailedError,
    ForbiddenError,
    GatewayError,
    RateLimitedError,
    ServerError,
    UnauthorizedError,
)
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import may_retry
from gwtui.local.caught_errors import caught_errors
from gwtui.watch.cadence import (
    FIRST_RETRY,
    LONGEST_RETRY,
    LONGEST_RETRY_AFTER,
    REFUSED_RETRY,
    Cadence,
    retry_delay,
)
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.hub import FeedHub
from gwtui.watch.reads import FeedKey

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
        """The delivered values, each once."""
        seen: list[int | None] = []
        for state in self.states:
            if not seen or seen[-1] != state.value:
                seen.append(state.value)
        return seen


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def feed(time: FakeClock, source: Source) -> AsyncIterator[Feed[int]]:
    made = Feed("credits", source, CADENCE, clock=time.clock)
    yield made
    await made.close()


# When it reads ------------------------------------------------------------------------------------


async def test_a_feed_reads_nothing_without_viewers(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    await time.advance(100)
    assert source.calls == 0
    assert feed.state == FeedState(stale_after=45)
    assert feed.state.phase(time.now()) == "loading"


async def test_a_feed_reads_at_once_and_then_at_its_interval(
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


# Viewers in the background ------------------------------------------------------------------------


def ignore(_state: FeedState[int]) -> None:
    pass


async def test_background_viewers_set_their_own_interval(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
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


# Refresh ------------------------------------------------------------------------------------------


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


async def queued(time: FakeClock, source: Source) -> tuple[asyncio.Semaphore, Feed[int]]:
    """A feed whose reads wait until the returned gate is released."""
    gate = asyncio.Semaphore(1)
    feed = Feed("keys", source, CADENCE, clock=time.clock, gate=gate)
    await gate.acquire()
    return gate, feed


async def test_refresh_shares_a_read_that_has_not_begun(time: FakeClock, source: Source) -> None:
    gate, feed = await queued(time, source)
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
    gate, feed = await queued(time, source)
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
    gate, feed = await queued(time, source)
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


# Errors -------------------------------------------------------------------------------------------


async def test_an_error_keeps_the_last_good_value_and_names_the_next_attempt(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    Viewer(feed)
    await time.advance(1)
    source.answer = unreachable()
    await time.advance(9)
    assert feed.state.value == 1
    assert feed.state.fetched_at == START
    assert isinstance(feed.state.error, ConnectFailedError)
    assert feed.state.retry_at == time.now() + timedelta(seconds=FIRST_RETRY * 0.75)
    assert feed.state.phase(time.now()) == "ready"
    assert feed.state.phase(time.now() + timedelta(seconds=60)) == "stale"


async def test_a_first_read_that_fails_is_failed_and_recovers_by_itself(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.answer = unreachable()
    Viewer(feed)
    await time.settle()
    assert feed.state.phase(time.now()) == "failed"
    source.answer = 3
    await time.advance(FIRST_RETRY)
    assert feed.state.phase(time.now()) == "ready"
    assert feed.state.error is None
    assert feed.state.retry_at is None


async def test_failures_in_a_row_space_out_up_to_a_limit(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.answer = unreachable()
    time.luck = 1.0
    Viewer(feed)
    waits = []
    for _ in range(8):
        await time.settle()
        assert feed.state.retry_at is not None
        wait = (feed.state.retry_at - time.now()).total_seconds()
        waits.append(wait)
        before = source.calls
        await time.advance(wait - 0.01)
        assert source.calls == before
        await time.advance(0.01)
        assert source.calls == before + 1
    assert waits == [2, 4, 8, 16, 30, 30, 30, 30]
    assert max(waits) == LONGEST_RETRY


async def test_while_it_fails_each_read_only_tries(time: FakeClock) -> None:
    """A gateway that is down gets fewer requests than one that is well, not more."""
    tries: list[bool] = []

    async def fetch() -> int:
        tries.append(not may_retry())
        if 1 < len(tries) < 4:
            raise unreachable()
        return len(tries)

    feed = Feed("keys", fetch, CADENCE, clock=time.clock)
    for _ in range(5):
        await feed.refresh()
    assert tries == [False, False, True, True, False]
    await feed.close()


async def test_a_success_forgets_the_failures(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    time.luck = 1.0
    source.answer = unreachable()
    Viewer(feed)
    await time.advance(10)
    source.answer = None
    await feed.refresh()
    source.answer = unreachable()
    await feed.refresh()
    assert feed.state.retry_at == time.now() + timedelta(seconds=FIRST_RETRY)


@pytest.mark.parametrize(
    ("asked", "wait"), [(40.0, 40.0), (0.0, FIRST_RETRY), (86400.0, LONGEST_RETRY_AFTER)]
)
async def test_retry_after_is_obeyed_and_capped(
    feed: Feed[int], source: Source, time: FakeClock, asked: float, wait: float
) -> None:
    time.luck = 0.0
    source.answer = RateLimitedError("slow down", retry_after=asked)
    Viewer(feed)
    await time.advance(wait - 0.01)
    assert source.calls == 1
    await time.advance(0.02)
    assert source.calls == 2


def test_repeated_short_retry_after_backs_off() -> None:
    busy = ServerError("busy", status=503, retry_after=5)
    waits = [retry_delay(busy, failures, 1.0) for failures in range(1, 9)]
    assert waits == [5.5, 5.5, 8, 16, *[LONGEST_RETRY] * 4]
    patient = RateLimitedError("slow down", retry_after=90)
    assert retry_delay(patient, 9, 0.0) == 90


@pytest.mark.parametrize(
    "error",
    [UnauthorizedError("no", status=401), ForbiddenError("management keys only", status=403)],
)
async def test_a_refusal_is_asked_about_slowly_and_still_recovers(
    feed: Feed[int], source: Source, time: FakeClock, error: GatewayError
) -> None:
    time.luck = 0.0
    source.answer = error
    Viewer(feed)
    await time.advance(REFUSED_RETRY - 1)
    assert source.calls == 1
    source.answer = None
    await time.advance(1)
    assert feed.state.phase(time.now()) == "ready"


async def test_coming_and_going_does_not_break_the_back_off(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.answer = RateLimitedError("slow down", retry_after=60)
    for _ in range(5):
        viewer = Viewer(feed)
        await time.advance(1)
        viewer.leave()
        feed.pause()
        feed.resume()
    assert source.calls == 1


async def test_a_fault_that_nobody_foresaw_becomes_an_error_without_its_text(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.answer = KeyError("body with a secret")
    Viewer(feed)
    await time.settle()
    error = feed.state.error
    assert "KeyError" in error.message
    assert "secret" not in error.message
    assert len(caught_errors) == 1
    caught_errors.clear()
    source.answer = 4
    await time.advance(FIRST_RETRY)
    assert feed.state.value == 4


async def test_a_read_cancelled_from_outside_does_not_end_the_feed(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.answer = asyncio.CancelledError()
    Viewer(feed)
    await time.settle()
    assert source.calls == 1
    assert not feed.state.refreshing
    source.answer = 9
    await time.advance(FIRST_RETRY)
    assert feed.state.value == 9


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


# States -------------------------------------------------------------------------------------------


def test_age_and_staleness_are_measured_from_the_arrival() -> None:
    state = FeedState(value=0, fetched_at=START, stale_after=45)
    assert state.age(START + timedelta(seconds=45)) == 45
    assert not state.is_stale(START + timedelta(seconds=45))
    assert state.is_stale(START + timedelta(seconds=46))
    assert state.age(START - timedelta(seconds=5)) == 0
    assert FeedState().age(START) is None
    assert not FeedState().is_stale(START)
