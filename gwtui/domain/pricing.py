"""The cost of a request at an endpoint line by line, and its maximum before it is sent.

Amounts are USD, exact. See "Pricing object" and "Override rules" in the contract and section 7 of
the extended contract. Section 6 of the inference contract is about BYOK credentials, the discount
for logged data, and requests that are not charged.

An override applies if all its conditions match; prices that it does not set stay. An override with
an unknown or unreadable condition never applies.

Where the contract is silent, this is assumed:

- The discount belongs to the endpoint, so it also lowers the prices of overrides.
- Cached, written, audio and image tokens are part of the prompt; reasoning and audio output
  are part of the completion. A part without its own price has the price of the whole.
- A reasoning price of 0 means that reasoning tokens cost as much as completion tokens.
- A negative price depends on the route of the request: its amount is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Context, Decimal
from typing import Any, NamedTuple

from pydantic import JsonValue

from gwtui.contract.chat import ChatRequest
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.models import PRICE_KEYS, Endpoint, PriceOverride, Pricing
from gwtui.contract.scalars import decimal_of
from gwtui.contract.values import WEEKDAYS
from gwtui.domain.money import grouped, percent, usd
from gwtui.domain.safe_text import safe_line

_CONDITIONS = ("min_prompt_tokens", "utc_start", "utc_end", "utc_days")

_MINUTES_PER_HOUR = 60
_DAY = 24 * _MINUTES_PER_HOUR
_UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class OverrideRule:
    """A parsed override.

    ``position`` is its place in the gateway's list, from 1. ``conditions`` are its conditions in
    words. ``problem`` is why it never applies, "" if it can. ``prices`` are the prices that it
    sets, by price key; None is unreadable. ``window`` is its begin and end in minutes of the UTC
    day, ``days`` its weekdays (Monday is 0); None for any.
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
        """Its name for the user: "override 2: prompts over 200,000 tokens, 22:00-06:00 UTC"."""
        return f"override {self.position}: {self.conditions}"

    def holds(self, prompt_tokens: int, moment: datetime) -> bool:
        """Whether the override applies to a request of this size at this moment.

        Each condition is checked separately: in a window that crosses midnight, the hours after
        midnight belong to the new UTC day.
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
    """Parse all overrides in the gateway's order, including unreadable ones."""
    if "overrides" in pricing.gaps:
        return (OverrideRule(1, _UNREADABLE, problem="the overrides cannot be read"),)
    readable = iter(pricing.overrides or ())
    rules = []
    for index in range(len(pricing.raw.get("overrides") or ())):
        rule = OverrideRule(index + 1, _UNREADABLE, problem="the entry cannot be read")
        if f"overrides[{index}]" not in pricing.gaps:
            rule = _read(index + 1, next(readable))
        rules.append(rule)
    return tuple(rules)


