"""The request log: requests of the last minute, pending requests, incomplete lists."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_clock import START, FakeClock
from gwtui.client.answers import Rows
from gwtui.client.errors import ConnectFailedError
from gwtui.client.paging import listing_of
from gwtui.client.request_log import (
    TOLERATED,
    ClockSkew,
    ListGaps,
    PendingRequests,
    ReadingLog,
    Traffic,
    count_request,
    pending_in,
    reading_log,
    record_list_gaps,
    request_pending,
)
from gwtui.contract.models import Provider
from gwtui.ui.connection_health import ConnectionHealth, skew_text
from gwtui.watch.feed import FeedState


async def test_a_gateway_is_silent_from_three_seconds_without_an_answer_on(time: FakeClock) -> None:
    traffic = Traffic(time.clock)
    with traffic.waiting():
        await time.advance(2.9)
        assert not traffic.silent
        await time.advance(0.2)
        assert traffic.silent
        traffic.answered()  # another request was
        assert not traffic.silent
        await time.advance(3)
        assert traffic.silent
    assert traffic.silent, "the request never got a response"
    traffic.answered()
    await time.advance(3)
    assert not traffic.silent
    with traffic.waiting():
        await time.advance(1)
    await time.advance(1.9)
    assert not traffic.silent
    await time.advance(0.2)
    assert traffic.silent


async def test_giving_up_a_long_wait_leaves_the_gateway_silent(time: FakeClock) -> None:
    traffic = Traffic(time.clock)

    async def give_up(after: float) -> None:
        with traffic.waiting():
            await time.advance(after)
            raise TimeoutError

    for waited, silent in ((1.0, False), (10.0, True)):
        with pytest.raises(TimeoutError):
            await give_up(waited)
        await time.advance(3)
        assert traffic.silent is silent


async def test_requests_that_follow_each_other_are_one_wait_of_reading_or_writing(
    time: FakeClock,
) -> None:
    pending = PendingRequests(time.clock)
    with pending_in(pending):
        with request_pending(read=True):
            await time.advance(2)
            assert (pending.reading, pending.writing, pending.seconds) == (True, False, 2)
        assert pending.seconds == 0
        with request_pending(read=True):
            await time.advance(1)
            assert pending.seconds == 3
        assert not pending.write_sent
        with request_pending(read=False):
            await time.advance(1)
            assert (pending.reading, pending.writing, pending.seconds) == (False, True, 1)
        await time.advance(60)
        with request_pending(read=False):
            await time.advance(1)
            assert pending.seconds == 1, "the user paused between the requests"
    assert pending.write_sent


# What a reading lacks -----------------------------------------------------------------------------


GOOD: Any = {"slug": "a"}


async def _joined() -> int:
    """Two lists read in parallel: one has an invalid row, one ends before its total."""

    async def read(rows: Rows) -> int:
        await asyncio.sleep(0)
        return len(listing_of(rows, Provider, "slug").items)

    lists = (Rows([GOOD, "rubbish", 7], 3), Rows([GOOD], 5))
    return sum(await asyncio.gather(*(read(rows) for rows in lists)))


async def test_a_reading_log_gathers_only_its_own_readings() -> None:
    with reading_log(ReadingLog()) as before:
        with reading_log(ReadingLog()) as inner:
            assert await _joined() == 2
            count_request()
        record_list_gaps(0, complete=True)
    assert inner == ReadingLog(1, ListGaps(2, 1))
    assert before == ReadingLog()
    record_list_gaps(9, complete=False)
    count_request()
    assert before == ReadingLog()


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        (ListGaps(), ""),
        (ListGaps(1), "1 row could not be read and is left out"),
        (ListGaps(1200), "1,200 rows could not be read and are left out"),
        (ListGaps(0, 2), "the list may be incomplete"),
        (
            ListGaps(3, 1),
            "3 rows could not be read and are left out · the list may be incomplete",
        ),
    ],
)
def test_the_banner_shows_missing_rows_unless_unreachable(gaps: ListGaps, expected: str) -> None:
    health, state = ConnectionHealth(), FeedState((), fetched_at=START, list_gaps=gaps)
    assert health.banner([("keys", state)], START) == expected
    failed: FeedState[Any] = FeedState(error=ConnectFailedError("away"))
    assert "unreachable" in health.banner([("keys", state), ("credits", failed)], START)


# The clock of the gateway -------------------------------------------------------------------------


NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


def answer(skew: ClockSkew, ahead: float, *, at: float = 0, elapsed: float = 0.1) -> None:
    """A response of a gateway whose clock is ahead, stamped half way and rounded down."""
    received = NOW + timedelta(seconds=at)
    stamped = received + timedelta(seconds=ahead - elapsed / 2)
    date = format_datetime(stamped.replace(microsecond=0), usegmt=True)
    skew.observe({"date": date}, received, elapsed)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 30)), min_size=1, max_size=20),
    st.floats(-86_400, 86_400),
)
def test_answers_bound_the_truth_and_narrow_it(
    answers: list[tuple[float, float]], ahead: float
) -> None:
    skew = ClockSkew()
    for number, (moment, elapsed) in enumerate(answers):
        answer(skew, ahead, at=number + moment, elapsed=elapsed)
        assert skew.low - 1e-4 <= ahead <= skew.high + 1e-4
    width = 1 + min(elapsed for _, elapsed in answers)
    assert skew.high - skew.low <= width + 1e-4
    assert abs(skew.seconds - ahead) <= width / 2 + 1e-4
    assert not skew.is_notable or abs(ahead) > TOLERATED


def test_a_corrected_clock_ends_the_skew() -> None:
    skew = ClockSkew()
    answer(skew, 90)
    assert skew.is_notable
    answer(skew, 0, at=5)
    assert abs(skew.seconds) < 1
    assert skew_text(skew) == ""


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"date": "yesterday"},
        {"date": ""},
        {"date": "Sat, 21 Nov 2020 07:00:12 GMT", "age": "7"},
    ],
)
def test_invalid_dates_do_not_change_the_skew(headers: dict[str, str]) -> None:
    skew = ClockSkew()
    skew.observe(headers, NOW, 0.1)
    assert (skew.low, skew.high) == (float("-inf"), float("inf"))
    assert (skew.seconds, skew.is_notable, skew_text(skew)) == (0, False, "")


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (0, ""),
        (TOLERATED - 1, ""),
        (-TOLERATED + 1, ""),
        (95, "The gateway's clock is 95 s ahead: ages and expiries here are off by that"),
        (-12.5, "The gateway's clock is 12 s behind: ages and expiries here are off by that"),
        (700, "The gateway's clock is 12 min ahead: ages and expiries here are off by that"),
        (-7 * 3600, "The gateway's clock is 7 h behind: ages and expiries here are off by that"),
    ],
)
def test_skew_is_described_in_words(ahead: float, words: str) -> None:
    skew = ClockSkew()
    answer(skew, ahead)
    assert skew_text(skew) == words
    assert len(words) <= 77
