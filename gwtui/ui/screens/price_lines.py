"""One quote as lines: what is counted, at which price, by which rule."""

from __future__ import annotations

from textual.content import Content

from gwtui.crud import cells
from gwtui.domain import money
from gwtui.domain.pricing import QuoteLine
from gwtui.resources.models.prices import other_prices, unit_of, unit_price
from gwtui.resources.models.quotes import Offer, rules_text
from gwtui.ui.tones import toned

_KEY, _QUANTITY, _PRICE, _AMOUNT = 12, 11, 22, 12
"""Widths of a quote's line."""


def offer_lines(offer: Offer) -> list[Content]:
    """The quote line by line, each with the rule that set its price."""
    provider = cells.text(offer.row.title).text
    if offer.quote is None:
        return [toned(f"{provider} gives no price", "warn")]
    lines = [toned(f"{provider}: {rules_text(offer)}", "plain", bold=True)]
    lines += [_quote_line(line, offer.places) for line in offer.quote.lines]
    lines += [toned(note, "warn") for note in offer.quote.notes]
    others = other_prices(offer.row.endpoint.pricing)
    if others is not None:
        lines.append(toned(f"not counted: {others}", "warn"))
    total = money.usd(offer.total, places=offer.places)
    left = _KEY + _QUANTITY + len(" x ") + _PRICE
    lines.append(toned(f"{'total':<{left}}{total:>{_AMOUNT}}", "accent", bold=True))
    return lines


def _quote_line(line: QuoteLine, places: int) -> Content:
    """Key, quantity, unit price, amount and the rule that set the price."""
    unit = cells.NOTHING if line.unit_price is None else unit_price(line.key, line.unit_price)
    price = f"{unit.text}/{unit_of(line.key)}"
    return Content.assemble(
        toned(f"{line.key:<{_KEY}}", "muted"),
        toned(f"{line.quantity:>{_QUANTITY},} x {price:<{_PRICE}}"),
        toned(f"{money.usd(line.amount, places=places):>{_AMOUNT}}"),
        toned(f"  {line.rule}", "muted"),
    )
