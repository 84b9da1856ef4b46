"""Compare endpoints or models: send one prompt to each, concurrently or in sequence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from gwtui.client.errors import GatewayError
from gwtui.client.inference import ChatAnswer, Inference
from gwtui.contract.chat import ChatRequest
from gwtui.contract.models import Endpoint
from gwtui.contract.routing import ProviderPreferences
from gwtui.domain.lookup import among
from gwtui.domain.money import usd
from gwtui.domain.routing import slug_names
from gwtui.domain.safe_text import safe_line
from gwtui.resources.tries.plan import ON_COMMAND_LINE, TryPlan, cap_problem

LEAST, MOST = 2, 4
"""Minimum and maximum number of compared answers."""
_NAME = 60


class ComparisonError(ValueError):
    """The named endpoints or models cannot be compared; the message is for people."""


@dataclass(frozen=True, slots=True)
class Contender:
    """An endpoint or model in a comparison; ``name`` is safe to display."""

    name: str
    request: ChatRequest


@dataclass(slots=True)
class ContenderResult:
    """The answer of one contender so far; ``error`` is why it failed or was interrupted."""

    name: str
    answer: ChatAnswer = field(default_factory=ChatAnswer)
    error: GatewayError | None = None

    @property
    def text(self) -> str:
        """The raw text of the answer or of the model's refusal; not safe to display."""
        return self.answer.text or self.answer.refusal


def endpoint_contenders(
    request: ChatRequest, endpoints: Sequence[Endpoint], entries: Iterable[str]
) -> tuple[Contender, ...]:
    """Return the request once for each named endpoint of its model.

    An entry is a tag, which names one endpoint, or a provider, which may route to any of its
    endpoints. Raises ComparisonError.
    """
    entries = tuple(entries)
    if not LEAST <= len(entries) <= MOST:
        raise ComparisonError(f"{LEAST} to {MOST} can be compared, these are {len(entries)}")
    if len(set(entries)) < len(entries):
        raise ComparisonError("each endpoint is compared once: leave the second one out")
    return tuple(
        Contender(
            safe_line(entry, _NAME), _pinned(request, _preferences(request.model, endpoints, entry))
        )
        for entry in entries
    )


def comparison_problem(plans: Sequence[TryPlan], max_cost: Decimal | None) -> str | None:
    """Return why a comparison exceeds its total maximum cost in USD; None if it may be sent."""
    if max_cost is None:
        return None
    unknown = next((why for plan in plans if (why := cap_problem(plan, max_cost))), None)
    if unknown is not None:
        return unknown
    total = sum((plan.most_cost or Decimal(0) for plan in plans), Decimal(0))
    if total > max_cost:
        return (
            f"all together may cost up to {usd(total)}, more than the maximum of "
            f"{usd(max_cost)}: {ON_COMMAND_LINE.above}"
        )
    return None


def _preferences(model: str, endpoints: Sequence[Endpoint], entry: str) -> ProviderPreferences:
    if not any(slug_names(entry, endpoint) for endpoint in endpoints):
        tags = [endpoint.tag for endpoint in endpoints if endpoint.tag]
        raise ComparisonError(f"{model} has no endpoint {entry}{among(entry, tags)}")
    return ProviderPreferences(order=[entry], only=[entry], allow_fallbacks=False)


def _pinned(request: ChatRequest, preferences: ProviderPreferences) -> ChatRequest:
    given = {name: getattr(request, name) for name in request.model_fields_set}
    return ChatRequest.model_construct(**{**given, "provider": preferences})


async def compare(
    models: Inference,
    contenders: Sequence[Contender],
    tell: Callable[[ContenderResult], None],
    *,
    at_once: bool = True,
) -> list[ContenderResult]:
    """Send each request once, concurrently or in sequence; ``tell`` gets each completed result.

    Cancellation closes all open requests.
    """

    async def ask(contender: Contender) -> ContenderResult:
        result = ContenderResult(contender.name)
        try:
            async with models.stream(contender.request) as stream:
                result.answer = stream.answer
                async for _ in stream:
                    pass
        except GatewayError as error:
            result.error = error
        result.error = result.error or result.answer.error
        tell(result)
        return result

    if not at_once:
        return [await ask(contender) for contender in contenders]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(contender)) for contender in contenders]
    return [task.result() for task in tasks]
