"""Create API keys: the value is shown once, until the person confirms that it is stored.

A key whose value nobody has is deleted and created again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from gwtui.contract.keys import ApiKey, CreatedKey
from gwtui.crud.fields import PickOption
from gwtui.resources.actions import by_id
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.keys.writes import WRITES, replacement_plan
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import plan_context
from gwtui.ui.actions.links import show_route
from gwtui.ui.actions.writing import confirm_and_report, refresh, workspace_facts
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.ledger import RECOVERY_FEED

if TYPE_CHECKING:
    from gwtui.crud.evidence import Candidate
    from gwtui.domain.known_secrets import Secret
    from gwtui.local.ledger import LedgerEntry

_REPLACE = "replace"
_LEAVE = ""


async def hand_over(context: ActionContext, plan_id: str, created: CreatedKey) -> None:
    """Show the value of a new key until it is stored, and record that in the ledger."""
    app = context.app
    name = WRITES.name(created.data) if created.data is not None else "without a description"
    if created.key is None:
        await app.push_screen_wait(
            AskScreen(
                f"Key {name} was created, but the answer did not contain its value",
                "The gateway shows a value only once: delete this key and create another.",
            )
        )
        return
    attempt = partial(_try, context, name)
    await app.push_screen_wait(SecretScreen(name, created.key, attempt))
    try:
        await asyncio.to_thread(app.executor.ledger.acknowledge, plan_id, app.clock.now())
    except OSError as error:
        why = error.strerror or "unknown reason"
        app.say(
            f"The audit log could not record that the key is stored ({why}): :recovery asks again",
            severity="warning",
        )


async def _try(context: ActionContext, name: str, key: Secret) -> None:
    from gwtui.ui.actions.tries import try_made  # noqa: PLC0415 - seldom

    await try_made(context, name, key)


# A key whose value nobody has ---------------------------------------------------------------------


async def offer_to_stop(context: ActionContext, lost: LedgerEntry, one: Candidate) -> None:
    """Go to a key whose value was lost; offer to replace, disable or delete it."""
    app = context.app
    await show_route(context, one.route, one.item)
    if not isinstance(one.item, ApiKey) or app.navigation.screen is None:
        return
    title = f"The value of key {one.name} is lost, so the key is unusable"
    choices = [
        PickOption("keys.toggle", "Disable it", "can be undone"),
        PickOption(_REPLACE, "Delete and recreate it", "cannot be undone"),
        PickOption("keys.delete", "Delete it", "cannot be undone"),
        PickOption(_LEAVE, "Leave it as it is", "keeps an unusable key"),
    ]
    if one.item.disabled:
        del choices[0]
    chosen = await app.push_screen_wait(Picker(title, choices, current=None))
    screen = app.navigation.screen
    if not chosen or screen is None:
        return
    row = KeyRow(one.item)
    key = ActionContext(app, KEYS, row, row.identity, screen)
    if chosen == _REPLACE:
        await replace_key(key, lost)
    else:
        await app.perform(by_id(chosen), key)


async def replace_key(context: ActionContext, lost: LedgerEntry) -> None:
    """Delete a key whose value was lost, create it again and show the new value.

    ``lost`` is its creation in the ledger.
    """
    facts, gateway = await workspace_facts(context), context.app.gateway
    try:
        plan = await replacement_plan(gateway, lost, plan_context(context, facts.workspaces))
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


HANDLERS: Mapping[str, Handler] = {
    **crud.handlers("keys", "edit", "toggle", "delete"),
    "keys.create": partial(crud.create, hand_over=hand_over),
}
