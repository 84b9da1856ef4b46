"""What this machine wrote down of the writes to a gateway, as feeds; no request goes out.

The audit log, newest lines first; the writes of the journal that are in doubt (nobody knows whether
they happened), oldest first; and what an inspection of one of these finds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.local.audit import FILE_NAME as AUDIT_LOG
from gwtui.local.audit import AuditEntry, AuditLog
from gwtui.local.journal import FILE_NAME, Journal, JournalEntry, OpenIntent
from gwtui.local.paths import Paths
from gwtui.watch import cadence
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.domain.clock import Clock

AUDIT_FEED = "audit"
_MOST = 5000
"""Lines that are shown, the newest; `gwtui audit` exports all."""


class _AuditReader:
    """Reads the log that the hub serves, else this person's own; again when a line was added."""

    def __init__(self, hub: FeedHub) -> None:
        self._hub = hub
        self._stamp: object = None
        self._rows: tuple[AuditEntry, ...] | None = None

    async def __call__(self, _client: GatewayClient) -> Sequence[AuditEntry]:
        """The newest lines. Raises GatewayError."""
        await self._hub.complete()
        log = self._hub.audit_log or AuditLog(Paths.of_user().state / AUDIT_LOG)
        return await asyncio.to_thread(self._read, log)

    def _read(self, log: AuditLog) -> tuple[AuditEntry, ...]:
        try:
            stamp = log.stamp()
            if self._rows is None or stamp != self._stamp:
                self._rows = tuple(islice(log.entries(), _MOST))
                self._stamp = stamp
        except OSError as error:
            why = error.strerror or "it cannot be read"
            raise GatewayError(f"The audit log {log.path}: {why}") from None
        return self._rows


def audit_feed(hub: FeedHub) -> Feed[Sequence[AuditEntry]]:
    """The newest lines of the log that is served, else of this person's own."""
    return hub.feed(FeedKey(AUDIT_FEED), _AuditReader(hub), cadence.AUDIT)


T = TypeVar("T")

_CREATE = ".create"
RECOVERY_FEED = "recovery"
"""What looks into one of them begins so, too."""


def in_doubt(journal: Journal, gateway: str, clock: Clock) -> tuple[OpenIntent, ...]:
    """The writes to that gateway of which nobody knows whether they happened, oldest first.

    Those under way are none of them. Blocks. Raises OSError.
    """
    found = journal.open_intents(clock.now())
    return tuple(one for one in found if one.gateway == gateway and not one.running)


def in_doubt_feed(hub: FeedHub) -> Feed[Sequence[OpenIntent]]:
    """Those in the journal that is served, else in this person's own."""

    async def fetch(client: GatewayClient) -> Sequence[OpenIntent]:
        await hub.complete()
        journal = hub.journal or Journal(Paths.of_user().state / FILE_NAME)
        return await _read(client, journal, hub.clock)

    return hub.feed(FeedKey(RECOVERY_FEED), fetch, cadence.AUDIT)


async def _read(client: GatewayClient, journal: Journal, clock: Clock) -> Sequence[OpenIntent]:
    """Raises GatewayError."""
    try:
        return await asyncio.to_thread(in_doubt, journal, client.connection.base_url, clock)
    except OSError as error:
        raise _unreadable(journal, error) from None


def _unreadable(journal: Journal, error: OSError) -> GatewayError:
    return GatewayError(f"The journal {journal.path}: {error.strerror or 'it cannot be read'}")


@dataclass(frozen=True, slots=True)
class InDoubtWrite:
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
    inspect: Callable[[GatewayClient, InDoubtWrite], Awaitable[T]],
) -> Feed[Inspected[T]]:
    """What ``inspect`` finds on the write whose plan ``scope`` begins with."""

    def doubt_of(client: GatewayClient) -> InDoubtWrite | None:
        found = in_doubt(journal, client.connection.base_url, hub.clock)
        intent = next((one for one in found if one.id == scope[0]), None)
        return None if intent is None else InDoubtWrite(intent, makers(journal.entries()))

    async def fetch(client: GatewayClient) -> Inspected[T]:
        try:
            doubt = await asyncio.to_thread(doubt_of, client)
        except OSError as error:
            raise _unreadable(journal, error) from None
        return Inspected(None if doubt is None else await inspect(client, doubt))

    key: FeedKey[Inspected[T]] = FeedKey(RECOVERY_FEED, scope)
    return hub.feed(key, fetch, cadence.KEYS, passing=True)
