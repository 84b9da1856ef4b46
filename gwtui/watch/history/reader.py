"""Queries of a history: figures, curves, changes, facts and the recording itself.

All methods raise sqlite3.Error if the file cannot be read.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gwtui.domain.runway import WINDOWS, Rate, UsedTotal, recorded_rates
from gwtui.watch.history.file import recording_process
from gwtui.watch.history.model import (
    ACCOUNT,
    GAP,
    Curve,
    Fields,
    Point,
    Reading,
    RecordedChange,
    SeriesKey,
    Subject,
    gap_after,
    moment_of,
    seconds_of,
)
from gwtui.watch.history.writer import DAY, HOUR

MOST_POINTS = 400
"""The default maximum number of slots of a curve; most terminals have fewer columns."""
STEPS = (
    *(60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 14400, 21600, 43200),
    *(86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400),
)
"""Slot widths in seconds. Slots of an hour or more are read from the table ``hours``."""

_FINE = """
WITH found AS (
    SELECT id FROM series
    WHERE resource = :resource AND identity = :identity AND figure = :figure
)
SELECT start, until, value, value, value, value FROM runs
WHERE series = (SELECT id FROM found) AND start >= :since AND start < :until
UNION ALL
SELECT hour, until, low, high, mean, last FROM hours h
WHERE series = (SELECT id FROM found) AND hour >= :day AND hour < :until AND NOT EXISTS (
    SELECT 1 FROM runs r WHERE r.series = h.series AND start >= hour AND start < hour + 3600
)
ORDER BY 1
"""
_COARSE = """
WITH found AS (
    SELECT id FROM series
    WHERE resource = :resource AND identity = :identity AND figure = :figure
)
SELECT hour, until, low, high, mean, last FROM hours
WHERE series = (SELECT id FROM found) AND hour >= :day AND hour < :until
UNION ALL
SELECT start, until, value, value, value, value FROM runs r
WHERE series = (SELECT id FROM found) AND start >= :since AND start < :until AND NOT EXISTS (
    SELECT 1 FROM hours h WHERE h.series = r.series AND hour = start - start % 3600
)
ORDER BY 1
"""
_AT = """
SELECT resource, identity, figure, every, r.start, r.until, r.value, hour, h.until, last
FROM series s
LEFT JOIN runs r ON r.series = s.id AND r.start = (
    SELECT max(start) FROM runs WHERE series = s.id AND start <= :at
)
LEFT JOIN hours h ON h.series = s.id AND h.hour = (
    SELECT max(hour) FROM hours WHERE series = s.id AND hour <= :at
)
"""
_CHANGE = "id, at, not_before, kind, resource, identity, name, field, before, after"


class Row(NamedTuple):
    """The figures of consecutive equal readings, or of all readings of an hour.

    ``start`` and ``until`` are the times of the first and last reading, in seconds since 1970.
    """

    start: int
    until: int
    low: Decimal | None
    high: Decimal | None
    mean: Decimal | None
    last: Decimal | None


@dataclass(frozen=True, slots=True)
class CurveSpan:
    """Consecutive slots of ``width`` seconds; ``begin`` is a multiple of the width."""

    begin: int
    width: int
    count: int

    @property
    def end(self) -> int:
        """The end of the last slot."""
        return self.begin + self.count * self.width

    @classmethod
    def of(
        cls,
        since: datetime,
        until: datetime,
        resolution: float | None = None,
        max_points: int = MOST_POINTS,
    ) -> CurveSpan:
        """The slots that cover a span. Raises ValueError for a span that ends before it begins.

        The width is ``resolution`` in seconds, rounded up to one of ``STEPS``; by default the
        finest one with at most ``max_points`` slots.
        """
        begin, end = seconds_of(since), seconds_of(until)
        if end <= begin:
            raise ValueError("the span must end after it begins")
        if resolution is not None:
            width = STEPS[min(bisect_left(STEPS, resolution), len(STEPS) - 1)]
        else:
            fitting = (step for step in STEPS if end - begin // step * step <= step * max_points)
            width = next(fitting, STEPS[-1])
        begin = begin // width * width
        return cls(begin, width, -(-(end - begin) // width))


def curve_of(every: int, span: CurveSpan, rows: Iterable[Row]) -> Curve:
    """Build a curve from rows in chronological order.

    The readings are ``every`` seconds apart. A row that spans several slots counts in each. A slot
    between two readings repeats the earlier one.
    """
    slots: list[list[Row]] = [[] for _ in range(span.count)]
    for row in rows:
        first = max(0, (row.start - span.begin) // span.width)
        last = min(span.count - 1, (row.until - span.begin) // span.width)
        for place in range(first, last + 1):
            slots[place].append(row)
    points: list[Point] = []
    before: Row | None = None
    for place, inside in enumerate(slots):
        start = span.begin + place * span.width
        if inside:
            before = inside[-1]
        elif before is not None and start - before.until <= gap_after(every):
            value = before.last
            inside.append(Row(start, start, value, value, value, value))
        points.append(_point(start, span.width, every, inside))
    return Curve(timedelta(seconds=span.width), tuple(points))


def _point(start: int, width: int, every: int, rows: list[Row]) -> Point:
    at = moment_of(start)
    known = [row for row in rows if row.low is not None]
    if not known:
        return Point(at, "null" if rows else "gap")
    if len(known) == 1:
        (row,) = known
        return Point(at, "value", row.low, row.high, row.mean, rows[-1].last)
    total = seconds = 0.0
    for row in known:
        inside = min(row.until, start + width - 1) - max(row.start, start) + every
        total += float(row.mean or 0) * inside
        seconds += inside
    return Point(
        at,
        "value",
        min(row.low for row in known if row.low is not None),
        max(row.high for row in known if row.high is not None),
        Decimal(str(total / seconds)),
        rows[-1].last,
    )


class HistoryReader:
    """Queries on one connection; use ``Archive.read`` from asyncio."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        """The connection, for queries of other modules."""

    # Figures ----------------------------------------------------------------------------------

    def series(
        self, resource: str | None = None, identity: str | None = None, figure: str | None = None
    ) -> tuple[SeriesKey, ...]:
        """The recorded series, optionally of one resource, identity or figure."""
        where, values = _where(resource, identity, figure)
        rows = self.connection.execute(
            f"SELECT resource, identity, figure FROM series {where} ORDER BY 1, 2, 3",  # noqa: S608 - a constant
            values,
        )
        return tuple(SeriesKey(*row) for row in rows)

    def every(self, key: SeriesKey) -> int | None:
        """Seconds between two readings of a series, None for an unknown one."""
        where, values = _where(*key)
        row = self.connection.execute(f"SELECT every FROM series {where}", values).fetchone()  # noqa: S608 - a constant
        return None if row is None else int(row[0])

    def points(
        self,
        key: SeriesKey,
        since: datetime,
        until: datetime,
        *,
        resolution: float | None = None,
        max_points: int = MOST_POINTS,
    ) -> Curve | None:
        """The curve of a figure from ``since`` to ``until``; None for an unknown series.

        ``resolution`` is the slot width in seconds, rounded up to one of ``STEPS``; by default the
        finest width with at most ``max_points`` slots. Where only hours are left, finer slots
        repeat them. Raises ValueError for a span that ends before it begins.
        """
        span = CurveSpan.of(since, until, resolution, max_points)
        every = self.every(key)
        if every is None:
            return None
        return curve_of(every, span, self.rows(key, span.begin, span.end, span.width))

    def at(
        self,
        moment: datetime,
        resource: str | None = None,
        identity: str | None = None,
        figure: str | None = None,
    ) -> dict[SeriesKey, Reading]:
        """The figures at a moment, optionally of one resource, identity or figure.

        For a moment more than two days ago, these are the last figures of its hour.
        """
        where, values = _where(resource, identity, figure)
        at = seconds_of(moment)
        rows = self.connection.execute(_AT + where, {**values, "at": at})
        return {SeriesKey(*row[:3]): _reading(row[3:], at) for row in rows}

    def value_at(self, key: SeriesKey, moment: datetime) -> Reading:
        """The figure of one series at a moment."""
        return next(iter(self.at(moment, *key).values()), GAP)

    def rows(self, key: SeriesKey, begin: int, end: int, width: int = 0) -> Iterator[Row]:
        """The readings from ``begin`` up to ``end``, oldest first.

        They are hourly if ``width`` is an hour or more, and where they are older than two days.
        Times are seconds since 1970.
        """
        span = {
            "resource": key.resource,
            "identity": key.identity,
            "figure": key.figure,
            "day": begin // DAY * DAY,
            "since": begin // HOUR * HOUR,
            "until": end,
        }
        rows = self.connection.execute(_COARSE if width >= HOUR else _FINE, span)
        for start, until, *values in rows:
            low, high, mean, last = values
            value = _decimal(low)
            if low == high == last:  # by far the most rows
                yield Row(start, until, value, value, value, value)
            else:
                yield Row(start, until, value, *map(_decimal, (high, mean, last)))

    # Facts ------------------------------------------------------------------------------------

    def changes(
        self,
        since: datetime,
        until: datetime,
        kinds: Iterable[str] | None = None,
        *,
        limit: int = 1000,
    ) -> tuple[RecordedChange, ...]:
        """The changes after ``since`` and up to ``until``, newest first.

        Each of ``kinds`` is a kind of change, or a resource, which means all of its kinds.
        """
        listed = None if kinds is None else json.dumps(sorted(kinds))
        rows = self.connection.execute(
            f"SELECT {_CHANGE} FROM changes WHERE at > ?1 AND at <= ?2 "  # noqa: S608 - a constant
            "AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3)) "
            "OR resource IN (SELECT value FROM json_each(?3))) ORDER BY id DESC LIMIT ?4",
            (seconds_of(since), seconds_of(until), listed, limit),
        )
        return tuple(_change(row) for row in rows)

    def changes_after(self, last_id: int) -> tuple[RecordedChange, ...]:
        """The next 1000 changes with a higher id, oldest first."""
        rows = self.connection.execute(
            f"SELECT {_CHANGE} FROM changes WHERE id > ? ORDER BY id LIMIT 1000",  # noqa: S608 - a constant
            (last_id,),
        )
        return tuple(_change(row) for row in rows)

    def facts_at(self, moment: datetime, resource: str | None = None) -> dict[Subject, Fields]:
        """The facts at ``moment`` by subject, for the subjects of one resource or of all."""
        rows = self.connection.execute(
            "SELECT resource, identity, fields FROM facts WHERE since <= ?1 "
            "AND (until IS NULL OR until > ?1) AND (?2 IS NULL OR resource = ?2)",
            (seconds_of(moment), resource),
        )
        return {Subject(*row[:2]): json.loads(row[2]) for row in rows}

    # The recording itself ---------------------------------------------------------------------

    def span(self) -> tuple[datetime, datetime] | None:
        """The times of the first and last recorded reading, None without one."""
        first, last = self.connection.execute(
            "SELECT min(first), max(last) FROM sources"
        ).fetchone()
        return None if first is None else (moment_of(first), moment_of(last))

    def recorder(self) -> int | None:
        """The id of the process that records now, None without one."""
        _number, _name, path = self.connection.execute("PRAGMA database_list").fetchone()
        return recording_process(Path(path))

    def watched_models(self) -> tuple[str, ...]:
        """The watched models in the order in which they were added."""
        rows = self.connection.execute("SELECT model FROM watched_models ORDER BY added_at, model")
        return tuple(model for (model,) in rows)


def _where(
    resource: str | None, identity: str | None, figure: str | None
) -> tuple[str, dict[str, str]]:
    given = {"resource": resource, "identity": identity, "figure": figure}
    values = {name: value for name, value in given.items() if value is not None}
    where = " AND ".join(f"{name} = :{name}" for name in values)
    return f"WHERE {where or True}", values


def _reading(row: tuple[Any, ...], at: int) -> Reading:
    every, start, until, value, hour, until_of_hour, last = row
    if start is None or (hour is not None and hour > start):
        until, value = until_of_hour, last
    if until is None or at - until > gap_after(every):
        return GAP
    measured = moment_of(min(until, at))
    return Reading("null" if value is None else "value", _decimal(value), measured)


def _decimal(value: str | float | None) -> Decimal | None:
    return None if value is None else Decimal(str(value))


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


# Credits ------------------------------------------------------------------------------------------

BALANCE = SeriesKey("credits", ACCOUNT, "balance")
TOTAL_USAGE = SeriesKey("credits", ACCOUNT, "total_usage")

_BEFORE = timedelta(hours=1)
"""The time read before the longest window, whose first step may start there."""


@dataclass(frozen=True, slots=True)
class CreditsState:
    """The balance at a moment, and the recorded burn rates up to then, None where unknown."""

    balance: Reading
    rates: tuple[Rate | None, ...]


def used_totals(reader: HistoryReader, since: datetime, until: datetime) -> list[UsedTotal]:
    """The recorded readings of the total usage, oldest first; hourly before two days ago."""
    begin, end = seconds_of(since), seconds_of(until)
    totals: list[UsedTotal] = []
    for row in reader.rows(TOTAL_USAGE, begin, end + 1):
        if row.last is None or row.until < begin:
            continue
        first = max(row.start, begin) if row.low == row.high == row.last else row.until
        totals += [UsedTotal(moment_of(min(at, end)), row.last) for at in (first, row.until)]
    return totals


def credits_state(reader: HistoryReader, now: datetime) -> CreditsState:
    """The credits at a moment, from the recording up to then. Raises sqlite3.Error."""
    balance = reader.value_at(BALANCE, now)
    used = used_totals(reader, now - max(WINDOWS) - _BEFORE, now)
    return CreditsState(balance, recorded_rates(used, now))
