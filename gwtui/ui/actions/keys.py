"""Create and rotate API keys: a value is shown once, until the user has stored it.

A key whose value was lost is deleted and created again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gwtui.contract.keys import ApiKey, CreatedKey
from gwtui.crud.plan import Applied, Outcome, Plan
from gwtui.domain.safe_text import safe_line
from gwtui.resources.actions import by_id
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.keys.writes import WRITES, replacement_plan
from gwtui.resources.rotations import (
    RotateRequest,
    assignment_plan,
    plan_rotation,
    read_source,
    rotate_form,
    rotation_file,
    successor_name,
)
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import plan_context, read_selected
from gwtui.ui.actions.writing import (
    confirm,
    confirm_and_report,
    execute,
    preview_context_with_workspaces,
    refresh,
    report_failed,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.unresolved_changes import route_to
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.ledger import RECOVERY_FEED
from gwtui.watch.feeds.rotations import FEED, RotationRow

if TYPE_CHECKING:
    from gwtui.local.ledger import LedgerEntry


async def hand_over(context: ActionContext, plan_id: str, created: CreatedKey) -> None:
    """Show the value of a new key until it is stored, and record that in the ledger."""
    app = context.app
    name = WRITES.name(created.data) if created.data is not None else "without a description"
    if created.key is None:
        await app.push_screen_wait(
            AskScreen(
                f"Key {name} was created, but the response did not contain its value",
                "The gateway shows a value only once: delete this key and create another.",
            )
        )
        return
    await app.push_screen_wait(SecretScreen(name, created.key))
    try:
        await asyncio.to_thread(app.executor.ledger.acknowledge, plan_id, app.clock.now())
    except OSError as error:
        why = error.strerror or "unknown reason"
        app.say(
            f"The audit log could not record that the key is stored ({why}): :recovery asks again",
            severity="warning",
        )


# A key whose value nobody has ---------------------------------------------------------------------


async def replace_key(context: ActionContext, lost: LedgerEntry) -> None:
    """Delete a key whose value was lost, create it again and show the new value.

    ``lost`` is the ledger's entry of the creation of the key.
    """
    preview_context, gateway = await preview_context_with_workspaces(context), context.app.gateway
    try:
        plan = await replacement_plan(
            gateway, lost, plan_context(context, preview_context.workspaces)
        )
    except ValidationError:
        context.app.say("The audit log has too little information to recreate this key: delete it")
        return
    replaced = await confirm_and_report(
        context, plan, "Delete and recreate", "Key deleted and recreated"
    )
    if replaced is not None:
        _, created = replaced.value
        await hand_over(context, plan.parts[-1].id, created)
    await refresh(context, *WRITES.feeds, RECOVERY_FEED)


# Rotations ----------------------------------------------------------------------------------------

_NAME = 60


async def rotate(context: ActionContext[KeyRow]) -> None:
    """Show the form, create the new key, assign its guardrail, then show its value once."""
    app, old = context.app, await read_selected(context)
    preview_context = await preview_context_with_workspaces(context)
    name = successor_name(old, app.clock.now())
    if context.is_covered:
        return
    sent: list[tuple[Plan[Any], Outcome[Any]]] = []
    """The sent requests up to the first failure, starting with the creation of the new key."""

    async def submit(asked: RotateRequest) -> Outcome[CreatedKey] | None:
        space = context.target.workspace
        source = await read_source(app.open_session, old, None if space is None else space.id)
        at = plan_context(context, preview_context.workspaces)
        plan = plan_rotation(source, asked, at)
        confirmation = await confirm(context, plan, "Create the successor")
        if confirmation is None:
            return None
        sent.clear()
        for part in confirmation.each():
            sent.append((part.plan, await execute(context, part)))
            if not isinstance(sent[-1][1], Applied):
                break
        return sent[0][1]

    form: FormScreen[CreatedKey] = FormScreen(rotate_form(name), preview_context, submit)
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
    plan = await assignment_plan(context.app.gateway, context.target)
    name = safe_line(context.target.rotation.new_name, _NAME)
    done = f"The guardrail now applies to “{name}”"
    await confirm_and_report(context, plan, "Assign it", done, "guardrails", FEED)


async def _retire(context: ActionContext[RotationRow], old: ApiKey, *, delete: bool) -> None:
    row = KeyRow(old)
    key: ActionContext[KeyRow] = ActionContext(context.app, KEYS, row, row.identity, context.screen)
    await context.app.perform(by_id("keys.delete" if delete else "keys.toggle"), key)


async def forget(context: ActionContext[RotationRow]) -> None:
    """Stop tracking the rotation, after a confirmation."""
    app, rotation = context.app, context.target.rotation
    if rotation.ended is not None:
        app.say("This rotation has ended; it stays listed for a week")
        return
    agreed = await app.push_screen_wait(
        AskScreen(
            f"Stop tracking the rotation of “{safe_line(rotation.old_name, _NAME)}”?",
            "Both keys stay as they are. Nothing is sent to the gateway.",
            safe="Keep tracking",
            deliberate="Stop tracking",
        )
    )
    if not agreed:
        return
    file, now = rotation_file(app.open_session), app.clock.now()
    try:
        await asyncio.to_thread(file.update, rotation.id, ended="forgotten", ended_at=now)
    except OSError as error:
        app.say(f"{file.path}: {error.strerror or 'not usable'}", severity="error")
        return
    app.say("Rotation no longer tracked")
    await refresh(context, FEED)


HANDLERS: Mapping[str, Handler] = {
    **crud.handlers("keys", "edit", "toggle", "delete"),
    "keys.create": partial(crud.create, hand_over=hand_over),
    "keys.rotate": rotate,
    "rotations.next": next_step,
    "rotations.forget": forget,
}