def _read(position: int, entry: PriceOverride) -> OverrideRule:
    window, days = _window(entry), _days(entry)
    return OverrideRule(
        position,
        _in_words(entry.min_prompt_tokens, window, days),
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
    unreadable = {gap.partition("[")[0] for gap in entry.gaps}
    for name, time in (("utc_start", entry.utc_start), ("utc_end", entry.utc_end)):
        if time is not None and _minutes(time) is None:
            unreadable.add(name)
    if not {day.casefold() for day in entry.utc_days or ()} <= set(WEEKDAYS):
        unreadable.add("utc_days")
    condition = next((name for name in _CONDITIONS if name in unreadable), None)
    return f"its condition {condition} cannot be read" if condition else ""


def _prices(entry: PriceOverride) -> Mapping[str, Decimal | None]:
    """Price key -> price that the override sets; None if unreadable."""
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
    """Start and end in minutes of the day; None if the override has no time condition.

    A missing start or end means the start or end of the day; an end of 0000 is midnight, like 2400.
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
    """Whether a window, which may cross midnight, contains a minute. Its end is exclusive.

    Equal start and end mean the whole day.
    """
    start, end = window
    return start <= minute < end if start < end else minute >= start or minute < end


def _days(entry: PriceOverride) -> frozenset[int] | None:
    if entry.utc_days is None:
        return None
    days = [day.casefold() for day in entry.utc_days]
    return frozenset(WEEKDAYS.index(day) for day in days if day in WEEKDAYS)


def _in_words(
    tokens: Decimal | None, window: tuple[int, int] | None, days: frozenset[int] | None
) -> str:
    parts = []
    if tokens is not None:
        parts.append(f"prompts over {grouped(tokens)} tokens")
    if window is not None:
        parts.append(f"{_clock(window[0])}-{_clock(window[1])} UTC")
    if days is not None:
        parts.append(_days_in_words(sorted(days)))
    return ", ".join(parts) or "always"


def _clock(minutes: int) -> str:
    return f"{minutes // _MINUTES_PER_HOUR:02}:{minutes % _MINUTES_PER_HOUR:02}"


def _days_in_words(days: list[int]) -> str:
    if len(days) == len(WEEKDAYS):
        return "every day"
    return ", ".join(WEEKDAYS[day][:3].capitalize() for day in days) or "on no day"


# Cost -------------------------------------------------------------------------------------------

BASE_PRICE = "base price"

_EXACT = Context(prec=80)
_PROMPT, _COMPLETION, _REASONING = "prompt", "completion", "internal_reasoning"

_PARTS: Mapping[str, tuple[str, ...]] = {
    "input_cache_read": (_PROMPT,),
    "input_cache_write": (_PROMPT,),
    "input_cache_write_1h": ("input_cache_write", _PROMPT),
    "input_audio_cache": ("audio", _PROMPT),
    "audio": (_PROMPT,),
    "image_token": (_PROMPT,),
    _REASONING: (_COMPLETION,),
    "audio_output": (_COMPLETION,),
}
"""Price key of a part of the prompt or completion -> price keys that apply if it has no price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The usage of one request. ``moment`` is aware, or naive UTC.

    ``parts`` holds further quantities by price key: tokens that are part of the prompt
    (``input_cache_read``, ``audio`` ...) or of the completion (``internal_reasoning`` ...), and
    pieces that are charged on top, such as ``image``.
    """

    prompt_tokens: int
    completion_tokens: int
    moment: datetime
    parts: Mapping[str, int] = field(default_factory=dict)


class EffectivePrice(NamedTuple):
    """A discounted price in USD per unit, and the name of the override that set it, "" if none.

    The price is None if it cannot be read, or depends on the route of the request.
    """

    usd: Decimal | None
    override: str = ""


def discount_of(pricing: Pricing) -> Decimal:
    """The discount on all prices, 0 to 1; 0 if there is none or it is out of range."""
    share = pricing.discount
    return share if share is not None and 0 <= share <= 1 else Decimal(0)


def effective_prices(
    pricing: Pricing, prompt_tokens: int, moment: datetime
) -> Mapping[str, EffectivePrice]:
    """Price key -> price for a request of this size at this moment, with overrides and discount.

    Keys without a price are missing. See "Override rules" in the contract.
    """
    holding = [rule for rule in override_rules(pricing) if rule.holds(prompt_tokens, moment)]
    share = _EXACT.subtract(Decimal(1), discount_of(pricing))
    prices = {}
    for key in PRICE_KEYS:
        rule = next((rule for rule in reversed(holding) if key in rule.prices), None)
        listed = pricing.price(key) if rule is None else rule.prices[key]
        if rule is not None or listed is not None or pricing.raw.get(key) is not None:
            known = listed is not None and listed >= 0
            usd = _EXACT.multiply(listed, share) if known and listed is not None else None
            prices[key] = EffectivePrice(usd, "" if rule is None else rule.name)
    return prices


def _quantities(usage: Usage, prices: Mapping[str, EffectivePrice]) -> Mapping[str, int]:
    """Price key -> quantity to charge; see ``_PARTS`` for parts without a price of their own."""
    whole = {_PROMPT: usage.prompt_tokens, _COMPLETION: usage.completion_tokens}
    pieces = {key: count for key, count in usage.parts.items() if key not in _PARTS}
    charged = {"request": 1, **pieces}
    for key, fallbacks in _PARTS.items():
        source = fallbacks[-1]
        part = min(max(usage.parts.get(key, 0), 0), max(whole[source], 0))
        payer = next((name for name in (key, *fallbacks) if _priced_apart(name, prices)), source)
        if payer != source:
            charged[payer] = charged.get(payer, 0) + part
            whole[source] -= part
    return {**charged, **whole}


def _priced_apart(key: str, prices: Mapping[str, EffectivePrice]) -> bool:
    return key in prices and not (key == _REASONING and prices[key].usd == 0)


BYOK_FEE = Decimal("0.05")
"""Fee for requests on BYOK credentials beyond the allowance, as a share of the list price."""
BYOK_ALLOWANCE = Decimal(25_000)
"""List price in USD per month up to which BYOK credentials are free of charge."""
DATA_DISCOUNT = Decimal("0.01")
"""Discount for workspaces that allow the service to use their logged data."""


class ByokUse(NamedTuple):
    """A request on a BYOK credential.

    ``used`` is the sum of the list prices, in USD, of earlier requests on BYOK credentials in this
    UTC month. If it is None (unknown), ``BYOK_ALLOWANCE`` counts as used up.
    """

    used: Decimal | None = None

    def fee(self, listed: Decimal) -> Decimal:
        """The fee in USD for a request that would cost ``listed`` without the credential."""
        used = BYOK_ALLOWANCE if self.used is None else self.used
        over = _EXACT.subtract(_EXACT.add(used, listed), BYOK_ALLOWANCE)
        return _EXACT.multiply(min(max(over, Decimal(0)), listed), BYOK_FEE)

    def rule(self, fee: Decimal) -> str:
        """The BYOK pricing rule in words, for a request with this fee."""
        allowance = f"{usd(BYOK_ALLOWANCE, places=0)} a month"
        if self.used is not None and not fee:
            return f"BYOK credential: within the allowance of {allowance}"
        return f"BYOK credential: {percent(BYOK_FEE)} of the list price beyond {allowance}"


class CostLine(NamedTuple):
    """The cost of ``quantity`` units of a price key in USD; None if unknown."""

    key: str
    quantity: int
    amount: Decimal | None
    override: str


@dataclass(frozen=True, slots=True)
class RequestCost:
    """The cost of a request in USD.

    ``cost`` is deducted from the credits. ``upstream_cost`` is what the provider charges the owner
    of the provider key; None if the service's own key was used. Either is None if a price is
    unknown. ``rules`` name what determined the cost, in the order of application.
    """

    lines: tuple[CostLine, ...]
    cost: Decimal | None
    rules: tuple[str, ...]
    upstream_cost: Decimal | None = None

    @property
    def rule(self) -> str:
        """All rules in one line."""
        return "; ".join(self.rules)


def request_cost(
    pricing: Pricing,
    usage: Usage,
    *,
    byok: ByokUse | None = None,
    data_discount: bool = False,
    charged: bool = True,
) -> RequestCost:
    """Compute the cost of a request from its usage.

    ``byok`` is set if a BYOK credential was used, ``data_discount`` if the workspace gets the
    discount for logged data. A request that is not ``charged`` (see ``is_charged``) costs nothing.
    """
    prices = effective_prices(pricing, usage.prompt_tokens, usage.moment)
    quantities = _quantities(usage, prices)
    lines = tuple(
        CostLine(key, quantities[key], _amount(price.usd, quantities[key]), price.override)
        for key, price in prices.items()
        if quantities.get(key, 0) > 0
    )
    rules = _rules(pricing, lines)
    if not charged:
        return RequestCost(lines, Decimal(0), (*rules, "not charged: there was no response"))
    unpriced = any(quantities[key] > 0 and key not in prices for key in (_PROMPT, _COMPLETION))
    listed = Decimal(0)
    for line in lines:
        if line.amount is None or unpriced:
            return RequestCost(lines, None, rules)
        listed = _EXACT.add(listed, line.amount)
    cost = listed
    if byok is not None:
        cost = byok.fee(listed)
        rules = (*rules, byok.rule(cost))
    if data_discount:
        cost = _EXACT.multiply(cost, _EXACT.subtract(Decimal(1), DATA_DISCOUNT))
        rules = (*rules, f"data discount {percent(DATA_DISCOUNT)}")
    return RequestCost(lines, cost, rules, listed if byok is not None else None)


def _amount(price: Decimal | None, quantity: int) -> Decimal | None:
    return None if price is None else _EXACT.multiply(price, Decimal(quantity))


def _rules(pricing: Pricing, lines: Sequence[CostLine]) -> tuple[str, ...]:
    names = {line.override for line in lines}
    overrides = [rule.name for rule in override_rules(pricing) if rule.name in names]
    base = [BASE_PRICE] if "" in names or not names else []
    discount = discount_of(pricing)
    return (*base, *overrides, *([f"discount {percent(discount)}"] if discount else []))


def is_charged(finish_reason: str | None, completion_tokens: int) -> bool:
    """Whether a chat answer costs anything. See point 6 in section 6 of the inference contract."""
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
    """The highest possible cost of a request with at most this many tokens, sent at ``moment``.

    This may be that of a shorter prompt, if an override makes long prompts cheaper, or of an answer
    with reasoning tokens. The discount for logged data is ignored. The cost is unknown (None) if
    that of any case is. ``moment`` is aware.
    """
    costs = [
        request_cost(
            pricing,
            Usage(
                prompt_tokens=prompt,
                completion_tokens=output_tokens,
                moment=moment,
                parts={"input_cache_write": written, _REASONING: thought},
            ),
            byok=byok,
        )
        for prompt in _prompt_lengths(pricing, prompt_tokens)
        for written in {0, prompt if writes_cache else 0}
        for thought in {0, output_tokens}
    ]
    unknown = next((cost for cost in costs if cost.cost is None), None)
    return unknown or max(costs, key=lambda cost: cost.cost or Decimal(0))


def max_output_tokens(requested: int | None, endpoint: Endpoint) -> int | None:
    """The maximum number of output tokens: as requested, else the endpoint's limit, else None."""
    return requested or endpoint.max_completion_tokens or endpoint.context_length


def _prompt_lengths(pricing: Pricing, most: int) -> list[int]:
    """The lengths to compare: ``most``, and the longest below the threshold of each override."""
    thresholds = [
        int(rule.min_prompt_tokens)
        for rule in override_rules(pricing)
        if rule.min_prompt_tokens is not None and 0 < rule.min_prompt_tokens < most
    ]
    return [most, *thresholds]


_PROMPT_OVERHEAD = 64
_JOINT = 4
"""Bytes around a value: quotes, brackets and commas, or the separators of a chat template."""
_PROMPT_FIELDS = ("messages", "input", "tools", "response_format")
"""Fields of a request that become part of the prompt."""


def max_prompt_tokens(request: ChatRequest | EmbeddingRequest) -> int | None:
    """An upper bound for the prompt tokens; None if the prompt is not only text.

    Holds for any tokenizer, as none makes more tokens than the text has bytes in UTF-8.
    """
    body: dict[str, Any] = request.body()
    for entry in body.get("messages") or body["input"]:
        parts = entry.get("content") if isinstance(entry, dict) else None
        if isinstance(parts, list) and any(part["type"] != "text" for part in parts):
            return None
    return _PROMPT_OVERHEAD + sum(
        _bytes_inside(body[name]) for name in _PROMPT_FIELDS if name in body
    )


def _bytes_inside(value: JsonValue) -> int:
    """The number of bytes of all texts in a JSON value, including object keys and separators."""
    if isinstance(value, dict):
        return sum(_bytes_inside(name) + _bytes_inside(part) for name, part in value.items())
    if isinstance(value, list):
        return sum(map(_bytes_inside, value))
    return len(str(value).encode("utf-8", "surrogatepass")) + _JOINT
