"""Reading a history: what a figure was, its curve, what changed, who records.

Nothing here writes. Every method raises sqlite3.Error when the file cannot be read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from gwtui.watch.history import lease, watched_models
from gwtui.watch.history.curves import MOST_POINTS, curve, readings, runs, span_of
from gwtui.watch.history.deadline import in_time
from gwtui.watch.history.model import (
    GAP,
    Curve,
    Fields,
    Reading,
    RecordedChange,
    Run,
    Series,
    SeriesKey,
    Subject,
    moment_of,
    seconds_of,
)
from gwtui.watch.history.tiers import COLUMNS, WIDTHS, Stretch
from gwtui.watch.history.writer import gap_after

RUN_WIDTH = 300
"""Seconds of the runs that are read unless asked otherwise."""

_CHANGE = "id, at, not_before, kind, resource, identity, name, field, before, after"


class HistoryReader:
    """Questions to one connection; see ``archive.Archive.read`` for how to ask from asyncio."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._kept_from: dict[int, int] | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        """For questions of other packages to tables of their own."""
        return self._connection

    # Series -----------------------------------------------------------------------------------

    def series(
        self, resource: str | None = None, identity: str | None = None, figure: str | None = None
    ) -> tuple[Series, ...]:
        """The series that were recorded, all or those of a resource, an identity, a figure."""
        rows = self._connection.execute(
            "SELECT resource, identity, figure, unit, every FROM series "
            "WHERE (?1 IS NULL OR resource = ?1) AND (?2 IS NULL OR identity = ?2) "
            "AND (?3 IS NULL OR figure = ?3) ORDER BY resource, identity, figure",
            (resource, identity, figure),
        )
        return tuple(
            Series(SeriesKey(resource, identity, figure), unit, every)
            for resource, identity, figure, unit, every in rows
        )

    def points(
        self,
        key: SeriesKey,
        since: datetime,
        until: datetime,
        *,
        resolution: float | None = None,
        max_points: int = MOST_POINTS,
    ) -> Curve | None:
        """The curve of a figure from ``since`` to ``until``; None for a series never recorded.

        ``resolution`` is the width of a slot in seconds, rounded up to one of ``curves.STEPS``;
        without it the finest that makes at most ``max_points`` slots. Where only coarser data is
        left, its slots repeat it. Raises ValueError for a span that ends before it begins.
        """
        found = self._find(key)
        if found is None:
            return None
        number, series = found
        span = span_of(since, until, resolution, max_points)
        return curve(self._connection, number, series, span)

    def readings(self, key: SeriesKey, since: datetime, until: datetime) -> tuple[Reading, ...]:
        """The samples of a span in order, with the moments they were taken at.

        One for each five minutes, all of the newest; beyond the days that these are kept for, one
        for each hour.
        """
        found = self._find(key)
        if found is None:
            return ()
        return tuple(readings(self._connection, found[0], since, until))

    def runs(
        self, key: SeriesKey, since: datetime, until: datetime, *, width: int = RUN_WIDTH
    ) -> tuple[Run, ...]:
        """The samples of a span as runs in order.

        Two that lie further apart than ``writer.gap_after`` leave a gap between them. ``width`` is
        the shortest run in seconds that is asked for: less reads more rows.
        """
        found = self._find(key)
        return () if found is None else tuple(runs(self._connection, found[0], since, until, width))

    def value_at(self, key: SeriesKey, moment: datetime) -> Reading:
        """The figure as of a moment: exact as long as raw samples are kept, then to the bucket."""
        found = self._find(key)
        if found is None:
            return GAP
        number, series = found
        return self.reading(number, series.every, seconds_of(moment))

    def latest(self, key: SeriesKey) -> Reading:
        """The newest reading, however old; its ``measured_at`` tells."""
        found = self._find(key)
        if found is None:
            return GAP
        stretches = (self._last_row(width, found[0], None) for width in WIDTHS)
        newest = next((each for each in stretches if each is not None), None)
        return GAP if newest is None else _reading(newest)

    def reading(self, number: int, every: int, at: int) -> Reading:
        """The figure of a series, by its number in the file, as of a second."""
        in_time()
        for width in self._reaching(at):
            found = self._last_row(width, number, at)
            if found is None:
                continue
            if at - found.until > gap_after(every):
                return GAP
            return _reading(found, at)
        return GAP

    def _reaching(self, at: int) -> list[int]:
        """The widths whose rows reach back to a second."""
        if self._kept_from is None:
            rows = self._connection.execute("SELECT width, kept_from FROM tiers")
            self._kept_from = dict(rows.fetchall())
        return [width for width in WIDTHS if self._kept_from.get(width, 0) <= at]

    def _last_row(self, width: int, number: int, at: int | None) -> Stretch | None:
        row = self._connection.execute(
            f"SELECT {COLUMNS} FROM stretches WHERE width = ? AND series = ? "  # noqa: S608 - a constant
            "AND start <= ? ORDER BY start DESC LIMIT 1",
            (width, number, at if at is not None else 2**62),
        ).fetchone()
        return None if row is None else Stretch.of(row)

    def _find(self, key: SeriesKey) -> tuple[int, Series] | None:
        row = self._connection.execute(
            "SELECT id, unit, every FROM series WHERE resource = ? AND identity = ? AND figure = ?",
            key,
        ).fetchone()
        return None if row is None else (int(row[0]), Series(key, row[1], row[2]))

    def numbered(self) -> Sequence[tuple[int, Series]]:
        """Every series with its number in the file."""
        rows = self._connection.execute(
            "SELECT id, resource, identity, figure, unit, every FROM series"
        )
        return [(row[0], Series(SeriesKey(*row[1:4]), row[4], row[5])) for row in rows]

    # Facts ------------------------------------------------------------------------------------

    def changes(
        self,
        since: datetime,
        until: datetime,
        kinds: Iterable[str] | None = None,
        *,
        subject: Subject | None = None,
        limit: int = 1000,
    ) -> tuple[RecordedChange, ...]:
        """What changed after ``since`` and up to ``until``, newest first.

        ``kinds`` are those of the module ``kinds``; a resource alone ("endpoint") means all of its
        kinds.
        """
        listed = None if kinds is None else json.dumps(sorted(kinds))
        resource, identity = subject or (None, None)
        rows = self._connection.execute(
            f"SELECT {_CHANGE} FROM changes WHERE at > ?1 AND at <= ?2 "  # noqa: S608 - a constant
            "AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3)) "
            "OR resource IN (SELECT value FROM json_each(?3))) "
            "AND (?4 IS NULL OR (resource = ?4 AND identity = ?5)) ORDER BY id DESC LIMIT ?6",
            (seconds_of(since), seconds_of(until), listed, resource, identity, limit),
        )
        return tuple(_change(row) for row in rows)

    def changes_after(self, last_id: int, limit: int = 1000) -> tuple[RecordedChange, ...]:
        """The changes written after the one with this id, oldest first: how to follow along."""
        rows = self._connection.execute(
            f"SELECT {_CHANGE} FROM changes WHERE id > ? ORDER BY id LIMIT ?",  # noqa: S608 - a constant
            (last_id, limit),
        )
        return tuple(_change(row) for row in rows)

    def facts_at(self, moment: datetime, resource: str | None = None) -> dict[Subject, Fields]:
        """The facts of everything that was there at a moment, as far as it was known then."""
        at = seconds_of(moment)
        rows = self._connection.execute(
            "SELECT resource, identity, fields FROM versions WHERE since <= ?1 "
            "AND (until IS NULL OR until > ?1) AND (?2 IS NULL OR resource = ?2)",
            (at, resource),
        )
        return {Subject(*row[:2]): json.loads(row[2]) for row in rows}

    # The recording itself ---------------------------------------------------------------------

    def covered(self, source: str, moment: datetime) -> datetime | None:
        """When the source was last read before a moment; None when never."""
        (at,) = self._connection.execute(
            "SELECT max(min(until, ?1)) FROM coverage WHERE source = ?2 AND start <= ?1",
            (seconds_of(moment), source),
        ).fetchone()
        return None if at is None else moment_of(at)

    def span(self) -> tuple[datetime, datetime] | None:
        """From the first to the last thing that is recorded; None when nothing is."""
        first, last = self._connection.execute(
            "SELECT min(start), max(until) FROM coverage"
        ).fetchone()
        return None if first is None else (moment_of(first), moment_of(last))

    def recorder(self) -> lease.Holder | None:
        """Who records now."""
        return lease.current(self._connection)

    def watched_models(self) -> tuple[str, ...]:
        """The models whose endpoints are watched."""
        return watched_models.watched_models(self._connection)


def _reading(found: Stretch, at: int | None = None) -> Reading:
    """The last sample of a stretch; in a bucket it may lie a little after ``at``."""
    measured = moment_of(found.until if at is None else min(found.until, at))
    return Reading("null" if found.last is None else "value", found.last, measured)


def _change(row: tuple[int, int, int | None, str, str, str, str, str, str, str]) -> RecordedChange:
    number, at, not_before, kind, resource, identity, name, field, before, after = row
    return RecordedChange(
        number,
        moment_of(at),
        None if not_before is None else moment_of(not_before),
        kind,
        Subject(resource, identity),
        name,
        field,
        json.loads(before),
        json.loads(after),
    )
