"""Activity summed by day, by group and in total, and parsing of typed days.

See section 8 of the extended contract. Amounts are USD, days are completed UTC days.

A missing field is unknown: the sum leaves it out and counts the rows that lack it. If every row
lacks the field, the sum is unknown. A day or group without any row counts as 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal

from gwtui.contract.usage import ActivityRow
from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.domain.times import named_day, parse_duration

_EXPECTED_DAYS = (
    "expected a day such as 2026-11-20, 'yesterday', 'last friday' or '7d', or a range such as "
    "'2026-11-01 .. 2026-11-07'"
)
_ALL_DAYS = "all"
_BETWEEN = ".."


@dataclass(frozen=True, slots=True)
class DayRange:
    """Completed UTC days from the first to the last, both included."""

    first: date
    last: date

    @property
    def count(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.first <= day <= self.last

    def __str__(self) -> str:
        same = self.first == self.last
        return f"{self.first}" if same else f"{self.first} to {self.last}"


def parse_days(text: str, days: Sequence[date]) -> DayRange:
    """Parse a range of days as typed; ``days`` are the completed days, oldest first.

    An empty text or "all" selects all of them. Raises ValueError with a message for the user.
    """
    typed = " ".join(text.split()).casefold()
    if typed in {"", _ALL_DAYS}:
        return DayRange(days[0], days[-1])
    if _BETWEEN in typed:
        begin, _, end = typed.partition(_BETWEEN)
        return days_between(begin.strip(), end.strip(), days)
    if typed[:1].isdigit() and "-" not in typed:
        return days_between(typed, "", days)
    day = _day(typed, days)
    return DayRange(day, day)


def days_between(since: str, until: str, days: Sequence[date]) -> DayRange:
    """Parse the two ends of a range of days; an empty text is the first or last of ``days``.

    ``since`` may be a number of days, such as "7d": the last 7 days. Raises ValueError with a
    message for the user.
    """
    last = _day(until, days) if until else days[-1]
    if not since:
        first = days[0]
    elif since[:1].isdigit() and "-" not in since:
        first = last - timedelta(days=_whole_days(since) - 1)
        _check(first, days)
    else:
        first = _day(since, days)
    if first > last:
        raise ValueError(f"{first} is after {last}")
    return DayRange(first, last)


def _whole_days(text: str) -> int:
    try:
        span = parse_duration(f"{text}d" if text.isdecimal() else text)
    except ValueError:
        raise ValueError(_EXPECTED_DAYS) from None
    if span < timedelta(days=1) or span % timedelta(days=1):
        raise ValueError("activity is counted in whole days")
    return span // timedelta(days=1)


def _day(text: str, days: Sequence[date]) -> date:
    typed = text.strip().casefold()
    if typed == "today":
        raise ValueError(f"today is not over (UTC): the last completed day is {days[-1]}")
    today = datetime.combine(days[-1] + timedelta(days=1), time(), UTC)
    named = named_day(typed, today, -1)
    try:
        day = date.fromisoformat(typed) if named is None else named.date()
    except ValueError:
        raise ValueError(_EXPECTED_DAYS) from None
    _check(day, days)
    return day


def _check(day: date, days: Sequence[date]) -> None:
    if not days[0] <= day <= days[-1]:
        span = f"{days[0]} to {days[-1]}"
        raise ValueError(f"the gateway keeps the last {len(days)} completed days, {span}")


Measure = Literal["spend", "byok", "requests", "tokens"]
MEASURES: tuple[Measure, ...] = ("spend", "byok", "requests", "tokens")

Grouping = Literal["model", "provider", "workspace", "key", "user"]
GROUPINGS: tuple[Grouping, ...] = ("model", "provider", "workspace", "key", "user")


@dataclass(frozen=True, slots=True)
class ActivitySummary:
    """Sums over rows of activity; None if unknown.

    ``rows`` is the number of rows, ``unknown`` the number of those without a spend or a number of
    requests. The other fields are the sums: USD for ``spend`` and ``byok``, tokens for ``prompt``,
    ``completion``, ``reasoning`` and ``cached``.
    """

    spend: Decimal | None = Decimal(0)
    byok: Decimal | None = Decimal(0)
    requests: int | None = 0
    prompt: int | None = 0
    completion: int | None = 0
    reasoning: int | None = 0
    cached: int | None = 0
    rows: int = 0
    unknown: int = 0

    @property
    def tokens(self) -> int | None:
        """Prompt plus completion tokens, which include reasoning and cached tokens."""
        if self.prompt is None or self.completion is None:
            return None
        return self.prompt + self.completion

    def measure(self, measure: Measure) -> Decimal | None:
        """The sum of one measure; None if unknown."""
        figure = {
            "spend": self.spend,
            "byok": self.byok,
            "requests": self.requests,
            "tokens": self.tokens,
        }[measure]
        return None if figure is None else Decimal(figure)


_FIELDS = {
    "spend": "usage",
    "byok": "byok_usage_inference",
    "requests": "requests",
    "prompt": "prompt_tokens",
    "completion": "completion_tokens",
    "reasoning": "reasoning_tokens",
    "cached": "cached_tokens",
}
"""Field of ActivitySummary -> the field of ActivityRow that is summed."""
_NOTHING = ActivitySummary()


def summarize(rows: Iterable[ActivityRow]) -> ActivitySummary:
    """Sum rows of activity."""
    rows = tuple(rows)
    sums: dict[str, Any] = {
        figure: _total([getattr(row, name) for row in rows], getattr(_NOTHING, figure))
        for figure, name in _FIELDS.items()
    }
    unknown = sum(row.usage is None or row.requests is None for row in rows)
    return ActivitySummary(**sums, rows=len(rows), unknown=unknown)


def _total(values: Sequence[Any], zero: Decimal | int) -> Any:
    known = [value for value in values if value is not None]
    return None if values and not known else sum(known, zero)


def completed_days(now: datetime) -> tuple[date, ...]:
    """The completed UTC days that the gateway keeps, oldest first, without today."""
    today = now.astimezone(UTC).date()
    return tuple(today - timedelta(days=back) for back in range(ACTIVITY_DAYS, 0, -1))


def day_of(row: ActivityRow) -> date | None:
    """The UTC day of a row; None if it cannot be read."""
    try:
        return date.fromisoformat((row.date or "")[:10])
    except ValueError:
        return None


def within(rows: Iterable[ActivityRow], days: Sequence[date]) -> tuple[ActivityRow, ...]:
    """The rows of the given days."""
    chosen = frozenset(days)
    return tuple(row for row in rows if day_of(row) in chosen)


def by_day(
    rows: Iterable[ActivityRow], days: Sequence[date], measure: Measure
) -> tuple[Decimal | None, ...]:
    """The sum of a measure for each of the given days; None if unknown, 0 without rows."""
    rows_by_day: dict[date | None, list[ActivityRow]] = defaultdict(list)
    for row in rows:
        rows_by_day[day_of(row)].append(row)
    return tuple(summarize(rows_by_day.get(day, ())).measure(measure) for day in days)


def remainder(whole: ActivitySummary, parts: Iterable[ActivitySummary]) -> ActivitySummary:
    """The sums of ``whole`` minus those of ``parts``, for a line "other"; never below zero."""
    parts = tuple(parts)
    left: dict[str, Any] = {}
    for figure in _FIELDS:
        total, zero = getattr(whole, figure), getattr(_NOTHING, figure)
        known = (getattr(part, figure) or zero for part in parts)
        left[figure] = None if total is None else max(zero, total - sum(known, zero))
    return ActivitySummary(**left, rows=whole.rows)
