"""A guardrail's samples in the dashboard: their table, the forms of one sample and of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field

from gwtui.contract.chat import Text
from gwtui.contract.request import Problem, RequestModel, SecretText
from gwtui.contract.scalars import Usd
from gwtui.crud import cells
from gwtui.crud.columns import text_column
from gwtui.crud.form import Choices, FormField, FormSpec, ModelField, TextAreaField
from gwtui.crud.resource import Cell, Column, SortValue, Tone
from gwtui.domain.money import usd
from gwtui.domain.safe_text import safe_line
from gwtui.local.guardrail_samples import GuardrailSample
from gwtui.resources.guardrails.testing import SampleResult, total_cost
from gwtui.resources.tries.form import TriedKey, key_fields, lacking_key
from gwtui.resources.tries.keys import TYPED, KeySource
from gwtui.resources.tries.plan import DEFAULT_MAX_COST

_WHY = 400


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
    wanted: TriedKey | None = None,
) -> FormSpec:
    """The form of a run of these samples."""
    nameless = sum(sample.model is None for sample in samples)

    def check(request: SampleRunForm) -> Sequence[Problem]:
        found = lacking_key(sources, request.key_from, request.key)
        if nameless and request.model is None:
            found.append(Problem("model", f"{nameless} samples name no model: say which"))
        return found

    return FormSpec(
        title=f"Run {len(samples)} samples",
        model=SampleRunForm,
        fields=(
            ModelField("model", "Model", choices=models, placeholder="{form.choices} lists them"),
            *key_fields(sources, wanted),
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
