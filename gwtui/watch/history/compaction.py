"""Compaction and retention: gathers samples into coarser tiers, removes what is too old.

All of it in small steps. Each is one transaction, which also moves the mark up to which its work is
done: a process that is killed leaves all of a step or nothing, and the next one goes on from there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby, pairwise

from gwtui.watch.history.model import Retention, seconds_of
from gwtui.watch.history.tiers import (
    COLUMNS,
    DAY,
    FIVE_MINUTES,
    HOUR,
    KEPT,
    RAW,
    WIDTHS,
    Stretch,
    continues,
    floor,
    gathered,
)
from gwtui.watch.history.writer import HistoryWriter

GRACE = 60
"""Seconds after the end of a bucket before it is gathered: a reading may still be on its way."""
ROWS_AT_A_TIME = 5_000
"""Rows that one step removes, and about as many as one step gathers."""
PAGES_AT_A_TIME = 500
"""Free pages that one step gives back to the file system."""
SPARE_PAGES = 64
"""Free pages that stay in the file for what comes next."""
MOST_CHANGES = 100_000
"""Changes that are kept at most; the oldest ones go first."""


def step(writer: HistoryWriter, now: datetime) -> bool:
    """Do the next bit of work; False when there is none left.

    Raises LeaseLostError with nothing done, sqlite3.Error when the file cannot be written.
    """
    at = seconds_of(now)
    with writer.transaction() as connection:
        _found_tiers(connection)
        if any(_gather(connection, fine, coarse, at) for fine, coarse in pairwise(WIDTHS)):
            return True
        if _forget(connection, writer.retention, at):
            writer.forget_numbers()
            return True
    return _shrink(connection)


def _found_tiers(connection: sqlite3.Connection) -> None:
    for width in WIDTHS:
        connection.execute("INSERT OR IGNORE INTO tiers VALUES (?, 0, 0)", (width,))


# Gathering --------------------------------------------------------------------------------------


def _gather(connection: sqlite3.Connection, fine: int, coarse: int, now: int) -> bool:
    """Gather a bounded number of closed buckets; False when there is nothing to gather."""
    closed = floor(now - GRACE, coarse)
    if fine != RAW:
        closed = min(closed, floor(_mark(connection, fine), coarse))
    begin = _mark(connection, coarse)
    if begin >= closed:
        return False
    begin = max(begin, floor(_oldest(connection, fine, begin, closed), coarse))
    series, rows = _extent(connection, fine, begin, coarse)
    buckets = max(1, ROWS_AT_A_TIME // max(1, rows))
    end = min(closed, begin + buckets * coarse)
    for identity, stretches in _finer(connection, fine, begin, end):
        _store(connection, identity, coarse, gathered(stretches, coarse))
    connection.execute("UPDATE tiers SET rolled_until = ? WHERE width = ?", (end, coarse))
    return series > 0 or end < closed


def _mark(connection: sqlite3.Connection, width: int) -> int:
    (until,) = connection.execute(
        "SELECT rolled_until FROM tiers WHERE width = ?", (width,)
    ).fetchone()
    return int(until)


def _oldest(connection: sqlite3.Connection, width: int, begin: int, end: int) -> int:
    """The first row from ``begin`` on, ``end`` when there is none: a pause costs no steps."""
    (found,) = connection.execute(
        "SELECT min((SELECT start FROM stretches WHERE width = ? AND series = series.id "
        "AND start >= ? AND start < ? ORDER BY start LIMIT 1)) FROM series",
        (width, begin, end),
    ).fetchone()
    return end if found is None else int(found)


def _extent(connection: sqlite3.Connection, width: int, begin: int, span: int) -> tuple[int, int]:
    """How many series and rows lie in the first bucket."""
    series, rows = connection.execute(
        "SELECT count(DISTINCT s.id), count(*) FROM series s CROSS JOIN stretches t "
        "ON t.width = ? AND t.series = s.id AND t.start >= ? AND t.start < ?",
        (width, begin, begin + span),
    ).fetchone()
    return int(series), int(rows)


def _finer(
    connection: sqlite3.Connection, width: int, begin: int, end: int
) -> Iterator[tuple[int, Iterator[Stretch]]]:
    rows = connection.execute(
        f"SELECT t.series, {COLUMNS} FROM series s CROSS JOIN stretches t "  # noqa: S608 - a constant
        "ON t.width = ? AND t.series = s.id AND t.start >= ? AND t.start < ? "
        "ORDER BY s.id, t.start",
        (width, begin, end),
    ).fetchall()
    for series, of_series in groupby(rows, key=lambda row: int(row[0])):
        yield series, (Stretch.of(row[1:]) for row in of_series)


def _store(
    connection: sqlite3.Connection, series: int, width: int, buckets: Iterator[Stretch]
) -> None:
    """Append buckets; those that go on as before lengthen the last row."""
    found = connection.execute(
        f"SELECT {COLUMNS} FROM stretches WHERE width = ? AND series = ? "  # noqa: S608 - a constant
        "ORDER BY start DESC LIMIT 1",
        (width, series),
    ).fetchone()
    last = None if found is None else Stretch.of(found)
    rows: list[Stretch] = []
    for bucket in buckets:
        if last is not None and continues(last, bucket, width):
            last.add(bucket)
            if not rows:
                rows.append(last)
        else:
            rows.append(bucket)
            last = bucket
    connection.executemany(
        "INSERT OR REPLACE INTO stretches (width, series, start, until, count, nulls, total, low,"
        " high, last) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(width, series, *row.row()) for row in rows],
    )


# Forgetting -------------------------------------------------------------------------------------


def _forget(connection: sqlite3.Connection, retention: Retention, now: int) -> bool:
    """Remove a bounded number of what is too old; False when nothing is."""
    for width, kept in (
        (RAW, retention.raw),
        (FIVE_MINUTES, retention.five_minutes),
        (HOUR, retention.hours),
        (DAY, retention.hours),
    ):
        limit = _limit(connection, width, kept, now)
        if limit > _kept_from(connection, width):
            if _remove_before(connection, width, limit):
                return True
            connection.execute("UPDATE tiers SET kept_from = ? WHERE width = ?", (limit, width))
    return _forget_facts(connection, now - int(retention.hours.total_seconds()))


def _limit(connection: sqlite3.Connection, width: int, kept: timedelta, now: int) -> int:
    """From when on this tier is kept; what is not yet in the coarser tier always is."""
    limit = floor(now - int(kept.total_seconds()), KEPT[width])
    coarser = next((wider for wider in WIDTHS if wider > width), None)
    if coarser is not None:
        limit = min(limit, floor(_mark(connection, coarser), KEPT[width]))
    return limit


def _kept_from(connection: sqlite3.Connection, width: int) -> int:
    (moment,) = connection.execute(
        "SELECT kept_from FROM tiers WHERE width = ?", (width,)
    ).fetchone()
    return int(moment)


def _remove_before(connection: sqlite3.Connection, width: int, limit: int) -> bool:
    """Whether there was something; the mark is moved once there is nothing left."""
    left = ROWS_AT_A_TIME
    for (series,) in connection.execute("SELECT id FROM series").fetchall():
        of_series = (width, series)
        cut = connection.execute(
            "SELECT start FROM stretches WHERE width = ? AND series = ? AND start < ? "
            "ORDER BY start LIMIT 1 OFFSET ?",
            (*of_series, limit, left),
        ).fetchone()
        left -= connection.execute(
            "DELETE FROM stretches WHERE width = ? AND series = ? AND start < ?",
            (*of_series, limit if cut is None else cut[0]),
        ).rowcount
        if left <= 0:
            return True
    return left < ROWS_AT_A_TIME


def _forget_facts(connection: sqlite3.Connection, limit: int) -> bool:
    """Changes, ended versions, coverage and series that nothing is left of."""
    (oldest,) = connection.execute(
        "SELECT coalesce(max(id), 0) - ? FROM changes", (MOST_CHANGES,)
    ).fetchone()
    removed = 0
    for statement, value in (
        ("DELETE FROM changes WHERE at < ?", limit),
        ("DELETE FROM changes WHERE id <= ?", oldest),
        ("DELETE FROM versions WHERE until < ?", limit),
        ("DELETE FROM coverage WHERE until < ?", limit),
    ):
        removed += connection.execute(statement, (value,)).rowcount
    removed += connection.execute(
        "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM stretches "
        "WHERE series = series.id AND width IN (?, ?, ?, ?))",
        WIDTHS,
    ).rowcount
    return removed > 0


def _shrink(connection: sqlite3.Connection) -> bool:
    """Give free pages back."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free <= SPARE_PAGES:
        return False
    pages = min(free - SPARE_PAGES, PAGES_AT_A_TIME)
    connection.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
    (left,) = connection.execute("PRAGMA freelist_count").fetchone()
    return bool(left < free)
