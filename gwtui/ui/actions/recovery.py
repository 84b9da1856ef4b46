"""Undo the last change, and resolve a change whose response was lost.

The user decides whether a lost change was applied, and the ledger records the decision. For a
new key whose value may not have been stored, the user confirms that it is stored, or has the key
deleted and created again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from gwtui.client.errors import NotSentError
from gwtui.crud.bulk import BulkRun
from gwtui.crud.evidence import Candidate, Evidence
from gwtui.crud.plan import Applied, Confirmation, Plan
from gwtui.crud.undo import AppliedChange, CannotUndoError
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.local.ledger import NOT_APPLIED
from gwtui.ui.actions.bulk import show_progress
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.links import show_route
from gwtui.ui.actions.writing import (
    confirm,
    execute,
    read_again,
    refresh,
    report_failed,
    send_one,
)
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.recovery import RecoveryScreen
from gwtui.ui.unresolved_changes import route_to
from gwtui.watch.feeds.ledger import RECOVERY_FEED, unresolved

_RECORDED = "This is recorded in the audit log. Nothing is sent to the gateway."
_APPLIED, _STORED = "applied", "acknowledged"
_NAME = 120


async def resolve_applied(context: ActionContext) -> None:
    """Record that the change was applied; for a creation, that it created the selected candidate.

    For a new key whose creation is confirmed, record that its value is stored.
    """
    evidence = _evidence(context)
    if evidence.intent.is_unacknowledged:
        if await _agreed(context, "Is its value stored?", "", "It is stored"):
            await _resolve(context, evidence, _STORED)
        return
    candidate: Candidate | None = context.target
    if candidate is not None:
        question, answer = f"Did this change create {candidate.name}?", "Yes, this one"
        about = _of_candidate(candidate)
        finding = f"{_APPLIED}: {candidate.name}, {candidate.identity}"
    else:
        question, answer = "Mark this change as applied?", "Mark as applied"
        about = "" if evidence.compared else "There are no candidates to choose from. "
        finding = _APPLIED
    if not await _agreed(context, question, about, answer):
        return
    if not await _resolve(
        context, evidence, finding, None if candidate is None else candidate.identity
    ):
        return
    route = evidence.route if candidate is None else candidate.route
    if route:
        await show_route(context, route, None if candidate is None else candidate.item)
    if candidate is not None and evidence.intent.action == "keys.create":
        lost = f"The value of key {candidate.name} is lost, so the key is unusable"
        context.app.say(f"{lost}: disable or delete it, and create another", severity="warning")


async def resolve_not_applied(context: ActionContext) -> None:
    """Record that the change was not applied, and go back."""
    evidence = _evidence(context)
    if evidence.intent.is_unacknowledged:
        context.app.say("The gateway confirmed that the key was created")
        return
    question = "Mark this change as not applied?"
    if await _agreed(context, question, "", "Mark as not applied") and await _resolve(
        context, evidence, NOT_APPLIED
    ):
        await context.app.navigation.back()


async def recreate(context: ActionContext) -> None:
    """Delete a key whose value was lost, and create it again; if it is gone, only record that."""
    from gwtui.ui.actions.keys import replace_key  # noqa: PLC0415 - of a lost key only

    evidence = _evidence(context)
    if not evidence.intent.is_unacknowledged:
        context.app.say("This change left no key to recreate")
    elif not evidence.compared:
        await _resolve(context, evidence, "The key is gone")
    else:
        await replace_key(context, evidence.intent)


async def show(context: ActionContext) -> None:
    """Go to the selected candidate, or to the resource, without recording anything."""
    evidence, candidate = _evidence(context), context.target
    route = evidence.route if candidate is None else candidate.route
    if route:
        await show_route(context, route, None if candidate is None else candidate.item)
    else:
        context.app.say("Nothing to open")


# What they share --------------------------------------------------------------------------------


def _evidence(context: ActionContext) -> Evidence:
    screen = context.screen
    evidence = screen.evidence if isinstance(screen, RecoveryScreen) else None
    if evidence is None:
        raise NotSentError("There is nothing to resolve")
    return evidence


def _of_candidate(candidate: Candidate) -> str:
    known = [line for line in candidate.compared if line.verdict != "not known"]
    return f"{candidate.as_requested} of {len(known)} fields match the request. " if known else ""


async def _agreed(context: ActionContext, question: str, about: str, answer: str) -> bool:
    if context.app.screen is not context.screen:
        return False
    text = safe_text(f"{about}{_RECORDED}", 400)
    screen = AskScreen(safe_line(question, _NAME), text, safe="Not yet", deliberate=answer)
    return await context.app.push_screen_wait(screen)


async def _resolve(
    context: ActionContext, evidence: Evidence, finding: str, identity: str | None = None
) -> bool:
    """Record the user's decision in the ledger; return False if it was resolved meanwhile.

    Raises NotSentError if the ledger cannot be written.
    """
    app = context.app
    ledger, intent, now = app.executor.ledger, evidence.intent, app.clock.now()
    if finding == _STORED:
        write = partial(ledger.acknowledge, intent.id, now)
    else:
        write = partial(ledger.resolve, intent, now, finding, identity)
    try:
        left = await asyncio.to_thread(unresolved, ledger, app.connection.base_url, app.clock)
        still = intent.id in {entry.id for entry in left}
        if still:
            await asyncio.to_thread(write)
    except OSError as error:
        why = error.strerror or "unknown reason"
        raise NotSentError(f"The audit log could not be written: {why}") from error
    if not still:
        app.say("Already resolved elsewhere", severity="warning")
    else:
        app.say(f"Recorded in the audit log: {finding.partition(':')[0]}")
    await app.hub.refresh(RECOVERY_FEED)
    return still


# Undo ---------------------------------------------------------------------------------------------

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
        if not context.is_covered:
            title = f"This can no longer be undone: {done.title}"
            await app.push_screen_wait(AskScreen(title, safe_line(str(error), 400)))
        return
    if confirmation is None:
        return
    if done.is_bulk:
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

    The dialog may stay open for minutes: if the requests differ after that, the new plan is shown.
    Raises CannotUndoError, and NotSentError if the present state cannot be read.
    """
    notes: tuple[str, ...] = ()
    plan = await _planned(context, done)
    while not context.is_covered:
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
    bulk = changes.as_bulk(app.gateway, done, confirmation.plan)
    run = BulkRun(bulk, confirmation, partial(send_one, context))
    looks = await show_progress(context, run)
    changes.forget_parts(done, [part.plan.undoes or "" for part, _ in run.applied])
    app.say(f"Undone: {done.title}" if run.complete else f"{done.title}, undo: {run.summary()}")
    await refresh(context, _EVERYTHING)
    if looks and run.lost is not None:
        await app.open_route(route_to(run.lost.part.plan.id))


IMMEDIATE: Mapping[str, Handler] = {
    "evidence.show": show,
}
HANDLERS: Mapping[str, Handler] = {
    "evidence.happened": resolve_applied,
    "evidence.did_not": resolve_not_applied,
    "evidence.recreate": recreate,
    "app.undo": undo,
}
