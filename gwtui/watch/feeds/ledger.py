"""Feeds of the ledger, which need no request: outcomes of writes, and unresolved writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.local.ledger import FILE_NAME, Ledger, LedgerEntry
from gwtui.local.paths import Paths
from gwtui.watch import cadence
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.domain.clock import Clock

AUDIT_FEED = "audit"
_MOST = 5000
"""The maximum number of entries that are shown; `gwtui audit` exports all."""


def own_ledger() -> Ledger:
    """The ledger in the state directory of the user."""
    return Ledger(Paths.of_user().state / FILE_NAME)


class _AuditReader:
    """Reads the ledger again whenever it has changed."""

    def __init__(self, hub: FeedHub) -> None:
        self._hub = hub
        self._stamp: object = None
        self._rows: tuple[LedgerEntry, ...] | None = None

    async def __call__(self, _client: GatewayClient) -> Sequence[LedgerEntry]:
        """The newest lines. Raises GatewayError."""
        await self._hub.complete()
        ledger = self._hub.ledger or own_ledger()
        return await asyncio.to_thread(self._read, ledger)

    def _read(self, ledger: Ledger) -> tuple[LedgerEntry, ...]:
        try:
            stamp = ledger.stamp()
            if self._rows is None or stamp != self._stamp:
                self._rows = tuple(islice(ledger.audit(), _MOST))
                self._stamp = stamp
        except OSError as error:
            raise _unreadable(ledger, error) from None
        return self._rows


def audit_feed(hub: FeedHub) -> Feed[Sequence[LedgerEntry]]:
    """The newest outcomes in the ledger of the hub, else of the user."""
    return hub.feed(FeedKey(AUDIT_FEED), _AuditReader(hub), cadence.AUDIT)


T = TypeVar("T")

_CREATE = ".create"
RECOVERY_FEED = "recovery"
"""The name of the feed of unresolved writes, and the prefix of the feeds of evidence."""


def unresolved(ledger: Ledger, gateway: str, clock: Clock) -> tuple[LedgerEntry, ...]:
    """The unresolved writes to a gateway, oldest first, without those of running programs.

    Blocks. Raises OSError.
    """
    now = clock.now()
    writes = ledger.open_writes()
    return tuple(
        write for write in writes if write.gateway == gateway and not write.is_running(now)
    )


async def _unresolved(reader: FeedReader, _scope: Scope) -> Sequence[LedgerEntry]:
    hub = reader.hub
    await hub.complete()
    ledger = hub.ledger or own_ledger()
    try:
        return await asyncio.to_thread(unresolved, ledger, hub.connection.base_url, hub.clock)
    except OSError as error:
        raise _unreadable(ledger, error) from None


unresolved_feed = FeedSpec(RECOVERY_FEED, _unresolved, cadence.AUDIT)
"""The unresolved writes in the ledger of the hub, else of the user."""


def _unreadable(ledger: Ledger, error: OSError) -> GatewayError:
    return GatewayError(f"The audit log {ledger.path}: {error.strerror or 'it cannot be read'}")


@dataclass(frozen=True, slots=True)
class UnresolvedWrite:
    """An unresolved write with the other writes of the ledger that created resources.

    ``created_by`` maps the identities of created resources to the titles of the writes.
    """

    intent: LedgerEntry
    created_by_others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Inspected(Generic[T]):
    """The evidence about a write; None once the write is resolved."""

    evidence: T | None


def created(entries: Iterable[LedgerEntry]) -> frozenset[str]:
    """The identities that the writes of a ledger created."""
    return frozenset(
        entry.identity
        for entry in entries
        if entry.outcome in {"applied", "resolved"}
        and entry.action.endswith(_CREATE)
        and entry.identity is not None
    )


def inspected_feed(
    hub: FeedHub,
    ledger: Ledger,
    plan: str,
    inspect: Callable[[GatewayClient, UnresolvedWrite], Awaitable[T]],
) -> Feed[Inspected[T]]:
    """The evidence that ``inspect`` finds about a write, the first part of ``scope``."""

    def find(client: GatewayClient) -> UnresolvedWrite | None:
        writes = unresolved(ledger, client.connection.base_url, hub.clock)
        intent = next((write for write in writes if write.id == plan), None)
        return None if intent is None else UnresolvedWrite(intent, created(ledger.entries()))

    async def fetch(client: GatewayClient) -> Inspected[T]:
        try:
            write = await asyncio.to_thread(find, client)
        except OSError as error:
            raise _unreadable(ledger, error) from None
        return Inspected(None if write is None else await inspect(client, write))

    key: FeedKey[Inspected[T]] = FeedKey(RECOVERY_FEED, (plan,))
    return hub.feed(key, fetch, cadence.KEYS, passing=True)
