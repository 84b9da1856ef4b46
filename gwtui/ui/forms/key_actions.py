"""What the actions on keys do: plan, confirm, carry out, tell, and keep the selection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from gwtui.actions.key_plans import (
    LABELS,
    in_words,
    known_values,
    plan_create,
    plan_delete,
    plan_set_disabled,
    plan_update,
    shown_name,
)
from gwtui.actions.plan import Applied, Outcome, Plan, Refused, Unknown
from gwtui.client.errors import GatewayError, NotFoundError, NotSentError
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.request import RequestModel
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.diffs import ABSENT, ThreeWay, ThreeWayField, three_way
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.ui.context import ActionContext, Handler
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.conflict import ConflictScreen, Dispute
from gwtui.ui.forms.fields import Facts
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.key_form import create_form, edit_form
from gwtui.ui.forms.notice import NoticeScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.resources.keys import KeyRow
from gwtui.ui.resources.workspaces import workspaces_feed
from gwtui.ui.screens.resource import ResourceScreen

FEEDS = "keys"
"""The feeds that a write to a key makes out of date begin so."""

_PATIENCE = 1.5
"""Seconds that a form waits for the names of workspaces."""
_GONE = "This key no longer exists."
_LOOK = "It is not sent again. Look at the list before you try again."


async def create(context: ActionContext) -> None:
    """A form, one request, the value shown once, the new row selected."""
    app = context.app
    facts = await _facts(context)
    if _covered(context):
        return

    async def submit(request: RequestModel) -> Outcome[CreatedKey] | None:
        wish = cast("CreateKeyRequest", request)
        plan = plan_create(wish, app.clock.now(), facts.workspaces)
        return await _carry_out(context, plan)

    form: FormScreen[CreatedKey] = FormScreen(create_form(app.scope.workspace), facts, submit)
    match await app.push_screen_wait(form):
        case Applied(created):
            await _hand_over(context, created)
            if created.data is not None and created.data.hash:
                _select(context, created.data.hash)
        case None:
            return
    await _refresh(context)


async def _hand_over(context: ActionContext, created: CreatedKey) -> None:
    """Show the value until it is stored."""
    name = shown_name(created.data) if created.data is not None else "without a description"
    if created.key is None:
        await context.app.push_screen_wait(
            NoticeScreen(
                f"Key {name} was created, but its value did not come",
                "The gateway's answer lacked it and it cannot be asked for again: "
                "delete this key and create another.",
            )
        )
    else:
        await context.app.push_screen_wait(SecretScreen(name, created.key))


async def edit(context: ActionContext) -> None:
    """A form filled from the row; on submit the key is read again before anything is sent."""
    app = context.app
    key = _key(context)
    if key is None:
        return
    facts = await _facts(context)
    if _covered(context):
        return
    editing = _Editing(context, key, facts)
    form: FormScreen[ApiKey] = FormScreen(edit_form(key, app.clock.now()), facts, editing.submit)
    match await app.push_screen_wait(form):
        case Applied():
            app.say(f"Key {shown_name(key)} changed")
        case None:
            return
    await _refresh(context)


class _Editing:
    """One form on one key, and what it was filled from."""

    def __init__(self, context: ActionContext, key: ApiKey, facts: Facts) -> None:
        self._context = context
        self._key = key
        self._facts = facts

    async def submit(self, request: RequestModel) -> Outcome[ApiKey] | None:
        """Compare with what the key is now, settle disputes, confirm, send."""
        app = self._context.app
        try:
            fresh = await app.gateway.keys.get(self._key.hash or "")
        except NotFoundError:
            return Refused(NotSentError(_GONE))
        except GatewayError as error:
            why = f"Nothing was sent: the key could not be read again. {error.message}"
            return Refused(NotSentError(why))
        mine = {name: getattr(request, name) for name in request.model_fields_set}
        merged = three_way(known_values(self._key), mine, known_values(fresh))
        wanted = await self._settle(merged)
        if wanted is None:
            return None
        if not wanted:
            return Refused(NotSentError("Nothing is left to change: the key is like this already."))
        update = UpdateKeyRequest.model_validate(wanted)
        plan = plan_update(fresh, update, app.clock.now(), self._facts.workspaces)
        notes = tuple(self._note(field) for field in merged.moved if field.field not in wanted)
        if not await app.push_screen_wait(ConfirmScreen(plan, deliberate="Change it", notes=notes)):
            return None
        return await _carry_out(self._context, plan)

    async def _settle(self, merged: ThreeWay) -> dict[str, Any] | None:
        """What is to be sent after the person chose for each dispute; None to go back."""
        wanted = dict(merged.to_send)
        if merged.conflicts:
            disputes = [
                Dispute(
                    field.field,
                    LABELS[field.field],
                    self._words(field.field, field.original),
                    self._words(field.field, field.theirs),
                    self._words(field.field, field.mine),
                )
                for field in merged.conflicts
            ]
            sides = await self._context.app.push_screen_wait(
                ConflictScreen(f"Key {shown_name(self._key)} was changed meanwhile", disputes)
            )
            if sides is None:
                return None
            for name, side in sides.items():
                if side == "theirs":
                    wanted.pop(name, None)
        return wanted

    def _note(self, field: ThreeWayField) -> str:
        before = self._words(field.field, field.original)
        after = self._words(field.field, field.theirs)
        return f"{LABELS[field.field]} was changed by somebody else and stays: {before} → {after}"

    def _words(self, name: str, value: Any) -> str:
        if value is ABSENT:
            return UNKNOWN
        return in_words(name, value, self._context.app.clock.now(), self._facts.workspaces)


async def toggle(context: ActionContext) -> None:
    """Disable an enabled key, enable a disabled one: as the row showed it at the key press."""
    key = _key(context)
    if key is None:
        return
    if key.disabled is None:
        context.app.say("It is not known whether this key is disabled", severity="warning")
        return
    wish = not key.disabled
    fresh = await _read_again(context, key)
    if fresh is None:
        return
    done = "disabled" if wish else "enabled"
    if fresh.disabled is wish:
        context.app.say(f"Key {shown_name(fresh)} is {done} already")
        await _refresh(context)
        return
    plan = plan_set_disabled(fresh, wish, context.app.clock.now())
    await _confirm_and_tell(
        context, plan, "Disable" if wish else "Enable", f"Key {shown_name(fresh)} {done}"
    )


async def delete(context: ActionContext) -> None:
    """Delete a key for good, after a confirmation that no single key gives."""
    key = _key(context)
    fresh = None if key is None else await _read_again(context, key)
    if fresh is not None:
        plan = plan_delete(fresh, context.app.clock.now())
        await _confirm_and_tell(
            context, plan, "Delete for good", f"Key {shown_name(fresh)} deleted"
        )


# What they share --------------------------------------------------------------------------------


async def _confirm_and_tell(
    context: ActionContext, plan: Plan[Any], deliberate: str, done: str
) -> None:
    app = context.app
    if _covered(context):
        return
    if not await app.push_screen_wait(ConfirmScreen(plan, deliberate=deliberate)):
        return
    match await _carry_out(context, plan):
        case Applied():
            app.say(done)
        case Refused(error):
            app.say(f"{plan.title}: {error.message}", severity="error")
        case Unknown(error):
            await app.push_screen_wait(
                NoticeScreen(
                    f"{plan.title}: the answer was lost",
                    f"{safe_text(error.message, 200)} It may have happened or not. {_LOOK}",
                )
            )
    await _refresh(context)


async def _carry_out(context: ActionContext, plan: Plan[Any]) -> Outcome[Any]:
    if context.app.session is None:
        return Refused(NotSentError("Nothing was sent: there is no connection now."))
    road = context.app.road
    outcome = await road.carry_out(plan)
    if road.journal_fault is not None:
        why = f"The outcome could not be written to the journal: {road.journal_fault}"
        context.app.say(why, severity="warning")
    return outcome


def _key(context: ActionContext) -> ApiKey | None:
    """The key that was selected at the key press; says so when it cannot be written to."""
    key = cast("KeyRow", context.target).key
    if key.hash:
        return key
    context.app.say("The gateway gave this key no hash: it cannot be changed", severity="warning")
    return None


async def _read_again(context: ActionContext, key: ApiKey) -> ApiKey | None:
    """The key as it is now; None when that cannot be known, which is said."""
    try:
        return await context.app.gateway.keys.get(key.hash or "")
    except NotFoundError:
        context.app.say(f"Key {shown_name(key)} no longer exists", severity="warning")
        await _refresh(context)
    except GatewayError as error:
        context.app.say(f"The key could not be read again: {error.message}", severity="error")
    return None


def _covered(context: ActionContext) -> bool:
    """Whether a form came up meanwhile: a key pressed twice opens one."""
    return context.app.screen is not context.screen


async def _facts(context: ActionContext) -> Facts:
    """Clock, zone and workspace names; without the names when they do not come soon."""
    app = context.app
    feed = workspaces_feed(app.hub, app.scope)
    if feed.state.value is None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await feed.refresh()
    state = feed.state
    names = {
        space.id: safe_line(space.name or space.slug or space.id, 60)
        for space in state.value or ()
        if space.id
    }
    return Facts(app.clock.now, app.local_zone, names)


def _select(context: ActionContext, identity: str) -> None:
    if isinstance(context.screen, ResourceScreen):
        context.screen.want(identity, detail=False)


async def _refresh(context: ActionContext) -> None:
    if context.app.session is not None:
        await context.app.hub.refresh(FEEDS)


HANDLERS: Mapping[str, Handler] = {
    "keys.create": create,
    "keys.edit": edit,
    "keys.toggle": toggle,
    "keys.delete": delete,
}
