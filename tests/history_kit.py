"""What the tests of the history share: a file, a writer that holds its lease, made-up readings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from gwtui.domain.clock import Clock
from gwtui.watch.history.compaction import step
from gwtui.watch.history.file import open_writable
from gwtui.watch.history.lease import Lease
from gwtui.watch.history.model import (
    Fields,
    Observation,
    Retention,
    Sample,
    Series,
    SeriesKey,
    Subject,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.writer import HistoryWriter, Written

START = datetime(2026, 11, 2, 0, 0, tzinfo=UTC)
"""A Monday."""
USED = SeriesKey("credits", "account", "total_usage")


def series(key: SeriesKey = USED, unit: str = "USD", every: int = 60) -> Series:
    return Series(key, unit, every)


@dataclass
class Desk:
    """One open file; ``now`` moves only by hand."""

    connection: sqlite3.Connection
    writer: HistoryWriter
    reader: HistoryReader
    lease: Lease

    def see(
        self,
        at: datetime,
        values: Mapping[SeriesKey, Decimal | int | str | None] | None = None,
        *,
        facts: Mapping[Subject, Fields] | None = None,
        covers: Subject | None = None,
        source: str = "credits",
        every: int = 60,
    ) -> Written:
        """One reading of the gateway."""
        samples = tuple(
            Sample(series(key, every=every), None if value is None else Decimal(value))
            for key, value in (values or {}).items()
        )
        return self.writer.observe(Observation(source, at, every, samples, facts or {}, covers))

    def keep_up(self, now: datetime) -> int:
        """Do all the upkeep there is; gives how many steps it took."""
        steps = 0
        while step(self.writer, now):
            steps += 1
        return steps

    def rows(self, width: int) -> int:
        (count,) = self.connection.execute(
            "SELECT count(*) FROM stretches WHERE width = ?", (width,)
        ).fetchone()
        return int(count)

    def sums(self, width: int) -> tuple[int, int]:
        """Samples with and without a figure that a tier holds."""
        found = self.connection.execute(
            "SELECT coalesce(sum(count), 0), coalesce(sum(nulls), 0) FROM stretches "
            "WHERE width = ?",
            (width,),
        ).fetchone()
        return int(found[0]), int(found[1])


@contextmanager
def desk(path: Path, retention: Retention | None = None, now: datetime = START) -> Iterator[Desk]:
    """A history file whose lease this process holds."""
    with closing(open_writable(path, now).connection) as connection:
        lease = Lease(Clock(now=lambda: now, monotonic=lambda: 0.0))
        assert lease.hold(connection)
        writer = HistoryWriter(connection, lease.id, retention)
        yield Desk(connection, writer, HistoryReader(connection), lease)
        lease.release(connection)


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)
