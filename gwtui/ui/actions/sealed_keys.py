"""New keys that nobody has acknowledged as stored: offered again, wiped when their time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative, utc
from gwtui.resources.keys.sealed import foreign_keys_text, unopened_keys_text
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.screens.dialogs import AskScreen

if TYPE_CHECKING:
    from gwtui.local.sealed_keys import SealedKey, SealedKeys
    from gwtui.ui.app import GwtuiApp

LATER = "Look for “Keys never acknowledged” among the commands (ctrl+p)."
_NAME = 60
_NAMED = 3


async def offer_at_start(app: GwtuiApp) -> None:
    """After connecting: say what was wiped, offer what waits, unless something else is open."""
    if app.session is None:
        return
    await sweep(app)
    found = await asyncio.to_thread(app.session.sealed.find)
    if found.foreign:
        app.say(
            f"{foreign_keys_text(found.foreign)} Connect with that token to see it.",
            severity="warning",
        )
    if not found.keys:
        return
    if app.navigation.screen is not app.screen:
        app.say(f"{_waiting(found.keys)} {LATER}", severity="warning")
        return
    agreed = await app.push_screen_wait(
        AskScreen(_waiting(found.keys), _about(app, found.keys), safe="Later", deliberate="Show")
    )
    if agreed:
        await _show(app, app.session.sealed, found.keys)
    else:
        app.say(LATER)


async def offer_again(context: ActionContext) -> None:
    """Show what waits, or say that nothing does."""
    app = context.app
    if app.session is None:
        app.say("There is no connection yet", severity="warning")
        return
    found = await asyncio.to_thread(app.session.sealed.find)
    if not found.keys:
        app.say(" ".join(("No key waits to be acknowledged here.", *unopened_keys_text(found))))
        return
    await _show(app, app.session.sealed, found.keys)


async def sweep(app: GwtuiApp) -> None:
    """Wipe what waited too long, and say which keys nobody can see again."""
    if app.session is None:
        return
    swept = await asyncio.to_thread(app.session.sealed.sweep)
    if swept:
        names = _names([safe_line(name, _NAME) for name in swept])
        app.say(
            f"Never acknowledged and wiped now, its time was over: {names}. "
            "If nobody stored the value, delete the key and create another.",
            severity="warning",
        )


async def wipe(app: GwtuiApp, sealed: SealedKeys, identifier: str) -> None:
    """Destroy what was sealed of a value that is stored elsewhere now; a failure is said."""
    try:
        await asyncio.to_thread(sealed.wipe, identifier)
    except OSError as error:
        why = f"The sealed value could not be wiped: {error.strerror or 'unknown reason'}"
        app.say(f"{why}. It is tried again when its time is over.", severity="warning")


async def _show(app: GwtuiApp, sealed: SealedKeys, keys: Sequence[SealedKey]) -> None:
    """One after the other, up to the first that is left for later."""
    from gwtui.ui.forms.secret import SealStatus, SecretScreen  # noqa: PLC0415 - rarely needed

    for key in keys:
        if not await asyncio.to_thread(sealed.claim, key):
            continue
        made = relative(key.made_at, app.clock.now())
        shelter = SealStatus(partial(sealed.until, key.id), made=made)
        screen = SecretScreen(_name(key), key.value, shelter)
        if await app.push_screen_wait(screen):
            await wipe(app, sealed, key.id)
        else:
            sealed.release(key.id)
            app.say(LATER)
            return


def _about(app: GwtuiApp, keys: Sequence[SealedKey]) -> str:
    now = app.clock.now()
    made = _names([f"{_name(key)}, made {relative(key.made_at, now)}" for key in keys])
    first = utc(min(key.label.until for key in keys))
    if len(keys) == 1:
        return (
            f"{made}. Nobody has said that its value is stored. It is sealed on this machine "
            f"until {first}, then it is wiped."
        )
    return (
        f"{made}. Nobody has said that their values are stored. They are sealed on this machine; "
        f"from {first} on they are wiped."
    )


def _name(key: SealedKey) -> str:
    return f"“{safe_line(key.name or key.label.key_hash, _NAME)}”"


def _names(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return "; ".join((*names[:_NAMED], *([f"and {more} more"] if more > 0 else [])))


def _waiting(keys: Sequence[SealedKey]) -> str:
    if len(keys) == 1:
        return "A new key was never acknowledged."
    return f"{len(keys)} new keys were never acknowledged."


HANDLERS: Mapping[str, Handler] = {"app.unacknowledged": offer_again}
