"""What an answer should have cost by the catalog's prices, beside what the service says of it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from gwtui.client.chat_stream import ChatAnswer
from gwtui.contract.completion import TokenUsage
from gwtui.domain.money import usd
from gwtui.domain.pricing import Usage
from gwtui.domain.request_cost import RequestCost
from gwtui.resources.tries.facts import TryFacts
from gwtui.resources.tries.plan import reckoned_cost


def reckoned_answer(answer: ChatAnswer, facts: TryFacts, moment: datetime) -> RequestCost | None:
    """What an answer of this moment should have cost; None when that cannot be told."""
    usage = answer.usage
    if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    if usage.is_byok:
        return None  # the list price of own keys this month is not known here
    return reckoned_cost(
        facts,
        _used(usage, moment),
        model=answer.model,
        provider=answer.provider,
        tier=answer.service_tier,
    )


def cost_words(told: Decimal | None, reckoned: RequestCost | None) -> str:
    """The cost as the service tells it, with the rule that set it."""
    cost = "cost: not told" if told is None else f"cost: {usd(told)}"
    if reckoned is None or reckoned.cost is None:
        return cost
    if told is not None and told != reckoned.cost:
        return f"{cost}, where the prices give {usd(reckoned.cost)} ({reckoned.rule})"
    return f"{cost} ({reckoned.rule})"


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
