"""Feeds of the ledger, which need no request: outcomes of writes, and unresolved writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.local.ledger import FILE_NAME, Ledger, LedgerEntry
from gwtui.local.paths import Paths
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope
from gwtui.watch.reads import FeedKey

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.domain.clock import Clock

T = TypeVar("T")

_CREATE = ".create"
AUDIT_FEED = "audit"
_MOST = 5000
"""The maximum number of entries that are shown; `gwtui audit` exports all."""


def user_ledger() -> Ledger:
    """The ledger in the state directory of the user."""
    return Ledger(Paths.of_user().state / FILE_NAME)


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


async def _ask(ledger: Ledger, question: Callable[[Ledger], T]) -> T:
    try:
        return await asyncio.to_thread(question, ledger)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise GatewayError(f"The audit log {ledger.path}: {reason}") from None


async def _audit(reader: FeedReader, _scope: Scope) -> Sequence[LedgerEntry]:
    await reader.hub.complete()
    ledger = reader.hub.ledger or user_ledger()
    return await _ask(ledger, lambda ledger: tuple(islice(ledger.audit(), _MOST)))


audit_feed = FeedSpec(AUDIT_FEED, _audit, cadence.AUDIT)
"""The newest outcomes in the ledger of the hub, else of the user."""


async def _unresolved(reader: FeedReader, _scope: Scope) -> Sequence[LedgerEntry]:
    hub = reader.hub
    await hub.complete()
    gateway, clock = hub.connection.base_url, hub.clock
    return await _ask(
        hub.ledger or user_ledger(), partial(unresolved, gateway=gateway, clock=clock)
    )


unresolved_feed = FeedSpec(RECOVERY_FEED, _unresolved, cadence.AUDIT)
"""The unresolved writes in the ledger of the hub, else of the user."""


@dataclass(frozen=True, slots=True)
class UnresolvedWrite:
    """An unresolved write, and the identities that other writes of the ledger created."""

    intent: LedgerEntry
    created_by_others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Inspected(Generic[T]):
    """The evidence about a write; None once the write is resolved."""

    evidence: T | None


def created_identities(entries: Iterable[LedgerEntry]) -> frozenset[str]:
    """The identities of the resources that these writes created."""
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
    """The evidence that ``inspect`` finds about the write of a plan."""

    async def read(reader: FeedReader) -> Inspected[T]:
        gateway, clock = hub.connection.base_url, hub.clock
        writes = await _ask(ledger, partial(unresolved, gateway=gateway, clock=clock))
        intent = next((write for write in writes if write.id == plan), None)
        if intent is None:
            return Inspected(None)
        others = await _ask(ledger, lambda ledger: created_identities(ledger.entries()))
        return Inspected(await inspect(reader.client, UnresolvedWrite(intent, others)))

    key: FeedKey[Inspected[T]] = FeedKey(RECOVERY_FEED, (plan,))
    return hub.feed(key, read, cadence.KEYS, transient=True)
