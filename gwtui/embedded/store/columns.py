"""How Python values stand in columns: moments, days, money and lists, exactly and both ways."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PICO_DIGITS = 12


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def to_micros_or_none(moment: datetime | None) -> int | None:
    """As ``to_micros``; None stays None."""
    return None if moment is None else to_micros(moment)


def from_micros(value: int) -> datetime:
    """The moment of a column value."""
    return _EPOCH + value * _MICROSECOND


def from_micros_or_none(value: int | None) -> datetime | None:
    """As ``from_micros``; NULL is None."""
    return None if value is None else from_micros(value)


def to_day(moment: datetime) -> int:
    """The UTC day of a moment as an ordinal."""
    return moment.astimezone(UTC).toordinal()


def to_pico(usd: Decimal) -> int:
    """Whole pico-USD; anything finer is below what any price can produce and is cut off."""
    return int(usd.scaleb(_PICO_DIGITS))


def from_pico(value: int) -> Decimal:
    """USD of a pico-USD count, exact."""
    return Decimal(value).scaleb(-_PICO_DIGITS)


def to_decimal_text(usd: Decimal | None) -> str | None:
    """Exact text of an amount that someone set; never a negative zero."""
    return None if usd is None else str(usd + 0)


def from_decimal_text(value: str | None) -> Decimal | None:
    """The amount of a text column."""
    return None if value is None else Decimal(value)


def to_json_text(entries: Sequence[JsonValue] | None) -> str | None:
    """JSON text of a list; None, which is no list at all, stays None."""
    return None if entries is None else json.dumps(list(entries))


def from_json_text(value: str | None) -> tuple[Any, ...] | None:
    """The list of a JSON text column; NULL is None."""
    return None if value is None else tuple(json.loads(value))
