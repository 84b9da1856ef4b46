"""What one request costs at every endpoint of a model: domain.pricing over a list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from decimal import Decimal

from gwtui.crud import cells
from gwtui.crud.columns import figure_column, text_column
from gwtui.crud.resource import Cell, Column
from gwtui.domain import money, times
from gwtui.domain.pricing import Quote, Usage, quote
from gwtui.resources.models.prices import other_prices, other_prices_cell
from gwtui.watch.feeds.endpoints import EndpointRow

MAX_TOKENS = 1_000_000_000_000
_SUFFIXES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000, "b": 1_000_000_000}
_AMOUNT = re.compile(r"(\d{1,15})(?:\.(\d{1,9}))?([kmgb]?)\Z", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2})(?::?(\d\d))?\Z", re.ASCII)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS, _MINUTES = 24, 60
_MOST_PLACES = 10


@dataclass(frozen=True, slots=True)
class QuotedEndpoint:
    """An endpoint and what it asks; ``quote`` is None when it gives no price.

    ``places`` are the decimal places that totals of this comparison are shown with.
    """

    row: EndpointRow
    quote: Quote | None
    cheapest: Decimal | None = None
    places: int = 2

    @property
    def total(self) -> Decimal | None:
        """USD for the whole request; None when a part of it is unknown."""
        return None if self.quote is None else self.quote.total

    @property
    def factor(self) -> Decimal | None:
        """How many times the cheapest; None without two prices to compare."""
        if self.total is None or not self.cheapest:
            return None
        return self.total / self.cheapest


def compare(rows: Iterable[EndpointRow], usage: Usage) -> tuple[QuotedEndpoint, ...]:
    """What every endpoint asks for this usage, the cheapest first, those without a price last."""
    offers = [
        QuotedEndpoint(
            row, None if row.endpoint.pricing is None else quote(row.endpoint.pricing, usage)
        )
        for row in rows
    ]
    totals = [offer.total for offer in offers if offer.total is not None]
    cheapest = min(totals, default=None)
    places = _places(totals)
    compared = (replace(offer, cheapest=cheapest, places=places) for offer in offers)
    return tuple(sorted(compared, key=_cheapest_first))


def _cheapest_first(offer: QuotedEndpoint) -> tuple[bool, Decimal, str]:
    provider = (offer.row.title or "").casefold()
    return offer.total is None, offer.total or Decimal(0), provider


def _places(totals: Iterable[Decimal]) -> int:
    """As many as the smallest total needs for three digits, so that points stand in line."""
    smallest = min((total for total in totals if total > 0), default=Decimal(1))
    return min(max(money.CENTS, money.SIGNIFICANT_DIGITS - 1 - smallest.adjusted()), _MOST_PLACES)


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


def _total(offer: QuotedEndpoint) -> Cell:
    if offer.total is None:
        return cells.NOTHING
    return Cell(money.usd(offer.total, places=offer.places))


def _factor(offer: QuotedEndpoint) -> Cell:
    if offer.total is not None and offer.total == offer.cheapest:
        return Cell("cheapest", "good")
    return cells.NOTHING if offer.factor is None else Cell(f"{offer.factor:,.2f}x", "muted")


def rules_text(offer: QuotedEndpoint) -> str | None:
    """The overrides and the discount that apply, named."""
    if offer.quote is None:
        return None
    return ", ".join(offer.quote.applied) or "base price"


OFFER_COLUMNS: tuple[Column[QuotedEndpoint], ...] = (
    text_column(
        "provider",
        "Provider",
        lambda offer: offer.row.title,
        18,
        0,
        help="who serves the model",
    ),
    figure_column(
        "total",
        "Total",
        lambda offer: offer.total,
        12,
        1,
        show=_total,
        help="USD for the whole request",
    ),
    Column(
        "factor",
        "Against best",
        lambda offer, _now: _factor(offer),
        lambda offer, _now: offer.factor,
        12,
        2,
        right=True,
        help="how many times the cheapest",
        kind="number",
    ),
    text_column("rules", "Rules applied", rules_text, 26, 3, help="overrides and discount"),
    replace(
        text_column(
            "others",
            "Not counted",
            lambda offer: other_prices(offer.row.endpoint.pricing),
            20,
            4,
            help="what else the endpoint charges for",
        ),
        cell=lambda offer, _now: other_prices_cell(offer.row.endpoint.pricing),
        export=lambda offer, _now: other_prices(offer.row.endpoint.pricing),
    ),
    text_column(
        "tag", "Tag", lambda offer: offer.row.endpoint.tag, 20, 5, help="provider and variant"
    ),
)
