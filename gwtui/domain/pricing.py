"""What a request costs at an endpoint: base prices, overrides and discount, line by line.

Contract "Pricing object" and "Override rules". Where the contract is silent, this is assumed:

- The discount is the endpoint's, so that it also lowers prices that an override sets.
- Cached, written, audio and image tokens are parts of the prompt, reasoning and audio output are
  parts of the completion. A part has its own price where there is one, else that of the whole.
- A reasoning price of 0 means "not priced apart": such tokens cost what completion tokens cost.
- A negative price depends on where the request goes: its amount is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal

from gwtui.contract.pricing import PRICE_KEYS, Pricing
from gwtui.domain.money import percent
from gwtui.domain.price_rules import OverrideRule, read_rules

BASE_PRICE = "base price"

_EXACT = Context(prec=80)
_PROMPT, _COMPLETION, _REASONING = "prompt", "completion", "internal_reasoning"

_PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("input_cache_read", "cached_tokens", (_PROMPT,)),
    ("input_cache_write", "cache_write_tokens", (_PROMPT,)),
    ("input_cache_write_1h", "cache_write_1h_tokens", ("input_cache_write", _PROMPT)),
    ("input_audio_cache", "cached_audio_tokens", ("audio", _PROMPT)),
    ("audio", "audio_tokens", (_PROMPT,)),
    ("image_token", "image_tokens", (_PROMPT,)),
    (_REASONING, "reasoning_tokens", (_COMPLETION,)),
    ("audio_output", "audio_output_tokens", (_COMPLETION,)),
)
"""Price key, the part of the usage it is for, and whose price counts where it has none."""

_PIECES = (
    ("request", "requests"),
    ("image", "images"),
    ("image_output", "output_images"),
    ("web_search", "web_searches"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A request to be priced. ``moment`` is aware, or naive UTC.

    ``cached_tokens``, ``cache_write_tokens``, ``cache_write_1h_tokens``, ``audio_tokens``,
    ``cached_audio_tokens`` and ``image_tokens`` are parts of ``prompt_tokens``;
    ``reasoning_tokens`` and ``audio_output_tokens`` are parts of ``completion_tokens``.
    """

    prompt_tokens: int
    completion_tokens: int
    moment: datetime
    requests: int = 1
    images: int = 0
    output_images: int = 0
    web_searches: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    audio_tokens: int = 0
    cached_audio_tokens: int = 0
    image_tokens: int = 0
    reasoning_tokens: int = 0
    audio_output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class EffectivePrice:
    """The price per unit of one key for one request, in USD.

    ``listed`` is before the discount; None is a price that cannot be read. ``override`` is the
    name of the entry that set it, "" for the base price.
    """

    key: str
    listed: Decimal | None
    after_discount: Decimal | None
    rule: str
    override: str = ""

    @property
    def varies(self) -> bool:
        """Whether the price depends on where the request goes."""
        return self.listed is not None and self.listed < 0


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """One line of a quote, in USD: ``quantity`` times ``unit_price`` is ``amount``.

    ``unit_price`` has the discount taken off; ``rule`` names the override and the discount.
    ``amount`` is None when the price is not known beforehand.
    """

    key: str
    unit_price: Decimal | None
    quantity: int
    amount: Decimal | None
    rule: str


@dataclass(frozen=True, slots=True)
class Quote:
    """What a request costs.

    ``total`` is None when any part of it is unknown. ``applied`` names the overrides and the
    discount, ``notes`` say what was left out or could not be read.
    """

    lines: tuple[QuoteLine, ...]
    total: Decimal | None
    applied: tuple[str, ...]
    notes: tuple[str, ...] = ()


def tiers(pricing: Pricing) -> tuple[OverrideRule, ...]:
    """Every override in words and figures, in the contract's order: later ones win per key."""
    return read_rules(pricing)


def discount_of(pricing: Pricing) -> Decimal:
    """The share taken off every price, 0 without one and for one outside 0..1."""
    share = pricing.discount
    return share if share is not None and 0 <= share <= 1 else Decimal(0)


def effective_prices(
    pricing: Pricing, prompt_tokens: int, moment: datetime
) -> Mapping[str, EffectivePrice]:
    """The price that holds for each priced key, with the rule that set it."""
    holding = [rule for rule in read_rules(pricing) if rule.holds(prompt_tokens, moment)]
    discount = discount_of(pricing)
    found = {}
    for key in PRICE_KEYS:
        rule = next((rule for rule in reversed(holding) if key in rule.prices), None)
        if rule is not None:
            found[key] = _effective(key, rule.prices[key], discount, rule.name)
        elif pricing.price(key) is not None or pricing.raw.get(key) is not None:
            found[key] = _effective(key, pricing.price(key), discount)
    return found


