"""How stored values stand on the wire: numbers as JSON numbers, moments as ISO 8601 UTC."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

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
