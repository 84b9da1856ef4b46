"""Samples of a guardrail: running them, their table, and the forms of a sample and of a run.

A sample is a prompt with what should happen to it; a run sends each once and compares.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import Field

from gwtui.client.chat_stream import ChatAnswer
from gwtui.client.errors import GatewayError, StatusError
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import Inference
from gwtui.client.refusals import RefusalKind, refusal_kind, refusal_remedy
from gwtui.contract.chat import ChatRequest, Text
from gwtui.contract.completion import PipelineStage
from gwtui.contract.request import Problem, RequestModel, SecretText
from gwtui.contract.scalars import Usd
from gwtui.crud import cells
from gwtui.crud.columns import text_column
from gwtui.crud.form import Choices, FormField, FormSpec, ModelField, TextAreaField
from gwtui.crud.resource import Cell, Column, SortValue, Tone
from gwtui.domain.guardrail_verdict import (
    GUARDRAIL_OUTCOMES,
    GuardrailOutcome,
    actions_of,
    verdict_of,
)
from gwtui.domain.money import usd
from gwtui.domain.safe_text import safe_line
from gwtui.lazy_dataclass import dataclass
from gwtui.local.guardrail_samples import GuardrailSample
from gwtui.resources.tries.form import TYPED, KeySource, TriedKey, key_fields, missing_key_problems
from gwtui.resources.tries.plan import DEFAULT_MAX_COST
from gwtui.watch.feeds.guardrails import GuardrailRow

SAMPLE_TOKENS = 16
"""Tokens of answer that a sample asks for: the verdict is on the prompt, the answer only costs."""

_STOPS: frozenset[RefusalKind] = frozenset(
    {"key not usable", "credits needed", "not connected", "read-only"}
)
"""Refusals that all samples would meet: the first one ends the run."""

_WHY = 400
CostCheck = Callable[[ChatRequest], Awaitable[str | None]]
"""Why a request may not be sent, None when it may: the maximum cost of a try."""


class NoModelError(Exception):
    """A sample names no model, and none is given for all."""


@dataclass(frozen=True, slots=True)
class SampleResult:
    """What became of a sample.

    ``got`` is None when that is not known: it failed for another reason, was not sent, or the
    service tells nothing of its guardrails; ``why`` says so, or what the guardrail did. ``cost`` is
    USD, 0 for what was refused, None when it is not known.
    """

    sample: GuardrailSample
    got: GuardrailOutcome | None
    why: str = ""
    cost: Decimal | None = Decimal(0)
    generation_id: str | None = None

    @property
    def passed(self) -> bool:
        """Whether what should happen did."""
        return self.got == self.sample.expect


async def run_samples(
    models: Inference,
    samples: Iterable[GuardrailSample],
    guardrail_id: str,
    *,
    model: str | None = None,
    check_cost: CostCheck | None = None,
) -> AsyncIterator[SampleResult]:
    """Send each sample once, one after the other, and tell what became of it.

    ``model`` is for samples that name none. Raises GatewayError for what all of them would meet,
    and NoModelError, before anything is sent, when a sample has no model.
    """
    listed = list(samples)
    nameless = next((one.name for one in listed if not (one.model or model)), None)
    if nameless is not None:
        raise NoModelError(f"the sample {nameless} names no model, and none is given for all")
    for sample in listed:
        yield await _run(models, sample, guardrail_id, sample.model or model or "", check_cost)


def total_cost(results: Sequence[SampleResult]) -> Decimal | None:
    """What the run cost in USD; None when a part of it is not known."""
    if any(result.cost is None for result in results):
        return None
    return sum((result.cost or Decimal(0) for result in results), Decimal(0))


async def binds_key(gateway: GatewayClient, row: GuardrailRow, hash: str) -> bool:
    """Whether the guardrail holds for the key: its own, its maker's, or its workspace's."""
    try:
        key = await gateway.keys.get(hash)
    except StatusError:
        return False
    if row.is_default and row.workspace is not None and key.workspace_id == row.workspace.id:
        return True
    if not row.made:
        return False
    of_keys = await gateway.guardrails.key_assignments(row.identity)
    if any(one.key_hash == hash for one in of_keys.items):
        return True
    of_members = await gateway.guardrails.member_assignments(row.identity)
    maker = key.creator_user_id
    return maker is not None and any(one.user_id == maker for one in of_members.items)


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
    own = [stage for stage in verdict.stages if _is_of(stage, guardrail_id)]
    found = [action for stage in own for action in actions_of(stage)]
    got: GuardrailOutcome = max(found, key=GUARDRAIL_OUTCOMES.index, default="pass")
    told = [stage.summary or stage.name or "" for stage in own]
    others = len(verdict.stages) - len(own)
    if others:
        told.append(f"{others} step(s) of other guardrails acted, too")
    return SampleResult(
        sample, got, "; ".join(filter(None, told)), answer.cost, answer.generation_id
    )


def _is_of(stage: PipelineStage, guardrail_id: str) -> bool:
    """A stage that names no guardrail may be of this one."""
    return stage.guardrail_id is None or stage.guardrail_id.lower() == guardrail_id.lower()


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample and what became of it; ``running`` while its request is under way."""

    sample: GuardrailSample
    result: SampleResult | None = None
    running: bool = False

    @property
    def got(self) -> Cell:
        """What happened, in the words of what should."""
        if self.running:
            return Cell("…", "accent")
        if self.result is None:
            return Cell("not run", "muted")
        if self.result.got is None:
            return Cell("unknown", "warn")
        sign = "✓" if self.result.passed else "✗"
        return Cell(f"{sign} {self.result.got}", "good" if self.result.passed else "bad")

    @property
    def why(self) -> str:
        """What the guardrail did, or why that is not known."""
        return "" if self.result is None else safe_line(self.result.why, _WHY)


