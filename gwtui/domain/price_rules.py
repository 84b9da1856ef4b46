"""Conditional prices: when an override entry applies, and how it reads in words.

Contract "Override rules", extended contract section 7. An entry applies when all its conditions
match; a key that it does not set inherits. An entry with a condition that cannot be read or is not
known is never applied: a price that might be wrong is worse than one that is named as left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from gwtui.contract.pricing import PRICE_KEYS, PriceOverride, Pricing
from gwtui.contract.values import WEEKDAYS
from gwtui.domain.money import grouped
from gwtui.domain.safe_text import safe_line

CONDITIONS = ("min_prompt_tokens", "utc_start", "utc_end", "utc_days")
"""Every condition that is understood."""

_MINUTES_PER_HOUR = 60
_DAY = 24 * _MINUTES_PER_HOUR
_UNREADABLE = "unreadable"
_DAY_NAME = 40
_RANGE = 3
"""So many days in a row read better as a range."""


@dataclass(frozen=True, slots=True)
class OverrideRule:
    """One override entry, read.

    ``position`` counts from 1 in the gateway's own list. ``problem`` says why the entry cannot be
    applied, "" when it can. ``prices`` holds the keys that it sets; None is a price that cannot be
    read. ``window`` is in minutes of the UTC day.
    """

    position: int
    conditions: str
    problem: str = ""
    prices: Mapping[str, Decimal | None] = field(default_factory=dict)
    min_prompt_tokens: Decimal | None = None
    window: tuple[int, int] | None = None
    days: frozenset[int] | None = None

    @property
    def name(self) -> str:
        """Such as "override 2: prompts over 200,000 tokens, 22:00-06:00 UTC"."""
        return f"override {self.position}: {self.conditions}"

    def holds(self, prompt_tokens: int, moment: datetime) -> bool:
        """Whether the entry applies to a request of this size at this moment.

        Each condition is checked on its own against the request, as the contract has it: in a
        window that wraps midnight, the hours after midnight count to the new UTC day.
        """
        if self.problem:
            return False
        if self.min_prompt_tokens is not None and not prompt_tokens > self.min_prompt_tokens:
            return False
        at = moment.astimezone(UTC) if moment.tzinfo else moment
        if self.days is not None and at.weekday() not in self.days:
            return False
        return self.window is None or _inside(at.hour * _MINUTES_PER_HOUR + at.minute, self.window)


def read_rules(pricing: Pricing) -> tuple[OverrideRule, ...]:
    """Every override entry in the gateway's order, the unreadable ones included."""
    if "overrides" in pricing.gaps:
        return (OverrideRule(1, _UNREADABLE, problem="the overrides cannot be read"),)
    readable = iter(pricing.overrides or ())
    listed = pricing.raw.get("overrides")
    count = len(listed) if isinstance(listed, list | tuple) else len(pricing.overrides or ())
    rules = []
    for index in range(count):
        entry = None if f"overrides[{index}]" in pricing.gaps else next(readable, None)
        rules.append(_unreadable(index + 1) if entry is None else _read(index + 1, entry))
    return tuple(rules)


def _unreadable(position: int) -> OverrideRule:
    return OverrideRule(position, _UNREADABLE, problem="the entry cannot be read")


def _read(position: int, entry: PriceOverride) -> OverrideRule:
    window, days = _window(entry), _days(entry)
    return OverrideRule(
        position,
        _in_words(entry.min_prompt_tokens, window, days, _strange_days(entry)),
        _problem(entry),
        _prices(entry),
        entry.min_prompt_tokens,
        window,
        days,
    )


def _problem(entry: PriceOverride) -> str:
    for name in entry.unknown_fields:
        if name not in PRICE_KEYS and entry.raw[name] is not None:
            return f"its condition {safe_line(name, 60)} is not known"
    for name in CONDITIONS:
        if any(gap == name or gap.startswith(f"{name}[") for gap in entry.gaps):
            return f"its condition {name} cannot be read"
    for name in ("utc_start", "utc_end"):
        if _minutes(getattr(entry, name)) is None and getattr(entry, name) is not None:
            return f"its {name} {getattr(entry, name)} is not a time of day"
    for day in _strange_days(entry):
        return f"its day {day} is not known"
    return ""


def _prices(entry: PriceOverride) -> Mapping[str, Decimal | None]:
    """What the entry sets, also for price keys that override entries are not known to hold."""
    return {
        key: entry.price(key) if key in type(entry).model_fields else _number(entry.raw[key])
        for key in PRICE_KEYS
        if entry.raw.get(key) is not None
    }


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _window(entry: PriceOverride) -> tuple[int, int] | None:
    """Start and end in minutes.

    A side that is not given is the edge of the day; 0000 as an end is midnight, like 2400.
    """
    if entry.utc_start is None and entry.utc_end is None:
        return None
    start, end = _minutes(entry.utc_start), _minutes(entry.utc_end)
    return (start or 0) % _DAY, end or _DAY


def _minutes(hhmm: int | None) -> int | None:
    if hhmm is None or hhmm < 0:
        return None
    hours, minutes = divmod(hhmm, 100)
    total = hours * _MINUTES_PER_HOUR + minutes
    return total if minutes < _MINUTES_PER_HOUR and total <= _DAY else None


def _inside(minute: int, window: tuple[int, int]) -> bool:
    """Start inclusive, end exclusive; one that is not before its end wraps midnight.

    Equal ends are a whole day: nobody writes a window that never opens.
    """
    start, end = window
    return start <= minute < end if start < end else minute >= start or minute < end


def _days(entry: PriceOverride) -> frozenset[int] | None:
    if entry.utc_days is None:
        return None
    known = {day: index for index, day in enumerate(WEEKDAYS)}
    found = (known.get(day.casefold()) for day in entry.utc_days)
    return frozenset(index for index in found if index is not None)


def _strange_days(entry: PriceOverride) -> list[str]:
    """Days that are no weekday, fit to be shown."""
    days = entry.utc_days or ()
    return [safe_line(day, _DAY_NAME) for day in days if day.casefold() not in WEEKDAYS]


def _in_words(
    tokens: Decimal | None,
    window: tuple[int, int] | None,
    days: frozenset[int] | None,
    strange: list[str],
) -> str:
    parts = []
    if tokens is not None:
        parts.append(f"prompts over {grouped(tokens)} tokens")
    if window is not None:
        parts.append(f"{_clock(window[0])}-{_clock(window[1])} UTC")
    if days is not None:
        parts.append(_days_in_words(sorted(days), strange))
    return ", ".join(parts) or "always"


def _clock(minutes: int) -> str:
    return f"{minutes // _MINUTES_PER_HOUR:02}:{minutes % _MINUTES_PER_HOUR:02}"


def _days_in_words(days: list[int], strange: list[str]) -> str:
    names = [*(WEEKDAYS[day].capitalize() for day in days), *strange]
    if not names:
        return "on no day"
    if len(days) == len(WEEKDAYS) and not strange:
        return "every day"
    if len(days) >= _RANGE and not strange and days[-1] - days[0] == len(days) - 1:
        return f"{names[0]} to {names[-1]}"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
