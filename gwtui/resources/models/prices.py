"""Prices of a model or an endpoint, and the cost of one request at each endpoint of a model.

Contract "Pricing object". Costs are computed by ``domain.pricing``, in USD.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from decimal import Decimal

from gwtui.contract.models import PER_TOKEN_KEYS, PRICE_KEYS, Pricing
from gwtui.crud import cells
from gwtui.crud.columns import figure_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, DetailTable
from gwtui.domain import money, times
from gwtui.domain.pricing import OverrideRule, Quote, Usage, discount_of, override_rules, quote
from gwtui.watch.feeds.models import EndpointRow

_FREE = Cell("free", "good")
_ELSEWHERE = Cell("other", "muted")
"""Displayed as the token price if something else is charged."""
_TOKENS = "M tokens"

_UNITS = {
    "request": "request",
    "image": "image in",
    "image_output": "image out",
    "web_search": "search",
}

_OTHER = {
    "image_output": "image",
    "image": "image in",
    "image_token": "M image tok",
    "audio": "M audio",
    "audio_output": "M audio out",
    "request": "request",
    "web_search": "search",
}
"""Prices that lists mention, and the short form of their units."""

MAX_TOKENS = 1_000_000_000_000
_SUFFIXES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000, "b": 1_000_000_000}
_AMOUNT = re.compile(r"(\d{1,15})(?:\.(\d{1,9}))?([kmgb]?)\Z", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2})(?::?(\d\d))?\Z", re.ASCII)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS, _MINUTES = 24, 60
_MOST_PLACES = 10


def discounted_price(pricing: Pricing, price: Decimal) -> Decimal:
    """Return a listed price minus the discount; a variable (negative) price is unchanged."""
    return price if price < 0 else price * (1 - discount_of(pricing))


def per_million(pricing: Pricing | None, key: str) -> Decimal | None:
    """Return the discounted price in USD per million tokens, without overrides.

    None if it is unknown, or if something other than tokens is charged.
    """
    price = None if pricing is None else pricing.price(key)
    if pricing is None or price is None or price < 0 or not is_by_token(pricing):
        return None
    return discounted_price(pricing, price) * money.MILLION


def per_million_cell(pricing: Pricing | None, key: str) -> Cell:
    """The price of ``per_million``."""
    price = None if pricing is None else pricing.price(key)
    if pricing is None or price is None:
        return cells.NOTHING
    if not is_by_token(pricing):
        return _ELSEWHERE
    if price == 0 and not is_free(pricing):
        return Cell(money.usd(price), "muted")
    return unit_price(key, discounted_price(pricing, price))


def is_free(pricing: Pricing) -> bool:
    """Return whether nothing at all is charged, including images and requests."""
    prices = [price for key in PRICE_KEYS if (price := pricing.price(key)) is not None]
    return bool(prices) and not any(prices)


def is_by_token(pricing: Pricing) -> bool:
    """Return whether text tokens are charged, or nothing at all."""
    return is_free(pricing) or any(pricing.price(key) for key in ("prompt", "completion"))


def other_prices(pricing: Pricing | None) -> str | None:
    """Return prices other than for prompt, completion and cached tokens: "$0.04/image"."""
    return ", ".join(_others(pricing)) or None


def other_prices_cell(pricing: Pricing | None) -> Cell:
    """The first of ``other_prices`` in full, and the number of further ones."""
    first, *more = _others(pricing) or [""]
    return cells.text(f"{first} +{len(more)}" if more else first)


def _others(pricing: Pricing | None) -> list[str]:
    if pricing is None:
        return []
    return [
        f"{unit_price(key, discounted_price(pricing, price)).text}/{short}"
        for key, short in _OTHER.items()
        if (price := pricing.price(key))
    ]


def discount_cell(pricing: Pricing | None) -> Cell:
    """The discount on all prices."""
    if pricing is None or pricing.discount is None:
        return cells.NOTHING
    if pricing.discount == 0:
        return Cell("none", "muted")
    return Cell(money.percent(pricing.discount), "good")


def price_table(pricing: Pricing) -> Sequence[DetailRow | DetailTable]:
    """Return rows for all prices with their units, and the discounted prices beside them."""
    priced = [(key, price) for key in PRICE_KEYS if (price := pricing.price(key)) is not None]
    if not priced:
        return [DetailRow("prices", Cell("none given", "warn"))]
    discount = discount_of(pricing)
    if not discount:
        rows = tuple(
            (Cell(key, "muted"), unit_price(key, price), _unit(key)) for key, price in priced
        )
        return [DetailTable(("price", "USD", "per"), rows)]
    return [
        DetailTable(
            ("price", "list", f"after {money.percent(discount)} off", "per"),
            tuple(
                (
                    Cell(key, "muted"),
                    unit_price(key, price),
                    unit_price(key, discounted_price(pricing, price)),
                    _unit(key),
                )
                for key, price in priced
            ),
        )
    ]


def unit_price(key: str, price: Decimal) -> Cell:
    """A price per million tokens, or per unit for everything else."""
    if price == 0:
        return _FREE
    if price < 0:
        return Cell("varies", "warn")
    return Cell(money.per_million(price) if key in PER_TOKEN_KEYS else money.usd(price))


def unit_of(key: str) -> str:
    """Return the unit of a price key."""
    return _UNITS.get(key, _TOKENS)


def _unit(key: str) -> Cell:
    return Cell(unit_of(key), "muted")


_RULE = Cell("Where several apply, the later one wins, price by price.", "muted")


def override_rows(pricing: Pricing, now: datetime) -> Sequence[DetailRow]:
    """Return a row for each override, in the contract's order, with discounted prices."""
    rules = override_rules(pricing)
    rows = [
        DetailRow(f"{rule.position}.", _conditions(rule, now), _prices(pricing, rule))
        for rule in rules
    ]
    return [*rows, DetailRow("", _RULE)] if len(rows) > 1 else rows


