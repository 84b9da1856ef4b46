"""The cost of a request to a model at an endpoint, and its upper bound beforehand.

Inference contract section 6. The sum is that of ``domain/pricing.py``; here is what follows: own
provider keys (BYOK), the discount for logged data, requests that are not charged, and an upper
bound of a request that was not sent yet. Amounts are USD, exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal

from pydantic import JsonValue

from gwtui.contract.chat import ChatRequest, MediaPart
from gwtui.contract.embeddings import EmbeddingContent, EmbeddingRequest
from gwtui.contract.models import Endpoint, Pricing
from gwtui.domain.money import percent, usd
from gwtui.domain.pricing import BASE_PRICE, Quote, Usage, override_rules, quote

BYOK_FEE = Decimal("0.05")
"""Share of the list price that a request on an own provider key costs beyond the allowance."""
BYOK_ALLOWANCE = Decimal(25_000)
"""Monthly list price in USD that own provider keys are not charged for."""
DATA_DISCOUNT = Decimal("0.01")
"""Share taken off where a workspace logs its data for it."""

_EXACT = Context(prec=80)
_MESSAGE_OVERHEAD = 16
"""Tokens that a provider's chat template adds to a message, at the most."""
_PROMPT_OVERHEAD = 64
_JOINT = 4
"""Quotes, brackets and commas around a value."""
_PROMPT_FIELDS = ("messages", "tools", "response_format")
"""Fields of a request that the model reads."""


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
        return RequestCost(listed, Decimal(0), (*rules, "not charged: nothing was answered"))
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
    """The most that a request of up to so many tokens costs, sent at ``moment`` (aware).

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


def max_prompt_tokens(request: ChatRequest | EmbeddingRequest) -> int | None:
    """An upper bound of the prompt in any tokenizer; None when it holds more than text.

    No tokenizer makes more tokens of a text than it has bytes in UTF-8.
    """
    if isinstance(request, ChatRequest):
        return _chat_tokens(request)
    given = request.input
    if isinstance(given, str):
        return _bytes([given]) + _MESSAGE_OVERHEAD
    inputs: list[str | int | list[int] | EmbeddingContent] = list(given)
    total = 0
    for item in inputs:
        if isinstance(item, EmbeddingContent):
            if any(part.type != "text" for part in item.content):
                return None
            total += _bytes(part.text or "" for part in item.content) + _MESSAGE_OVERHEAD
        elif isinstance(item, str):
            total += _bytes([item]) + _MESSAGE_OVERHEAD
        else:
            total += 1 if isinstance(item, int) else len(item) + _MESSAGE_OVERHEAD
    return total


def _chat_tokens(request: ChatRequest) -> int | None:
    for message in request.messages:
        parts = message.content if isinstance(message.content, list) else ()
        if any(isinstance(part, MediaPart) for part in parts):
            return None
    body = request.body()
    read = sum(_bytes_inside(body.get(name)) for name in _PROMPT_FIELDS)
    return read + len(request.messages) * _MESSAGE_OVERHEAD + _PROMPT_OVERHEAD


def _bytes_inside(value: JsonValue) -> int:
    """Bytes of all texts in a JSON value, names included, and a few for what joins them."""
    if isinstance(value, dict):
        return sum(_bytes_inside(name) + _bytes_inside(part) for name, part in value.items())
    if isinstance(value, list):
        return sum(map(_bytes_inside, value))
    return _bytes([value if isinstance(value, str) else str(value)]) + _JOINT


def _bytes(texts: Iterable[str]) -> int:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


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
