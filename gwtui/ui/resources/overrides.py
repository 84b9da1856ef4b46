"""The conditional prices of an endpoint: contract "Override rules"; the rules are in the domain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.contract.pricing import Pricing
from gwtui.domain.price_rules import PriceRule
from gwtui.domain.pricing import tiers
from gwtui.ui.resources import cells
from gwtui.ui.resources.prices import charged, unit_of, unit_price
from gwtui.ui.resources.spec import Cell, DetailRow

_RULE = Cell("Where several apply, the later one wins, price by price.", "muted")


def override_rows(pricing: Pricing, now: datetime) -> Sequence[DetailRow]:
    """The overrides one by one, in the contract's order, at the prices that are charged."""
    rules = tiers(pricing)
    rows = [
        DetailRow(f"{rule.position}.", _conditions(rule, now), _prices(pricing, rule))
        for rule in rules
    ]
    return [*rows, DetailRow("", _RULE)] if len(rows) > 1 else rows


def _conditions(rule: PriceRule, now: datetime) -> Cell:
    if rule.problem:
        return Cell(f"{rule.conditions}: left out, {rule.problem}", "warn")
    by_the_clock = rule.min_prompt_tokens is None
    if by_the_clock and rule.holds(0, now):
        return Cell(f"{rule.conditions} (now)", "accent")
    return Cell(rule.conditions)


def _prices(pricing: Pricing, rule: PriceRule) -> str:
    changed = (
        f"{key} {cells.DASH if price is None else _text(pricing, key, price)}"
        for key, price in rule.prices.items()
    )
    return ", ".join(changed) or "changes no price"


def _text(pricing: Pricing, key: str, price: Decimal) -> str:
    return f"{unit_price(key, charged(pricing, price)).text}/{unit_of(key)}"
