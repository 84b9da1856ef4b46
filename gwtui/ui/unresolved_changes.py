"""Unresolved changes while the dashboard runs: counted, reported, offered after connecting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative

if TYPE_CHECKING:
    from gwtui.local.ledger import LedgerEntry
    from gwtui.resources.session import Session
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.feed import Feed
    from gwtui.watch.hub import FeedHub

PLACE = "recovery"
_SHOWN = frozenset({PLACE, "evidence"})
LATER = "To see this later, press Ctrl+P and choose “Unresolved changes”."
_EVERY = 30.0
"""Seconds between two reads of the ledger: another dashboard may resolve a change."""
_NAME = 60


def route_to(plan: str) -> str:
    """The route to the unresolved change with this plan id; to the whole list if it is empty."""
    return f"{PLACE}/{plan}" if plan else PLACE


def _feed(hub: FeedHub) -> Feed[Sequence[LedgerEntry]]:
    from gwtui.watch.feeds.ledger import unresolved_feed  # noqa: PLC0415 - loaded with the connection

    return unresolved_feed(hub)


def watch_count(session: Session) -> None:
    """Read the ledger every 30 seconds until the session ends, for ``unresolved_count``."""
    _feed(session.hub).watch(lambda _state: None, background=True, every=_EVERY)


def unresolved_count(session: Session) -> int:
    """The number of unresolved changes; 0 before the ledger is read."""
    return len(_feed(session.hub).state.value or ())


def banner_text(session: Session | None, place: str) -> str:
    """The banner line about unresolved changes for the screen of ``place``.

    Empty if there are none, if the screen lists them itself, or before the ledger is read.
    """
    known = session is not None and session.completed.is_set() and place not in _SHOWN
    count = unresolved_count(session) if session is not None and known else 0
    if not count:
        return ""
    return f"{count_text(count)} · :{PLACE} lists {'it' if count == 1 else 'them'}"


async def offer_at_start(app: GwtuiApp) -> None:
    """Offer to show the unresolved changes; only show a notice if a dialog is open.

    Does nothing if there are none or if the current screen lists them.
    """
    if app.session is None:
        return
    writes = (await _feed(app.session.hub).refresh()).value
    screen = app.navigation.screen
    if not writes or (screen is not None and screen.resource in _SHOWN):
        return
    title = count_text(len(writes))
    if screen is None or screen is not app.screen:
        app.say(f"{title}. {LATER}", severity="warning")
        return
    from gwtui.ui.screens.dialogs import AskScreen  # noqa: PLC0415 - only when there are some

    screen.refresh_frame()  # the banner shows the number behind the question
    agreed = await app.push_screen_wait(
        AskScreen(title, _about(app, writes), safe="Later", deliberate="Check now")
    )
    if agreed:
        await app.open_route(route_to(writes[0].id if len(writes) == 1 else ""))
    else:
        app.say(LATER)


def count_text(count: int) -> str:
    """The number with its noun, such as "2 unresolved changes"."""
    return "1 unresolved change" if count == 1 else f"{count} unresolved changes"


def _about(app: GwtuiApp, writes: Sequence[LedgerEntry]) -> str:
    newest = writes[-1]
    named = f"{safe_line(newest.title, _NAME)}, {relative(newest.at, app.clock.now())}"
    more = f", and {len(writes) - 1} more" if len(writes) > 1 else ""
    sentences = [f"{named}{more}."]
    if any(not entry.is_unacknowledged for entry in writes):
        them = "it" if len(writes) == 1 else "them"
        sentences.append(f"gwtui does not know whether the gateway applied {them}.")
    if any(entry.is_unacknowledged for entry in writes):
        sentences.append("Nobody has confirmed that the value of a new key is stored.")
    return " ".join(sentences)
