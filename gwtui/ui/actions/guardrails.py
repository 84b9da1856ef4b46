"""What the actions on guardrails do: plan, confirm, carry out, tell, and keep the selection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from gwtui.client.errors import NotFoundError
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import CreateGuardrailRequest, Guardrail, UpdateGuardrailRequest
from gwtui.contract.models import Model, Provider
from gwtui.crud.form import Facts, FormSpec, PickOption
from gwtui.crud.plan import Applied, Outcome, Plan
from gwtui.domain.clock import Clock
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.domain.safe_text import safe_line
from gwtui.resources.choices import value_now, value_soon
from gwtui.resources.guardrails.effect import LiveEffect, NamedRestrictions, catalog_feed
from gwtui.resources.guardrails.fields import in_words, known_values, labels
from gwtui.resources.guardrails.form import GuardrailSources, create_form, edit_form
from gwtui.resources.guardrails.plans import (
    BoundBy,
    plan_create,
    plan_delete,
    plan_first_update,
    plan_update,
)
from gwtui.resources.guardrails.view import display_name, shown_name
from gwtui.resources.models.providers import providers_feed
from gwtui.resources.models.resource import models_feed
from gwtui.resources.uses import guardrail_bindings, people_names
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.editing import Editing
from gwtui.ui.actions.guardrail_links import say_not_made
from gwtui.ui.actions.writing import (
    confirm_and_tell,
    covered,
    execute,
    read_again,
    refresh,
    say_done,
    select,
    submitted,
    workspace_facts,
)
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.screens.remaining import RemainingScreen
from gwtui.watch.feeds.guardrails import FEEDS, Bindings, GuardrailRow, bindings_feed
from gwtui.watch.hub import FeedHub

_TITLE = 60


def sources(context: ActionContext, present: Iterable[str] = ()) -> GuardrailSources:
    """Where the form finds models, providers and the catalog; ``present`` are entries it holds."""
    app = context.app
    present = frozenset(present)
    catalog = catalog_feed(app.hub)

    async def models() -> Sequence[PickOption]:
        return model_options(await value_now(models_feed(app.hub, app.scope)), present)

    async def providers() -> Sequence[PickOption]:
        return provider_options(await value_now(providers_feed(app.hub, app.scope)))

    dialect = app.connection.dialect
    return GuardrailSources(
        dialect, models, providers, LiveEffect(lambda: catalog.state.value, dialect)
    )


def model_options(models: Sequence[Model], present: frozenset[str]) -> list[PickOption]:
    """One option for each model with its variants: the slug that they share.

    The gateway answers with that slug whatever was sent. An entry that names a model by another
    identifier keeps its own option, so that it does not look unknown.
    """
    options: dict[str, PickOption] = {}
    for model in models:
        shared = model.canonical_slug or model.id
        title = safe_line(model.name or model.id or "", _TITLE)
        if shared:
            options.setdefault(shared, PickOption(shared, title, safe_line(model.id or "", _TITLE)))
        if model.id in present and model.id:
            note = f"{safe_line(model.id, _TITLE)}, by its identifier"
            options.setdefault(model.id, PickOption(model.id, title, note))
    return sorted(options.values(), key=lambda option: option.title.casefold())


def provider_options(providers: Sequence[Provider]) -> list[PickOption]:
    """One option for each provider, by its slug."""
    return [
        PickOption(one.slug, safe_line(one.name or one.slug, _TITLE), safe_line(one.slug, _TITLE))
        for one in sorted(providers, key=lambda one: (one.name or "").casefold())
        if one.slug
    ]


class GuardrailFormScreen(FormScreen[Guardrail]):
    """F2 applies what was typed so far to the catalog; nothing is sent for that."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f2", "remaining", show=False)]

    def __init__(
        self,
        spec: FormSpec,
        facts: Facts,
        submit: Submit[Guardrail],
        *,
        hub: FeedHub,
        clock: Clock,
        dialect: Dialect,
    ) -> None:
        super().__init__(spec, facts, submit)
        self._hub = hub
        self._clock = clock
        self._dialect = dialect

    def action_remaining(self) -> None:
        """Show which endpoints remain under the rules as they are typed."""
        rules = restrictions_of(self.state.values())
        named = NamedRestrictions("the rules of this form", rules)
        self.app.push_screen(RemainingScreen(self._hub, self._clock, self._dialect, named))


TOUCHED = (FEEDS, "workspaces")
"""The feeds that a write to a guardrail makes out of date begin so."""


async def create(context: ActionContext) -> None:
    """A form, one request, the new row selected."""
    app = context.app
    facts = await workspace_facts(context)
    if covered(context):
        return
    dialect = app.connection.dialect

    async def submit(wish: CreateGuardrailRequest) -> Outcome[Guardrail] | None:
        plan = plan_create(wish, dialect, app.clock.now(), facts.workspaces)
        consent = await submitted(context, plan, "Create it")
        return None if consent is None else await execute(context, consent)

    spec = create_form(app.scope.workspace, sources(context))
    match await app.push_screen_wait(_form(context, spec, facts, submit)):
        case Applied(made):
            name = safe_line(made.name or made.id or "", 60)
            say_done(context, f"Guardrail “{name}” created; a assigns it to keys")
            if made.id:
                select(context, made.id)
        case None:
            return
    await refresh(context, *TOUCHED)


