"""What one request costs at every endpoint of a model: domain.pricing over a list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from gwtui.domain import money, times
from gwtui.domain.pricing import Quote, Usage, quote
from gwtui.ui.resources import cells
from gwtui.ui.resources.columns import figure_column, text_column
from gwtui.ui.resources.endpoint_row import EndpointRow
from gwtui.ui.resources.spec import Cell, Column

MAX_TOKENS = 1_000_000_000_000
_SUFFIXES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000, "b": 1_000_000_000}
_AMOUNT = re.compile(r"(\d{1,15})(?:\.(\d{1,9}))?([kmgb]?)\Z")
_CLOCK = re.compile(r"(\d{1,2})(?::?(\d\d))?\Z")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS, _MINUTES = 24, 60


@dataclass(frozen=True, slots=True)
class Offer:
    """An endpoint and what it asks; ``quote`` is None when it gives no price."""

    row: EndpointRow
    quote: Quote | None
    times_cheapest: float | None = None
    """1.0 for the cheapest; None without a price to compare with."""


def compare(rows: Iterable[EndpointRow], usage: Usage) -> tuple[Offer, ...]:
    """What every endpoint asks for this usage, the cheapest first, those without a price last."""
    quoted = [
        (row, None if row.endpoint.pricing is None else quote(row.endpoint.pricing, usage))
        for row in rows
    ]
    totals = [found.total for _, found in quoted if found is not None and found.total is not None]
    cheapest = min(totals, default=None)
    offers = []
    for row, found in quoted:
        total = None if found is None else found.total
        factor = None
        if total is not None and cheapest is not None and cheapest > 0:
            factor = float(total / cheapest)
        elif total is not None and total == cheapest:
            factor = 1.0
        offers.append(Offer(row, found, factor))
    return tuple(sorted(offers, key=_cheapest_first))


def _cheapest_first(offer: Offer) -> tuple[bool, object, str]:
    total = None if offer.quote is None else offer.quote.total
    provider = (offer.row.endpoint.provider_name or "").casefold()
    return total is None, 0 if total is None else total, provider


def parse_tokens(text: str) -> int:
    """Tokens as people type them: 128000, 128_000, 128k, 1.5m. Raises ValueError with a reason."""
    cleaned = text.strip().lower().replace(",", "").replace("_", "").replace(" ", "")
    if not cleaned:
        return 0
    match = _AMOUNT.match(cleaned)
    if match is None:
        raise ValueError("a number of tokens such as 128000 or 128k")
    whole, fraction, suffix = match.groups()
    factor = _SUFFIXES[suffix]
    digits = fraction or ""
    tokens, rest = divmod(int(whole + digits) * factor, int(10 ** len(digits)))
    if rest:
        raise ValueError("tokens are whole: not a fraction of one")
    if tokens > MAX_TOKENS:
        raise ValueError("at most 1,000,000,000,000 tokens")
    return tokens


def parse_when(text: str, now: datetime) -> datetime:
    """The moment of a request, UTC: "" or "now", "18:30", "sat 18:30" or a date and time.

    A weekday without a date is the next such day, today included. Raises ValueError.
    """
    cleaned = text.strip().lower()
    if cleaned in {"", "now"}:
        return now
    day, _, clock = cleaned.rpartition(" ")
    if day == "" and cleaned[:3] in _DAYS and cleaned.isalpha():
        day, clock = cleaned, "0"
    match = _CLOCK.match(clock)
    if match is None or (day and day[:3] not in _DAYS):
        return times.parse_moment(text.strip(), now)
    hour, minute = int(match[1]), int(match[2] or 0)
    if hour >= _HOURS or minute >= _MINUTES:
        raise ValueError("a UTC time from 00:00 to 23:59")
    date = now.date()
    if day:
        date += timedelta(days=(_DAYS.index(day[:3]) - now.weekday()) % 7)
    return datetime.combine(date, time(hour, minute), now.tzinfo)


def _total(offer: Offer) -> Cell:
    return cells.NOTHING if offer.quote is None else Cell(money.usd(offer.quote.total))


def _factor(offer: Offer) -> Cell:
    if offer.times_cheapest is None:
        return cells.NOTHING
    if offer.times_cheapest == 1.0:
        return Cell("cheapest", "good")
    return Cell(f"{offer.times_cheapest:,.2f}x", "muted")


def rules_text(offer: Offer) -> str | None:
    """The overrides and the discount that apply, named."""
    if offer.quote is None:
        return None
    return ", ".join(offer.quote.applied) or "base price"


OFFER_COLUMNS: tuple[Column[Offer], ...] = (
    text_column(
        "provider",
        "Provider",
        lambda offer: offer.row.endpoint.provider_name,
        14,
        0,
        help="who serves the model",
    ),
    figure_column(
        "total",
        "Total",
        lambda offer: None if offer.quote is None else offer.quote.total,
        12,
        1,
        show=_total,
        help="USD for the whole request",
    ),
    Column(
        "factor",
        "Against best",
        lambda offer, _now: _factor(offer),
        lambda offer, _now: offer.times_cheapest,
        12,
        2,
        right=True,
        help="how many times the cheapest",
    ),
    text_column("rules", "Rules applied", rules_text, 30, 3, help="overrides and discount"),
    text_column(
        "tag", "Tag", lambda offer: offer.row.endpoint.tag, 20, 4, help="provider and variant"
    ),
)
