"""Create, edit, enable, disable and delete in the dashboard.

One implementation for every resource that declares ``Writes``. A write is planned from a fresh
reading, confirmed, sent once, and its result is reported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from gwtui.client.errors import NotSentError
from gwtui.contract.request import RequestModel
from gwtui.crud.fields import PlanContext, PreviewContext
from gwtui.crud.plan import Applied, Confirmation, Outcome, Plan
from gwtui.crud.plan_text import both_sides
from gwtui.crud.resource import ResourceSpec
from gwtui.crud.writes import Update, Writes, declared_writes
from gwtui.domain.diffs import ThreeWayField, three_way
from gwtui.resources.choices import value_soon
from gwtui.resources.organization import SETTINGS
from gwtui.resources.uses import Uses
from gwtui.ui.actions import bulk
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import (
    confirm,
    confirm_and_report,
    declared,
    execute,
    form_context,
    preview_context,
    preview_context_for,
    read_again,
    refresh,
    report_done,
    select,
    submitted,
)
from gwtui.ui.forms.form_screen import FormScreen

T = TypeVar("T")
HandOver = Callable[[ActionContext, str, Any], Awaitable[None]]
"""Shows a value that the gateway returns only once; takes the plan's id and the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditFlow(Generic[T]):
    """The edit form of a resource; reads it again on submit, to warn of others' changes.

    ``noun`` is the kind ("key"), ``called`` the name ("Key “ci”"). ``original`` is the resource
    that the form was filled from. ``read`` reads it again, ``known`` returns its editable fields,
    ``format_value`` formats the value of a field. ``plan`` plans the changed fields of the resource
    as read again; ``uses`` returns what uses the resource, for the effects in the plan. ``send``
    executes a confirmed plan.
    """

    context: ActionContext
    original: T
    noun: str
    called: str
    read: Callable[[], Awaitable[T]]
    known: Callable[[T], Mapping[str, Any]]
    labels: Mapping[str, str]
    format_value: Callable[[str, Any], str]
    plan: Callable[[T, Mapping[str, Any]], Plan[Any]]
    send: Callable[[ActionContext, Confirmation[Any]], Awaitable[Outcome[Any]]] = execute
    uses: Callable[[T], Awaitable[Uses]] | None = None

    async def submit(self, request: RequestModel) -> Outcome[T] | None:
        """Read again, confirm, send; return None if the user did not confirm. Raises GatewayError.

        The dialog may stay open for minutes: if the resource has changed meanwhile, the new plan is
        shown.
        """
        mine = {name: getattr(request, name) for name in request.model_fields_set}
        fresh = await self.read()
        while (confirmation := await self._confirmed(mine, fresh)) is not None:
            again = await self.read()
            if self.known(again) == self.known(fresh):
                return await self.send(self.context, confirmation)
            fresh = again
            self.context.app.say(
                f"{self.called} was changed by somebody else: review the plan again"
            )
        return None

    async def _confirmed(self, mine: Mapping[str, Any], fresh: T) -> Confirmation[Any] | None:
        merged = three_way(self.known(self.original), mine, self.known(fresh))
        changes = merged.to_send
        if not changes:
            why = f"Not sent: the {self.noun} already has these values."
            raise NotSentError(why)
        plan = self.plan(fresh, changes)
        conflicts = tuple(
            f"{self._elsewhere(field)}. Your value will replace it." for field in merged.conflicts
        )
        plan = replace(plan, warnings=(*plan.warnings, *conflicts))
        if self.uses is not None:
            plan = replace(plan, effects=(*plan.effects, *await self.uses(fresh)))
        notes = tuple(
            f"{self._elsewhere(field)}. It stays as it is."
            for field in merged.changed_elsewhere
            if field.field not in changes
        )
        return await confirm(self.context, plan, "Apply changes", notes=notes)

    def _elsewhere(self, field: ThreeWayField) -> str:
        before, after = both_sides(field.field, field.original, field.theirs, self.format_value)
        return f"{self.labels[field.field]} was changed by somebody else: {before} → {after}"


