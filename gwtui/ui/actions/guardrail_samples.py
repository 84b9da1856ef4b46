"""Testing a guardrail with samples: they are kept in a file, and each is a request to a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from gwtui.client.connection import InvalidConnectionError
from gwtui.client.errors import GatewayError, InvalidRequestError
from gwtui.client.inference import Inference
from gwtui.contract.request import Problem
from gwtui.crud.form import Choices, FormSpec
from gwtui.crud.plan import Applied, Outcome, Refused
from gwtui.domain.safe_text import safe_line
from gwtui.lazy_dataclass import dataclass
from gwtui.local.guardrail_samples import (
    GuardrailSample,
    SampleFileError,
    load_samples,
    samples_path,
    save_samples,
)
from gwtui.local.paths import Paths
from gwtui.resources import choices
from gwtui.resources.guardrails.testing import (
    SampleRunForm,
    binds_key,
    run_form,
    run_samples,
    sample_form,
)
from gwtui.resources.guardrails.view import display_name
from gwtui.resources.tries.form import IN_FORM, KeySource, key_sources
from gwtui.resources.tries.plan import CostCap, KeyFacts, TryFacts, key_hash, read_try_facts
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.actions.tries import MOVED, chosen_key
from gwtui.ui.actions.writing import form_context, plain_facts, refresh
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.guardrail_samples import SampleRun, SamplesScreen
from gwtui.watch.feeds.guardrails import GuardrailRow

T = TypeVar("T")
NOT_BOUND = "the key does not fall under this guardrail: nothing will happen"


async def show_samples(context: ActionContext[GuardrailRow]) -> None:
    """The samples that are kept for the selected guardrail."""
    screen = await samples_screen(context)
    if screen is not None and not context.covered:
        await context.app.push_screen_wait(screen)


async def samples_screen(context: ActionContext[GuardrailRow]) -> SamplesScreen | None:
    """The screen of the samples that are kept; None where they cannot be read, which is said."""
    app, row = context.app, context.target
    config = Paths.of_user().config
    path = samples_path(config, app.connection.label, row.identity)
    try:
        samples = await asyncio.to_thread(_load, path)
    except SampleFileError as error:
        app.say(f"The samples could not be read: {safe_line(str(error), 300)}", severity="error")
        return None
    return SamplesScreen(display_name(row), samples, _SamplesOfGuardrail(context, path), app.clock)


def _load(path: Path) -> tuple[GuardrailSample, ...]:
    """Raises SampleFileError; a file that is not there holds none."""
    return load_samples(path) if path.exists() else ()


def _save(path: Path, samples: Sequence[GuardrailSample]) -> None:
    """Raises SampleFileError. A file holds some sample: for none there is no file."""
    if samples:
        save_samples(path, samples)
        return
    with suppress(FileNotFoundError):
        path.unlink()


@dataclass(frozen=True, slots=True)
class _SamplesOfGuardrail:
    """Keeps and runs the samples of one guardrail for their screen."""

    context: ActionContext[GuardrailRow]
    path: Path

    async def edit(
        self, sample: GuardrailSample | None, all: Sequence[GuardrailSample]
    ) -> Sequence[GuardrailSample] | None:
        """A form; what was filled in is in the file when it closes."""
        others = [one.name for one in all if one is not sample]
        spec = sample_form(sample, self._models(), others)

        async def submit(given: GuardrailSample) -> Outcome[Sequence[GuardrailSample]]:
            kept = [given if one is sample else one for one in all]
            return await self._keep(kept if sample is not None else [*kept, given])

        return await self._filled(spec, submit)

    async def delete(
        self, sample: GuardrailSample, all: Sequence[GuardrailSample]
    ) -> Sequence[GuardrailSample] | None:
        """After a question."""
        app = self.context.app
        agreed = await app.push_screen_wait(
            AskScreen(
                f"Delete the sample “{safe_line(sample.name, 60)}”?",
                "It is only kept on this machine.",
                safe="Keep it",
                deliberate="Delete",
            )
        )
        if not agreed:
            return None
        outcome = await self._keep([one for one in all if one is not sample])
        match outcome:
            case Applied(left):
                return left
            case Refused(error):
                app.say(f"The sample was not deleted: {error.message}", severity="error")
        return None

    async def prepare(self, all: Sequence[GuardrailSample]) -> SampleRun | None:
        """A form that asks for the key; nothing is sent yet."""
        app = self.context.app
        session = app.session
        if session is None:
            return None
        sealed = await asyncio.to_thread(session.sealed.find, shown_elsewhere=True)
        sources = key_sources(app.tries, sealed.keys)
        model = next(iter(self.context.target.guardrail.allowed_models or ()), None)
        begun = model or app.tries.draft.get("model")
        spec = run_form(sources, self._models(), {"model": begun} if begun else {}, all)

        async def submit(given: SampleRunForm) -> Outcome[SampleRun]:
            return await self._ready(given, all, sources)

        return await self._filled(spec, submit)

    async def _ready(
        self,
        given: SampleRunForm,
        all: Sequence[GuardrailSample],
        sources: Sequence[KeySource],
    ) -> Outcome[SampleRun]:
        app, row = self.context.app, self.context.target
        key = chosen_key(app, sources, given.key_from, given.key)
        try:
            models = Inference(app.connection, key, allow_tries=app.tries.allowed, clock=app.clock)
            bound = await binds_key(app.gateway, row, key_hash(key))
        except InvalidConnectionError as error:
            return Refused(InvalidRequestError([Problem("key", str(error))]))
        except GatewayError as error:
            return Refused(error)
        check = _cap(app, given.max_cost)
        results = run_samples(models, all, row.identity, model=given.model, check_cost=check)
        return Applied(SampleRun(models, results, () if bound else (NOT_BOUND,), self._moved))

    async def _moved(self) -> None:
        await refresh(self.context, *MOVED)

    async def _keep(self, samples: Sequence[GuardrailSample]) -> Outcome[Sequence[GuardrailSample]]:
        try:
            await asyncio.to_thread(_save, self.path, samples)
        except (SampleFileError, OSError) as error:
            return Refused(GatewayError(safe_line(str(error), 300)))
        return Applied(samples)

    async def _filled(self, spec: FormSpec, submit: Submit[T]) -> T | None:
        form: FormScreen[T] = FormScreen(spec, plain_facts(self.context), submit)
        match await self.context.app.push_screen_wait(form):
            case Applied(value):
                return value
        return None

    def _models(self) -> Choices:
        return choices.models(form_context(self.context), giving="text")


def _cap(app: DashboardApp, max_cost: Decimal | None) -> CostCap:
    """The maximum cost of each sample."""

    async def read(models: Sequence[str]) -> TryFacts:
        return await read_try_facts(app.gateway, models, KeyFacts(), app.connection.dialect)

    def unknown(facts: TryFacts) -> str:
        return f"the catalog has no model {safe_line(facts.unknown[0], 80)}"

    return CostCap(read, max_cost, app.clock, IN_FORM, unknown)


HANDLERS: Mapping[str, Handler] = {"guardrails.samples": show_samples}
