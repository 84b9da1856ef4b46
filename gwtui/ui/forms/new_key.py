"""A new key: sealed on this machine between the gateway's answer and the acknowledgement."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import cast

from gwtui.client.errors import NotSentError
from gwtui.contract.keys import CreatedKey, CreateKeyRequest
from gwtui.contract.request import RequestModel
from gwtui.crud.plan import Applied, Outcome, Plan, Refused
from gwtui.resources.keys.plans import plan_create, shown_name
from gwtui.resources.keys.sealed import with_sealing
from gwtui.ui.context import ActionContext
from gwtui.ui.forms.notice import NoticeScreen
from gwtui.ui.forms.secret import SecretScreen, Shelter
from gwtui.ui.forms.unacknowledged import wipe
from gwtui.ui.forms.writing import carry_out, confirm, submitted

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
