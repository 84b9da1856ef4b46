"""The outcome of a test request in the dashboard: a headline, and figures in sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.client.errors import GatewayError
from gwtui.client.inference import ChatAnswer
from gwtui.client.refusals import (
    RefusalKind,
    refusal_details,
    refusal_kind,
    refusal_remedy,
)
from gwtui.contract.completion import PipelineStage
from gwtui.contract.keys import CurrentKey
from gwtui.contract.models import Endpoint
from gwtui.crud import cells
from gwtui.crud.resource import Cell, DetailRow, Section, Tone
from gwtui.domain.guardrail_effect import actions_of, verdict_of
from gwtui.domain.money import grouped, usd
from gwtui.domain.pricing import RequestCost
from gwtui.domain.routing import RouteAttempt
from gwtui.domain.safe_text import safe_line
from gwtui.resources.guardrails.effect import endpoint_title
from gwtui.resources.tries.plan import TryFacts, TryPlan, exclusion_reasons, expected_chat_cost

_MESSAGE = 400
_NAME = 60
_PLACES = 5
"""Decimals of a remaining limit, because one request costs less than a cent."""
_TONES: Mapping[str, Tone] = {
    "pass": "good",
    "flag": "accent",
    "redact": "warn",
    "block": "warn",
    "no endpoint": "warn",
}
_ON_SCREEN: Mapping[RefusalKind, str] = {
    "no endpoint left": "the reasons stand under Endpoints: choose another model or provider, or "
    "change the guardrail",
    "key limit used up": "raise the key's limit, or wait for its reset, if any",
    "budget used up": "raise the budget, or wait until it resets",
    "credits needed": "buy credits, or ask for fewer tokens",
    "unknown model": "check its name: the form lists the models",
    "wrong operation": "choose a model that answers in text: the form lists them",
    "provider failed": "try again, or choose another provider",
    "read-only": "nothing was sent; gwtui --allow-tries sends it anyway; it costs money",
}
"""Remedies whose default text names command-line options."""


@dataclass(frozen=True, slots=True)
class TryOutcome:
    """The outcome of a test request.

    ``expected`` is the cost at catalog prices, None if unknown. ``error`` is why the request was
    refused or interrupted; ``cancelled`` is True if the user stopped it. ``key`` has what is left
    of the key's limit; it is read after the answer, None until then.
    """

    plan: TryPlan
    answer: ChatAnswer
    expected: RequestCost | None = None
    error: GatewayError | None = None
    cancelled: bool = False
    key: CurrentKey | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Guardrail id -> name, for the known ones."""

    @property
    def blocked(self) -> bool:
        """Whether a guardrail blocked the request."""
        return self.error is not None and refusal_kind(self.error) == "blocked by a guardrail"

    @property
    def cost(self) -> Decimal | None:
        """The cost in USD, as reported by the service; None if unknown."""
        if self.answer.cost is not None:
            return self.answer.cost
        refused = self.error is not None and self.error.effect == "none"
        return Decimal(0) if refused and not self.answer.text else None


def answered_outcome(
    plan: TryPlan, answer: ChatAnswer, facts: TryFacts, moment: datetime
) -> TryOutcome:
    """Return the outcome of a request with a complete or partial answer."""
    names = {
        guardrail.id: guardrail.name
        for guardrail in facts.key.bound
        if guardrail.id and guardrail.name
    }
    expected = expected_chat_cost(facts, answer, moment)
    return TryOutcome(plan, answer, expected, answer.error, names=names)


def headline(tried: TryOutcome) -> Cell:
    """Return the outcome in one sentence."""
    if tried.cancelled:
        return Cell(f"Cancelled: the connection is closed. {_cancelled_cost(tried)}", "warn")
    if tried.error is not None:
        return _failure(tried, tried.error)
    if tried.answer.refusal:
        return Cell("The model refused to answer", "warn")
    full = tried.answer.finish_reason == "length"
    return Cell("✓ Answered, up to the maximum of tokens" if full else "✓ Answered", "good")


