"""When spending limits start over: 00:00 UTC each day, each Monday, each first of the month.

Contract "POST /keys": resets happen at midnight UTC; weeks run Monday through Sunday.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta

from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative, utc

NEVER = "never"


def window_start(reset: str | None, now: datetime) -> datetime | None:
    """When the present window of a schedule began; None without a schedule or for an unknown one.

    ``now`` is aware. All results are in UTC.
    """
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match reset:
        case "daily":
            return today
        case "weekly":
            return _back(today, today.weekday())
        case "monthly":
            return today.replace(day=1)
        case _:
            return None


def next_reset(reset: str | None, now: datetime) -> datetime | None:
    """When the present window ends and the next begins, always after ``now``; None as above."""
    start = window_start(reset, now)
    if start is None:
        return None
    try:
        match reset:
            case "daily":
                return start + timedelta(days=1)
            case "weekly":
                return start + timedelta(days=7)
            case _:
                days = monthrange(start.year, start.month)[1]
                return start + timedelta(days=days)
    except OverflowError:  # beyond the last year that a date can hold
        return None


RESET_PERIODS = {"daily": "each UTC day", "weekly": "each UTC week", "monthly": "each UTC month"}
"""The period of a limit in words, by its reset interval."""


def describe_reset(reset: str | None, now: datetime) -> str:
    """The next reset in words: "Mon 2026-11-23 00:00 UTC, in 2 days", or "never"."""
    if reset is None:
        return NEVER
    moment = next_reset(reset, now)
    if moment is None:
        return f"unknown schedule {safe_line(reset, 40)}"
    return f"{_WEEKDAYS[moment.weekday()]} {utc(moment)}, {relative(moment, now)}"


_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def _back(day: datetime, days: int) -> datetime:
    try:
        return day - timedelta(days=days)
    except OverflowError:  # the first week of year 1
        return day
