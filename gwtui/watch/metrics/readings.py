"""The latest reading of everything that is watched, probes included, for an exporter."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from gwtui.client.gateway import GatewayClient
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.probes import ProbeSpending
from gwtui.watch.history.file import open_readable
from gwtui.watch.history.model import (
    PROBE_FIGURES,
    PROBE_OK,
    HistoryError,
    Observation,
    Sample,
    Subject,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import DEFAULT_PACES, Build, Paces, Sources
from gwtui.watch.hub import FeedHub
from gwtui.watch.probes.spending import spending_of

PATIENCE = 3
"""Readings that may be missed before a figure is no longer given."""


@dataclass(frozen=True, slots=True)
class ReadingsSnapshot:
    """What is known at one moment.

    ``observations`` hold the readings that are fresh enough, by name; ``up`` says of every reading
    whether the last attempt succeeded. ``skew`` is the gateway's clock against this one, seconds.
    ``probes`` are the latest ones of each endpoint, ``probes_spent`` USD this UTC day at the most,
    None without any.
    """

    observations: Mapping[str, Observation]
    up: Mapping[str, bool]
    skew: float | None = None
    probes: Mapping[str, Observation] = field(default_factory=dict)
    probes_spent: Decimal | None = None


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


def with_probes(snapshot: ReadingsSnapshot, path: Path, now: datetime) -> ReadingsSnapshot:
    """The snapshot with the latest probe of each endpoint, as far as it is fresh enough.

    Where nothing is recorded, or it cannot be read, it is the snapshot alone.
    """
    try:
        with closing(open_readable(path)) as connection:
            reader = HistoryReader(connection)
            found = {seen.source: seen for seen in latest_probes(reader, now)}
            spent: ProbeSpending | None = spending_of(connection, now.date())
    except (HistoryError, sqlite3.Error):
        return snapshot
    if not found and spent == ProbeSpending():
        spent = None
    return replace(snapshot, probes=found, probes_spent=None if spent is None else spent.at_most)


def latest_probes(reader: HistoryReader, now: datetime) -> Iterator[Observation]:
    """The latest probe of each endpoint that is not too old. Raises sqlite3.Error."""
    facts = reader.facts_at(now, "endpoint")
    for series in reader.series("endpoint", None, PROBE_OK):
        subject = Subject(*series.key[:2])
        at = reader.latest(series.key).measured_at
        if at is None or subject not in facts:
            continue
        if (now - at).total_seconds() > PATIENCE * series.every:
            continue
        samples = []
        for figure in PROBE_FIGURES:
            of_figure = replace(series, key=series.key._replace(figure=figure))
            samples.append(Sample(of_figure, reader.latest(of_figure.key).value))
        yield Observation(
            f"probe:{subject.identity}",
            at,
            series.every,
            tuple(samples),
            {subject: facts[subject]},
        )
