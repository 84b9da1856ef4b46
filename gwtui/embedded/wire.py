"""How stored values stand on the wire: numbers as JSON numbers, moments as ISO 8601 UTC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.store.usage import UsageWindows


def value(stored: Any) -> JsonValue:
    """The JSON value of a stored one: amounts are doubles, tuples are lists, None is null."""
    convert = _CONVERT.get(type(stored))
    found: JsonValue = stored if convert is None else convert(stored)
    return found


_CONVERT: Mapping[type, Callable[[Any], JsonValue]] = {
    datetime: timestamp_text,
    Decimal: float,
    tuple: list,
}


def data(record: Any, *names: str) -> dict[str, JsonValue]:
    """Fields and properties of a record by name, all of its fields when none are named."""
    shown = names or tuple(field.name for field in fields(record))
    found: dict[str, JsonValue] = {}
    for name in shown:
        stored = getattr(record, name)
        convert = _CONVERT.get(type(stored))
        found[name] = stored if convert is None else convert(stored)
    return found


def usage_figures(usage: UsageWindows) -> dict[str, JsonValue]:
    """A key's usage as every answer about a key gives it, in USD."""
    windows = (usage.all_time, usage.daily, usage.weekly, usage.monthly)
    return {
        **{name: float(spend.usd) for name, spend in zip(_USAGE, windows, strict=True)},
        **{name: float(spend.byok_usd) for name, spend in zip(_BYOK_USAGE, windows, strict=True)},
    }


_USAGE = ("usage", "usage_daily", "usage_weekly", "usage_monthly")
_BYOK_USAGE = tuple(f"byok_{name}" for name in _USAGE)