def _failure(tried: TryOutcome, error: GatewayError) -> Cell:
    if tried.blocked:
        return Cell("✓ Blocked by the guardrail; nothing was sent to a model", "good")
    if tried.answer.text or tried.answer.reasoning:
        return Cell(f"✗ The answer broke off: {_message(error)}", "bad")
    sent = "nothing was sent to a model" if error.effect == "none" else "it may be billed"
    return Cell(f"✗ {refusal_kind(error).capitalize()}: {sent}", "bad")


def refusal_lines(error: GatewayError) -> Iterator[Cell]:
    """Yield why the request was refused, further details of the gateway, and the remedy."""
    yield Cell(_message(error))
    for detail in refusal_details(error):
        yield Cell(safe_line(detail, _MESSAGE), "muted")
    if error.request_id:
        yield Cell(f"request {safe_line(error.request_id, _NAME)}", "muted")
    yield Cell(f"What to do: {_remedy(error)}", "accent")


def _remedy(error: GatewayError) -> str:
    kind = refusal_kind(error)
    if kind == "blocked by a guardrail":
        return "edit the guardrail's filters if this prompt should pass"
    return _ON_SCREEN.get(kind) or safe_line(refusal_remedy(error), _MESSAGE)


def _message(error: GatewayError) -> str:
    return safe_line(error.message, _MESSAGE)


def _cancelled_cost(tried: TryOutcome) -> str:
    most = tried.plan.most_cost
    bound = f", up to {usd(most)}" if most is not None else ""
    return f"Tokens produced until then may be billed{bound}."


# Figures ------------------------------------------------------------------------------------------


def _figures(tried: TryOutcome, _now: datetime) -> Sequence[DetailRow]:
    answer = tried.answer
    figures = [
        DetailRow("generation", cells.text(tried.answer.generation_id)),
        DetailRow("first token", cells.milliseconds_or_seconds(answer.first_token_ms)),
        DetailRow("whole answer", cells.milliseconds_or_seconds(answer.elapsed_ms)),
        DetailRow("speed", _speed(answer)),
        DetailRow("tokens", _tokens(answer)),
        DetailRow("cost", cells.usd(tried.cost), _rule(tried)),
        DetailRow("estimated maximum", cells.usd(tried.plan.most_cost)),
        DetailRow("limit remaining", *_left(tried.key)),
        DetailRow("finished", cells.text(answer.finish_reason)),
    ]
    never = tried.error is not None and tried.error.effect == "none"
    rows = [row for row in figures if not (never and row.value == cells.NOTHING)]
    if answer.unreadable:
        note = "could not be read: the response may lack them"
        rows.append(DetailRow("pieces", Cell(grouped(answer.unreadable), "warn"), note))
    rows += [
        DetailRow("calls", Cell(safe_line(f"{call.name}({call.arguments})", _MESSAGE)))
        for call in answer.tools
    ]
    return rows


def _rule(tried: TryOutcome) -> str:
    expected, usage = tried.expected, tried.answer.usage
    if usage is not None and usage.is_byok:
        details = usage.cost_details
        price = None if details is None else details.upstream_inference_cost
        return f"BYOK: the provider charges the owner of the credential {usd(price)}"
    if expected is None or expected.cost is None:
        return "" if usage is None else "the rule is not known"
    rule = safe_line(expected.rule, _MESSAGE)
    if tried.cost is not None and tried.cost != expected.cost:
        return f"the prices give {usd(expected.cost)}: {rule}"
    return rule


def _left(key: CurrentKey | None) -> tuple[Cell, str]:
    if key is None:
        return cells.NOTHING, ""
    if key.sent_null("limit"):
        return Cell("no limit on this key", "muted"), ""
    of = "" if key.limit is None else f"of {usd(key.limit)}"
    left = usd(key.limit_remaining, places=_PLACES)
    return Cell(left), f"{of} {safe_line(key.limit_reset or '', 20)}".strip()


def _speed(answer: ChatAnswer) -> Cell:
    speed = answer.tokens_per_second
    return cells.NOTHING if speed is None else Cell(f"{speed:,.0f} tokens/s")


def _tokens(answer: ChatAnswer) -> Cell:
    usage = answer.usage
    if usage is None:
        return cells.NOTHING
    return Cell(
        f"{grouped(usage.prompt_tokens)} prompt + {grouped(usage.completion_tokens)} answer"
    )


