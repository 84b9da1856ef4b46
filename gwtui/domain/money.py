"""Format and parse amounts, counts and numbers with a unit.

Exact: Decimals only, rounded half to even.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

from gwtui.domain.cell_values import UNKNOWN

MILLION = Decimal(1_000_000)
SIGNIFICANT_DIGITS = 3
"""The number of digits shown of an amount below a dollar."""
CENTS = 2

_EXACT = Context(prec=200, rounding=ROUND_HALF_EVEN)
_LARGEST_PLAIN = 24
"""Numbers with more digits before the point, or zeros after it, are shown in scientific form."""
_SMALLEST_PLAIN = -15
_HUNDRED = Decimal(100)
_NUMBER = re.compile(r"-?(?=\.?\d)(?:\d{1,3}(?:[,_ ]\d{3})+|\d{0,40})(?:\.\d{0,40})?", re.ASCII)
_UNIT_NAMES = {
    "USD": ("usd", "$"),
    "%": ("%", "percent"),
    "ms": ("ms", "milliseconds"),
    "days": ("days", "day", "d"),
}
_STEPS = (("", 0), ("k", 3), ("M", 6), ("B", 9), ("T", 12))


def usd(amount: Decimal | None, *, places: int | None = None) -> str:
    """Format an amount in USD: "$1,234.50"; an em dash if unknown.

    Without ``places`` it has cents, and amounts below a dollar have three significant digits, so
    that a price such as 0.00000125 is not shown as zero.
    """
    if amount is None or not amount.is_finite():
        return UNKNOWN
    if amount and not _SMALLEST_PLAIN <= amount.adjusted() <= _LARGEST_PLAIN:
        return f"{'-' if amount < 0 else ''}${_significant(amount.copy_abs()):e}"
    rounded = _round_usd(amount.copy_abs(), places)
    sign = "-" if amount < 0 and rounded else ""
    return f"{sign}${rounded:,f}"


def per_million(price: Decimal | None) -> str:
    """Format a price in USD per unit as USD per million units; "varies" if it is negative.

    The catalog marks a price that depends on the route of the request by a negative number.
    """
    if price is None:
        return UNKNOWN
    return "varies" if price < 0 else usd(_EXACT.multiply(price, MILLION))


def percent(share: Decimal | None, *, places: int = 1) -> str:
    """Format a share (1 is 100%) in percent: "42.5%"; an em dash if unknown."""
    if share is None or not share.is_finite():
        return UNKNOWN
    return percent_points(_EXACT.multiply(share, _HUNDRED), places=places)


def percent_points(points: Decimal | None, *, places: int = 1) -> str:
    """Format a percentage given in points (0..100): "99.95%".

    Only exactly 0 and 100 are shown as such: almost 0 is "<0.1%", almost 100 is ">99.9%".
    """
    if points is None or not points.is_finite():
        return UNKNOWN
    if abs(points.adjusted()) > _LARGEST_PLAIN and points:
        return f"{_significant(points):e}%"
    step = Decimal(1).scaleb(-places)
    if 0 < points < step:
        return f"<{step:f}%"
    if _HUNDRED - step < points < _HUNDRED:
        return f">{_HUNDRED - step:f}%"
    rounded = _trim(points.quantize(step, context=_EXACT), 0)
    return f"{rounded or Decimal(0):,f}%"


def compact_int(number: int | Decimal | None) -> str:
    """Format a count with three digits and a suffix: "128k", "1.05M"; an em dash if unknown."""
    if number is None:
        return UNKNOWN
    count = Decimal(number)
    if not count.is_finite():
        return UNKNOWN
    rounded = _significant(count)
    if rounded.adjusted() >= _STEPS[-1][1] + 3 * SIGNIFICANT_DIGITS:
        return f"{rounded:e}"
    reached = (step for step in reversed(_STEPS) if rounded.adjusted() >= step[1])
    letter, power = next(reached, _STEPS[0])
    return f"{_trim(rounded.scaleb(-power, context=_EXACT), 0):f}{letter}"


def grouped(number: int | Decimal | None) -> str:
    """Format a number in full with thousands separators: "131,072"; an em dash if unknown."""
    if number is None or (isinstance(number, Decimal) and not number.is_finite()):
        return UNKNOWN
    if isinstance(number, Decimal) and number and abs(number.adjusted()) > _LARGEST_PLAIN:
        return f"{_significant(number):e}"
    return f"{number:,f}" if isinstance(number, Decimal) else f"{number:,}"


def _round_usd(amount: Decimal, places: int | None) -> Decimal:
    if places is not None:
        return amount.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    if amount >= 1 or not amount:
        return amount.quantize(Decimal("0.01"), context=_EXACT)
    return _trim(_significant(amount), CENTS)


def _significant(number: Decimal) -> Decimal:
    return number.normalize(Context(prec=SIGNIFICANT_DIGITS, rounding=ROUND_HALF_EVEN))


def _trim(number: Decimal, keep: int) -> Decimal:
    """Remove trailing zeros, but keep at least ``keep`` decimal places."""
    plain = number.normalize(_EXACT)
    exponent = plain.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    return plain.quantize(Decimal(1).scaleb(-max(places, keep)), context=_EXACT)


def parse_quantity(text: str, unit: str) -> Decimal:
    """Parse a number with or without its unit: "10", "$1,000.50", "95%", "7 days".

    The decimal separator is a point: "1,5" is refused. Raises ValueError with a message for the
    user.
    """
    number = text.strip().lower()
    for name in _UNIT_NAMES.get(unit, (unit.lower(),)):
        number = number.removeprefix(name).removesuffix(name).strip()
    if not _NUMBER.fullmatch(number):
        given_in = f" in {unit}," if unit else ""
        raise ValueError(f"expected a number{given_in} such as 12.5")
    return Decimal(re.sub("[,_ ]", "", number))


def parse_share(text: str) -> Decimal:
    """Parse a share such as "0.5", ".5" or "50 %". Raises ValueError.

    A number without a percent sign is a share: "50" is 5000%, which the request model then rejects.
    """
    number = parse_quantity(text, "%")
    return number / _HUNDRED if text.strip().lower().endswith(_UNIT_NAMES["%"]) else number


def quantity(value: Decimal, unit: str) -> str:
    """Format a number in full with its unit: "12.5 USD", "95%", "1 day"."""
    number = f"{value.normalize():f}"
    if unit == "%":
        return f"{number}%"
    if unit == "days" and value == 1:
        return "1 day"
    return f"{number} {unit}" if unit else number
