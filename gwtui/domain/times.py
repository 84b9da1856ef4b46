"""Format moments and durations, parse typed ones, and compute resets of limits.

All moments are aware and in UTC. Limits reset at 00:00 UTC: daily, on Mondays, or on the first of
the month (see "POST /keys" in the contract).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_JUST_NOW = 5
_MONTH = 30.44 * DAY
_YEAR = 365.25 * DAY

_UNITS: tuple[tuple[str, float, float], ...] = (
    ("s", 1, MINUTE),
    ("min", MINUTE, HOUR),
    ("h", HOUR, DAY),
    ("day", DAY, 60 * DAY),
    ("month", _MONTH, 24 * _MONTH),
    ("year", _YEAR, float("inf")),
)
"""Each unit: name, seconds, and the number of seconds below which it is used."""
_FULL_UNITS = ((DAY, "day", "days"), (HOUR, "h", "h"), (MINUTE, "min", "min"), (1, "s", "s"))
"""Units of a duration in full: seconds, singular, plural."""
_PLURAL = frozenset({"day", "month", "year"})

EXPECTED = (
    "expected a moment such as 2026-12-31, tomorrow 18:00, next friday, 30d, 90 (days) or 3h ago"
)
_EXPECTED_DURATION = "expected a duration such as 30 days, 12h or 1h30min"
_TOO_FAR = "the moment is too far away: the year must be 1 to 9999"


def utc(moment: datetime | None, *, seconds: bool = False) -> str:
    """Format a moment: "2026-11-21 07:00 UTC"; an em dash if unknown. A naive one counts as UTC."""
    if moment is None:
        return UNKNOWN
    shown = _aware(moment).astimezone(UTC).replace(tzinfo=None)
    # Not strftime: it writes years before 1000 without their zeros.
    return f"{shown.isoformat(' ', 'seconds' if seconds else 'minutes')} UTC"


def relative(moment: datetime | None, now: datetime) -> str:
    """Format the distance to ``now``, rounded: "in 30 days", "3 min ago"; an em dash if unknown."""
    if moment is None:
        return UNKNOWN
    seconds = (_aware(moment) - _aware(now)).total_seconds()
    if abs(seconds) < _JUST_NOW:
        return "just now"
    distance = _duration(abs(seconds), nearest=True)
    return f"in {distance}" if seconds > 0 else f"{distance} ago"


def age(seconds: float | None) -> str:
    """Format seconds in whole units, rounded down: "12 s", "4 min"; an em dash if unknown."""
    return UNKNOWN if seconds is None else _duration(max(0.0, seconds), nearest=False)


def local_preview(moment: datetime | None, zone: tzinfo | None = None) -> str:
    """Format a moment in the time of ``zone``: "Thu 2026-12-31 19:00+01:00".

    Without ``zone``, the zone of this machine is used.
    """
    if moment is None:
        return UNKNOWN
    try:
        shown = _aware(moment).astimezone(zone)
    except (OverflowError, ValueError, OSError):  # at the ends of the calendar
        return utc(moment)
    return f"{_WEEKDAYS[shown.weekday()]} {shown.isoformat(' ', 'minutes')}"


def parse_moment(text: str, now: datetime, *, past: bool = False) -> datetime:
    """Parse a typed moment; returns UTC. Ambiguous text means the future unless ``past``.

    Understands ISO 8601 with or without seconds and zone (the default is UTC, and a date is its
    first moment); a distance: "in 30 days", "1h30min", "90" (days), "3h ago"; a day: "today",
    "tomorrow", "yesterday", "friday", "next friday"; a day with a time: "tomorrow 18:00"; "18:00"
    (today); "now". Raises ValueError with a message for the user.
    """
    typed, way = " ".join(text.split()).lower(), -1 if past else 1
    now = _aware(now).astimezone(UTC).replace(microsecond=0)
    if typed == "now":
        return now
    day, _, clock = typed.rpartition(" ")
    time = _CLOCK.fullmatch(clock)
    begin = named_day((day or "today") if time else typed, now, way)
    if begin is not None:
        return begin if time is None else _at_time(begin, time)
    distance = _DISTANCE.fullmatch(f"{typed}d" if _DAYS_ALONE.fullmatch(typed) else typed)
    if distance is None:
        return parse_date(typed)
    if distance["ahead"]:
        return _later(now, parse_duration(distance["ahead"]))
    return _later(now, parse_duration(distance["span"]) * (-1 if distance["ago"] else way))


def parse_date(text: str) -> datetime:
    """Parse an ISO 8601 date or time; like ``parse_moment``, but without relative times.

    Raises ValueError with a message for the user.
    """
    typed = " ".join(text.split()).upper().removesuffix("UTC").rstrip()
    try:
        moment = _aware(datetime.fromisoformat(re.sub(r" (?=[-+Z])", "", typed)))
        return moment.astimezone(UTC).replace(microsecond=0)
    except OverflowError as error:
        raise ValueError(_TOO_FAR) from error
    except ValueError as error:
        is_date = not str(error).startswith("Invalid isoformat")
        raise ValueError(f"no such date or time: {error}" if is_date else EXPECTED) from error


def named_day(name: str, now: datetime, way: int = 1) -> datetime | None:
    """The first moment of a day such as "today" or "next friday"; None for any other text.

    A weekday is never today. A weekday alone is the next one if ``way`` is 1, the last one if -1.
    """
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if name in DAYS:
        return _later(today, timedelta(days=DAYS[name]))
    which, _, weekday = name.rpartition(" ")
    if weekday not in _WEEKDAY_NAMES or which not in {"", *_WAYS}:
        return None
    distance = _WEEKDAY_NAMES[weekday] - today.weekday()
    if _WAYS.get(which, way) > 0:
        return _later(today, timedelta(days=(distance - 1) % 7 + 1))
    return _later(today, -timedelta(days=(-distance - 1) % 7 + 1))


def _at_time(day: datetime, clock: re.Match[str]) -> datetime:
    try:
        return day.replace(hour=int(clock[1]), minute=int(clock[2]))
    except ValueError as error:
        raise ValueError(f"no such time: {error}") from error


DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
"""Names of days, with their distance from today in days."""
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WEEKDAY_NAMES = {
    name: number
    for number, full in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )
    for name in (full, full[:3])
}
_WAYS = {"next": 1, "last": -1}
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)", re.ASCII)
_DAYS_ALONE = re.compile(r"\d{1,3}", re.ASCII)
_DISTANCE = re.compile(r"in (?P<ahead>.+)|(?P<span>\d+ ?[a-z].*?)(?P<ago> ago)?", re.ASCII)
_PART = re.compile(r"(\d{1,6}) ?([a-z]+)[ ,]*(?:and )?", re.ASCII)
_SECONDS_OF: dict[str, int] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), HOUR),
    **dict.fromkeys(("d", "day", "days"), DAY),
    **dict.fromkeys(("w", "wk", "week", "weeks"), 7 * DAY),
    **dict.fromkeys(("mo", "month", "months"), 30 * DAY),
    **dict.fromkeys(("y", "yr", "year", "years"), 365 * DAY),
}


def parse_duration(text: str) -> timedelta:
    """Parse a duration: "30d", "1h30min", "2 weeks". A month has 30 days, a year 365.

    Raises ValueError with a message for the user.
    """
    typed = " ".join(text.split()).lower()
    parts = _PART.findall(typed)
    if not parts or _PART.sub("", typed):
        raise ValueError(_EXPECTED_DURATION)
    unknown = next((unit for _, unit in parts if unit not in _SECONDS_OF), None)
    if unknown is not None:
        raise ValueError(f"unknown unit {unknown}: use min, h, d, weeks, months or years")
    try:
        return timedelta(seconds=sum(int(number) * _SECONDS_OF[unit] for number, unit in parts))
    except OverflowError as error:
        raise ValueError("the duration is too long") from error


def parse_duration_or_zero(text: str) -> timedelta:
    """Like ``parse_duration``, but accepts "0". Raises ValueError."""
    return timedelta() if text.strip() == "0" else parse_duration(text)


def duration(length: timedelta) -> str:
    """Format a duration in full, in whole seconds: "5 min", "1 h 30 min", "2 days"."""
    left = int(length.total_seconds())
    parts = []
    for seconds, singular, plural in _FULL_UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {singular if count == 1 else plural}")
    return " ".join(parts) or "0 s"


def _later(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment + span
    except OverflowError as error:
        raise ValueError(_TOO_FAR) from error


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _duration(seconds: float, *, nearest: bool) -> str:
    def counted(length: float) -> int:
        return round(seconds / length) if nearest else int(seconds // length)

    used = (unit for unit in _UNITS if counted(unit[1]) * unit[1] < unit[2])
    name, length, _ = next(used, _UNITS[-1])
    count = counted(length)
    plural = "s" if name in _PLURAL and count != 1 else ""
    return f"{count} {name}{plural}"


def window_start(reset: str | None, now: datetime) -> datetime | None:
    """When the current window of a reset interval began, UTC; None without an interval.

    ``now`` is aware.
    """
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match reset:
        case "daily":
            return today
        case "weekly":
            return today - timedelta(days=today.weekday())
        case "monthly":
            return today.replace(day=1)
    return None


def next_reset(reset: str | None, now: datetime) -> datetime | None:
    """When the next window of a reset interval begins, after ``now``; None without an interval."""
    start = window_start(reset, now)
    if start is None:
        return None
    if reset == "monthly":
        return (start + timedelta(days=31)).replace(day=1)
    return start + timedelta(days=1 if reset == "daily" else 7)


RESET_PERIODS = {"daily": "per day (UTC)", "weekly": "per week (UTC)", "monthly": "per month (UTC)"}
"""The period of a limit in words, by its reset interval."""


def describe_reset(reset: str | None, now: datetime) -> str:
    """Format the next reset: "Mon 2026-11-23 00:00 UTC, in 2 days", or "never"."""
    if reset is None:
        return "never"
    moment = next_reset(reset, now)
    if moment is None:
        return f"unknown schedule {safe_line(reset, 40)}"
    return f"{_WEEKDAYS[moment.weekday()]} {utc(moment)}, {relative(moment, now)}"
