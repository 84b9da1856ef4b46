"""What this machine wrote down of the writes to a gateway, as feeds; no request goes out.

The outcomes, newest first; the writes that a person has to settle, oldest first; and what an
inspection of one of these finds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
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
"""Lines that are shown, the newest; `gwtui audit` exports all."""


def own_ledger() -> Ledger:
    """The ledger of whoever runs this program."""
    return Ledger(Paths.of_user().state / FILE_NAME)


class _AuditReader:
    """Reads the ledger that the hub serves, else this person's own; again when it has grown."""

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
    """The newest outcomes in the ledger that is served, else in this person's own."""
    return hub.feed(FeedKey(AUDIT_FEED), _AuditReader(hub), cadence.AUDIT)


T = TypeVar("T")

_CREATE = ".create"
RECOVERY_FEED = "recovery"
"""What looks into one of them begins so, too."""


def unsettled(ledger: Ledger, gateway: str, clock: Clock) -> tuple[LedgerEntry, ...]:
    """The writes to that gateway that a person has to settle, oldest first.

    Those in the hands of a program that runs are none of them. Blocks. Raises OSError.
    """
    now = clock.now()
    found = ledger.open_writes()
    return tuple(one for one in found if one.gateway == gateway and not one.is_running(now))


async def _unsettled(reader: FeedReader, _scope: Scope) -> Sequence[LedgerEntry]:
    hub = reader.hub
    await hub.complete()
    ledger = hub.ledger or own_ledger()
    try:
        return await asyncio.to_thread(unsettled, ledger, hub.connection.base_url, hub.clock)
    except OSError as error:
        raise _unreadable(ledger, error) from None


unsettled_feed = FeedSpec(RECOVERY_FEED, _unsettled, cadence.AUDIT)
"""The writes to be settled in the ledger that is served, else in this person's own."""


def _unreadable(ledger: Ledger, error: OSError) -> GatewayError:
    return GatewayError(f"The ledger {ledger.path}: {error.strerror or 'it cannot be read'}")


@dataclass(frozen=True, slots=True)
class UnsettledWrite:
    """An open write, and what others of its ledger ``made``: identity -> title of the write."""

    intent: LedgerEntry
    made: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Inspected(Generic[T]):
    """What was found; None once the write is settled."""

    evidence: T | None


def makers(entries: Iterable[LedgerEntry]) -> Mapping[str, str]:
    """What the writes of a ledger are known to have made: identity -> the title of the write."""
    return {
        entry.identity: entry.title
        for entry in entries
        if entry.outcome in {"applied", "resolved"}
        and entry.action.endswith(_CREATE)
        and entry.identity is not None
    }


def inspected_feed(
    hub: FeedHub,
    ledger: Ledger,
    scope: tuple[str, ...],
    inspect: Callable[[GatewayClient, UnsettledWrite], Awaitable[T]],
) -> Feed[Inspected[T]]:
    """What ``inspect`` finds on the write whose plan ``scope`` begins with."""

    def find(client: GatewayClient) -> UnsettledWrite | None:
        found = unsettled(ledger, client.connection.base_url, hub.clock)
        intent = next((one for one in found if one.id == scope[0]), None)
        return None if intent is None else UnsettledWrite(intent, makers(ledger.entries()))

    async def fetch(client: GatewayClient) -> Inspected[T]:
        try:
            one = await asyncio.to_thread(find, client)
        except OSError as error:
            raise _unreadable(ledger, error) from None
        return Inspected(None if one is None else await inspect(client, one))

    key: FeedKey[Inspected[T]] = FeedKey(RECOVERY_FEED, scope)
    return hub.feed(key, fetch, cadence.KEYS, passing=True)