def _conditions(rule: OverrideRule, now: datetime) -> Cell:
    if rule.problem:
        return Cell(f"{rule.conditions}: left out, {rule.problem}", "warn")
    by_the_clock = rule.min_prompt_tokens is None
    if by_the_clock and rule.holds(0, now):
        return Cell(f"{rule.conditions} (now)", "accent")
    return Cell(rule.conditions)


def _prices(pricing: Pricing, rule: OverrideRule) -> str:
    changed = (
        f"{key} {cells.DASH if price is None else _text(pricing, key, price)}"
        for key, price in rule.prices.items()
    )
    return ", ".join(changed) or "changes no price"


def _text(pricing: Pricing, key: str, price: Decimal) -> str:
    return f"{unit_price(key, discounted_price(pricing, price)).text}/{unit_of(key)}"


@dataclass(frozen=True, slots=True)
class QuotedEndpoint:
    """An endpoint and the cost of a request; ``quote`` is None if it has no price.

    ``places`` is the number of decimals for all totals of the comparison.
    """

    row: EndpointRow
    quote: Quote | None
    cheapest: Decimal | None = None
    places: int = 2

    @property
    def total(self) -> Decimal | None:
        """Total cost of the request in USD; None if part of it is unknown."""
        return None if self.quote is None else self.quote.total

    @property
    def factor(self) -> Decimal | None:
        """The ratio to the cheapest total; None if either is unknown."""
        if self.total is None or not self.cheapest:
            return None
        return self.total / self.cheapest


def compare_quotes(rows: Iterable[EndpointRow], usage: Usage) -> tuple[QuotedEndpoint, ...]:
    """Return the cost of a usage at every endpoint, the cheapest first, unpriced ones last."""
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
    smallest = min((total for total in totals if total > 0), default=Decimal(1))
    return min(max(money.CENTS, money.SIGNIFICANT_DIGITS - 1 - smallest.adjusted()), _MOST_PLACES)


def parse_tokens(text: str) -> int:
    """Parse a token count: 128000, 128_000, 128k, 1.5m. Raises ValueError with a reason."""
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
    """Parse the time of a request: "" or "now", "18:30", "sat 18:30" or a date and time; UTC.

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
    """Return the names of the overrides and the discount that apply."""
    if offer.quote is None:
        return None
    return ", ".join(offer.quote.applied) or "base price"


OFFER_COLUMNS: tuple[Column[QuotedEndpoint], ...] = (
    text_column(
        "provider",
        "Provider",
        lambda offer: offer.row.title,
        18,
        help="who serves the model",
        grow=True,
    ),
    figure_column(
        "total",
        "Total",
        lambda offer: offer.total,
        12,
        show=_total,
        help="USD for the whole request",
    ),
    Column(
        "factor",
        "vs. cheapest",
        lambda offer, _now: _factor(offer),
        lambda offer, _now: offer.factor,
        12,
        right=True,
        help="cost as a multiple of the cheapest",
        kind="number",
    ),
    text_column("rules", "Rules applied", rules_text, 26, help="overrides and discount"),
    replace(
        text_column(
            "others",
            "Not counted",
            lambda offer: other_prices(offer.row.endpoint.pricing),
            20,
            help="what else the endpoint charges for",
        ),
        cell=lambda offer, _now: other_prices_cell(offer.row.endpoint.pricing),
        export=lambda offer, _now: other_prices(offer.row.endpoint.pricing),
    ),
    text_column(
        "tag", "Tag", lambda offer: offer.row.endpoint.tag, 20, help="provider and variant"
    ),
)
