"""Credits of the account: contract "Credits"."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from gwtui.contract.credits import Credits
from gwtui.domain.burn import Meter, Rate
from gwtui.watch import cadence
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.scope import Scope
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


async def fetch_credits(client: GatewayClient) -> Credits:
    """What was bought and what is used. Raises GatewayError."""
    return await client.credits.get()


_meters: WeakKeyDictionary[FeedHub, Meter] = WeakKeyDictionary()


def measured_rate(hub: FeedHub, state: FeedState[Credits]) -> Rate | None:
    """How fast credits went while this connection's readings were looked at, ``state`` included."""
    meter = _meters.setdefault(hub, Meter())
    if state.value is not None and state.value.total_usage is not None and state.fetched_at:
        meter.add(state.fetched_at, state.value.total_usage)
    return meter.rate()


def credits_feed(hub: FeedHub, _scope: Scope) -> Feed[Credits]:
    """The credits feed; the account has one balance for all workspaces."""
    return hub.feed("credits", fetch_credits, cadence.CREDITS)
