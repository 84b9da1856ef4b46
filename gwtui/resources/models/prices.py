"""Prices of a model or an endpoint in USD. See "Pricing object" in the contract."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.contract.models import PER_TOKEN_KEYS, PRICE_KEYS, Pricing
from gwtui.crud import cells
from gwtui.crud.resource import Cell, DetailRow, DetailTable
from gwtui.domain import money
from gwtui.domain.pricing import OverrideRule, discount_of, override_rules

_FREE = Cell("free", "good")
_ELSEWHERE = Cell("n/a", "muted")
"""Displayed as the token price if something else is charged."""
_TOKENS = "M tokens"

_UNITS = {
    "request": "request",
    "image": "image in",
    "image_output": "image",
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
    """The discounted price ``key``; "n/a" if something other than tokens is charged."""
    price = None if pricing is None else pricing.price(key)
    if pricing is None or price is None:
        return cells.NOTHING
    if not is_by_token(pricing):
        return _ELSEWHERE
    return _price_cell(pricing, key, price, discounted_price(pricing, price))


def is_free(pricing: Pricing) -> bool:
    """Return whether nothing at all is charged, including images and requests."""
    prices = [price for key in PRICE_KEYS if (price := pricing.price(key)) is not None]
    return bool(prices) and not any(prices)


def is_by_token(pricing: Pricing) -> bool:
    """Return whether a model charges for text tokens; True for a free model as well."""
    return is_free(pricing) or any(pricing.price(key) for key in ("prompt", "completion"))


def other_prices(pricing: Pricing | None) -> str | None:
    """Return prices other than for prompt, completion and cached tokens: "$0.04/image".

    None if there are none.
    """
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
    titles = ("list", f"after {money.percent(discount)} off") if discount else ("USD",)
    rows = tuple(
        (
            Cell(key, "muted"),
            _price_cell(pricing, key, price, price),
            *(
                [_price_cell(pricing, key, price, discounted_price(pricing, price))]
                if discount
                else []
            ),
            Cell(unit_of(key), "muted"),
        )
        for key, price in priced
    )
    table = DetailTable(("price", *titles, "per"), rows)
    if pricing.discount is not None and pricing.discount != discount:
        ignored = f"{pricing.discount} is ignored: it is not between 0 and 1"
        return [table, DetailRow("discount", Cell(ignored, "warn"))]
    return [table]


def _price_cell(pricing: Pricing, key: str, listed: Decimal, shown: Decimal) -> Cell:
    # A model is only called free if it charges for nothing at all.
    if listed == 0 and not is_free(pricing):
        return Cell(money.usd(listed), "muted")
    return unit_price(key, shown)


def unit_price(key: str, price: Decimal) -> Cell:
    """A price with its currency: per million tokens if ``key`` is a token price, else per unit."""
    if price == 0:
        return _FREE
    if price < 0:
        return Cell("varies", "warn")
    return Cell(money.per_million(price) if key in PER_TOKEN_KEYS else money.usd(price))


def unit_of(key: str) -> str:
    """Return the unit of a price key."""
    return _UNITS.get(key, _TOKENS)


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