async def create(
    context: ActionContext,
    screen: type[FormScreen[Any]] = FormScreen,
    hand_over: HandOver | None = None,
) -> None:
    """Show the creation form, send one request, select the new row.

    ``hand_over`` runs before any other read: it shows a value that the gateway returns only once.
    """
    writes = declared(context).for_row(None, context.app.connection.dialect)
    creation = writes.create
    if creation is None:
        return
    preview_context = await preview_context_for(context, creation.request)
    if context.is_covered:
        return
    plan_id = ""

    def plan(request: RequestModel, warning: str = "") -> Plan[Any]:
        return writes.plan_create(
            request, plan_context(context, preview_context.workspaces), warning
        )

    async def submit(request: RequestModel) -> Outcome[Any] | None:
        nonlocal plan_id
        warning = await creation.gateway_warning(context.app.hub, request)
        confirmation = await submitted(context, plan(request, warning), creation.button)
        if confirmation is None:
            return None
        plan_id = confirmation.plan.id
        return await execute(context, confirmation)

    spec = replace(writes.create_form(form_context(context)), plan=plan)
    outcome = await context.app.push_screen_wait(screen(spec, preview_context, submit))
    if hand_over is not None and isinstance(outcome, Applied):
        await hand_over(context, plan_id, outcome.value)
    answer = await _answer(context, outcome)
    created = None if answer is None else creation.resource(answer)
    if created is not None:
        report_done(
            context,
            f"{writes.title(created)} created" if creation.done is None else creation.done(created),
        )
        identity = writes.identity(created)
        if identity:
            select(context, identity)


async def edit(context: ActionContext, screen: type[FormScreen[Any]] = FormScreen) -> Any | None:
    """Show a form filled from the row, and read the row again before sending.

    The context's argument names the field to focus, by default the first. Returns the changed
    resource; None if nothing was changed, or several were.
    """
    if context.marked:
        await bulk.edit(context)
        return None
    writes, resource = row_writes(context), selected(context)
    if writes.update is None:
        return None
    update, request = writes.update, writes.update.request
    preview_context = await preview_context_for(context, request)
    names = await _names(context, preview_context)
    if context.is_covered:
        return None
    at = plan_context(context, names)
    editing = EditFlow(
        context=context,
        original=resource,
        noun=writes.noun,
        called=writes.title(resource),
        read=partial(_read_again, context, resource),
        known=writes.fields.known,
        labels=writes.fields.labels,
        format_value=writes.fields.formatter(at),
        plan=lambda fresh, changes: writes.plan_update(
            fresh, request.model_validate(changes), plan_context(context, names)
        ),
        uses=lambda fresh: writes.uses(context.app.gateway, fresh, at),
    )
    form = replace(writes.edit_form(resource, form_context(context)), first=context.argument)
    changed = await fill_in(context, screen(form, preview_context, editing.submit))
    if changed is not None:
        report_done(context, _done(writes, update, resource, changed))
    return changed


async def edit_singleton(spec: ResourceSpec[Any], context: ActionContext) -> Any | None:
    """Edit a resource that exists once, such as the organization settings, without a selected row.

    Returns the changed resource; None if nothing was changed.
    """
    writes = declared_writes(spec)
    resource = await read_again(context, writes.read(context.app.gateway, ""), writes.title(None))
    if context.is_covered:
        return None
    return await edit(
        replace(context, spec=spec, target=resource, identity=writes.identity(resource))
    )


async def change(name: str, context: ActionContext) -> None:
    """Run the verb ``name`` that only this resource has: a form, a confirmation, one request."""
    writes, resource = row_writes(context), selected(context)
    verb = next(further for further in writes.further if further.action == name)
    before = await _read_again(context, resource)
    if context.is_covered:
        return

    async def submit(request: RequestModel) -> Outcome[Any] | None:
        now, at = await _read_again(context, resource), plan_context(context)
        uses = await writes.uses(context.app.gateway, now, at)
        plan = writes.plan_update(now, request, at, uses, verb=verb)
        confirmation = await confirm(context, plan, verb.button)
        return None if confirmation is None else await execute(context, confirmation)

    form = writes.edit_form(before, form_context(context), verb)
    changed = await fill_in(context, FormScreen(form, preview_context(context), submit))
    if changed is not None:
        report_done(context, _done(writes, verb, before, changed))


