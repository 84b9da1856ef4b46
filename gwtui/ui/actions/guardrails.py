"""Actions on guardrails: making one, changing one, what remains under one, testing with samples.

The default guardrail of a workspace is listed before it is made: its first change makes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from textual import work
from textual.binding import Binding, BindingType

from gwtui.client.connection import InvalidConnectionError
from gwtui.client.errors import GatewayError, InvalidRequestError
from gwtui.client.inference import Inference
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.request import Problem
from gwtui.crud.form import Choices, Facts, FormSpec
from gwtui.crud.plan import Applied, Outcome, Refused
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.domain.safe_text import safe_line
from gwtui.local.guardrail_samples import (
    GuardrailSample,
    SampleFileError,
    load_samples,
    samples_path,
    save_samples,
)
from gwtui.local.paths import Paths
from gwtui.resources import choices
from gwtui.resources.choices import value_soon
from gwtui.resources.guardrails.effect import NamedRestrictions
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
from gwtui.ui.actions import bulk, crud
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.actions.links import say_not_made
from gwtui.ui.actions.tries import MOVED, chosen_key
from gwtui.ui.actions.writing import covered, form_context, plain_facts, refresh
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.guardrail_samples import SampleRun, SamplesScreen
from gwtui.ui.screens.remaining import RemainingScreen
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed

T = TypeVar("T")
NOT_BOUND = "the key does not fall under this guardrail: nothing will happen"


class GuardrailFormScreen(FormScreen[Guardrail]):
    """F2 applies what was typed so far to the catalog; nothing is sent for that.

    F3 opens the samples of a guardrail that exists: they meet the rules that the gateway has.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "remaining", show=False),
        Binding("f3", "samples", show=False),
    ]

    def __init__(
        self,
        spec: FormSpec,
        facts: Facts,
        submit: Submit[Guardrail],
        context: ActionContext,
        *,
        stored: bool,
    ) -> None:
        """``stored`` says that the form changes the guardrail that ``context`` is about."""
        super().__init__(spec, facts, submit)
        self._at_press = context
        self._stored = stored

    def action_remaining(self) -> None:
        """Show which endpoints remain under the rules as they are typed."""
        app = self._at_press.app
        rules = restrictions_of(self.state.values())
        named = NamedRestrictions("the rules of this form", rules)
        self.app.push_screen(RemainingScreen(app.hub, app.clock, app.connection.dialect, named))

    @work(group=OPENING, exclusive=True)
    async def action_samples(self) -> None:
        """Test the guardrail as it is stored."""
        app, row = self._at_press.app, self._at_press.target
        if not self._stored or not isinstance(row, GuardrailRow) or not row.made:
            app.say("Create the guardrail first: samples meet the rules that the gateway has.")
            return
        screen = await samples_screen(self._at_press)
        if screen is None:
            return
        if self.state.changed:
            app.say("Samples meet the rules that are stored, not what is typed here.")
        await self.app.push_screen_wait(screen)


def _form(
    context: ActionContext, spec: FormSpec, facts: Facts, submit: Submit[Any], *, stored: bool
) -> GuardrailFormScreen:
    return GuardrailFormScreen(spec, facts, submit, context, stored=stored)


async def delete(context: ActionContext[GuardrailRow]) -> None:
    """Delete a guardrail for good, after a confirmation that names what loses its protection."""
    if context.marked:
        await bulk.delete(context, lambda row: "" if row.made else "not made yet")
        return
    if crud.selected(context) is None:
        return
    if context.target.made:
        await crud.delete(context)
    else:
        say_not_made(context)


async def show_remaining(context: ActionContext[GuardrailRow]) -> None:
    """What the selected guardrail leaves, together with the default one of its workspace."""
    app = context.app
    row = context.target
    bindings = await value_soon(bindings_feed(app.hub)) or Bindings()
    if covered(context):
        return
    default = None
    for other in (bindings.guardrails or {}).values():
        same_place = other.guardrail.workspace_id == row.guardrail.workspace_id
        if other.is_default and other.made and same_place and other.identity != row.identity:
            default = _named(other)
    await app.push_screen_wait(
        RemainingScreen(app.hub, app.clock, app.connection.dialect, _named(row), default=default)
    )


def _named(row: GuardrailRow) -> NamedRestrictions:
    return NamedRestrictions(display_name(row), restrictions_of(row.guardrail))


async def show_samples(context: ActionContext[GuardrailRow]) -> None:
    """The samples that are kept for the selected guardrail."""
    screen = await samples_screen(context)
    if screen is not None and not covered(context):
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


HANDLERS: Mapping[str, Handler] = {
    "guardrails.create": partial(crud.create, make_form=partial(_form, stored=False)),
    "guardrails.edit": partial(crud.edit, make_form=partial(_form, stored=True)),
    "guardrails.delete": delete,
    "guardrails.remaining": show_remaining,
    "guardrails.samples": show_samples,
}
