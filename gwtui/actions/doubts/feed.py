"""What is found on one write in doubt, as a feed: read again while somebody looks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gwtui.actions.doubts.evidence import Evidence
from gwtui.actions.doubts.look import Look
from gwtui.actions.doubts.looking import look_into, makers
from gwtui.client.errors import GatewayError
from gwtui.local.journal import Journal, OpenIntent
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.doubts import FEED, in_doubt
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


@dataclass(frozen=True, slots=True)
class Found:
    """What was found; None once the write is in doubt no more."""

    evidence: Evidence | None


def evidence_feed(hub: FeedHub, journal: Journal, plan: str, reach: timedelta) -> Feed[Found]:
    """The evidence on the write of that plan, as far as ``reach`` before and after it."""

    async def fetch(client: GatewayClient) -> Found:
        try:
            intent, known = await asyncio.to_thread(known_of, client, plan)
        except OSError as error:
            why = error.strerror or "it cannot be read"
            raise GatewayError(f"The journal {journal.path}: {why}") from None
        if intent is None:
            return Found(None)
        return Found(await look_into(Look(client, intent, hub.clock.now(), reach, known)))

    def known_of(client: GatewayClient, plan: str) -> tuple[OpenIntent | None, Mapping[str, str]]:
        found = in_doubt(journal, client.connection.base_url, hub.clock)
        intent = next((one for one in found if one.id == plan), None)
        return intent, {} if intent is None else makers(journal.entries())

    name = f"{FEED}:{plan}:{reach.total_seconds():.0f}"
    return hub.feed(name, fetch, cadence.KEYS, passing=True)
