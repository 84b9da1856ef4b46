"""Days of activity as people type them: ``yesterday``, ``7d``, ``from .. to``. Always UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from gwtui.domain.times import parse_duration

EXPECTED = "expected yesterday, 7d, a day such as 2026-11-20, or from .. to"
ALL = "all"
_BETWEEN = ".."


@dataclass(frozen=True, slots=True)
class DayRange:
    """Completed UTC days from the first to the last one, both of them included."""

    first: date
    last: date

    @property
    def count(self) -> int:
        """How many days."""
        return (self.last - self.first).days + 1

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.first <= day <= self.last

    def __str__(self) -> str:
        same = self.first == self.last
        return f"{self.first}" if same else f"{self.first} to {self.last}"


def parse_days(text: str, days: Sequence[date]) -> DayRange:
    """What was typed, of the completed ``days`` there are, the oldest first.

    Nothing, and "all", are all of them. Raises ValueError with a message for the person.
    """
    typed = " ".join(text.split()).casefold()
    if typed in {"", ALL}:
        return DayRange(days[0], days[-1])
    if _BETWEEN in typed:
        begin, _, end = typed.partition(_BETWEEN)
        return days_between(begin.strip(), end.strip(), days)
    if typed[:1].isdigit() and "-" not in typed:
        return days_between(typed, "", days)
    day = _day(typed, days)
    return DayRange(day, day)


def days_between(since: str, until: str, days: Sequence[date]) -> DayRange:
    """From one day to another; the first or the last there is where one is not said.

    ``since`` may be a number of days, such as 7d: that many, up to the last one. Raises ValueError
    with a message for the person.
    """
    last = _day(until, days) if until else days[-1]
    if not since:
        first = days[0]
    elif since[:1].isdigit() and "-" not in since:
        first = last - timedelta(days=_count(since) - 1)
        _check(first, days)
    else:
        first = _day(since, days)
    if first > last:
        raise ValueError(f"{first} is after {last}")
    return DayRange(first, last)


def _count(text: str) -> int:
    try:
        span = parse_duration(text)
    except ValueError:
        raise ValueError(EXPECTED) from None
    if span < timedelta(days=1) or span % timedelta(days=1):
        raise ValueError("activity is told by whole days")
    return span // timedelta(days=1)


def _day(text: str, days: Sequence[date]) -> date:
    typed = text.strip().casefold()
    if typed == "today":
        raise ValueError(f"today is not over (UTC): the last completed day is {days[-1]}")
    if typed == "yesterday":
        return days[-1]
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        raise ValueError(EXPECTED) from None
    _check(day, days)
    return day


def _check(day: date, days: Sequence[date]) -> None:
    if not days[0] <= day <= days[-1]:
        span = f"{days[0]} to {days[-1]}"
        raise ValueError(f"the gateway tells the last {len(days)} completed days, {span}")
