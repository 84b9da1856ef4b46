"""An open history file and made-up readings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from gwtui.watch.history.file import open_writable, transaction
from gwtui.watch.history.model import (
    Fields,
    Observation,
    RecordedChange,
    SeriesKey,
    Subject,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.writer import observe, tidy

START = datetime(2026, 11, 2, 0, 0, tzinfo=UTC)
"""A Monday."""
USED = SeriesKey("credits", "account", "total_usage")


@dataclass
class HistoryFile:
    """One open history file."""

    connection: sqlite3.Connection
    reader: HistoryReader

    def see(
        self,
        moment: datetime,
        values: Mapping[SeriesKey, Decimal | int | str | None] | None = None,
        *,
        facts: Mapping[Subject, Fields] | None = None,
        covers: Subject | None = None,
        source: str = "credits",
        every: int = 60,
    ) -> tuple[RecordedChange, ...]:
        """Record one reading of the gateway; return the changes."""
        figures: dict[Subject, dict[str, Decimal | None]] = {}
        for (resource, identity, figure), value in (values or {}).items():
            number = None if value is None else Decimal(value)
            figures.setdefault(Subject(resource, identity), {})[figure] = number
        return self.observe(Observation(source, moment, every, figures, facts or {}, covers))

    def observe(self, observation: Observation) -> tuple[RecordedChange, ...]:
        (last_id,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM changes").fetchone()
        with transaction(self.connection):
            observe(self.connection, observation)
        return self.reader.changes_after(last_id)

    def tidy(self, now: datetime) -> None:
        """Roll up the hours that are over, and delete old readings."""
        with transaction(self.connection):
            tidy(self.connection, now)

    def rows(self, table: str) -> int:
        (count,) = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
        return int(count)


@contextmanager
def open_history(path: Path, now: datetime = START) -> Iterator[HistoryFile]:
    with closing(open_writable(path, now, locked=True).connection) as connection:
        yield HistoryFile(connection, HistoryReader(connection))


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)
