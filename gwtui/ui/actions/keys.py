"""Making a key: sealed on this machine between the gateway's answer and the acknowledgement."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from gwtui.client.errors import NotSentError
from gwtui.contract.keys import CreatedKey, CreateKeyRequest
from gwtui.crud.plan import Applied, Outcome, Plan, Refused
from gwtui.resources.keys.form import create_form
from gwtui.resources.keys.writes import WRITES, plan_sealed_create
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import form_context, plan_context
from gwtui.ui.actions.sealed_keys import wipe
from gwtui.ui.actions.writing import (
    confirm,
    covered,
    execute,
    refresh,
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

    async def submit(self, request: CreateKeyRequest) -> Outcome[CreatedKey] | None:
        """Carry the wish out; where its value cannot be sealed, only after saying so."""
        session = self._context.app.session
        if session is None:
            return Refused(NotSentError("Nothing was sent: there is no connection now."))
        trouble = await asyncio.to_thread(session.sealed.trouble)
        plan = plan_sealed_create(
            request, plan_context(self._context, self._workspaces), session.sealed, trouble
        )
        ask = submitted if trouble is None else confirm
        consent = await ask(self._context, plan, _CREATE)
        if consent is None:
            return None
        self._plan = plan
        return await execute(self._context, consent)

    async def hand_over(self, made: Applied[CreatedKey]) -> None:
        """Show the value until it is stored; then wipe what was sealed."""
        app, created = self._context.app, made.value
        name = WRITES.name(created.data) if created.data is not None else "without a description"
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


async def create(context: ActionContext) -> None:
    """A form, one request, the value shown once, the new row selected."""
    facts = await workspace_facts(context)
    if covered(context):
        return
    making = Making(context, facts.workspaces)
    form: FormScreen[CreatedKey] = FormScreen(
        create_form(form_context(context)), facts, making.submit
    )
    match await context.app.push_screen_wait(form):
        case Applied(created) as made:
            await making.hand_over(made)
            if created.data is not None and created.data.hash:
                select(context, created.data.hash)
        case None:
            return
    await refresh(context, *WRITES.feeds)


HANDLERS: Mapping[str, Handler] = {
    **crud.handlers("keys", "edit", "toggle", "delete"),
    "keys.create": create,
}
