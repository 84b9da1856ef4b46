"""What the actions on guardrails do: plan, confirm, carry out, tell, and keep the selection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from gwtui.client.errors import NotFoundError
from gwtui.contract.guardrails import CreateGuardrailRequest, Guardrail, UpdateGuardrailRequest
from gwtui.contract.request import RequestModel
from gwtui.crud.form import Facts, FormSpec
from gwtui.crud.plan import Applied, Outcome, Plan
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.domain.safe_text import safe_line
from gwtui.resources.guardrails.effect import NamedRestrictions
from gwtui.resources.guardrails.fields import in_words, known_values, labels
from gwtui.resources.guardrails.form import create_form, edit_form
from gwtui.resources.guardrails.plans import (
    Reach,
    plan_create,
    plan_delete,
    plan_first_update,
    plan_update,
)
from gwtui.resources.guardrails.view import display_name, shown_name
from gwtui.resources.uses import guardrail_bindings, people_names
from gwtui.ui.context import ActionContext, Handler
from gwtui.ui.forms.editing import Editing
from gwtui.ui.forms.form_screen import Submit
from gwtui.ui.forms.guardrail_choices import sources
from gwtui.ui.forms.guardrail_screen import GuardrailFormScreen
from gwtui.ui.forms.writing import (
    carry_out,
    confirm_and_tell,
    covered,
    read_again,
    refresh,
    say_done,
    select,
    submitted,
    value_soon,
    workspace_facts,
)
from gwtui.ui.guardrail_links import say_not_made
from gwtui.ui.screens.remaining import RemainingScreen
from gwtui.watch.feeds.guardrails import FEEDS, Bindings, GuardrailRow, bindings_feed

TOUCHED = (FEEDS, "workspaces")
"""The feeds that a write to a guardrail makes out of date begin so."""


async def create(context: ActionContext) -> None:
    """A form, one request, the new row selected."""
    app = context.app
    facts = await workspace_facts(context)
    if covered(context):
        return
    dialect = app.connection.dialect

    async def submit(request: RequestModel) -> Outcome[Guardrail] | None:
        wish = cast("CreateGuardrailRequest", request)
        plan = plan_create(wish, dialect, app.clock.now(), facts.workspaces)
        consent = await submitted(context, plan, "Create it")
        return None if consent is None else await carry_out(context, consent)

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


async def edit(context: ActionContext) -> None:
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
        self._reach = Reach()
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


async def delete(context: ActionContext) -> None:
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


async def show_remaining(context: ActionContext) -> None:
    """What the selected guardrail leaves, together with the default one of its workspace."""
    app = context.app
    row = cast("GuardrailRow", context.target)
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


def _row(context: ActionContext) -> GuardrailRow | None:
    """The guardrail that was selected at the key press; says so when it cannot be written to."""
    row = cast("GuardrailRow", context.target)
    if row.guardrail.id:
        return row
    context.app.say(
        "The gateway gave this guardrail no id: it cannot be changed", severity="warning"
    )
    return None


async def _fresh_reach(context: ActionContext, row: GuardrailRow) -> Reach:
    """Whom the guardrail binds now; what cannot be read in time is not known."""
    client = context.app.gateway
    (keys, members), people = await asyncio.gather(
        guardrail_bindings(client, row.guardrail.id or ""),
        people_names(client),
    )
    workspace = row.workspace if row.is_default else None
    return Reach(keys, members, workspace, people or {})


def _entries(guardrail: Guardrail) -> tuple[str, ...]:
    return (*(guardrail.allowed_models or ()), *(guardrail.ignored_models or ()))


HANDLERS: Mapping[str, Handler] = {
    "guardrails.create": create,
    "guardrails.edit": edit,
    "guardrails.delete": delete,
    "guardrails.remaining": show_remaining,
}
