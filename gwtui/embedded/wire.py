"""How stored values stand on the wire: numbers as JSON numbers, moments as ISO 8601 UTC."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from gwtui.contract.scalars import timestamp_text


def number(amount: Decimal) -> float:
    """A JSON number (double)."""
    return float(amount)


def number_or_none(amount: Decimal | None) -> float | None:
    """As ``number``; None is null."""
    return None if amount is None else float(amount)


def timestamp_or_none(moment: datetime | None) -> str | None:
    """ISO 8601 UTC; None is null."""
    return None if moment is None else timestamp_text(moment)