async def edit(context: ActionContext[GuardrailRow]) -> None:
    """A form filled from the row; on submit the guardrail is read again before anything is sent."""
    app = context.app
    row = _row(context)
    if row is None:
        return
    facts = await workspace_facts(context)
    if covered(context):
        return
    editing = _Edit(context, row)
    spec = edit_form(row, sources(context, _entries(row.guardrail)))
    match await app.push_screen_wait(_form(context, spec, facts, editing.editing().submit)):
        case Applied():
            say_done(context, f"Guardrail {shown_name(row)} {'changed' if row.made else 'set up'}")
        case None:
            return
    await refresh(context, *TOUCHED)


class _Edit:
    """One form on one guardrail; a default one may come to exist with it."""

    def __init__(self, context: ActionContext, row: GuardrailRow) -> None:
        self._context = context
        self._row = row
        self._reach = BoundBy()
        self._dialect = context.app.connection.dialect

    def editing(self) -> Editing[Guardrail]:
        """What happens when the form is submitted."""
        now = self._context.app.clock.now()
        return Editing(
            context=self._context,
            original=self._row.guardrail,
            noun="guardrail",
            called=f"Guardrail {shown_name(self._row)}",
            read=self._read,
            known=lambda guardrail: known_values(guardrail, self._dialect),
            labels=labels(self._dialect),
            words=in_words(now, {}),
            plan=self._plan,
        )

    async def _read(self) -> Guardrail:
        """The guardrail as it is now; one that is not made yet restricts nothing."""
        self._reach = await _fresh_reach(self._context, self._row)
        try:
            return await self._context.app.gateway.guardrails.get(self._row.guardrail.id or "")
        except NotFoundError:
            if self._row.made:
                raise
            return self._row.guardrail

    def _plan(self, fresh: Guardrail, wanted: Mapping[str, Any]) -> Plan[Guardrail]:
        request = UpdateGuardrailRequest.model_validate(wanted)
        now, workspace = self._context.app.clock.now(), self._row.workspace
        if fresh is self._row.guardrail and not self._row.made and workspace is not None:
            return plan_first_update(workspace, request, self._dialect, now)
        return plan_update(fresh, request, self._reach, self._dialect, now)


async def delete(context: ActionContext[GuardrailRow]) -> None:
    """Delete a guardrail for good, after a confirmation that names what loses its protection."""
    app = context.app
    row = _row(context)
    if row is None:
        return
    if not row.made:
        say_not_made(context)
        return
    called = f"Guardrail {shown_name(row)}"
    reading = app.gateway.guardrails.get(row.guardrail.id or "")
    fresh = await read_again(context, reading, called, *TOUCHED)
    if fresh is None:
        return
    # Who loses protection must be known as of now, not as of the last reading.
    plan = plan_delete(fresh, await _fresh_reach(context, row))
    await confirm_and_tell(context, plan, "Delete for good", f"{called} deleted", *TOUCHED)


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


# What they share --------------------------------------------------------------------------------


def _named(row: GuardrailRow) -> NamedRestrictions:
    return NamedRestrictions(display_name(row), restrictions_of(row.guardrail))


def _form(
    context: ActionContext, spec: FormSpec, facts: Facts, submit: Submit[Guardrail]
) -> GuardrailFormScreen:
    app = context.app
    return GuardrailFormScreen(
        spec, facts, submit, hub=app.hub, clock=app.clock, dialect=app.connection.dialect
    )


def _row(context: ActionContext[GuardrailRow]) -> GuardrailRow | None:
    """The guardrail that was selected at the key press; says so when it cannot be written to."""
    row = context.target
    if row.guardrail.id:
        return row
    context.app.say(
        "The gateway gave this guardrail no id: it cannot be changed", severity="warning"
    )
    return None


async def _fresh_reach(context: ActionContext, row: GuardrailRow) -> BoundBy:
    """Whom the guardrail binds now; what cannot be read in time is not known."""
    client = context.app.gateway
    (keys, members), people = await asyncio.gather(
        guardrail_bindings(client, row.guardrail.id or ""),
        people_names(client),
    )
    workspace = row.workspace if row.is_default else None
    return BoundBy(keys, members, workspace, people or {})


def _entries(guardrail: Guardrail) -> tuple[str, ...]:
    return (*(guardrail.allowed_models or ()), *(guardrail.ignored_models or ()))


HANDLERS: Mapping[str, Handler] = {
    "guardrails.create": create,
    "guardrails.edit": edit,
    "guardrails.delete": delete,
    "guardrails.remaining": show_remaining,
}
