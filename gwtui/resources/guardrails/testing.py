"""Run guardrail samples: send each prompt once and compare the outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gwtui.client.errors import GatewayError, StatusError
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import ChatAnswer, Inference
from gwtui.client.refusals import RefusalKind, refusal_kind, refusal_remedy
from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import PipelineStage
from gwtui.domain.guardrail_effect import (
    GUARDRAIL_OUTCOMES,
    GuardrailOutcome,
    actions_of,
    verdict_of,
)
from gwtui.local.guardrail_samples import GuardrailSample
from gwtui.watch.feeds.guardrails import GuardrailRow

SAMPLE_TOKENS = 16
"""Max output tokens of a sample: the verdict is on the prompt, and output only adds cost."""

_STOPS: frozenset[RefusalKind] = frozenset(
    {"key not usable", "credits needed", "not connected", "read-only"}
)
"""Errors that every sample would get: the first one ends the run."""

_WHY = 400
CostCheck = Callable[[ChatRequest], Awaitable[str | None]]
"""Returns why a request exceeds the maximum cost; None if it may be sent."""


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The result of a sample.

    ``got`` is None if the outcome is unknown: another error, not sent, or a gateway that does not
    report its guardrails. ``why`` explains that, or describes what the guardrail did. ``cost`` is
    USD: 0 for a refused request, None if unknown.
    """

    sample: GuardrailSample
    got: GuardrailOutcome | None
    why: str = ""
    cost: Decimal | None = Decimal(0)
    generation_id: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the outcome was the expected one."""
        return self.got == self.sample.expect


async def run_samples(
    models: Inference,
    samples: Iterable[GuardrailSample],
    guardrail_id: str,
    *,
    model: str | None = None,
    check_cost: CostCheck | None = None,
) -> AsyncIterator[SampleResult]:
    """Send each sample once, in order, and yield its result.

    ``model`` is for samples without a model. Raises GatewayError for errors that every sample would
    get.
    """
    for sample in samples:
        yield await _run(models, sample, guardrail_id, sample.model or model or "", check_cost)


def total_cost(results: Sequence[SampleResult]) -> Decimal | None:
    """Return the cost of the run in USD; None if the cost of a sample is unknown."""
    if any(result.cost is None for result in results):
        return None
    return sum((result.cost or Decimal(0) for result in results), Decimal(0))


async def binds_key(gateway: GatewayClient, row: GuardrailRow, hash: str) -> bool:
    """Return whether a guardrail applies to a key, its creator or its workspace.

    False if the gateway refuses to return the key. Raises GatewayError for other failures.
    """
    try:
        key = await gateway.keys.get(hash)
    except StatusError:
        return False
    if row.is_default and row.workspace is not None and key.workspace_id == row.workspace.id:
        return True
    if not row.exists:
        return False
    of_keys = await gateway.guardrails.key_assignments(row.identity)
    if any(item.key_hash == hash for item in of_keys.items):
        return True
    of_members = await gateway.guardrails.member_assignments(row.identity)
    maker = key.creator_user_id
    return maker is not None and any(item.user_id == maker for item in of_members.items)


async def _run(
    models: Inference,
    sample: GuardrailSample,
    guardrail_id: str,
    model: str,
    check_cost: CostCheck | None,
) -> SampleResult:
    request = ChatRequest.model_validate(
        {
            "model": model,
            "messages": [{"role": "user", "content": sample.prompt}],
            "max_tokens": SAMPLE_TOKENS,
        }
    )
    problem = await check_cost(request) if check_cost is not None else None
    if problem is not None:
        return SampleResult(sample, None, f"not sent: {problem}")
    try:
        answer = await models.chat(request)
    except GatewayError as error:
        if refusal_kind(error) in _STOPS:
            raise
        return _refused(sample, error)
    return _served(sample, answer, guardrail_id)


def _refused(sample: GuardrailSample, error: GatewayError) -> SampleResult:
    kind = refusal_kind(error)
    got: GuardrailOutcome | None = None
    if kind == "blocked by a guardrail":
        got = "block"
    elif kind == "no endpoint left":
        got = "no endpoint"
    why = error.message if got else f"{kind}: {error.message}; {refusal_remedy(error)}"
    return SampleResult(sample, got, why, Decimal(0) if error.effect == "none" else None)


def _served(sample: GuardrailSample, answer: ChatAnswer, guardrail_id: str) -> SampleResult:
    verdict = verdict_of(answer.metadata)
    if verdict is None:
        why = "the gateway tells nothing of its guardrails"
        return SampleResult(sample, None, why, answer.cost, answer.generation_id)
    stages = [stage for stage in verdict.stages if _is_of(stage, guardrail_id)]
    actions = [action for stage in stages for action in actions_of(stage)]
    got: GuardrailOutcome = max(actions, key=GUARDRAIL_OUTCOMES.index, default="pass")
    reasons = [stage.summary or stage.name or "" for stage in stages]
    others = len(verdict.stages) - len(stages)
    if others:
        reasons.append(f"{others} step(s) of other guardrails acted, too")
    return SampleResult(
        sample, got, "; ".join(filter(None, reasons)), answer.cost, answer.generation_id
    )


def _is_of(stage: PipelineStage, guardrail_id: str) -> bool:
    # A stage without a guardrail id may belong to this guardrail.
    return stage.guardrail_id is None or stage.guardrail_id.lower() == guardrail_id.lower()
