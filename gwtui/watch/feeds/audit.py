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
    """Reads the log that the hub serves, else this person's own; again when a line was added."""

    def __init__(self, hub: FeedHub) -> None:
        self._hub = hub
        self._stamp: object = None
        self._rows: tuple[AuditEntry, ...] | None = None

    async def __call__(self, _client: GatewayClient) -> Sequence[AuditEntry]:
        """The newest lines. Raises GatewayError."""
        from gwtui.local.paths import Paths  # noqa: PLC0415 - not needed where a log is served

        await self._hub.complete()
        log = self._hub.audit_log or AuditLog(Paths.of_user().state / FILE_NAME)
        return await asyncio.to_thread(self._read, log)

    def _read(self, log: AuditLog) -> tuple[AuditEntry, ...]:
        try:
            stamp = log.stamp()
            if self._rows is None or stamp != self._stamp:
                self._rows = tuple(islice(log.entries(), MOST))
                self._stamp = stamp
        except OSError as error:
            why = error.strerror or "it cannot be read"
            raise GatewayError(f"The audit log {log.path}: {why}") from None
        return self._rows


def audit_feed(hub: FeedHub) -> Feed[Sequence[AuditEntry]]:
    """The newest lines of the log that is served, else of this person's own."""
    return hub.feed(FeedKey(FEED), _AuditReader(hub), cadence.AUDIT)
