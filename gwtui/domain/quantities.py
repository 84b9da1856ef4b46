"""Numbers with a unit, and lengths of time, as people type and read them. Exact both ways."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from gwtui.domain.times import DAY, HOUR, MINUTE, parse_duration

_NUMBER = re.compile(r"(-?\d{1,15}(?:\.\d{1,12})?) ?(.*)", re.ASCII)
_UNITS = ((DAY, "day", "days"), (HOUR, "h", "h"), (MINUTE, "min", "min"), (1, "s", "s"))


def parse_quantity(text: str, unit: str) -> Decimal:
    """A number, with its unit or without: "10", "$10", "95 %", "7 days".

    Raises ValueError with a message for the person.
    """
    typed = " ".join(text.replace("_", "").split())
    if unit == "USD" and typed.startswith("$"):
        typed = typed[1:].lstrip()
    match = _NUMBER.fullmatch(typed)
    if match is None:
        raise ValueError(f"expected a number such as 12.5{f' {unit}' if unit else ''}")
    named = match.group(2).lower()
    if named and named not in _names(unit):
        raise ValueError(f"the unit is {unit}" if unit else "it has no unit")
    return Decimal(match.group(1))


def quantity(value: Decimal, unit: str) -> str:
    """The number in full with its unit: "12.5 USD", "95 %"."""
    number = f"{value.normalize():f}"
    return f"{number} {unit}" if unit else number


def parse_span(text: str) -> timedelta:
    """A length of time: "5 min", "1h30min", "0". Raises ValueError with a message."""
    return timedelta() if text.strip() == "0" else parse_duration(text)


def span(length: timedelta) -> str:
    """A length of time in full, whole seconds: "5 min", "1 h 30 min", "2 days"."""
    left = int(length.total_seconds())
    parts = []
    for seconds, one, several in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {one if count == 1 else several}")
    return " ".join(parts) or "0 s"


def _names(unit: str) -> frozenset[str]:
    name = unit.lower()
    others = {"%": {"percent"}, "days": {"day", "d"}, "ms": {"milliseconds"}, "usd": {"$"}}
    return frozenset({name, *others.get(name, ())})
