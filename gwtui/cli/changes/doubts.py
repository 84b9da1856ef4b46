"""Before a change: that of earlier ones nobody knows whether they happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwtui.cli.output import narrate
from gwtui.watch.feeds.doubts import doubts_feed

if TYPE_CHECKING:
    from gwtui.resources.session import Session


async def tell_doubts(session: Session) -> None:
    """Say how many there are, and where they can be settled; nothing when there are none."""
    count = len((await doubts_feed(session.hub).refresh()).value or ())
    if count:
        writes = "1 earlier write is" if count == 1 else f"{count} earlier writes are"
        narrate(f"{writes} in doubt: 'gwtui recovery list' tells which, the dashboard settles them")
