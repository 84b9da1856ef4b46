"""The price of a request at an endpoint line by line, its cost, and an upper bound beforehand.

Contract "Pricing object" and "Override rules", extended contract section 7; inference contract
section 6 for own provider keys (BYOK), the discount for logged data and requests that are not
charged. Amounts are USD, exact.

An override entry applies when all its conditions match; a key that it does not set inherits. An
entry with a condition that cannot be read or is not known is never applied, and named as left out.

Where the contract is silent, this is assumed:

- The discount is the endpoint's, so that it also lowers prices that an override sets.
- Cached, written, audio and image tokens are parts of the prompt, reasoning and audio output are
  parts of the completion. A part has its own price where there is one, else that of the whole.
- A reasoning price of 0 means "not priced apart": such tokens cost what completion tokens cost.
- A negative price depends on where the request goes: its amount is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Context, Decimal
from typing import Any

from gwtui.contract.models import PRICE_KEYS, Endpoint, PriceOverride, Pricing
from gwtui.contract.scalars import decimal_of
from gwtui.contract.values import WEEKDAYS
from gwtui.domain.money import grouped, percent, usd
from gwtui.domain.safe_text import safe_line

CONDITIONS = ("min_prompt_tokens", "utc_start", "utc_end", "utc_days")
"""Every condition that is understood."""

_MINUTES_PER_HOUR = 60
_DAY = 24 * _MINUTES_PER_HOUR
_UNREADABLE = "unreadable"
_DAY_NAME = 40


@dataclass(frozen=True, slots=True)
class OverrideRule:
    """One override entry, read.

    ``position`` counts from 1 in the gateway's own list. ``problem`` says why the entry cannot be
    applied, "" when it can. ``prices`` holds the keys that it sets; None is a price that cannot be
    read. ``window`` is in minutes of the UTC day.
    """

    position: int
    conditions: str
    problem: str = ""
    prices: Mapping[str, Decimal | None] = field(default_factory=dict)
    min_prompt_tokens: Decimal | None = None
    window: tuple[int, int] | None = None
    days: frozenset[int] | None = None

    @property
    def name(self) -> str:
        """Such as "override 2: prompts over 200,000 tokens, 22:00-06:00 UTC"."""
        return f"override {self.position}: {self.conditions}"

    def holds(self, prompt_tokens: int, moment: datetime) -> bool:
        """Whether the entry applies to a request of this size at this moment.

        Each condition is checked on its own against the request, as the contract has it: in a
        window that wraps midnight, the hours after midnight count to the new UTC day.
        """
        if self.problem:
            return False
        if self.min_prompt_tokens is not None and not prompt_tokens > self.min_prompt_tokens:
            return False
        at = moment.astimezone(UTC) if moment.tzinfo else moment
        if self.days is not None and at.weekday() not in self.days:
            return False
        return self.window is None or _inside(at.hour * _MINUTES_PER_HOUR + at.minute, self.window)


def override_rules(pricing: Pricing) -> tuple[OverrideRule, ...]:
    """Every override entry in the gateway's order, the unreadable ones included."""
    if "overrides" in pricing.gaps:
        return (OverrideRule(1, _UNREADABLE, problem="the overrides cannot be read"),)
    readable = iter(pricing.overrides or ())
    listed = pricing.raw.get("overrides")
    count = len(listed) if isinstance(listed, list | tuple) else len(pricing.overrides or ())
    rules = []
    for index in range(count):
        entry = None if f"overrides[{index}]" in pricing.gaps else next(readable, None)
        rules.append(_unreadable(index + 1) if entry is None else _read(index + 1, entry))
    return tuple(rules)


def _unreadable(position: int) -> OverrideRule:
    return OverrideRule(position, _UNREADABLE, problem="the entry cannot be read")


def _read(position: int, entry: PriceOverride) -> OverrideRule:
    window, days = _window(entry), _days(entry)
    return OverrideRule(
        position,
        _in_words(entry.min_prompt_tokens, window, days, _strange_days(entry)),
        _problem(entry),
        _prices(entry),
        entry.min_prompt_tokens,
        window,
        days,
    )


