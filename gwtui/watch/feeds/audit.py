"""The audit log of this machine, as a feed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError
from gwtui.local.audit import FILE_NAME, AuditEntry, AuditLog
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub
from gwtui.watch.shared import FeedKey

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

FEED = "audit"
MOST = 5000
"""Lines that are shown, the newest; `gwtui audit` exports all."""


class _AuditReader:
    """Reads the log; again only when a line was added."""

    def __init__(self, log: AuditLog) -> None:
        self._log = log
        self._stamp: object = None
        self._rows: tuple[AuditEntry, ...] | None = None

    async def __call__(self, _client: GatewayClient) -> Sequence[AuditEntry]:
        """The newest lines. Raises GatewayError."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> tuple[AuditEntry, ...]:
        try:
            stamp = self._log.stamp()
            if self._rows is None or stamp != self._stamp:
                self._rows = tuple(islice(self._log.entries(), MOST))
                self._stamp = stamp
        except OSError as error:
            why = error.strerror or "it cannot be read"
            raise GatewayError(f"The audit log {self._log.path}: {why}") from None
        return self._rows


def serve_audit(hub: FeedHub, log: AuditLog) -> None:
    """Let the hub's feed of this name read the log that the connection writes."""
    hub.feed(FeedKey(FEED), _AuditReader(log), cadence.AUDIT)


def audit_feed(hub: FeedHub) -> Feed[Sequence[AuditEntry]]:
    """The newest lines of the log that is served, else of this person's own."""
    from gwtui.local.paths import Paths  # noqa: PLC0415 - not needed where a log is served

    return hub.feed(
        FeedKey(FEED), _AuditReader(AuditLog(Paths.of_user().state / FILE_NAME)), cadence.AUDIT
    )
