"""Key rotations: start one, do its next step, go to either key, forget it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from gwtui.contract.keys import ApiKey, CreatedKey
from gwtui.crud.plan import Applied, Outcome, Plan
from gwtui.domain.safe_text import safe_line
from gwtui.resources.actions import by_id
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.keys.writes import WRITES
from gwtui.resources.rotations import (
    RotateRequest,
    binding_plan,
    plan_rotation,
    read_name,
    read_source,
    rotate_form,
    rotation_log,
    rotation_storage,
)
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import plan_context, read_selected
from gwtui.ui.actions.keys import hand_over
from gwtui.ui.actions.writing import (
    confirm,
    confirm_and_report,
    execute,
    refresh,
    report_failed,
    workspace_facts,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.unresolved_changes import route_to
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.rotations import FEED, RotationRow

_NAME = 60


async def rotate(context: ActionContext[KeyRow]) -> None:
    """Show the form, create the new key, assign its guardrail, then show its value once."""
    app, old = context.app, await read_selected(context)
    facts = await workspace_facts(context)
    name = await read_name(app.gateway, old, app.clock.now())
    if context.covered:
        return
    sent: list[tuple[Plan[Any], Outcome[Any]]] = []
    """The sent requests up to the first failure, starting with the creation of the new key."""

    async def submit(asked: RotateRequest) -> Outcome[CreatedKey] | None:
        space = context.target.workspace
        source = await read_source(app.open_session, old, None if space is None else space.id)
        at = plan_context(context, facts.workspaces)
        plan = plan_rotation(source, asked, at, rotation_storage(app.open_session))
        confirmation = await confirm(context, plan, "Create the successor")
        if confirmation is None:
            return None
        sent.clear()
        for each in confirmation.each():
            sent.append((each.plan, await execute(context, each)))
            if not isinstance(sent[-1][1], Applied):
                break
        return sent[0][1]

    form: FormScreen[CreatedKey] = FormScreen(rotate_form(name), facts, submit)
    outcome = await app.push_screen_wait(form)
    if not isinstance(outcome, Applied):
        return
    # What went wrong after it was made keeps nobody from storing the value: it is given once.
    await hand_over(context, sent[0][0].id, outcome.value)
    plan, last = sent[-1]
    if isinstance(last, Applied):
        called = WRITES.title(old)
        app.say(f"{called} has a successor. :rotations shows when the old key is unused")
    else:
        await report_failed(context, plan.title, last, "Retry it from :rotations.")
    await refresh(context, *WRITES.feeds, "guardrails")


async def next_step(context: ActionContext[RotationRow]) -> None:
    """Do the next step of the rotation, or explain why it is not due."""
    app, row = context.app, context.target
    status, now = row.status, app.clock.now()
    match status.step:
        case "resolve" | "show":
            await app.open_route(route_to(row.rotation.id))
        case "assign":
            await _assign(context)
        case "disable" | "delete" if status.is_due(now) and row.old is not None:
            await _retire(context, row.old, delete=status.step == "delete")
        case _:
            app.say(f"{status.message} Next: {status.next}.")


async def _assign(context: ActionContext[RotationRow]) -> None:
    plan = await binding_plan(context.app.gateway, context.target)
    name = safe_line(context.target.rotation.new_name, _NAME)
    done = f"The guardrail now applies to “{name}”"
    await confirm_and_report(context, plan, "Assign it", done, "guardrails", FEED)


async def _retire(context: ActionContext[RotationRow], old: ApiKey, *, delete: bool) -> None:
    """Plan to disable or delete the old key, as in the list of keys."""
    row = KeyRow(old)
    key: ActionContext[KeyRow] = ActionContext(context.app, KEYS, row, row.identity, context.screen)
    await context.app.perform(by_id("keys.delete" if delete else "keys.toggle"), key)


async def forget(context: ActionContext[RotationRow]) -> None:
    """Stop tracking the rotation, after a confirmation."""
    app, one = context.app, context.target.rotation
    if one.ended is not None:
        app.say("This rotation has ended; it stays listed for a week")
        return
    agreed = await app.push_screen_wait(
        AskScreen(
            f"Stop tracking the rotation of “{safe_line(one.old_name, _NAME)}”?",
            "Both keys stay as they are. Nothing is sent to the gateway.",
            safe="Keep tracking",
            deliberate="Stop tracking",
        )
    )
    if not agreed:
        return
    log, now = rotation_log(app.open_session), app.clock.now()
    try:
        await asyncio.to_thread(log.note, one.id, "ended", now, stage="forgotten")
    except OSError as error:
        app.say(f"{log.path}: {error.strerror or 'not usable'}", severity="error")
        return
    app.say("Rotation no longer tracked")
    await refresh(context, FEED)


HANDLERS: Mapping[str, Handler] = {
    "keys.rotate": rotate,
    "rotations.next": next_step,
    "rotations.forget": forget,
}
