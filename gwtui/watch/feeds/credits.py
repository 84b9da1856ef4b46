"""Credits of the account: contract "Credits"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwtui.contract.credits import Credits
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.scope import Scope
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


async def fetch_credits(client: GatewayClient) -> Credits:
    """What was bought and what is used. Raises GatewayError."""
    return await client.credits.get()


def credits_feed(hub: FeedHub, _scope: Scope) -> Feed[Credits]:
    """The credits feed; the account has one balance for all workspaces."""
    return hub.feed("credits", fetch_credits, cadence.CREDITS)
