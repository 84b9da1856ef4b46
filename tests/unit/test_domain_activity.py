"""Sums of activity, and ranges of days as users type them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.contract.usage import ActivityRow
from gwtui.domain.activity import (
    DayRange,
    by_day,
    completed_days,
    days_between,
    parse_days,
    remainder,
    summarize,
    within,
)

NOW = datetime(2026, 11, 21, 0, 0, 1, tzinfo=UTC)


def row(day: str | None = "2026-11-20", **fields: Any) -> ActivityRow:
    wire = {
        "date": day,
        "model": "acme/m1",
        "provider_name": "Acme",
        "requests": 2,
        "usage": 1.5,
        "byok_usage_inference": 0,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "reasoning_tokens": 4,
        "cached_tokens": 0,
        **fields,
    }
    return ActivityRow.model_validate(wire)


def test_today_is_not_over_and_the_days_are_utc() -> None:
    days = completed_days(NOW)
    assert (len(days), days[0], days[-1]) == (30, date(2026, 10, 22), date(2026, 11, 20))
    late_in_the_west = datetime.fromisoformat("2026-11-20T23:30:00-05:00")
    assert completed_days(late_in_the_west)[-1] == date(2026, 11, 20)


def test_sums_are_exact() -> None:
    result = summarize([row(usage=0.1), row(usage=0.2, requests=3)])
    assert result.spend == Decimal("0.3")
    assert (result.requests, result.tokens, result.unknown) == (5, 220, 0)


def test_unknown_amounts_are_left_out_and_counted() -> None:
    result = summarize([row(usage=None), row(usage=2)])
    assert (result.spend, result.unknown) == (Decimal(2), 1)
    nothing_known = summarize([row(usage=None), row(usage="garbled")])
    assert nothing_known.spend is None
    assert nothing_known.measure("spend") is None


def test_no_rows_sum_to_zero() -> None:
    assert summarize([]).spend == 0
    assert summarize([]).measure("tokens") == 0


def test_days_without_rows_are_nothing_and_unknown_ones_unknown() -> None:
    days = completed_days(NOW)[-3:]
    rows = [row("2026-11-20", usage=4), row("2026-11-20", usage=1), row("2026-11-18", usage=None)]
    assert by_day(rows, days, "spend") == (None, Decimal(0), Decimal(5))
    assert by_day(rows, days, "requests") == (Decimal(2), Decimal(0), Decimal(4))


def test_rows_of_other_and_unreadable_days_are_left_out() -> None:
    days = completed_days(NOW)
    rows = [row("2026-11-21"), row("2026-10-21"), row("someday"), row(None), row("2026-10-22")]
    assert [item.date for item in within(rows, days)] == ["2026-10-22"]


def test_the_remainder_is_total_minus_parts() -> None:
    total = summarize([row(usage=5), row(usage=5)])
    rest = remainder(total, [summarize([row(usage=4)])])
    assert (rest.spend, rest.requests, rest.tokens) == (Decimal(6), 2, 110)
    assert remainder(summarize([row(usage=None)]), []).spend is None


def test_the_remainder_is_never_negative_and_ignores_unknown_parts() -> None:
    beyond = remainder(summarize([row()]), [summarize([row()]), summarize([row()])])
    assert (beyond.spend, beyond.requests, beyond.tokens) == (Decimal(0), 0, 0)
    unknown = summarize([row(usage=None, requests=None, prompt_tokens=None)])
    rest = remainder(summarize([row()]), [unknown])
    assert (rest.spend, rest.requests, rest.prompt) == (Decimal("1.5"), 2, 100)


# Ranges of days -----------------------------------------------------------------------------------


DAYS = completed_days(datetime(2026, 11, 21, 7, 0, tzinfo=UTC))
FIRST, LAST = date(2026, 10, 22), date(2026, 11, 20)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("", FIRST, LAST),
        ("all", FIRST, LAST),
        ("yesterday", LAST, LAST),
        ("Yesterday ", LAST, LAST),
        ("24h", LAST, LAST),
        ("7d", date(2026, 11, 14), LAST),
        ("2 weeks", date(2026, 11, 7), LAST),
        ("30d", FIRST, LAST),
        ("2026-11-03", date(2026, 11, 3), date(2026, 11, 3)),
        ("2026-11-03 .. 2026-11-07", date(2026, 11, 3), date(2026, 11, 7)),
        ("2026-11-03..yesterday", date(2026, 11, 3), LAST),
        ("2026-11-03 ..", date(2026, 11, 3), LAST),
        (".. 2026-11-07", FIRST, date(2026, 11, 7)),
        ("7d .. 2026-11-07", date(2026, 11, 1), date(2026, 11, 7)),
    ],
)
def test_days_as_people_type_them(text: str, first: date, last: date) -> None:
    result = parse_days(text, DAYS)
    assert result == DayRange(first, last)
    assert result.count == (last - first).days + 1
    assert first in result
    assert last in result


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("today", "today is not over (UTC): the last completed day is 2026-11-20"),
        ("someday", "expected a day"),
        ("31d", "the last 30 completed days, 2026-10-22 to 2026-11-20"),
        ("2026-10-01", "the last 30 completed days"),
        ("2026-11-21", "the last 30 completed days"),
        ("2026-11-07 .. 2026-11-03", "2026-11-07 is after 2026-11-03"),
        ("36h", "whole days"),
        ("0d", "whole days"),
        ("7x", "expected a day"),
        ("2026-11-31", "expected a day"),
    ],
)
def test_invalid_days_are_refused_with_a_reason(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_days(text, DAYS)
    assert says in str(refused.value)


def test_a_date_range_is_formatted() -> None:
    assert str(DayRange(LAST, LAST)) == "2026-11-20"
    assert str(days_between("7d", "", DAYS)) == "2026-11-14 to 2026-11-20"
    assert "yesterday" not in DayRange(FIRST, LAST)


@given(st.text() | st.text("0123456789dhw-. yestrday", max_size=24))
def test_no_text_raises_another_error(text: str) -> None:
    try:
        result = parse_days(text, DAYS)
    except ValueError:
        return
    assert DAYS[0] <= result.first <= result.last <= DAYS[-1]