def _problem(entry: PriceOverride) -> str:
    for name in entry.unknown_fields:
        if name not in PRICE_KEYS and entry.raw[name] is not None:
            return f"its condition {safe_line(name, 60)} is not known"
    for name in CONDITIONS:
        if any(gap == name or gap.startswith(f"{name}[") for gap in entry.gaps):
            return f"its condition {name} cannot be read"
    for name in ("utc_start", "utc_end"):
        if _minutes(getattr(entry, name)) is None and getattr(entry, name) is not None:
            return f"its {name} {getattr(entry, name)} is not a time of day"
    for day in _strange_days(entry):
        return f"its day {day} is not known"
    return ""


def _prices(entry: PriceOverride) -> Mapping[str, Decimal | None]:
    """The prices that an entry sets, including keys unknown to override entries."""
    return {
        key: entry.price(key) if key in type(entry).model_fields else _number(entry.raw[key])
        for key in PRICE_KEYS
        if entry.raw.get(key) is not None
    }


def _number(value: Any) -> Decimal | None:
    try:
        return decimal_of(str(value))
    except ValueError:
        return None


def _window(entry: PriceOverride) -> tuple[int, int] | None:
    """Start and end in minutes.

    A side that is not given is the edge of the day; 0000 as an end is midnight, like 2400.
    """
    if entry.utc_start is None and entry.utc_end is None:
        return None
    start, end = _minutes(entry.utc_start), _minutes(entry.utc_end)
    return (start or 0) % _DAY, end or _DAY


def _minutes(hhmm: int | None) -> int | None:
    if hhmm is None or hhmm < 0:
        return None
    hours, minutes = divmod(hhmm, 100)
    total = hours * _MINUTES_PER_HOUR + minutes
    return total if minutes < _MINUTES_PER_HOUR and total <= _DAY else None


def _inside(minute: int, window: tuple[int, int]) -> bool:
    """Start inclusive, end exclusive; one that is not before its end wraps midnight.

    Equal ends are a whole day: nobody writes a window that never opens.
    """
    start, end = window
    return start <= minute < end if start < end else minute >= start or minute < end


def _days(entry: PriceOverride) -> frozenset[int] | None:
    if entry.utc_days is None:
        return None
    known = {day: index for index, day in enumerate(WEEKDAYS)}
    found = (known.get(day.casefold()) for day in entry.utc_days)
    return frozenset(index for index in found if index is not None)


def _strange_days(entry: PriceOverride) -> list[str]:
    """Days that are no weekday, fit to be shown."""
    days = entry.utc_days or ()
    return [safe_line(day, _DAY_NAME) for day in days if day.casefold() not in WEEKDAYS]


def _in_words(
    tokens: Decimal | None,
    window: tuple[int, int] | None,
    days: frozenset[int] | None,
    strange: list[str],
) -> str:
    parts = []
    if tokens is not None:
        parts.append(f"prompts over {grouped(tokens)} tokens")
    if window is not None:
        parts.append(f"{_clock(window[0])}-{_clock(window[1])} UTC")
    if days is not None:
        parts.append(_days_in_words(sorted(days), strange))
    return ", ".join(parts) or "always"


def _clock(minutes: int) -> str:
    return f"{minutes // _MINUTES_PER_HOUR:02}:{minutes % _MINUTES_PER_HOUR:02}"


def _days_in_words(days: list[int], strange: list[str]) -> str:
    names = [*(WEEKDAYS[day][:3].capitalize() for day in days), *strange]
    if not names:
        return "on no day"
    if len(days) == len(WEEKDAYS) and not strange:
        return "every day"
    return ", ".join(names)


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
    discount: Decimal
    override: str = ""

    @property
    def varies(self) -> bool:
        """Whether the price depends on where the request goes."""
        return self.listed is not None and self.listed < 0

    @property
    def after_discount(self) -> Decimal | None:
        """The price that is charged."""
        if self.listed is None or not self._is_reduced:
            return self.listed
        return _EXACT.multiply(self.listed, _EXACT.subtract(Decimal(1), self.discount))

    @property
    def rule(self) -> str:
        """The names of the override and the discount."""
        rule = self.override or BASE_PRICE
        return f"{rule}; {_discount_name(self.discount)}" if self._is_reduced else rule

    @property
    def _is_reduced(self) -> bool:
        return bool(self.discount) and self.listed is not None and not self.varies


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
    """The cost of a request.

    ``total`` is None when any part of it is unknown. ``applied`` names the overrides and the
    discount.
    """

    lines: tuple[QuoteLine, ...]
    total: Decimal | None
    applied: tuple[str, ...]


