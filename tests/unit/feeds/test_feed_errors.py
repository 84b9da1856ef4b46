"""What a feed keeps while reads fail, and when it tries again."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from feed_kit import CADENCE, Source, Viewer, unreachable

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
    retry_delay,
)
from gwtui.watch.feed import Feed


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


def test_who_is_told_to_wait_a_little_again_and_again_waits_longer() -> None:
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
    assert error is not None
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
