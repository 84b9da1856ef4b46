"""One feed: when it reads, what a refresh waits for, and what it keeps while reads fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_clock import START, FakeClock
from gwtui.client.errors import (
    ConnectFailedError,
    ForbiddenError,
    GatewayError,
    RateLimitedError,
    ServerError,
    UnauthorizedError,
)
from gwtui.client.request_log import may_retry
from gwtui.local.caught_errors import caught_errors
from gwtui.watch.cadence import (
    FIRST_RETRY,
    LONGEST_RETRY,
    LONGEST_RETRY_AFTER,
    REFUSED_RETRY,
    Cadence,
    NothingRecordedError,
    retry_delay,
)
from gwtui.watch.feed import Feed, FeedState

CADENCE = Cadence(10, stale_after=45)


class Source:
    """A response that the test sends, or at once if nothing is held."""

    def __init__(self) -> None:
        self.calls = 0
        self.running = 0
        self.most_running = 0
        self.answer: int | BaseException | None = None
        self.pending: list[asyncio.Future[int]] = []
        self.hold = False

    async def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self.hold:
                reply = asyncio.get_running_loop().create_future()
                self.pending.append(reply)
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
        results: list[int | None] = []
        for state in self.states:
            if not results or results[-1] != state.value:
                results.append(state.value)
        return results


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def feed(time: FakeClock, source: Source) -> AsyncIterator[Feed[int]]:
    created = Feed("credits", source, CADENCE, clock=time.clock)
    yield created
    await created.close()


# When it reads ------------------------------------------------------------------------------------


class Schedule:
    """The expected reads of a feed: at once if due, else at the shortest pace of its viewers."""

    def __init__(self) -> None:
        self.now = 0
        self.reads: list[int] = []
        self.viewers: list[tuple[int, bool]] = []
        self.paused = False
        self.outdated = True

    @property
    def paces(self) -> list[int]:
        return [pace for pace, background in self.viewers if background or not self.paused]

    def read(self, moment: int) -> None:
        self.reads.append(moment)
        self.outdated = False

    def advance(self, seconds: int) -> None:
        end = self.now + seconds
        while self.paces:
            due = self.now if self.outdated else max(self.now, self.reads[-1] + min(self.paces))
            if due > end:
                break
            self.read(due)
        self.now = end


ACTIONS = ["watch", "watch in the background", "leave", "pause", "resume", "invalidate", "refresh"]


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from(ACTIONS)), max_size=20))
async def test_a_feed_reads_at_the_pace_of_its_viewers(steps: list[tuple[int, str]]) -> None:
    time, schedule = FakeClock(), Schedule()
    reads: list[float] = []

    async def fetch() -> int:
        reads.append(time.elapsed)
        return len(reads)

    feed = Feed("credits", fetch, CADENCE, clock=time.clock)
    leaves: list[Callable[[], None]] = []
    for wait, action in steps:
        await time.advance(wait)
        schedule.advance(wait)
        match action:
            case "leave" if leaves:
                leave = leaves.pop(0)
                leave()
                leave()
                schedule.viewers.pop(0)
            case "pause" | "resume":
                getattr(feed, action)()
                schedule.paused = action == "pause"
            case "invalidate":
                feed.invalidate()
                schedule.outdated = True
            case "refresh":
                await feed.refresh()
                schedule.read(schedule.now)
            case "watch" | "watch in the background":
                pace, background = (10, False) if action == "watch" else (25, True)
                leaves.append(feed.watch(lambda _: None, background=background, every=pace))
                schedule.viewers.append((pace, background))
        await time.settle()
        schedule.advance(0)
        assert reads == schedule.reads
        assert feed.state.value == (len(reads) or None)
        assert feed.watched == any(not background for _, background in schedule.viewers)
        assert feed.polling == bool(schedule.paces) == bool(time.sleeping)
    await feed.close()


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


async def test_a_read_under_way_may_finish_while_paused_and_is_kept(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.hold = True
    Viewer(feed)
    await time.settle()
    feed.pause()
    source.pending[0].set_result(7)
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


async def test_invalidating_during_a_read_makes_another_one(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.hold = True
    viewer = Viewer(feed)
    await time.settle()
    feed.invalidate()
    source.hold = False
    source.pending[0].set_result(1)
    await time.settle()
    assert source.calls == 2
    assert viewer.values[-1] == 2


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
    source.pending[0].set_result(100)
    await time.settle()
    assert not any(task.done() for task in waiting)
    assert source.calls == 2
    source.pending[1].set_result(200)
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


async def test_a_queued_read_without_viewers_is_dropped(time: FakeClock, source: Source) -> None:
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
    first, second = asyncio.create_task(feed.refresh()), asyncio.create_task(feed.refresh())
    await time.settle()
    first.cancel()
    await time.settle()
    source.pending[0].set_result(1)
    assert (await second).value == 1
    assert first.cancelled()


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
    assert feed.state == FeedState(stale_after=45)
    assert feed.state.phase(time.now()) == "loading"
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


async def test_failing_feeds_read_without_retries(time: FakeClock) -> None:
    """A gateway that is down gets fewer requests than a healthy one, not more."""
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
    ("retry_after", "wait"), [(40.0, 40.0), (0.0, FIRST_RETRY), (86400.0, LONGEST_RETRY_AFTER)]
)
async def test_retry_after_is_obeyed_and_capped(
    feed: Feed[int], source: Source, time: FakeClock, retry_after: float, wait: float
) -> None:
    time.luck = 0.0
    source.answer = RateLimitedError("slow down", retry_after=retry_after)
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
async def test_refused_reads_are_retried_slowly(
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


async def test_a_history_that_is_not_recorded_is_only_read_again_on_request(
    feed: Feed[int], source: Source, time: FakeClock
) -> None:
    source.answer = NothingRecordedError("no history")
    Viewer(feed)
    await time.advance(10 * REFUSED_RETRY)
    assert (source.calls, feed.state.retry_at) == (1, None)
    await feed.refresh()
    assert source.calls == 2


async def test_changing_viewers_keeps_the_back_off(
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


async def test_an_unexpected_exception_becomes_an_error_without_its_text(
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


async def test_a_raising_listener_does_not_affect_others(
    feed: Feed[int], time: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_state: FeedState[int]) -> None:
        raise RuntimeError("widget is gone")

    feed.watch(broken)
    viewer = Viewer(feed)
    await time.advance(10)
    assert viewer.values == [None, 1, 2]
    assert caplog.messages == ["listener of feed credits failed"], "logged once for all failures"
    caught_errors.clear()


async def test_viewers_see_refreshing_begin_and_end(feed: Feed[int], time: FakeClock) -> None:
    viewer = Viewer(feed)
    await time.settle()
    assert [state.refreshing for state in viewer.states] == [False, True, False]


async def test_a_listener_may_leave_and_make_others_leave(feed: Feed[int], time: FakeClock) -> None:
    calls: list[str] = []
    leaves = []

    def first(state: FeedState[int]) -> None:
        if state.value is not None:
            calls.append("first")
            for leave in leaves:
                leave()

    def second(state: FeedState[int]) -> None:
        if state.value is not None:
            calls.append("second")

    leaves += [feed.watch(first), feed.watch(second)]
    await time.advance(60)
    assert calls == ["first"]
    assert not feed.watched


# The end ------------------------------------------------------------------------------------------


async def test_close_ends_reads_timers_and_waiters(source: Source, time: FakeClock) -> None:
    feed = Feed("credits", source, CADENCE, clock=time.clock)
    source.hold = True
    viewer = Viewer(feed)
    await time.settle()
    waiting = asyncio.create_task(feed.refresh())
    await time.settle()
    count = len(viewer.states)
    await feed.close()
    assert source.running == 0
    assert (await waiting).value is None
    assert source.pending[0].cancelled()
    assert len(viewer.states) == count
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
    assert not state.is_old(START + timedelta(seconds=45))
    assert state.is_old(START + timedelta(seconds=46))
    assert FeedState().age(START) is None
    assert not FeedState().is_old(START)