def discount_of(pricing: Pricing) -> Decimal:
    """The share taken off every price, 0 without one and for one outside 0..1."""
    share = pricing.discount
    return share if share is not None and 0 <= share <= 1 else Decimal(0)


def effective_prices(
    pricing: Pricing, prompt_tokens: int, moment: datetime
) -> Mapping[str, EffectivePrice]:
    """The price that holds for each priced key, with the rule that set it."""
    holding = [rule for rule in override_rules(pricing) if rule.holds(prompt_tokens, moment)]
    discount = discount_of(pricing)
    found = {}
    for key in PRICE_KEYS:
        rule = next((rule for rule in reversed(holding) if key in rule.prices), None)
        if rule is not None:
            found[key] = EffectivePrice(key, rule.prices[key], discount, rule.name)
        elif pricing.price(key) is not None or pricing.raw.get(key) is not None:
            found[key] = EffectivePrice(key, pricing.price(key), discount)
    return found


def quote(pricing: Pricing, usage: Usage) -> Quote:
    """Price a request: contract "Override rules"."""
    prices = effective_prices(pricing, usage.prompt_tokens, usage.moment)
    quantities = _quantities(usage, prices)
    charged = [key for key in PRICE_KEYS if quantities.get(key, 0) > 0]
    lines = tuple(_line(prices[key], quantities[key]) for key in charged if key in prices)
    unpriced = {_PROMPT, _COMPLETION} & set(charged) - prices.keys()
    total = None if unpriced else _sum(lines)
    return Quote(lines, total, _applied(pricing, prices, lines))


def _discount_name(discount: Decimal) -> str:
    return f"discount {percent(discount)}"


def _quantities(usage: Usage, prices: Mapping[str, EffectivePrice]) -> Mapping[str, int]:
    """The charged quantity per key; a part without its own price falls back to the next."""
    quantities = {key: getattr(usage, part_of_usage) for key, part_of_usage in _PIECES}
    parts = dict.fromkeys((_PROMPT, _COMPLETION), 0)
    for key, part_of_usage, elsewhere in _PARTS:
        whole = elsewhere[-1]
        left = _whole(usage, whole) - parts[whole]
        part = min(max(getattr(usage, part_of_usage), 0), max(left, 0))
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
    named = [rule.name for rule in override_rules(pricing) if rule.name in overrides]
    if discount := discount_of(pricing):
        named.append(_discount_name(discount))
    return tuple(named)


# Cost -------------------------------------------------------------------------------------------

