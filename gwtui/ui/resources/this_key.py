"""The key in use as a list of one, for commands; the dashboard has a screen of its own for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.contract.keys import CurrentKey
from gwtui.ui.resources.columns import flag_column, moment_column, text_column, usd_column
from gwtui.ui.resources.current_key import SECTIONS, fetch_current_key, shown_name
from gwtui.ui.resources.spec import Column, ResourceSpec, Scope
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


async def _fetch(client: GatewayClient) -> Sequence[CurrentKey]:
    return (await fetch_current_key(client),)


def _feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[CurrentKey]]:
    return hub.feed("key:list", _fetch, cadence.KEYS)


COLUMNS: tuple[Column[CurrentKey], ...] = (
    text_column("label", "Label", lambda key: key.label, 18, 0, help="masked form of the key"),
    flag_column(
        "management", "Management", lambda key: key.is_management_key, 10, 1, "may change things"
    ),
    usd_column("limit", "Limit", lambda key: key.limit, 9, 2, "spending limit in USD"),
    usd_column(
        "remaining",
        "Left",
        lambda key: key.limit_remaining,
        10,
        3,
        "what is left of the limit, USD",
    ),
    usd_column("all", "All time", lambda key: key.usage, 11, 4, "usage since it was made"),
    moment_column("expires", "Expires", lambda key: key.expires_at, 11, 5, "when it stops working"),
    text_column(
        "workspace", "Workspace", lambda key: key.workspace_id, 36, 6, help="workspace it is of"
    ),
)

THIS_KEY: ResourceSpec[CurrentKey] = ResourceSpec(
    id="key",
    title="This key",
    singular="key",
    identity=lambda key: key.label or "",
    name=shown_name,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=_feed,
    raw=lambda key: key.raw,
    empty="The gateway said nothing about the key.",
    default_sort=("label", False),
)
