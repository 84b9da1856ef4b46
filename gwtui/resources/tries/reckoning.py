"""What a served request should have cost by the catalog, to compare with what the service says.

Inference contract section 6. A request on an own provider key is not reckoned: how much of the
month's allowance is used nobody tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.client.chat_stream import ChatAnswer
from gwtui.client.inference import EmbeddingAnswer
from gwtui.contract.completion import TokenUsage
from gwtui.contract.models import Pricing
from gwtui.domain.pricing import Usage
from gwtui.domain.request_cost import RequestCost, request_cost
from gwtui.resources.tries.facts import TryFacts

_STANDARD = frozenset({None, "auto", "default", "standard"})
"""What names an endpoint without a tier."""


def reckoned_chat(facts: TryFacts, answer: ChatAnswer, moment: datetime) -> RequestCost | None:
    """The cost of an answer that came at ``moment``, with the rule that set it.

    None when it cannot be known: usage is missing, no endpoint of the provider is in the catalog,
    or several are with different prices.
    """
    told = answer.usage
    if told is None or told.prompt_tokens is None or told.completion_tokens is None:
        return None
    if told.is_byok:
        return None
    priced = _prices(facts, answer.model, answer.provider, answer.service_tier)
    return _reckoned(priced, _used(told, moment), answer.cost)


def reckoned_embedding(
    facts: TryFacts, answer: EmbeddingAnswer, moment: datetime
) -> RequestCost | None:
    """The same for vectors."""
    told, result = answer.result.usage, answer.result
    if told is None or told.prompt_tokens is None or told.is_byok:
        return None
    used = Usage(prompt_tokens=told.prompt_tokens, completion_tokens=0, moment=moment)
    return _reckoned(_prices(facts, result.model, result.provider, None), used, told.cost)


def _prices(
    facts: TryFacts, model: str | None, provider: str | None, tier: str | None
) -> list[Pricing]:
    """Of each endpoint that may have served it; without a provider told, of all."""
    return [
        endpoint.pricing
        for offers in facts.offers
        for endpoint in offers.endpoints or ()
        if endpoint.pricing is not None
        and provider in {None, endpoint.provider_name}
        and endpoint.service_tier == (None if tier in _STANDARD else tier)
        and model in {None, offers.model.id, offers.model.canonical_slug}
    ]


def _reckoned(prices: Sequence[Pricing], used: Usage, told: Decimal | None) -> RequestCost | None:
    """Whether the key's workspace logs for the data discount is seen in what the service says."""
    costs = [request_cost(each, used) for each in prices]
    if not costs or len({cost.cost for cost in costs}) > 1:
        return None
    logged = request_cost(prices[0], used, data_discount=True)
    return logged if told is not None and told == logged.cost else costs[0]


def _used(told: TokenUsage, moment: datetime) -> Usage:
    prompt, completion = told.prompt_tokens_details, told.completion_tokens_details
    return Usage(
        prompt_tokens=told.prompt_tokens or 0,
        completion_tokens=told.completion_tokens or 0,
        moment=moment,
        cached_tokens=(prompt.cached_tokens if prompt else None) or 0,
        cache_write_tokens=(prompt.cache_write_tokens if prompt else None) or 0,
        reasoning_tokens=(completion.reasoning_tokens if completion else None) or 0,
    )