def _got(row: SampleRow, _now: datetime) -> Cell:
    return row.got


def _order(row: SampleRow, _now: datetime) -> SortValue:
    return row.got.text


def _cost(row: SampleRow, _now: datetime) -> Cell:
    return cells.NOTHING if row.result is None else cells.usd(row.result.cost)


def _cost_order(row: SampleRow, _now: datetime) -> SortValue:
    return None if row.result is None else row.result.cost


SAMPLE_COLUMNS: tuple[Column[SampleRow], ...] = (
    text_column("name", "Sample", lambda row: row.sample.name, 24, 0, help="what it shows"),
    text_column("expect", "Expected", lambda row: row.sample.expect, 11, 1, help="what should be"),
    Column("got", "Got", _got, _order, 13, 2, help="what happened; ✗ where it differs"),
    Column("cost", "Cost", _cost, _cost_order, 11, 4, help="USD"),
    text_column("why", "Why", lambda row: row.why or None, 30, 3, help="what was done"),
)


def sample_form(sample: GuardrailSample | None, models: Choices, taken: Sequence[str]) -> FormSpec:
    """The form of a sample, None for a new one; ``taken`` are the names of the others."""

    def check(request: GuardrailSample) -> Sequence[Problem]:
        return [Problem("name", "another sample is called so")] if request.name in taken else ()

    initial: Mapping[str, Any] = (
        {"expect": "block"}
        if sample is None
        else {name: getattr(sample, name) for name in GuardrailSample.model_fields}
    )
    return FormSpec(
        title="New sample" if sample is None else "Sample",
        model=GuardrailSample,
        fields=(
            FormField("name", "Name", "text"),
            TextAreaField("prompt", "Prompt", placeholder="it is kept in a file on this machine"),
            FormField("expect", "Should", "choice"),
            ModelField("model", "Model", choices=models, placeholder="that of the run"),
        ),
        submit="Save sample",
        initial=initial,
        check=check,
    )


class SampleRunForm(RequestModel):
    """With which key samples are run, and at which model."""

    model: Text | None = Field(None, description="author/slug, for samples that name none")
    key_from: str = Field(TYPED, description="the key that the requests are sent with")
    key: SecretText | None = Field(None, description="an inference key, for this run only")
    max_cost: Usd | None = Field(
        None,
        description="of each sample; what may cost more is not sent",
        json_schema_extra={"x-unit": "USD"},
    )


def run_form(
    sources: Sequence[KeySource],
    models: Choices,
    initial: Mapping[str, Any],
    samples: Sequence[GuardrailSample],
    preselected: TriedKey | None = None,
) -> FormSpec:
    """The form of a run of these samples."""
    nameless = sum(sample.model is None for sample in samples)

    def check(request: SampleRunForm) -> Sequence[Problem]:
        found = missing_key_problems(sources, request.key_from, request.key)
        if nameless and request.model is None:
            found.append(Problem("model", f"{nameless} samples name no model: say which"))
        return found

    return FormSpec(
        title=f"Run {len(samples)} samples",
        model=SampleRunForm,
        fields=(
            ModelField("model", "Model", choices=models, placeholder="{form.choices} lists them"),
            *key_fields(sources, preselected),
            FormField("max_cost", "Maximum cost", "usd"),
        ),
        submit="Run them",
        initial={"key_from": sources[0].id, "max_cost": DEFAULT_MAX_COST, **initial},
        check=check,
    )


def run_summary(rows: Sequence[SampleRow]) -> Cell:
    """How many were run, how many differ, and what that cost."""
    results = [row.result for row in rows if row.result is not None]
    running = any(row.running for row in rows)
    if not results and not running:
        return Cell(
            f"{len(rows)} {'sample' if len(rows) == 1 else 'samples'}, not run yet", "muted"
        )
    differ = sum(not result.passed for result in results)
    cost = total_cost(results)
    words = "all as expected" if not differ else "1 differs" if differ == 1 else f"{differ} differ"
    told = "what it cost is not wholly known" if cost is None else f"it cost {usd(cost)}"
    if running:
        return Cell(f"Sample {len(results) + 1} of {len(rows)} · {words} so far · {told}", "accent")
    tone: Tone = "bad" if differ else "good"
    return Cell(f"{len(results)} of {len(rows)} run: {words} · {told}", tone)
