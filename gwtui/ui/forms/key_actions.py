"""What the actions on keys do: plan, confirm, carry out, tell, and keep the selection."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import cast

from gwtui.contract.keys import ApiKey, CreatedKey, UpdateKeyRequest
from gwtui.crud.plan import Applied
from gwtui.resources.keys.form import create_form, edit_form
from gwtui.resources.keys.plans import (
    LABELS,
    in_words,
    known_values,
    plan_delete,
    plan_set_disabled,
    plan_update,
    shown_name,
)
from gwtui.resources.keys.resource import KeyRow
from gwtui.resources.uses import Uses, key_uses
from gwtui.ui.context import ActionContext, Handler
from gwtui.ui.forms.editing import Editing
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.new_key import Making
from gwtui.ui.forms.writing import (
    confirm_and_tell,
    covered,
    read_again,
    refresh,
    say_done,
    select,
    workspace_facts,
)

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
