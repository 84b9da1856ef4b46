from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain import times

NOW = datetime(2026, 11, 21, 7, 0, 0, 500, tzinfo=UTC)
MOMENTS = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (NOW, "2026-11-21 07:00 UTC"),
        (NOW.astimezone(ZoneInfo("Asia/Tokyo")), "2026-11-21 07:00 UTC"),
        (NOW.replace(tzinfo=None), "2026-11-21 07:00 UTC"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01 00:00 UTC"),
        (None, "—"),
    ],
)
def test_a_moment_in_full(moment: datetime | None, expected: str) -> None:
    assert times.utc(moment) == expected
    assert times.utc(moment, seconds=True) == expected.replace(" UTC", ":00 UTC")


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ({"seconds": 0}, "just now"),
        ({"seconds": -4}, "just now"),
        ({"seconds": -5}, "5 s ago"),
        ({"seconds": -12}, "12 s ago"),
        ({"seconds": 59.6}, "in 1 min"),
        ({"minutes": -3}, "3 min ago"),
        ({"minutes": 59.8}, "in 1 h"),
        ({"hours": 5}, "in 5 h"),
        ({"hours": 23.9}, "in 1 day"),
        ({"days": -2}, "2 days ago"),
        ({"days": 30, "seconds": -3}, "in 30 days"),
        ({"days": 59}, "in 59 days"),
        ({"days": -90}, "3 months ago"),
        ({"days": 365}, "in 12 months"),
        ({"days": 1200}, "in 3 years"),
    ],
)
def test_the_distance_to_now(span: dict[str, float], expected: str) -> None:
    assert times.relative(NOW + timedelta(**span), NOW) == expected


def test_an_unknown_moment_has_no_distance() -> None:
    assert times.relative(None, NOW) == "—"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "—"),
        (-3, "0 s"),
        (12.9, "12 s"),
        (59.9, "59 s"),
        (240, "4 min"),
        (7199, "1 h"),
        (86400, "1 day"),
        (200000, "2 days"),
    ],
)
def test_an_age_is_rounded_down(seconds: float | None, expected: str) -> None:
    assert times.age(seconds) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (90, "1 min 30 s"),
        (5400, "1 h 30 min"),
        (86400, "1 day"),
        (172_801, "2 days 1 s"),
    ],
)
def test_a_duration_in_full(seconds: int, expected: str) -> None:
    assert times.duration(timedelta(seconds=seconds)) == expected


@given(MOMENTS, MOMENTS)
def test_any_two_moments_have_a_distance(moment: datetime, reference: datetime) -> None:
    text = times.relative(moment, reference)
    assert (text == "just now") == (abs((moment - reference).total_seconds()) < 5)
    assert text.startswith("in ") == (moment > reference and text != "just now")


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        (ZoneInfo("Europe/Berlin"), "Sat 2026-11-21 08:00+01:00"),
        (ZoneInfo("Asia/Kathmandu"), "Sat 2026-11-21 12:45+05:45"),
        (ZoneInfo("America/New_York"), "Sat 2026-11-21 02:00-05:00"),
        (UTC, "Sat 2026-11-21 07:00+00:00"),
        (timezone(timedelta(hours=-3, minutes=-30)), "Sat 2026-11-21 03:30-03:30"),
    ],
)
def test_a_moment_on_a_local_wall_clock(zone: ZoneInfo, expected: str) -> None:
    assert times.local_preview(NOW, zone) == expected


