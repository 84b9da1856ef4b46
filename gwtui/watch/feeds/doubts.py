"""The writes in doubt on one gateway, from this machine's journal, and what is found on one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.local.journal import FILE_NAME, Journal, JournalEntry, OpenIntent
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub
from gwtui.watch.shared import FeedKey

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.domain.clock import Clock

T = TypeVar("T")

_CREATE = ".create"
FEED = "recovery"
"""What looks into one of them begins so, too."""


def in_doubt(journal: Journal, gateway: str, clock: Clock) -> tuple[OpenIntent, ...]:
    """The writes to that gateway of which nobody knows whether they happened, oldest first.

    Those under way are none of them. Blocks. Raises OSError.
    """
    found = journal.open_intents(clock.now())
    return tuple(one for one in found if one.gateway == gateway and not one.running)


def doubts_feed(hub: FeedHub) -> Feed[Sequence[OpenIntent]]:
    """Those in the journal that is served, else in this person's own."""
    from gwtui.local.paths import Paths  # noqa: PLC0415 - not needed where a journal is served

    async def fetch(client: GatewayClient) -> Sequence[OpenIntent]:
        await hub.complete()
        journal = hub.journal or Journal(Paths.of_user().state / FILE_NAME)
        return await _read(client, journal, hub.clock)

    return hub.feed(FeedKey(FEED), fetch, cadence.AUDIT)


async def _read(client: GatewayClient, journal: Journal, clock: Clock) -> Sequence[OpenIntent]:
    """Raises GatewayError."""
    try:
        return await asyncio.to_thread(in_doubt, journal, client.connection.base_url, clock)
    except OSError as error:
        raise _unreadable(journal, error) from None


def _unreadable(journal: Journal, error: OSError) -> GatewayError:
    return GatewayError(f"The journal {journal.path}: {error.strerror or 'it cannot be read'}")


@dataclass(frozen=True, slots=True)
class DoubtfulWrite:
    """A write in doubt, and what others of its journal ``made``: identity -> title of the write."""

    intent: OpenIntent
    made: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Inspected(Generic[T]):
    """What was found; None once the write is in doubt no more."""

    evidence: T | None


def makers(entries: Iterable[JournalEntry]) -> Mapping[str, str]:
    """What the writes of a journal are known to have made: identity -> the title of the write."""
    titles: dict[str, str] = {}
    made: dict[str, str] = {}
    for entry in entries:
        if entry.event == "intent" and str(entry.details.get("action", "")).endswith(_CREATE):
            titles[entry.id] = str(entry.details.get("title", ""))
        elif entry.event in {"applied", "resolved"} and entry.id in titles:
            identity = entry.details.get("identity")
            if isinstance(identity, str):
                made[identity] = titles[entry.id]
    return made


def inspected_feed(
    hub: FeedHub,
    journal: Journal,
    scope: tuple[str, ...],
    look: Callable[[GatewayClient, DoubtfulWrite], Awaitable[T]],
) -> Feed[Inspected[T]]:
    """What ``look`` finds on the write whose plan ``scope`` begins with."""

    def doubt_of(client: GatewayClient) -> DoubtfulWrite | None:
        found = in_doubt(journal, client.connection.base_url, hub.clock)
        intent = next((one for one in found if one.id == scope[0]), None)
        return None if intent is None else DoubtfulWrite(intent, makers(journal.entries()))

    async def fetch(client: GatewayClient) -> Inspected[T]:
        try:
            doubt = await asyncio.to_thread(doubt_of, client)
        except OSError as error:
            raise _unreadable(journal, error) from None
        return Inspected(None if doubt is None else await look(client, doubt))

    key: FeedKey[Inspected[T]] = FeedKey(FEED, scope)
    return hub.feed(key, fetch, cadence.KEYS, passing=True)
