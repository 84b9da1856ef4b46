"""How stored values stand on the wire: numbers as JSON numbers, moments as ISO 8601 UTC."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.store.usage import UsageWindows


def value(stored: Any) -> JsonValue:
    """The JSON value of a stored one: amounts are doubles, tuples are lists, None is null."""
    if isinstance(stored, datetime):
        return timestamp_text(stored)
    if isinstance(stored, Decimal):
        return float(stored)
    found: JsonValue = list(stored) if isinstance(stored, tuple) else stored
    return found


def data(record: Any, *names: str) -> dict[str, JsonValue]:
    """Fields and properties of a record by name, all of its fields when none are named."""
    shown = names or tuple(field.name for field in fields(record))
    return {name: value(getattr(record, name)) for name in shown}


def usage_figures(usage: UsageWindows) -> dict[str, JsonValue]:
    """A key's usage as every answer about a key gives it, in USD."""
    windows = {
        "": usage.all_time,
        "_daily": usage.daily,
        "_weekly": usage.weekly,
        "_monthly": usage.monthly,
    }
    return {
        **{f"usage{name}": value(spend.usd) for name, spend in windows.items()},
        **{f"byok_usage{name}": value(spend.byok_usd) for name, spend in windows.items()},
    }
