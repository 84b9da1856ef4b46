"""The latest reading of everything that is watched, for an exporter."""

from __future__ import annotations

from collections.abc import Iterable

from gwtui.client.gateway import GatewayClient
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.history.model import Observation
from gwtui.watch.history.sources import DEFAULT_PACES, Build, Paces, Sources
from gwtui.watch.hub import FeedHub
from gwtui.watch.metrics import ReadingsSnapshot

PATIENCE = 3
"""Readings that may be missed before a figure is no longer given."""


class Readings:
    """Reads all that is watched at its pace, and keeps the latest of each."""

    def __init__(
        self,
        client: GatewayClient,
        hub: FeedHub,
        clock: Clock = SYSTEM_CLOCK,
        paces: Paces = DEFAULT_PACES,
    ) -> None:
        self._client = client
        self._clock = clock
        self._latest: dict[str, Observation] = {}
        self._sources = Sources(hub, paces, clock, self._arrived)

    async def open(self, models: Iterable[str] | None = None) -> None:
        """Begin to read; ``models`` None watches the ones that are used most."""
        self._sources.open()
        chosen = await self._sources.most_used() if models is None else tuple(models)
        self._sources.follow(chosen)

    def close(self) -> None:
        """Read no more."""
        self._sources.close()

    async def settled(self) -> None:
        """Wait until every reading has succeeded or failed once."""
        await self._sources.settled()

    def _arrived(self, name: str, build: Build) -> None:
        self._latest[name] = build()

    def snapshot(self) -> ReadingsSnapshot:
        """What is known now. A figure that was not read again for long is left out."""
        now = self._clock.now()
        reads = self._sources.reads()
        fresh = {
            name: found
            for name, found in self._latest.items()
            if name in reads and (now - found.at).total_seconds() <= PATIENCE * found.every
        }
        up = {name: bool(ok) for name, ok in reads.items()}
        return ReadingsSnapshot(fresh, up, self._client.skew.seconds)
