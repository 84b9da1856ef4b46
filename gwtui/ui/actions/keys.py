"""Making an API key: sealed on this machine from the gateway's answer to the acknowledgement.

Of a key whose answer was lost nobody has seen the value, unless it lies sealed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gwtui.client.errors import NotSentError
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest
from gwtui.crud.form import PickOption
from gwtui.crud.plan import Applied, Outcome, Plan, Refused
from gwtui.resources.actions import by_id
from gwtui.resources.keys.form import create_form
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.keys.writes import WRITES, plan_sealed_create
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import plan_context
from gwtui.ui.actions.links import show_route
from gwtui.ui.actions.sealed_keys import wipe
from gwtui.ui.actions.writing import (
    execute,
    form_context,
    refresh,
    select,
    submitted,
    workspace_facts,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SealStatus, SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker
from gwtui.watch.feeds.keys import KeyRow

if TYPE_CHECKING:
    from gwtui.crud.evidence import Candidate
    from gwtui.domain.known_secrets import Secret

_CREATE = "Create it"
_LEAVE = ""


class KeyCreation:
    """One form for a new key, from what was typed to the acknowledgement of the value.

    ``plan`` is what made the key where that was planned elsewhere.
    """

    def __init__(
        self,
        context: ActionContext,
        workspaces: Mapping[str, str],
        plan: Plan[CreatedKey] | None = None,
    ) -> None:
        self._context = context
        self._workspaces = workspaces
        self._plan = plan

    def planned(self, request: CreateKeyRequest) -> Plan[CreatedKey]:
        """The plan of a request that is still being filled in."""
        return WRITES.plan_create(request, plan_context(self._context, self._workspaces))

    async def submit(self, request: CreateKeyRequest) -> Outcome[CreatedKey] | None:
        """Send the creation, after what is to be warned of was confirmed."""
        session = self._context.app.session
        if session is None:
            return Refused(NotSentError("Nothing was sent: there is no connection now."))
        trouble = await asyncio.to_thread(session.sealed.trouble)
        plan = plan_sealed_create(
            request, plan_context(self._context, self._workspaces), session.sealed, trouble
        )
        confirmation = await submitted(self._context, plan, _CREATE)
        if confirmation is None:
            return None
        self._plan = plan
        return await execute(self._context, confirmation)

    async def hand_over(self, made: Applied[CreatedKey]) -> None:
        """Show the value until it is stored; then wipe what was sealed."""
        app, created = self._context.app, made.value
        name = WRITES.name(created.data) if created.data is not None else "without a description"
        if created.key is None:
            await app.push_screen_wait(
                AskScreen(
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
        shelter = SealStatus(partial(sealed.until, plan.id), made.unkept)
        attempt = partial(_try, self._context, name)
        await app.push_screen_wait(SecretScreen(name, created.key, shelter, attempt))
        await wipe(app, sealed, plan.id)


async def _try(context: ActionContext, name: str, key: Secret) -> None:
    from gwtui.ui.actions.tries import try_made  # noqa: PLC0415 - seldom

    await try_made(context, name, key)


async def create(context: ActionContext) -> None:
    """A form, one request, the value shown once, the new row selected."""
    facts = await workspace_facts(context)
    if context.covered:
        return
    making = KeyCreation(context, facts.workspaces)
    spec = replace(create_form(form_context(context)), plan=making.planned)
    form: FormScreen[CreatedKey] = FormScreen(spec, facts, making.submit)
    match await context.app.push_screen_wait(form):
        case Applied(created) as made:
            await making.hand_over(made)
            if created.data is not None and created.data.hash:
                select(context, created.data.hash)
        case None:
            return
    await refresh(context, *WRITES.feeds)


# A key whose answer was lost ----------------------------------------------------------------------


async def offer_to_stop(context: ActionContext, plan: str, one: Candidate) -> None:
    """Go to the key; show its value where it lies sealed, else offer to disable or delete it."""
    app = context.app
    await show_route(context, one.route, one)
    if not isinstance(one.item, ApiKey) or app.navigation.screen is None:
        return
    if await _is_sealed(context, plan):
        await _offer_value(context)
        return
    title = f"Nobody has seen the value of key {one.name}: it cannot be used. What now?"
    choices = [
        PickOption("keys.toggle", "Disable it", "can be undone"),
        PickOption("keys.delete", "Delete it", "for good"),
        PickOption(_LEAVE, "Leave it as it is", "it stays, of no use to anybody"),
    ]
    if one.item.disabled:
        del choices[0]
    chosen = await app.push_screen_wait(Picker(title, choices, current=None))
    screen = app.navigation.screen
    if chosen and screen is not None:
        row = KeyRow(one.item)
        key = ActionContext(app, KEYS, row, row.identity, screen)
        await app.perform(by_id(chosen), key)


async def _is_sealed(context: ActionContext, plan: str) -> bool:
    session = context.app.session
    if session is None:
        return False
    found = await asyncio.to_thread(session.sealed.find)
    return plan in {key.id for key in found.keys}


async def _offer_value(context: ActionContext) -> None:
    app = context.app
    agreed = await app.push_screen_wait(
        AskScreen(
            "Its value lies sealed on this machine",
            "It can be shown once more, until you say that it is stored.",
            safe="Later",
            deliberate="Show",
        )
    )
    if agreed:
        await app.perform(by_id("app.unacknowledged"), context)


HANDLERS: Mapping[str, Handler] = {
    **crud.handlers("keys", "edit", "toggle", "delete"),
    "keys.create": create,
}