BYOK_FEE = Decimal("0.05")
"""Share of the list price that a request on an own provider key costs beyond the allowance."""
BYOK_ALLOWANCE = Decimal(25_000)
"""Monthly list price in USD that own provider keys are not charged for."""
DATA_DISCOUNT = Decimal("0.01")
"""Share taken off where a workspace logs its data for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByokUse:
    """A request on an own provider key.

    ``used`` is the list price of such requests this UTC month before this one, in USD; None when
    it is not known: the request is then taken to be beyond the allowance.
    """

    used: Decimal | None = None
    allowance: Decimal = BYOK_ALLOWANCE

    def fee(self, listed: Decimal) -> Decimal:
        """The fee for a request of this list price."""
        if self.used is None:
            beyond = listed
        else:
            over = _EXACT.subtract(_EXACT.add(self.used, listed), self.allowance)
            beyond = min(max(over, Decimal(0)), listed)
        return _EXACT.multiply(beyond, BYOK_FEE)


@dataclass(frozen=True, slots=True)
class RequestCost:
    """The cost of a request.

    ``cost`` is what it takes from the credits, ``upstream_cost`` what the provider asks of the
    owner of the key that was used, None when that is the service's own. Either is None when a part
    of it is unknown. ``rules`` name what set the price, the base price, overrides, discounts, BYOK,
    in the order in which they act.
    """

    quote: Quote
    cost: Decimal | None
    rules: tuple[str, ...]
    upstream_cost: Decimal | None = None

    @property
    def rule(self) -> str:
        """The rules in one line."""
        return "; ".join(self.rules)


def request_cost(
    pricing: Pricing,
    usage: Usage,
    *,
    byok: ByokUse | None = None,
    data_discount: bool = False,
    charged: bool = True,
) -> RequestCost:
    """The cost of a request with this usage.

    ``byok`` is given when an own provider key was used, ``data_discount`` where the workspace logs
    for the discount. A request that is not ``charged`` (see ``is_charged``) costs nothing.
    """
    listed = quote(pricing, usage)
    rules = listed.applied
    if any(line.rule.startswith(BASE_PRICE) for line in listed.lines) or not rules:
        rules = (BASE_PRICE, *rules)
    if not charged:
        return RequestCost(listed, Decimal(0), (*rules, "not charged: there was no response"))
    if listed.total is None:
        return RequestCost(listed, None, rules)
    cost = listed.total
    if byok is not None:
        cost = byok.fee(listed.total)
        rules = (*rules, _byok_rule(byok, cost))
    if data_discount:
        cost = _EXACT.multiply(cost, _EXACT.subtract(Decimal(1), DATA_DISCOUNT))
        rules = (*rules, f"data discount {percent(DATA_DISCOUNT)}")
    return RequestCost(listed, cost, rules, listed.total if byok is not None else None)


def is_charged(
    finish_reason: str | None, completion_tokens: int, *, tools_ran: bool = False
) -> bool:
    """Whether a chat answer is charged: contract section 6, point 6."""
    if tools_ran:
        return True
    return finish_reason != "error" and bool(completion_tokens or finish_reason)


def max_request_cost(
    pricing: Pricing,
    prompt_tokens: int,
    output_tokens: int,
    moment: datetime,
    *,
    byok: ByokUse | None = None,
    writes_cache: bool = False,
) -> RequestCost:
    """The maximum cost of a request with at most this many tokens, sent at ``moment`` (aware).

    A shorter prompt can cost more where an override makes long ones cheaper, and thoughts where
    they are priced apart: the dearest case counts. The discount for logged data is left out.
    """
    found = [
        request_cost(
            pricing,
            Usage(
                prompt_tokens=prompt,
                completion_tokens=output_tokens,
                moment=moment,
                cache_write_tokens=written,
                reasoning_tokens=thought,
            ),
            byok=byok,
        )
        for prompt in _prompt_lengths(pricing, prompt_tokens)
        for written in {0, prompt if writes_cache else 0}
        for thought in {0, output_tokens}
    ]
    unknown = next((cost for cost in found if cost.cost is None), None)
    return unknown or max(found, key=lambda each: each.cost or Decimal(0))


def max_output_tokens(requested: int | None, endpoint: Endpoint) -> int | None:
    """The longest answer: as requested, else the endpoint's limit, None if unknown."""
    return requested or endpoint.max_completion_tokens or endpoint.context_length


def _prompt_lengths(pricing: Pricing, most: int) -> list[int]:
    """The longest prompt, and the longest one on the near side of each override's threshold."""
    thresholds = [
        int(rule.min_prompt_tokens)
        for rule in override_rules(pricing)
        if rule.min_prompt_tokens is not None and 0 < rule.min_prompt_tokens < most
    ]
    return [most, *thresholds]


def _byok_rule(byok: ByokUse, fee: Decimal) -> str:
    allowance = f"{usd(byok.allowance, places=0)} a month"
    if byok.used is None:
        return f"own provider key: {percent(BYOK_FEE)} of the list price beyond {allowance}"
    if not fee:
        return f"own provider key: within the allowance of {allowance}"
    return f"own provider key: {percent(BYOK_FEE)} beyond the allowance of {allowance}"
