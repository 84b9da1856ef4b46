from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.times import describe_reset, next_reset, window_start

SCHEDULES = ("daily", "weekly", "monthly")
MOMENTS = st.datetimes(timezones=st.just(UTC)).filter(
    lambda moment: datetime(1, 1, 8, tzinfo=UTC) <= moment < datetime(9999, 11, 1, tzinfo=UTC)
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "now", "start", "end"),
    [
        ("daily", "2026-11-21T07:00", "2026-11-21", "2026-11-22"),
        ("daily", "2026-12-31T23:59:59", "2026-12-31", "2027-01-01"),
        ("daily", "2026-11-21T00:00", "2026-11-21", "2026-11-22"),
        ("weekly", "2026-11-21T07:00", "2026-11-16", "2026-11-23"),
        ("weekly", "2026-11-22T23:59:59", "2026-11-16", "2026-11-23"),
        ("weekly", "2026-11-23T00:00", "2026-11-23", "2026-11-30"),
        ("weekly", "2027-01-01T12:00", "2026-12-28", "2027-01-04"),
        ("monthly", "2026-11-21T07:00", "2026-11-01", "2026-12-01"),
        ("monthly", "2026-12-31T23:59:59", "2026-12-01", "2027-01-01"),
        ("monthly", "2028-02-29T12:00", "2028-02-01", "2028-03-01"),
        ("monthly", "2026-12-01T00:00", "2026-12-01", "2027-01-01"),
    ],
)
def test_windows_open_at_midnight_utc(schedule: str, now: str, start: str, end: str) -> None:
    assert window_start(schedule, at(now)) == at(start)
    assert next_reset(schedule, at(now)) == at(end)


@given(st.sampled_from(SCHEDULES), MOMENTS)
def test_every_moment_lies_in_its_window(schedule: str, now: datetime) -> None:
    start, end = window_start(schedule, now), next_reset(schedule, now)
    assert start <= now < end
    assert end.time() == start.time() == datetime.min.time()
    assert window_start(schedule, end) == end
    assert next_reset(schedule, end - timedelta(microseconds=1)) == end
    assert next_reset(schedule, start) == end


@given(MOMENTS)
def test_weeks_begin_on_monday_and_months_on_the_first(now: datetime) -> None:
    week, month = next_reset("weekly", now), next_reset("monthly", now)
    assert week.weekday() == 0
    assert month.day == 1


@given(st.sampled_from(SCHEDULES), MOMENTS, st.integers(-14 * 60, 14 * 60))
def test_the_zone_in_which_now_is_written_does_not_matter(
    schedule: str, now: datetime, minutes: int
) -> None:
    elsewhere = now.astimezone(timezone(timedelta(minutes=minutes)))
    assert next_reset(schedule, elsewhere) == next_reset(schedule, now)


def test_no_schedule_and_an_unknown_one_have_no_window() -> None:
    for schedule in (None, "hourly", ""):
        assert window_start(schedule, at("2026-11-21")) is None
        assert next_reset(schedule, at("2026-11-21")) is None


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("daily", "Sun 2026-11-22 00:00 UTC, in 17 h"),
        ("weekly", "Mon 2026-11-23 00:00 UTC, in 2 days"),
        ("monthly", "Tue 2026-12-01 00:00 UTC, in 10 days"),
        (None, "never"),
        ("hour\x1b", "unknown schedule hour␛"),
    ],
)
def test_a_reset_in_words(schedule: str | None, words: str) -> None:
    assert describe_reset(schedule, at("2026-11-21T07:00")) == words
