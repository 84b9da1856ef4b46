"""A key that was made although its answer was lost: nobody has seen its value."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gwtui.contract.keys import ApiKey
from gwtui.resources.actions import by_id
from gwtui.resources.keys.resource import KEYS
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.actions.recovery import show_route
from gwtui.ui.screens.ask import AskScreen
from gwtui.ui.screens.choose import Choice, ChooseScreen
from gwtui.watch.feeds.keys import KeyRow

if TYPE_CHECKING:
    from gwtui.crud.evidence import Candidate

_LEAVE = ""


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
        Choice("keys.toggle", "Disable it", "can be undone"),
        Choice("keys.delete", "Delete it", "for good"),
        Choice(_LEAVE, "Leave it as it is", "it stays, of no use to anybody"),
    ]
    if one.item.disabled:
        del choices[0]
    chosen = await app.push_screen_wait(ChooseScreen(title, choices, current=None))
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
    wanted = await app.push_screen_wait(
        AskScreen(
            "Its value lies sealed on this machine",
            "It can be shown once more, until you say that it is stored.",
            safe="Later",
            deliberate="Show",
        )
    )
    if wanted:
        await app.perform(by_id("app.unacknowledged"), context)