async def toggle(context: ActionContext) -> None:
    """Disable the resource if it was enabled at the key press, else enable it."""
    if context.marked:
        await bulk.toggle(context)
        return
    writes, resource = row_writes(context), selected(context)
    if resource.disabled is None:
        raise NotSentError(f"The gateway did not say whether this {writes.noun} is disabled")
    disabled = not resource.disabled
    fresh = await _read_again(context, resource)
    state = "disabled" if disabled else "enabled"
    if fresh.disabled is disabled:
        context.app.say(f"{writes.title(fresh)} is already {state}")
        await refresh(context, *writes.feeds)
        return
    at = plan_context(context)
    related = await writes.read_related(context.app.gateway, fresh, at) if disabled else None
    plan = writes.plan_switch(fresh, disabled, at, related)
    button, done = "Disable" if disabled else "Enable", f"{writes.title(fresh)} {state}"
    await confirm_and_report(context, plan, button, done, *writes.feeds)


async def delete(context: ActionContext) -> None:
    """Delete the selected resource after a confirmation that takes more than one key press."""
    if context.marked:
        await bulk.delete(context)
        return
    writes = row_writes(context)
    deletion, fresh = writes.delete, await read_selected(context)
    if deletion is None:
        return
    at = plan_context(context)
    plan = writes.plan_delete(fresh, at, await writes.read_related(context.app.gateway, fresh, at))
    done = f"{writes.title(fresh)} {deletion.done}"
    await confirm_and_report(context, plan, deletion.button, done, *writes.feeds)


def handlers(resource: str, *verbs: str) -> Mapping[str, Handler]:
    """Return the handlers of a resource's verbs, by action id.

    "create", "edit", "toggle" and "delete" are the same for all; any other verb is one of the
    resource's own verbs, which change fields.
    """
    standard: dict[str, Handler] = {
        "create": create,
        "edit": edit,
        "toggle": toggle,
        "delete": delete,
    }
    return {f"{resource}.{verb}": standard.get(verb, partial(change, verb)) for verb in verbs}


# What they share --------------------------------------------------------------------------------


def row_writes(context: ActionContext) -> Writes[Any]:
    """Return the ``Writes`` for the row selected at the key press and the gateway's dialect."""
    return declared(context).for_row(context.target, context.app.connection.dialect)


def selected(context: ActionContext) -> Any:
    """Return the resource selected at the key press. Raises NotSentError if it has no id."""
    writes = row_writes(context)
    resource = writes.of_row(context.target)
    if not writes.identity(resource):
        why = f"This {writes.noun} has no {writes.identifier}, so it cannot be changed"
        raise NotSentError(why)
    return resource


def plan_context(context: ActionContext, names: Mapping[str, str] | None = None) -> PlanContext:
    """Return the context for planning a write now; ``names`` has the names of resources by id."""
    app = context.app
    return PlanContext(app.clock.now(), names or {}, app.connection.dialect)


async def fill_in(context: ActionContext, form: FormScreen[Any]) -> Any | None:
    """Show a form; return the gateway's response if the change was applied, else None."""
    outcome: Outcome[Any] | None = await context.app.push_screen_wait(form)
    return await _answer(context, outcome)


async def _answer(context: ActionContext, outcome: Outcome[Any] | None) -> Any | None:
    if outcome is not None:
        await refresh(context, *row_writes(context).feeds)
    return outcome.value if isinstance(outcome, Applied) else None


def _done(writes: Writes[Any], update: Update, before: Any, after: Any) -> str:
    return f"{writes.title(after)} changed" if update.done is None else update.done(before, after)


async def _names(context: ActionContext, preview_context: PreviewContext) -> Mapping[str, str]:
    feed = row_writes(context).names
    further: Mapping[str, str] | None = None
    if feed is not None:
        further = await value_soon(feed(context.app.hub))
    return {**preview_context.workspaces, **(further or {})}


async def read_selected(context: ActionContext) -> Any:
    """Read the selected resource again and return it. Raises NotSentError if that fails."""
    return await _read_again(context, selected(context))


async def _read_again(context: ActionContext, resource: Any) -> Any:
    writes = row_writes(context)
    read = writes.read(context.app.gateway, writes.identity(resource) or "")
    return await read_again(context, read, writes.title(resource), *writes.feeds)


HANDLERS: Mapping[str, Handler] = {
    "organization.edit": partial(edit_singleton, SETTINGS),
}
"""Handlers for resources that exist once and have no list."""