def test_a_local_preview_at_the_ends_of_the_calendar() -> None:
    last = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
    assert times.local_preview(last, ZoneInfo("Asia/Tokyo")) == "9999-12-31 23:59 UTC"
    assert times.local_preview(None) == "—"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("2026-12-31", "2026-12-31T00:00:00"),
        ("2026-12-31 18:00", "2026-12-31T18:00:00"),
        ("  2026-12-31   18:00:30 ", "2026-12-31T18:00:30"),
        ("2026-12-31T18:00:00Z", "2026-12-31T18:00:00"),
        ("2026-12-31t18:00z", "2026-12-31T18:00:00"),
        ("2026-12-31 18:00 UTC", "2026-12-31T18:00:00"),
        ("2026-12-31T18:00:00.123456Z", "2026-12-31T18:00:00"),
        ("2026-12-31T18:00:00+02:00", "2026-12-31T16:00:00"),
        ("2026-12-31 18:00 -0530", "2026-12-31T23:30:00"),
        ("in 30 days", "2026-12-21T07:00:00"),
        ("IN 1 Week", "2026-11-28T07:00:00"),
        ("1h30min", "2026-11-21T08:30:00"),
        ("in 1 day and 2 hours", "2026-11-22T09:00:00"),
        ("in 3 months", "2027-02-19T07:00:00"),
        ("in 1 year", "2027-11-21T07:00:00"),
        ("now", "2026-11-21T07:00:00"),
        ("today", "2026-11-21T00:00:00"),
        ("Tomorrow", "2026-11-22T00:00:00"),
        ("30d", "2026-12-21T07:00:00"),
        ("90", "2027-02-19T07:00:00"),
        ("1 month", "2026-12-21T07:00:00"),
        ("next friday", "2026-11-27T00:00:00"),
        ("Fri", "2026-11-27T00:00:00"),
        ("saturday", "2026-11-28T00:00:00"),
        ("next monday 18:00", "2026-11-23T18:00:00"),
        ("last friday", "2026-11-20T00:00:00"),
        ("tomorrow 9:30", "2026-11-22T09:30:00"),
        ("06:00", "2026-11-21T06:00:00"),
        ("18:00", "2026-11-21T18:00:00"),
        ("yesterday", "2026-11-20T00:00:00"),
        ("3h ago", "2026-11-21T04:00:00"),
    ],
)
def test_a_typed_moment(typed: str, expected: str) -> None:
    assert times.parse_moment(typed, NOW) == utc_moment(expected)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("2026-11-20 18:00", "2026-11-20T18:00:00"),
        ("3h ago", "2026-11-21T04:00:00"),
        ("yesterday", "2026-11-20T00:00:00"),
        ("Yesterday 18:05", "2026-11-20T18:05:00"),
        ("08:00", "2026-11-21T08:00:00"),
        ("today", "2026-11-21T00:00:00"),
        ("30d", "2026-10-22T07:00:00"),
        ("90", "2026-08-23T07:00:00"),
        ("friday", "2026-11-20T00:00:00"),
        ("last monday 18:00", "2026-11-16T18:00:00"),
        ("in 2h", "2026-11-21T09:00:00"),
    ],
)
def test_a_typed_moment_of_the_past(typed: str, expected: str) -> None:
    assert times.parse_moment(typed, NOW, past=True) == utc_moment(expected)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "expected a moment"),
        ("soon", "expected a moment"),
        ("2026-02-30", "no such date"),
        ("2026-12-31 25:00", "no such date or time"),
        ("2026-12-31 18:00 +99:00", "no such date or time"),
        ("in", "expected a moment"),
        ("+30d", "expected a moment"),
        ("in 30", "expected a duration"),
        ("in 5 parsecs", "unknown unit parsecs"),
        ("5 parsecs", "unknown unit parsecs"),
        ("2026", "expected a moment"),
        ("next moon", "expected a moment"),
        ("tomorrow 25:00", "no such time"),
        ("last 999999 years", "expected a moment"),
        ("999999 years ago", "too far away"),
        ("in 999999 years", "too far away"),
        ("in 999999 weeks", "too far away"),
        ("0001-01-01 00:00 +05:00", "too far away"),
        ("٢٠٢٦-١٢-٣١", "expected a moment"),
        ("soonish", "tomorrow 18:00, next friday, 30d"),
        ("yesterday noon", "3h ago"),
        ("ago", "3h ago"),
    ],
)
def test_an_invalid_moment_is_reported(typed: str, message: str) -> None:
    for past in (False, True):
        with pytest.raises(ValueError, match=message):
            times.parse_moment(typed, NOW, past=past)


@given(st.text())
def test_typing_raises_nothing_but_valueerror(typed: str) -> None:
    for text in (typed, f"in {typed}", f"+1{typed}", f"{typed} ago"):
        for past in (False, True):
            with suppress(ValueError):
                assert times.parse_moment(text, NOW, past=past).utcoffset() == timedelta()


@given(MOMENTS)
def test_a_formatted_moment_can_be_parsed(moment: datetime) -> None:
    minute = moment.replace(second=0, microsecond=0)
    assert times.parse_moment(times.utc(moment), NOW) == minute


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("30d", timedelta(days=30)),
        ("1h30min", timedelta(minutes=90)),
        ("2 weeks", timedelta(days=14)),
        ("1mo", timedelta(days=30)),
        ("90 s", timedelta(seconds=90)),
    ],
)
def test_a_typed_duration(typed: str, expected: timedelta) -> None:
    assert times.parse_duration(typed) == expected


# Resets -------------------------------------------------------------------------------------------


SCHEDULES = ("daily", "weekly", "monthly")
RESETTABLE = MOMENTS.filter(
    lambda moment: datetime(1, 1, 8, tzinfo=UTC) <= moment < datetime(9999, 11, 1, tzinfo=UTC)
)


def utc_moment(text: str) -> datetime:
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
    assert times.window_start(schedule, utc_moment(now)) == utc_moment(start)
    assert times.next_reset(schedule, utc_moment(now)) == utc_moment(end)


@given(st.sampled_from(SCHEDULES), RESETTABLE)
def test_every_moment_lies_in_its_window(schedule: str, now: datetime) -> None:
    start, end = times.window_start(schedule, now), times.next_reset(schedule, now)
    assert start <= now < end
    assert end.time() == start.time() == datetime.min.time()
    assert times.window_start(schedule, end) == end
    assert times.next_reset(schedule, end - timedelta(microseconds=1)) == end
    assert times.next_reset(schedule, start) == end
    assert schedule != "weekly" or end.weekday() == 0
    assert schedule != "monthly" or end.day == 1


@given(st.sampled_from(SCHEDULES), RESETTABLE, st.integers(-14 * 60, 14 * 60))
def test_the_zone_in_which_now_is_written_does_not_matter(
    schedule: str, now: datetime, minutes: int
) -> None:
    elsewhere = now.astimezone(timezone(timedelta(minutes=minutes)))
    assert times.next_reset(schedule, elsewhere) == times.next_reset(schedule, now)


def test_unknown_schedules_have_no_window() -> None:
    for schedule in (None, "hourly", ""):
        assert times.window_start(schedule, utc_moment("2026-11-21")) is None
        assert times.next_reset(schedule, utc_moment("2026-11-21")) is None


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
    assert times.describe_reset(schedule, utc_moment("2026-11-21T07:00")) == words
