"""One prompt to several endpoints or models: sent once to each, at the same time or in turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from gwtui.client.errors import GatewayError
from gwtui.client.inference import AnswerDelta, ChatAnswer, Inference
from gwtui.contract.chat import ChatRequest
from gwtui.contract.models import Endpoint
from gwtui.contract.routing import ProviderPreferences
from gwtui.domain.lookup import among
from gwtui.domain.money import usd
from gwtui.domain.route_order import pinned_to, slug_names
from gwtui.domain.safe_text import safe_line
from gwtui.resources.tries.plan import ON_COMMAND_LINE, CapAdvice, TryPlan, cap_problem

LEAST, MOST = 2, 4
"""How many answers are compared."""
_NAME = 60

CompareState = Literal["waiting", "under way", "answered", "failed", "cancelled"]


class ComparisonError(ValueError):
    """What was named cannot be compared; the message is for a person."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One of those that are compared; ``name`` is fit to be shown."""

    name: str
    request: ChatRequest


@dataclass(slots=True)
class ContenderResult:
    """The result of one contender so far; ``error`` is why it failed or broke off."""

    contender: Contender
    state: CompareState = "waiting"
    answer: ChatAnswer = field(default_factory=ChatAnswer)
    error: GatewayError | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more comes."""
        return self.state not in {"waiting", "under way"}

    @property
    def text(self) -> str:
        """The text of the answer, or of the model's refusal, as it came: not fit to be shown."""
        return self.answer.text or self.answer.refusal


@dataclass(frozen=True, slots=True)
class ComparisonUpdate:
    """Something happened to the contender of this place; ``delta`` is what its answer grew by."""

    place: int
    delta: AnswerDelta | None = None


def endpoint_contenders(
    request: ChatRequest, endpoints: Sequence[Endpoint], entries: Iterable[str]
) -> tuple[Contender, ...]:
    """The request at each of the endpoints of its model that are named, by tag or by provider.

    A tag means one endpoint, a provider any of its own. Raises ComparisonError.
    """
    entries = tuple(entries)
    _check_count(len(entries))
    if len(set(entries)) < len(entries):
        raise ComparisonError("each endpoint is compared once: leave the second one out")
    return tuple(
        Contender(
            safe_line(entry, _NAME), _pinned(request, _preferences(request.model, endpoints, entry))
        )
        for entry in entries
    )


def comparison_problem(
    plans: Sequence[TryPlan], max_cost: Decimal | None, ways: CapAdvice = ON_COMMAND_LINE
) -> str | None:
    """Why nothing is to be sent at this maximum of all together, in USD; None when it may be."""
    if max_cost is None:
        return None
    unknown = next((why for plan in plans if (why := cap_problem(plan, max_cost, ways))), None)
    if unknown is not None:
        return unknown
    total = sum((plan.most_cost or Decimal(0) for plan in plans), Decimal(0))
    if total > max_cost:
        return (
            f"all together may cost up to {usd(total)}, more than the maximum of "
            f"{usd(max_cost)}: {ways.above}"
        )
    return None


def _check_count(count: int) -> None:
    if not LEAST <= count <= MOST:
        raise ComparisonError(f"{LEAST} to {MOST} can be compared, these are {count}")


def _preferences(model: str, endpoints: Sequence[Endpoint], entry: str) -> ProviderPreferences:
    meant = [endpoint for endpoint in endpoints if slug_names(entry, endpoint)]
    if not meant:
        tags = [endpoint.tag for endpoint in endpoints if endpoint.tag]
        raise ComparisonError(f"{model} has no endpoint {entry}{among(entry, tags)}")
    exact = [endpoint for endpoint in meant if endpoint.tag == entry]
    pinned = pinned_to(exact[0], endpoints) if len(exact) == 1 and len(meant) == 1 else None
    return pinned or ProviderPreferences(order=[entry], only=[entry], allow_fallbacks=False)


def _pinned(request: ChatRequest, preferences: ProviderPreferences) -> ChatRequest:
    given = {name: getattr(request, name) for name in request.model_fields_set}
    return ChatRequest.model_construct(**{**given, "provider": preferences})


class Comparison:
    """Sends each request once, and tells what comes. Its results stand in ``compared``.

    With ``at_once`` all go out together; else the next one goes when the one before has ended, so
    that they do not share this machine's line.
    """

    def __init__(self, contenders: Sequence[Contender], *, at_once: bool = True) -> None:
        _check_count(len(contenders))
        self.compared = tuple(ContenderResult(contender) for contender in contenders)
        self._at_once = at_once
        self._updates: asyncio.Queue[ComparisonUpdate | None] = asyncio.Queue()

    @property
    def cost(self) -> Decimal | None:
        """The known cost of all together, in USD; None while none is known."""
        told = [one.answer.cost for one in self.compared if one.answer.cost is not None]
        return sum(told, Decimal(0)) if told else None

    async def updates(self, models: Inference) -> AsyncGenerator[ComparisonUpdate, None]:
        """Send them; ends when the last one has. Closing it hangs up on all that are under way."""
        task = asyncio.get_running_loop().create_task(self._run(models), name="comparison")
        try:
            while (update := await self._updates.get()) is not None:
                yield update
            await task
        finally:
            task.cancel()
            await asyncio.wait([task])
            for one in self.compared:
                if not one.over:
                    one.state = "cancelled"

    async def _run(self, models: Inference) -> None:
        places = range(len(self.compared))
        try:
            if self._at_once:
                async with asyncio.TaskGroup() as group:
                    for place in places:
                        group.create_task(self._ask(models, place))
            else:
                for place in places:
                    await self._ask(models, place)
        finally:
            self._updates.put_nowait(None)

    async def _ask(self, models: Inference, place: int) -> None:
        one = self.compared[place]
        one.state = "under way"
        self._tell(place)
        try:
            async with models.stream(one.contender.request) as stream:
                one.answer = stream.answer
                async for event in stream:
                    if isinstance(event, AnswerDelta):
                        self._tell(place, event)
        except GatewayError as error:
            one.error = error
        one.error = one.error or one.answer.error
        one.state = "answered" if one.error is None else "failed"
        self._tell(place)

    def _tell(self, place: int, delta: AnswerDelta | None = None) -> None:
        self._updates.put_nowait(ComparisonUpdate(place, delta))
