"""Feeds of the ledger, which need no request: outcomes of writes, and unresolved writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.local.ledger import FILE_NAME, Ledger, LedgerEntry
from gwtui.local.paths import Paths
from gwtui.watch import cadence
from gwtui.watch.hub import FeedReader, FeedSpec, Scope

if TYPE_CHECKING:
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
    """The unresolved writes to a gateway, oldest first, except those of programs still running.

    Blocks. Raises OSError.
    """
    now = clock.now()
    writes = ledger.open_writes()
    return tuple(
        write for write in writes if write.gateway == gateway and not write.is_running(now)
    )


async def ask_ledger(reader: FeedReader, question: Callable[[Ledger], T]) -> T:
    """Query the ledger of the hub, else of the user. Raises GatewayError."""
    await reader.hub.wait_until_open()
    ledger = reader.hub.ledger or user_ledger()
    try:
        return await asyncio.to_thread(question, ledger)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise GatewayError(f"The audit log {ledger.path}: {reason}") from None


async def _audit(reader: FeedReader, _scope: Scope) -> Sequence[LedgerEntry]:
    return await ask_ledger(reader, lambda ledger: tuple(islice(ledger.audit(), _MOST)))


audit_feed = FeedSpec(AUDIT_FEED, _audit, cadence.AUDIT)
"""The newest outcomes in the ledger of the hub, else of the user."""


async def read_unresolved(reader: FeedReader, _scope: Scope) -> Sequence[LedgerEntry]:
    """The unresolved writes to the gateway, oldest first. Raises GatewayError."""
    gateway = reader.hub.connection.base_url
    return await ask_ledger(reader, partial(unresolved, gateway=gateway, clock=reader.clock))


unresolved_feed = FeedSpec(RECOVERY_FEED, read_unresolved, cadence.AUDIT)
"""The unresolved writes in the ledger of the hub, else of the user."""


def created_identities(ledger: Ledger) -> frozenset[str]:
    """The identities of the resources that the writes of a ledger created. Blocks."""
    return frozenset(
        entry.identity
        for entry in ledger.entries()
        if entry.outcome in {"applied", "resolved"}
        and entry.action.endswith(_CREATE)
        and entry.identity is not None
    )
