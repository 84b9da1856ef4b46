"""The key that is used here: GET /key, extended contract section 1."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError
from gwtui.contract.current_key import CurrentKey
from gwtui.watch import cadence
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub, Scope

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

NOT_MANAGEMENT = "this key is not a management key"
"""Why nothing can be changed, to end a sentence with."""


async def fetch_current_key(client: GatewayClient) -> CurrentKey:
    """What the key in use may do. Where it may not manage, no write is sent any more.

    Raises GatewayError.
    """
    current = await client.keys.current()
    if current.is_management_key is False:
        client.gate.close(NOT_MANAGEMENT)
    return current


def current_key_feed(hub: FeedHub, _scope: Scope) -> Feed[CurrentKey]:
    """The feed of the key in use; the same for every workspace."""
    return hub.feed(FeedKey("key"), fetch_current_key, cadence.KEYS)


@dataclass(frozen=True, slots=True)
class KeyRights:
    """How much of the catalog the key in use may call; None is what could not be read."""

    models: int | None = None
    of: int | None = None


async def fetch_key_rights(client: GatewayClient) -> KeyRights:
    """How many models there are and how many the key may call; a count that fails is None.

    Never raises GatewayError.
    """
    models: int | None = None
    of: int | None = None
    with suppress(GatewayError):
        models = len((await client.catalog.user_models()).items)
    with suppress(GatewayError):
        of = await client.catalog.count()
    return KeyRights(models, of)


def key_rights_feed(hub: FeedHub, _scope: Scope) -> Feed[KeyRights]:
    """How much of the catalog the key in use may call."""
    return hub.feed(FeedKey("models", ("reach",)), fetch_key_rights, cadence.MODELS)


async def _rows(client: GatewayClient) -> Sequence[CurrentKey]:
    return (await fetch_current_key(client),)


def current_key_rows_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[CurrentKey]]:
    """The key in use as a list of one."""
    return hub.feed(FeedKey("key", ("list",)), _rows, cadence.KEYS)
