"""How stored values stand on the wire: numbers as JSON numbers, moments as ISO 8601 UTC."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.store.usage import UsageWindows


def number(amount: Decimal) -> float:
    """A JSON number (double)."""
    return float(amount)


def number_or_none(amount: Decimal | None) -> float | None:
    """As ``number``; None is null."""
    return None if amount is None else float(amount)


def timestamp_or_none(moment: datetime | None) -> str | None:
    """ISO 8601 UTC; None is null."""
    return None if moment is None else timestamp_text(moment)


def data(record: Any, *names: str) -> dict[str, JsonValue]:
    """Fields of a stored record by name, all of them when none are named, as JSON values."""
    wanted = names or tuple(field.name for field in fields(record))
    return {name: _value(getattr(record, name)) for name in wanted}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return timestamp_text(value)
    if isinstance(value, Decimal):
        return number(value)
    return list(value) if isinstance(value, tuple) else value


def usage_figures(usage: UsageWindows) -> dict[str, float]:
    """A key's usage as every answer about a key gives it, in USD."""
    return {
        "usage": number(usage.all_time.usd),
        "usage_daily": number(usage.daily.usd),
        "usage_weekly": number(usage.weekly.usd),
        "usage_monthly": number(usage.monthly.usd),
        "byok_usage": number(usage.all_time.byok_usd),
        "byok_usage_daily": number(usage.daily.byok_usd),
        "byok_usage_weekly": number(usage.weekly.byok_usd),
        "byok_usage_monthly": number(usage.monthly.byok_usd),
    }