def quote(pricing: Pricing, usage: Usage) -> Quote:
    """Price a request: contract "Override rules"."""
    prices = effective_prices(pricing, usage.prompt_tokens, usage.moment)
    quantities = _quantities(usage, prices)
    lines, unpriced = [], []
    for key in PRICE_KEYS:
        quantity = quantities.get(key, 0)
        if quantity > 0:
            price = prices.get(key)
            if price is not None:
                lines.append(_line(price, quantity))
            elif key != "request":  # most endpoints charge nothing for a request as such
                unpriced.append(key)
    return Quote(
        tuple(lines),
        None if {_PROMPT, _COMPLETION} & set(unpriced) else _sum(lines),
        _applied(pricing, prices, lines),
        tuple(_notes(pricing, prices, lines, unpriced)),
    )


def _effective(
    key: str, listed: Decimal | None, discount: Decimal, override: str = ""
) -> EffectivePrice:
    rule = override or BASE_PRICE
    if listed is None or listed < 0 or not discount:
        return EffectivePrice(key, listed, listed, rule, override)
    reduced = _EXACT.multiply(listed, _EXACT.subtract(Decimal(1), discount))
    return EffectivePrice(key, listed, reduced, f"{rule}; {_discount_name(discount)}", override)


def _discount_name(discount: Decimal) -> str:
    return f"discount {percent(discount)}"


def _quantities(usage: Usage, prices: Mapping[str, EffectivePrice]) -> Mapping[str, int]:
    """How much of each key is charged; a part without its own price goes to the next in line."""
    quantities = {key: getattr(usage, field) for key, field in _PIECES}
    parts = dict.fromkeys((_PROMPT, _COMPLETION), 0)
    for key, field, elsewhere in _PARTS:
        whole = elsewhere[-1]
        left = _whole(usage, whole) - parts[whole]
        part = min(max(getattr(usage, field), 0), max(left, 0))
        payer = next((name for name in (key, *elsewhere) if _priced_apart(name, prices)), whole)
        if payer != whole:
            quantities[payer] = quantities.get(payer, 0) + part
            parts[whole] += part
    for whole, taken in parts.items():
        quantities[whole] = _whole(usage, whole) - taken
    return quantities


def _whole(usage: Usage, key: str) -> int:
    return usage.prompt_tokens if key == _PROMPT else usage.completion_tokens


def _priced_apart(key: str, prices: Mapping[str, EffectivePrice]) -> bool:
    price = prices.get(key)
    return price is not None and not (key == _REASONING and price.listed == 0)


def _line(price: EffectivePrice, quantity: int) -> QuoteLine:
    unit = price.after_discount
    known = unit is not None and not price.varies
    amount = _EXACT.multiply(unit, Decimal(quantity)) if known and unit is not None else None
    return QuoteLine(price.key, unit, quantity, amount, price.rule)


def _sum(lines: Iterable[QuoteLine]) -> Decimal | None:
    total = Decimal(0)
    for line in lines:
        if line.amount is None:
            return None
        total = _EXACT.add(total, line.amount)
    return total


def _applied(
    pricing: Pricing, prices: Mapping[str, EffectivePrice], lines: Iterable[QuoteLine]
) -> tuple[str, ...]:
    overrides = {prices[line.key].override for line in lines}
    named = [rule.name for rule in read_rules(pricing) if rule.name in overrides]
    if discount := discount_of(pricing):
        named.append(_discount_name(discount))
    return tuple(named)


def _notes(
    pricing: Pricing,
    prices: Mapping[str, EffectivePrice],
    lines: Iterable[QuoteLine],
    unpriced: Iterable[str],
) -> Iterable[str]:
    for rule in read_rules(pricing):
        if rule.problem:
            yield f"override {rule.position} is left out: {rule.problem}"
    if pricing.discount is not None and pricing.discount != discount_of(pricing):
        yield f"the discount {pricing.discount} is left out: it is not between 0 and 1"
    elif "discount" in pricing.gaps:
        yield "the discount cannot be read and is left out"
    for line in lines:
        if prices[line.key].varies:
            yield f"the {line.key} price depends on where the request goes"
        elif line.unit_price is None:
            yield f"the {line.key} price cannot be read"
    for key in unpriced:
        yield f"no {key} price is given"
