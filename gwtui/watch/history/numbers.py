"""Figures as they stand in the file: decimal text, exact to 40 significant digits."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal

DIGITS = 40
"""The wire's numbers are doubles or short decimal strings; a longer one is rounded to this."""

_KEPT = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)
EXACT = Context(prec=700, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""For sums: figures of ``DIGITS`` digits across the whole range of a double, without loss."""
_MEAN = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LONGEST_PLAIN = 20


def kept(value: Decimal) -> Decimal:
    """The value as the history keeps it: rounded to ``DIGITS`` digits, without trailing zeros."""
    return value.normalize(_KEPT)


def text_of(value: Decimal) -> str:
    """The shortest text that reads back as the same number."""
    if not value:
        return "0"
    exponent = value.as_tuple().exponent
    plain = isinstance(exponent, int) and 0 < exponent <= _LONGEST_PLAIN
    return format(value, "f") if plain else str(value)


def mean_of(total: Decimal, count: int) -> Decimal:
    """The mean, rounded to ``DIGITS`` digits."""
    return _MEAN.divide(total, Decimal(count))


def seconds_of(moment: datetime) -> int:
    """Whole seconds since 1970."""
    return int(moment.timestamp() // 1)


def moment_of(seconds: int) -> datetime:
    """The moment of whole seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)
