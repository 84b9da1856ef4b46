"""From what a person typed to the value of a field, and back. No widgets."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.request import FieldRules
from gwtui.domain.diffs import ABSENT
from gwtui.domain.times import parse_moment, utc
from gwtui.ui.forms.fields import FormField

Typed = str | bool
"""What an editor holds: a text, a choice's value ("" for none), or a switch."""

_USD = re.compile(
    r"(?:usd|\$)? ?(-?)(?:usd|\$)? ?(\d[\d,_ ']*|\d*)(\.\d+)?\.? ?(?:usd|\$)?",
    re.IGNORECASE | re.ASCII,
)
_GROUPED = re.compile(r"\d{1,3}(?:[,_ ']\d{3})+|\d*", re.ASCII)


def parse_usd(text: str) -> Decimal:
    """An amount such as "5", "$5", "1,000.50" or "12.5 USD". Raises ValueError with a message.

    The point is the decimal sign. "1,5" is refused rather than guessed.
    """
    match = _USD.fullmatch(text.strip())
    whole = match.group(2).strip() if match else ""
    if match is None or not (whole or match.group(3)):
        raise ValueError("expected an amount in USD such as 25 or 1,000.50")
    if not _GROUPED.fullmatch(whole):
        raise ValueError("use a point for decimals and commas only for thousands: 1,000.50")
    digits = re.sub(r"\D", "", whole) or "0"
    return Decimal(f"{match.group(1)}{digits}{match.group(3) or ''}")


def to_value(field: FormField, rules: FieldRules, typed: Typed, now: datetime) -> Any:
    """The value for the request model. Raises ValueError with a message for the person."""
    if isinstance(typed, bool):
        return typed
    match field.kind:
        case "workspace":
            return typed or ABSENT
        case "choice":
            return typed or None
        case "text":
            return _nothing(rules) if rules.nullable and not typed.strip() else typed.strip()
    if not typed.strip():
        return _nothing(rules)
    return parse_usd(typed) if field.kind == "usd" else parse_moment(typed, now)


def to_typed(field: FormField, value: Any) -> Typed:
    """What an editor holds for a value; nothing for None."""
    if field.kind == "switch":
        return bool(value)
    if value is None or value is ABSENT:
        return ""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, datetime):
        return utc(value, seconds=bool(value.second)).removesuffix(" UTC")
    return str(value)


def _nothing(rules: FieldRules) -> Any:
    return None if rules.nullable else ABSENT
