"""What the actions on keys do: plan, confirm, carry out, tell, and keep the selection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import cast

from gwtui.client.errors import NotSentError
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.request import RequestModel
from gwtui.crud.plan import Applied, Outcome, Plan, Refused
from gwtui.resources.keys.form import create_form, edit_form
from gwtui.resources.keys.plans import (
    LABELS,
    in_words,
    known_values,
    plan_create,
    plan_delete,
    plan_set_disabled,
    plan_update,
    shown_name,
)
from gwtui.resources.keys.resource import KeyRow
from gwtui.resources.keys.sealed import with_sealing
from gwtui.resources.uses import Uses, key_uses
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.editing import Editing
from gwtui.ui.actions.sealed_keys import wipe
from gwtui.ui.actions.writing import (
    carry_out,
    confirm,
    confirm_and_tell,
    covered,
    read_again,
    refresh,
    say_done,
    select,
    submitted,
    workspace_facts,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen, Shelter
from gwtui.ui.screens.ask import NoticeScreen

_CREATE = "Create it"


class Making:
    """One form for a new key, from what was typed to the acknowledgement of the value."""

    def __init__(self, context: ActionContext, workspaces: Mapping[str, str]) -> None:
        self._context = context
        self._workspaces = workspaces
        self._plan: Plan[CreatedKey] | None = None

    async def submit(self, request: RequestModel) -> Outcome[CreatedKey] | None:
        """Carry the wish out; where its value cannot be sealed, only after saying so."""
        session = self._context.app.session
        if session is None:
            return Refused(NotSentError("Nothing was sent: there is no connection now."))
        trouble = await asyncio.to_thread(session.sealed.trouble)
        wish = cast("CreateKeyRequest", request)
        now = self._context.app.clock.now()
        plan = with_sealing(
            plan_create(wish, now, self._workspaces, unsealed=trouble), session.sealed
        )
        ask = submitted if trouble is None else confirm
        consent = await ask(self._context, plan, _CREATE)
        if consent is None:
            return None
        self._plan = plan
        return await carry_out(self._context, consent)

    async def hand_over(self, made: Applied[CreatedKey]) -> None:
        """Show the value until it is stored; then wipe what was sealed."""
        app, created = self._context.app, made.value
        name = shown_name(created.data) if created.data is not None else "without a description"
        if created.key is None:
            await app.push_screen_wait(
                NoticeScreen(
                    f"Key {name} was created, but its value did not come",
                    "The gateway's answer lacked it and it cannot be asked for again: "
                    "delete this key and create another.",
                )
            )
            return
        session, plan = app.session, self._plan
        if session is None or plan is None:
            await app.push_screen_wait(SecretScreen(name, created.key))
            return
        sealed = session.sealed
        shelter = Shelter(partial(sealed.until, plan.id), made.unkept)
        await app.push_screen_wait(SecretScreen(name, created.key, shelter))
        await wipe(app, sealed, plan.id)


FEEDS = "keys"
"""The feeds that a write to a key makes out of date begin so."""


async def create(context: ActionContext) -> None:
    """A form, one request, the value shown once, the new row selected."""
    facts = await workspace_facts(context)
    if covered(context):
        return
    making = Making(context, facts.workspaces)
    form: FormScreen[CreatedKey] = FormScreen(
        create_form(context.app.scope.workspace), facts, making.submit
    )
    match await context.app.push_screen_wait(form):
        case Applied(created) as made:
            await making.hand_over(made)
            if created.data is not None and created.data.hash:
                select(context, created.data.hash)
        case None:
            return
    await refresh(context, FEEDS)


async def edit(context: ActionContext) -> None:
    """A form filled from the row; on submit the key is read again before anything is sent."""
    app = context.app
    key = _key(context)
    if key is None:
        return
    facts = await workspace_facts(context)
    if covered(context):
        return
    editing = Editing(
        context=context,
        original=key,
        noun="key",
        called=f"Key {shown_name(key)}",
        read=lambda: app.gateway.keys.get(key.hash or ""),
        known=known_values,
        labels=LABELS,
        words=lambda name, value: in_words(name, value, app.clock.now(), facts.workspaces),
        plan=lambda fresh, wanted: plan_update(
            fresh, UpdateKeyRequest.model_validate(wanted), app.clock.now(), facts.workspaces
        ),
        uses=partial(_uses, context),
    )
    form: FormScreen[ApiKey] = FormScreen(edit_form(key, app.clock.now()), facts, editing.submit)
    match await app.push_screen_wait(form):
        case Applied():
            say_done(context, f"Key {shown_name(key)} changed")
        case None:
            return
    await refresh(context, FEEDS)


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
        await refresh(context, FEEDS)
        return
    uses = await _uses(context, fresh) if wish else ()
    plan = plan_set_disabled(fresh, wish, context.app.clock.now(), uses)
    await confirm_and_tell(
        context, plan, "Disable" if wish else "Enable", f"Key {shown_name(fresh)} {done}", FEEDS
    )


async def delete(context: ActionContext) -> None:
    """Delete a key for good, after a confirmation that no single key gives."""
    key = _key(context)
    fresh = None if key is None else await _read_again(context, key)
    if fresh is not None:
        plan = plan_delete(fresh, context.app.clock.now(), await _uses(context, fresh))
        await confirm_and_tell(
            context, plan, "Delete for good", f"Key {shown_name(fresh)} deleted", FEEDS
        )


# What they share --------------------------------------------------------------------------------


def _key(context: ActionContext) -> ApiKey | None:
    """The key that was selected at the key press; says so when it cannot be written to."""
    key = cast("KeyRow", context.target).key
    if key.hash:
        return key
    context.app.say("The gateway gave this key no hash: it cannot be changed", severity="warning")
    return None


async def _uses(context: ActionContext, fresh: ApiKey) -> Uses:
    return await key_uses(context.app.gateway, fresh, context.app.clock.now())


async def _read_again(context: ActionContext, key: ApiKey) -> ApiKey | None:
    read = context.app.gateway.keys.get(key.hash or "")
    return await read_again(context, read, f"Key {shown_name(key)}", FEEDS)


HANDLERS: Mapping[str, Handler] = {
    "keys.create": create,
    "keys.edit": edit,
    "keys.toggle": toggle,
    "keys.delete": delete,
}