# Guardrails ---------------------------------------------------------------------------------------


def _guardrails(tried: TryOutcome, _now: datetime) -> Sequence[DetailRow]:
    if tried.blocked:
        return [DetailRow("verdict", Cell("block", "good"), "by a guardrail of the key")]
    verdict = verdict_of(tried.answer.metadata)
    if verdict is None:
        return []
    rows = [DetailRow("verdict", Cell(verdict.outcome, _TONES[verdict.outcome]))]
    for stage in verdict.stages:
        did = stage.summary or " and ".join(actions_of(stage)) or "nothing"
        labels = ", ".join(safe_line(label, _NAME) for label in _labels(stage))
        note = f"replaced by {labels}" if labels else ""
        rows.append(DetailRow(_stage(stage, tried), Cell(safe_line(did, _MESSAGE)), note))
    return rows


def _stage(stage: PipelineStage, tried: TryOutcome) -> str:
    name = tried.names.get(stage.guardrail_id or "")
    return safe_line(name or stage.guardrail_id or stage.name or "a step", _NAME)


def _labels(stage: PipelineStage) -> list[str]:
    return list(_found_labels(stage.data, 8))


def _found_labels(value: Any, depth: int) -> Iterator[str]:
    if depth and isinstance(value, Mapping):
        label = value.get("label")
        if isinstance(label, str) and label:
            yield label
        for part in value.values():
            yield from _found_labels(part, depth - 1)
    elif depth and isinstance(value, list):
        for part in value:
            yield from _found_labels(part, depth - 1)


# Endpoints ----------------------------------------------------------------------------------------


def _endpoints(tried: TryOutcome, _now: datetime) -> Sequence[DetailRow]:
    plan, provider, failed = tried.plan, tried.answer.provider, _failed(tried)
    attempts = [planned.attempt for planned in plan.order]
    served = next(
        (attempt for attempt in attempts if provider == attempt.endpoint.provider_name), None
    )
    rows = [_served(served, provider)] if provider else []
    others = {id(attempt.endpoint): attempt.endpoint for attempt in attempts}
    if served is not None and provider:
        del others[id(served.endpoint)]
    for endpoint in others.values():
        if status := failed.get(endpoint.provider_name):
            rows.append(_row("✗", endpoint, Cell(f"was asked, answered {status}", "bad")))
        else:
            rows.append(_row("·", endpoint, Cell("not needed" if provider else "eligible")))
    rows += [
        _row("✗", out.endpoint, Cell(", ".join(exclusion_reasons(out)))) for out in plan.excluded
    ]
    rows += [
        DetailRow("not known", Cell(safe_line(gap, _MESSAGE), "warn")) for gap in plan.not_read
    ]
    return rows


def _served(attempt: RouteAttempt | None, provider: str) -> DetailRow:
    if attempt is None:
        name = f"✓ {safe_line(provider, _NAME)}"
        return DetailRow(name, Cell("served it, which the plan did not see", "warn"))
    note = ""
    if attempt.credential is not None:
        credential = attempt.credential
        note = f"with credential “{safe_line(credential.name or credential.id, _NAME)}”"
    return _row("✓", attempt.endpoint, Cell("served it", "good"), note)


def _row(sign: str, endpoint: Endpoint, value: Cell, note: str = "") -> DetailRow:
    return DetailRow(f"{sign} {endpoint_title(endpoint)}", value, note)


def _failed(tried: TryOutcome) -> Mapping[str | None, str]:
    metadata = tried.answer.metadata
    return {
        attempt.provider: str(attempt.status)
        for attempt in (metadata.attempts if metadata is not None else None) or ()
        if attempt.status is not None and attempt.status >= 400  # noqa: PLR2004 - statuses of errors
    }


SECTIONS: Sequence[Section[TryOutcome]] = (
    Section("Cost and time", _figures),
    Section("Guardrails", _guardrails),
    Section("Endpoints", _endpoints),
)


def plan_summary(plan: TryPlan) -> str:
    """Return the number of eligible endpoints and the worst-case cost, before sending."""
    left = len({id(planned.attempt.endpoint) for planned in plan.order})
    return f"{left} of {plan.endpoint_count} endpoints left · at most {usd(plan.most_cost)}"
