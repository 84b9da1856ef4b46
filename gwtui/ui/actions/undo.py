"""Undo the last change: planned from a fresh read, then confirmed and sent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gwtui.crud.bulk import BulkRun
from gwtui.crud.plan import Applied, Confirmation, Plan
from gwtui.crud.undo import AppliedChange, CannotUndoError
from gwtui.domain.safe_text import safe_line
from gwtui.ui.actions.bulk import show_progress
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import (
    confirm,
    execute,
    read_again,
    refresh,
    report_failed,
    send_one,
)
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.unresolved_changes import route_to

_EVERYTHING = ""
"""The empty feed prefix, which matches every feed."""


async def undo(context: ActionContext) -> None:
    """Offer to undo the last change, or explain why that is not possible."""
    app = context.app
    changes = app.executor.undo
    done = changes.latest()
    if done is None:
        app.say(changes.why_not(), severity="warning")
        return
    try:
        confirmation = await _confirmed(context, done)
    except CannotUndoError as error:
        changes.forget(done)
        if not context.covered:
            title = f"This can no longer be undone: {done.title}"
            await app.push_screen_wait(AskScreen(title, safe_line(str(error), 400)))
        return
    if confirmation is None:
        return
    if done.parts:
        await _undo_many(context, done, confirmation)
        return
    outcome = await execute(context, confirmation)
    if isinstance(outcome, Applied):
        changes.forget(done)
        app.say(f"Undone: {done.title}")
    else:
        await report_failed(context, f"Undo: {done.title}", outcome)
    await refresh(context, _EVERYTHING)


async def _confirmed(context: ActionContext, done: AppliedChange) -> Confirmation[Any] | None:
    """Confirm the undo and plan it again afterwards; None if it was not confirmed.

    The dialog may stay open for minutes: after a change meanwhile it is shown again.
    Raises CannotUndoError, and NotSentError where nothing can be read.
    """
    notes: tuple[str, ...] = ()
    plan = await _planned(context, done)
    while not context.covered:
        confirmation = await confirm(context, plan, "Undo it", notes=notes)
        if confirmation is None:
            return None
        plan = await _planned(context, done)
        if _requests(plan) == _requests(confirmation.plan):
            return confirmation
        notes = ("Somebody else changed it while this dialog was open. This is the new plan.",)
    return None


async def _planned(context: ActionContext, done: AppliedChange) -> Plan[Any]:
    planning = context.app.executor.undo.plan(context.app.gateway, done)
    return await read_again(context, planning, done.title)


def _requests(plan: Plan[Any]) -> list[tuple[Any, ...]]:
    return [(part.action, part.summary, part.before) for part in plan.parts or (plan,)]


async def _undo_many(
    context: ActionContext, done: AppliedChange, confirmation: Confirmation[Any]
) -> None:
    app = context.app
    changes = app.executor.undo
    bulk = changes.bulk(app.gateway, done, confirmation.plan)
    run = BulkRun(bulk, confirmation, partial(send_one, context))
    answer = await show_progress(context, run, retry=False)
    changes.undone(done, [part.plan.undoes or "" for part, _ in run.carried_out])
    app.say(f"Undone: {done.title}" if run.complete else f"{done.title}, undo: {run.summary()}")
    await refresh(context, _EVERYTHING)
    if answer == "look" and run.lost is not None:
        await app.open_route(route_to(run.lost.part.plan.id))


HANDLERS: Mapping[str, Handler] = {"app.undo": undo}
