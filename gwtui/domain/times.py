"""Moments and durations as text, and moments as people type them. Always UTC, always aware."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import MAXYEAR, UTC, datetime, timedelta, tzinfo

from gwtui.domain.cell_values import UNKNOWN

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_JUST_NOW = 5
_FARTHEST_ZONE = 14
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
"""Name, length and the duration up to which the unit is used."""
_FULL_UNITS = ((DAY, "day", "days"), (HOUR, "h", "h"), (MINUTE, "min", "min"), (1, "s", "s"))
"""Units of a duration in full: seconds, one, several."""
_PLURAL = frozenset({"day", "month", "year"})

EXPECTED = (
    "expected a moment such as 2026-12-31, 2026-12-31 18:00, 2026-12-31T18:00:00Z or in 30 days"
)


def utc(moment: datetime | None, *, seconds: bool = False) -> str:
    """The exact moment: "2026-11-21 07:00 UTC"; an em dash when unknown. Naive counts as UTC."""
    if moment is None:
        return UNKNOWN
    shown = _aware(moment).astimezone(UTC)
    return f"{_stamp(shown, seconds=seconds)} UTC"


def relative(moment: datetime | None, now: datetime) -> str:
    """The distance to ``now``, rounded to the nearest unit: "in 30 days", "3 min ago"."""
    if moment is None:
        return UNKNOWN
    seconds = (_aware(moment) - _aware(now)).total_seconds()
    if abs(seconds) < _JUST_NOW:
        return "just now"
    distance = _duration(abs(seconds), nearest=True)
    return f"in {distance}" if seconds > 0 else f"{distance} ago"


def age(seconds: float | None) -> str:
    """A duration in whole units, rounded down: "12 s", "4 min"; an em dash when unknown."""
    return UNKNOWN if seconds is None else _duration(max(0.0, seconds), nearest=False)


def local_preview(moment: datetime | None, zone: tzinfo | None = None) -> str:
    """The moment on the wall clock of ``zone``: "Thu 2026-12-31 19:00 CET, UTC+01:00".

    Without ``zone`` the machine's own is used.
    """
    if moment is None:
        return UNKNOWN
    try:
        shown = _aware(moment).astimezone(zone)
    except (OverflowError, ValueError, OSError):  # at the ends of the calendar
        return utc(moment)
    offset = shown.utcoffset() or timedelta()
    name = shown.tzname() or ""
    label = f"{name}, {_offset(offset)}" if name and not name.startswith(("UTC", "+", "-")) else ""
    return f"{_WEEKDAYS[shown.weekday()]} {_stamp(shown)} {label or _offset(offset)}"


def parse_moment(text: str, now: datetime) -> datetime:
    """The moment that a person typed, in UTC.

    Understands ISO 8601 with or without seconds and zone (without one it is UTC, a date alone is
    its first moment), "in 30 days", "+30d", "+1h30min", "now", "today" and "tomorrow".
    Raises ValueError with a message for the person.
    """
    typed = " ".join(text.split()).lower()
    if not typed:
        raise ValueError(EXPECTED)
    today = _aware(now).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match typed:
        case "now":
            return _aware(now).astimezone(UTC).replace(microsecond=0)
        case "today":
            return today
        case "tomorrow":
            return _later(today, timedelta(days=1))
    if typed.startswith(("in ", "+")):
        return _from_now(typed.removeprefix("in").lstrip(" +"), now)
    return _absolute(typed)


_DATE_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[t ](\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)?"
    r" ?(z|utc|gmt|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
_PART = re.compile(r"(\d{1,6}) ?([a-z]+)[ ,]*(?:and )?", re.ASCII)
_SECONDS_OF: dict[str, int] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), HOUR),
    **dict.fromkeys(("d", "day", "days"), DAY),
    **dict.fromkeys(("w", "wk", "week", "weeks"), 7 * DAY),
}
_MONTHS_OF: dict[str, int] = {
    **dict.fromkeys(("mo", "month", "months"), 1),
    **dict.fromkeys(("y", "yr", "year", "years"), 12),
}
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def parse_duration(text: str) -> timedelta:
    """A length of time as typed: "30d", "1h30min", "2 weeks"; a month counts as 30 days.

    Raises ValueError with a message for the person.
    """
    months, rest = _span(" ".join(text.split()).lower())
    return rest + timedelta(days=30 * months)


def parse_duration_or_zero(text: str) -> timedelta:
    """As ``parse_duration``, and "0" for none: "5 min", "1h30min". Raises ValueError."""
    return timedelta() if text.strip() == "0" else parse_duration(text)


def duration(length: timedelta) -> str:
    """A duration in full, in whole seconds: "5 min", "1 h 30 min", "2 days"."""
    left = int(length.total_seconds())
    parts = []
    for seconds, one, several in _FULL_UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {one if count == 1 else several}")
    return " ".join(parts) or "0 s"


def _absolute(typed: str) -> datetime:
    match = _DATE_TIME.fullmatch(typed)
    if match is None:
        raise ValueError(EXPECTED)
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise ValueError(f"no such date or time: {error}") from error
    return _later(moment, -_zone_offset(match.group(7)))


def _zone_offset(zone: str | None) -> timedelta:
    if zone is None or zone[0] not in "+-":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > _FARTHEST_ZONE or minutes >= MINUTE:
        raise ValueError(f"no such time zone: {zone}")
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


def _from_now(span: str, now: datetime) -> datetime:
    months, rest = _span(span)
    start = _aware(now).astimezone(UTC).replace(microsecond=0)
    return _later(_add_months(start, months), rest)


def _span(typed: str) -> tuple[int, timedelta]:
    """The calendar months and the remaining duration of "1 month 2 days"."""
    months, seconds, position = 0, 0, 0
    while position < len(typed):
        match = _PART.match(typed, position)
        if match is None:
            raise ValueError("expected a length of time such as 30 days, 12h or 1h30min")
        number, unit = int(match.group(1)), match.group(2)
        if unit in _SECONDS_OF:
            seconds += number * _SECONDS_OF[unit]
        elif unit in _MONTHS_OF:
            months += number * _MONTHS_OF[unit]
        else:
            raise ValueError(f"unknown unit {unit}: use min, h, d, weeks, months or years")
        position = match.end()
    if not position:
        raise ValueError("expected a length of time such as 30 days, 12h or 1h30min")
    try:
        return months, timedelta(seconds=seconds)
    except OverflowError as error:
        raise ValueError("that is too long") from error


def _add_months(moment: datetime, months: int) -> datetime:
    """The same day of a later month, or that month's last one."""
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    if year > MAXYEAR:
        raise ValueError("that is too far away: the year must be at most 9999")
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def _later(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment + span
    except OverflowError as error:
        raise ValueError("that is too far away: the year must be 1 to 9999") from error


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _stamp(moment: datetime, *, seconds: bool = False) -> str:
    # Not strftime: it writes years before 1000 without their zeros.
    return moment.replace(tzinfo=None).isoformat(" ", "seconds" if seconds else "minutes")


def _offset(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / MINUTE)
    sign = "-" if minutes < 0 else "+"
    return f"UTC{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _duration(seconds: float, *, nearest: bool) -> str:
    def counted(length: float) -> int:
        return round(seconds / length) if nearest else int(seconds // length)

    used = (unit for unit in _UNITS if counted(unit[1]) * unit[1] < unit[2])
    name, length, _ = next(used, _UNITS[-1])
    count = counted(length)
    plural = "s" if name in _PLURAL and count != 1 else ""
    return f"{count} {name}{plural}"
