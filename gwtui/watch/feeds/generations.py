"""One generation: extended contract section 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.activity import Generation
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.shared import FeedKey

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

_NAME = 60


async def _look_up(client: GatewayClient, identity: str) -> Sequence[Generation]:
    try:
        return (await client.generations.get(identity),)
    except NotFoundError as error:
        named = safe_line(identity, _NAME)
        why = f"There is no generation “{named}”: unknown, or no longer kept."
        raise GatewayError(why, request_id=error.request_id) from None


def generation_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[Generation]]:
    """The one whose id is the scope's parent."""
    identity = scope.parent or ""
    key: FeedKey[Sequence[Generation]] = FeedKey("generation", (identity,))
    return hub.feed(key, lambda client: _look_up(client, identity), cadence.KEYS)
