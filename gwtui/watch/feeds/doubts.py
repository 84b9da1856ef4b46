"""The writes in doubt on one gateway, from this machine's journal, as a feed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError
from gwtui.local.journal import FILE_NAME, Journal, OpenIntent
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub
from gwtui.watch.shared import FeedKey

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.domain.clock import Clock

FEED = "recovery"
"""What looks into one of them begins so, too."""


def in_doubt(journal: Journal, gateway: str, clock: Clock) -> tuple[OpenIntent, ...]:
    """The writes to that gateway of which nobody knows whether they happened, oldest first.

    Those under way are none of them. Blocks. Raises OSError.
    """
    found = journal.open_intents(clock.now())
    return tuple(one for one in found if one.gateway == gateway and not one.running)


def serve_doubts(hub: FeedHub, journal: Journal) -> None:
    """Let the hub's feed of this name read the journal that the connection writes."""

    async def fetch(client: GatewayClient) -> Sequence[OpenIntent]:
        return await _read(client, journal, hub.clock)

    hub.feed(FeedKey(FEED), fetch, cadence.AUDIT)


def doubts_feed(hub: FeedHub) -> Feed[Sequence[OpenIntent]]:
    """Those in the journal that is served, else in this person's own."""
    from gwtui.local.paths import Paths  # noqa: PLC0415 - not needed where a journal is served

    async def fetch(client: GatewayClient) -> Sequence[OpenIntent]:
        return await _read(client, Journal(Paths.of_user().state / FILE_NAME), hub.clock)

    return hub.feed(FeedKey(FEED), fetch, cadence.AUDIT)


async def _read(client: GatewayClient, journal: Journal, clock: Clock) -> Sequence[OpenIntent]:
    """Raises GatewayError."""
    try:
        return await asyncio.to_thread(in_doubt, journal, client.connection.base_url, clock)
    except OSError as error:
        why = error.strerror or "it cannot be read"
        raise GatewayError(f"The journal {journal.path}: {why}") from None
