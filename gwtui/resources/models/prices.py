"""Prices of a model or an endpoint: contract "Pricing object"."""

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
_ELSEWHERE = Cell("other", "muted")
"""Stands for the price of a token where something else is charged."""
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
"""Prices worth a word in a list, and their units in short."""


def charged(pricing: Pricing, price: Decimal) -> Decimal:
    """A listed price with the discount taken off; one that varies (negative) stays as it is."""
    return price if price < 0 else price * (1 - discount_of(pricing))


def per_million(pricing: Pricing | None, key: str) -> Decimal | None:
    """USD per million tokens as charged under default conditions.

    None when it is not known, and where something else than tokens is charged.
    """
    price = None if pricing is None else pricing.price(key)
    if pricing is None or price is None or price < 0 or not is_by_token(pricing):
        return None
    return charged(pricing, price) * money.MILLION


def per_million_cell(pricing: Pricing | None, key: str) -> Cell:
    """The same as it is shown."""
    price = None if pricing is None else pricing.price(key)
    if pricing is None or price is None:
        return cells.NOTHING
    if not is_by_token(pricing):
        return _ELSEWHERE
    if price == 0 and not is_free(pricing):
        return Cell(money.usd(price), "muted")
    return unit_price(key, charged(pricing, price))


def is_free(pricing: Pricing) -> bool:
    """Whether nothing is charged; a model priced by the image is not free for its tokens' sake."""
    prices = [price for key in PRICE_KEYS if (price := pricing.price(key)) is not None]
    return bool(prices) and not any(prices)


def is_by_token(pricing: Pricing) -> bool:
    """Whether tokens of text are charged, or nothing at all; not pictures or requests instead."""
    return is_free(pricing) or any(pricing.price(key) for key in ("prompt", "completion"))


def other_prices(pricing: Pricing | None) -> str | None:
    """What is charged besides prompt and completion tokens and their caches: "$0.04/image"."""
    return ", ".join(_others(pricing)) or None


def other_prices_cell(pricing: Pricing | None) -> Cell:
    """The first of them whole, and how many more there are: half a price misleads."""
    first, *more = _others(pricing) or [""]
    return cells.text(f"{first} +{len(more)}" if more else first)


def _others(pricing: Pricing | None) -> list[str]:
    if pricing is None:
        return []
    return [
        f"{unit_price(key, charged(pricing, price)).text}/{short}"
        for key, short in _OTHER.items()
        if (price := pricing.price(key))
    ]


def discount_cell(pricing: Pricing | None) -> Cell:
    """What is taken off every price."""
    if pricing is None or pricing.discount is None:
        return cells.NOTHING
    if pricing.discount == 0:
        return Cell("none", "muted")
    return Cell(money.percent(pricing.discount), "good")


def price_table(pricing: Pricing) -> Sequence[DetailRow | DetailTable]:
    """Every price that there is, with its unit; beside it what is charged when discounted."""
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
                    unit_price(key, charged(pricing, price)),
                    _unit(key),
                )
                for key, price in priced
            ),
        )
    ]


def unit_price(key: str, price: Decimal) -> Cell:
    """A price in the unit people compare: per million for tokens, else per piece."""
    if price == 0:
        return _FREE
    if price < 0:
        return Cell("varies", "warn")
    return Cell(money.per_million(price) if key in PER_TOKEN_KEYS else money.usd(price))


def unit_of(key: str) -> str:
    """What a price of this key is for."""
    return _UNITS.get(key, _TOKENS)


def _unit(key: str) -> Cell:
    return Cell(unit_of(key), "muted")


_RULE = Cell("Where several apply, the later one wins, price by price.", "muted")


def override_rows(pricing: Pricing, now: datetime) -> Sequence[DetailRow]:
    """The overrides one by one, in the contract's order, at the prices that are charged."""
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
    return f"{unit_price(key, charged(pricing, price)).text}/{unit_of(key)}"
