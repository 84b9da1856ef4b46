"""Actions on all marked rows: one plan, one confirmation, a result per row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gwtui.client.errors import NotSentError
from gwtui.contract.request import RequestModel
from gwtui.crud.bulk import BulkOperation, BulkPlan, BulkRun, BulkWrites, plan_many
from gwtui.crud.fields import PlanContext
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied, Outcome
from gwtui.crud.plan_text import Names, count, displayed
from gwtui.domain.diffs import same
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.actions.writing import (
    confirm,
    declared,
    form_context,
    preview_context_for,
    refresh,
    report_done,
    send_one,
)
from gwtui.ui.commands import key_of
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.progress import ProgressScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.unresolved_changes import route_to
from gwtui.ui.widgets.frame import gateway_label


async def toggle(context: ActionContext) -> None:
    """Enable the marked rows if all are disabled, else disable them."""
    many, names = _marked(context)
    disable = any(not resource.disabled for resource in many.known.values())
    button, done = ("Disable", "disabled") if disable else ("Enable", "enabled")
    await _look(context, await carry_out(context, many.switch(disable), names, button, done))


async def delete(context: ActionContext, barred: Callable[[Any], str] = lambda _row: "") -> None:
    """Delete the marked rows, after a confirmation that takes more than one key press.

    ``barred`` returns why a row cannot be deleted, or an empty text.
    """
    many, names = _marked(context, barred=barred)
    deletion = many.writes.delete
    if deletion is not None:
        sent = await carry_out(context, many.delete(), names, deletion.button, deletion.done)
        await _look(context, sent)


async def edit(context: ActionContext) -> None:
    """Edit the marked rows in one form that starts with their common values.

    Fields whose values differ say so and stay unchanged unless edited. The name and the slug
    are not in the form.
    """
    writes = declared(context)
    if writes.update is None:
        return
    preview_context = await preview_context_for(context, writes.update.request)
    many, names = _marked(context, preview_context.workspaces)
    update = many.writes.update
    if update is None or context.is_covered:
        return
    known = [
        declared.fields.known(many.known[identity]) for identity, declared in many.declared.items()
    ]
    first = next(iter(many.known.values()))
    form = shared_form(
        many.writes.edit_form(first, form_context(context)), known, {*writes.called, "slug"}
    )
    title = f"Edit {count(len(names), writes.noun)}: values that differ stay unchanged"

    async def submit(request: RequestModel) -> Outcome[str] | None:
        over = partial(carry_out, covering=context.app.screen)
        sent = await over(context, many.change(request), names, "Apply changes", "changed")
        return None if sent is None else Applied(sent)

    filled: FormScreen[str] = FormScreen(replace(form, title=title), preview_context, submit)
    outcome = await context.app.push_screen_wait(filled)
    await _look(context, outcome.value if isinstance(outcome, Applied) else None)


def shared_form(
    form: FormSpec, known: Sequence[Mapping[str, Any]], unique: Collection[str]
) -> FormSpec:
    """Return the form of one row, changed to edit many rows with their common values.

    It has no fields of ``unique``, which each row must have for itself. ``known`` has the values of
    each row, as the gateway returned them.
    """
    first, *others = known
    common = {
        name: value
        for name, value in first.items()
        if all(name in other and same(other[name], value) for other in others)
    }
    fields = [field for field in form.fields if field.name not in unique and field.fixed is None]
    initial = {name: value for name, value in common.items() if name not in unique}
    return replace(form, fields=fields, initial=initial, missing="values differ")


async def _look(context: ActionContext, route: str | None) -> None:
    if route:
        await context.app.open_route(route)


async def carry_out(
    context: ActionContext,
    operation: BulkOperation,
    names: Mapping[str, str],
    button: str,
    done: str,
    covering: object = None,
) -> str | None:
    """Plan a bulk operation, confirm it once, send its requests one by one and report each result.

    Returns None if the operation was not confirmed. If a response was lost and the user wants to
    check that change, returns its route, else "". Refused rows stay marked. ``covering`` is the
    form that started the operation, if any.
    """
    bulk = await plan_many(operation, names, context.hidden)
    if context.app.screen is not (covering or context.screen):
        return None
    if not bulk.parts:
        await _say_nothing_left(context, bulk)
        return None
    confirmation = await confirm(context, bulk.plan, button)
    if confirmation is None:
        return None
    run = BulkRun(bulk, confirmation, partial(send_one, context))
    looks = await _send_and_report(context, run, done)
    return route_to(run.lost.part.plan.id) if looks and run.lost is not None else ""


async def _send_and_report(context: ActionContext, run: BulkRun, done: str) -> bool:
    bulk, looks = run.bulk, await show_progress(context, run)
    context.app.executor.undo.add_many(bulk.plan, run.applied)
    if isinstance(context.screen, ResourceScreen):
        changed = {part.identity for part, _ in run.applied}
        context.screen.table.change_marks(lambda model: model.marks.difference_update(changed))
    summary = f"{count(len(run.applied), bulk.operation.noun)} {done}"
    if run.complete:
        report_done(context, summary)
    elif run.applied:
        report_done(context, f"{summary}; {run.summary()}")
    await refresh(context, *declared(context).feeds)
    return looks


async def show_progress(context: ActionContext, run: BulkRun) -> bool:
    """Send the confirmed requests one by one.

    Returns whether the user wants to check a change whose response was lost.
    """
    return await context.app.push_screen_wait(ProgressScreen(run, gateway_label(context.app)))


async def _say_nothing_left(context: ActionContext, bulk: BulkPlan) -> None:
    plan = displayed(bulk.plan)
    await context.app.push_screen_wait(AskScreen(plan.title, "\n".join(plan.obstacles)))
    await refresh(context, *declared(context).feeds)


def _marked(
    context: ActionContext,
    called: Names | None = None,
    barred: Callable[[Any], str] = lambda _row: "",
) -> tuple[BulkWrites, Mapping[str, str]]:
    app = context.app
    writes, dialect = declared(context), app.connection.dialect
    pairs = [(writes.for_row(row, dialect), row) for row in context.chosen]
    ones = [(declared, declared.of_row(row)) for declared, row in pairs]
    nameless = [resource for declared, resource in ones if not declared.identity(resource)]
    if nameless:
        key = key_of("list.unmark")
        why = f"The gateway gave {len(nameless)} of them no {writes.identifier}"
        raise NotSentError(f"{why}: they cannot be changed; {key} clears the marks")
    of_id = {str(declared.identity(resource)): (declared, resource) for declared, resource in ones}
    many = BulkWrites(
        app.gateway,
        {identity: declared for identity, (declared, _) in of_id.items()},
        {identity: resource for identity, (_, resource) in of_id.items()},
        PlanContext(app.clock.now(), called or {}, dialect),
        {
            str(writes.identity(writes.of_row(row))): why
            for row in context.chosen
            if (why := barred(row))
        },
    )
    return many, {
        identity: declared.name(resource) for identity, (declared, resource) in of_id.items()
    }
