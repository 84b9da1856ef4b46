from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.activity import DayRange, completed_days, days_between, parse_days

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
    found = parse_days(text, DAYS)
    assert found == DayRange(first, last)
    assert found.count == (last - first).days + 1
    assert first in found
    assert last in found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("today", "today is not over (UTC): the last completed day is 2026-11-20"),
        ("someday", "expected yesterday"),
        ("31d", "the last 30 completed days, 2026-10-22 to 2026-11-20"),
        ("2026-10-01", "the last 30 completed days"),
        ("2026-11-21", "the last 30 completed days"),
        ("2026-11-07 .. 2026-11-03", "2026-11-07 is after 2026-11-03"),
        ("36h", "whole days"),
        ("0d", "whole days"),
        ("7x", "expected yesterday"),
        ("2026-11-31", "expected yesterday"),
    ],
)
def test_what_is_no_such_day_says_why(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_days(text, DAYS)
    assert says in str(refused.value)


def test_a_range_reads_as_it_is() -> None:
    assert str(DayRange(LAST, LAST)) == "2026-11-20"
    assert str(days_between("7d", "", DAYS)) == "2026-11-14 to 2026-11-20"
    assert "yesterday" not in DayRange(FIRST, LAST)


@given(st.text() | st.text("0123456789dhw-. yestrday", max_size=24))
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        found = parse_days(text, DAYS)
    except ValueError:
        return
    assert DAYS[0] <= found.first <= found.last <= DAYS[-1]
