"""Writes the readings of a long gap straight into the tiers: fewer rows the older they are."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from gwtui.watch.history.model import Series, kept, moment_of
from gwtui.watch.history.tiers import (
    COLUMNS,
    DAY,
    FIVE_MINUTES,
    HOUR,
    PARENT,
    RAW,
    Row,
    Stretch,
    continues,
    floor,
    gathered,
)
from gwtui.watch.history.writer import HistoryWriter

MINUTE = 60
HALF_HOUR = 1800
FIVE_MINUTES_FOR = 12 * HOUR
"""Seconds back that one reading in five minutes is kept for; before there are two an hour."""
RAW_FOR = HOUR
"""Seconds back that one reading a minute is kept for."""


@dataclass(frozen=True)
class Gap:
    """What was not recorded: from a whole hour on, in seconds since 1970."""

    since: int
    until: int

    @cached_property
    def raw_from(self) -> int:
        """From when on there is a reading a minute."""
        return max(self.since, floor(self.until - RAW_FOR, HOUR))

    @cached_property
    def five_minutes_from(self) -> int:
        """From when on there is a reading in five minutes."""
        return max(self.since, floor(self.until - FIVE_MINUTES_FOR, HOUR))

    @cached_property
    def seconds(self) -> tuple[int, ...]:
        """When the readings are made, the last one at the very end."""
        return (
            *range(self.since, self.five_minutes_from, HALF_HOUR),
            *range(self.five_minutes_from, self.raw_from, FIVE_MINUTES),
            *range(self.raw_from, self.until, MINUTE),
            self.until,
        )

    @cached_property
    def moments(self) -> tuple[datetime, ...]:
        """The same as moments."""
        return tuple(moment_of(second) for second in self.seconds)


@dataclass(frozen=True, slots=True)
class SeriesColumn:
    """A figure at the last moments of a gap; one value alone is that of every moment."""

    series: Series
    values: Sequence[Decimal | None]
    constant: bool = False


def open_tiers(connection: sqlite3.Connection, gap: Gap) -> None:
    """Inside a transaction: say from when on each tier answers, once what is closed is gathered.

    Days are gathered from the last midnight on; hours answer for those before.
    """
    midnight = floor(gap.until, DAY)
    for width, begin in (
        (RAW, gap.raw_from),
        (FIVE_MINUTES, gap.five_minutes_from),
        (DAY, midnight),
    ):
        if begin > gap.since or width == DAY:
            connection.execute(
                "UPDATE tiers SET kept_from = max(kept_from, ?) WHERE width = ?", (begin, width)
            )
    connection.execute(
        "UPDATE tiers SET rolled_until = max(rolled_until, ?) WHERE width = ?", (midnight, DAY)
    )


def write_columns(writer: HistoryWriter, gap: Gap, columns: Iterable[SeriesColumn]) -> None:
    """Write figures of a gap in one transaction; what is recorded already stays.

    They are made one after the other as they are written: all of them would take much memory.
    Raises LeaseLostError with nothing written, sqlite3.Error when the file cannot be written.
    """
    with writer.transaction() as connection:
        rolled = dict(connection.execute("SELECT width, rolled_until FROM tiers").fetchall())
        ends = _Ends(rolled[FIVE_MINUTES], rolled[HOUR])
        for column in columns:
            number = writer.number_of(column.series)
            if number is not None:
                connection.executemany(
                    f"INSERT OR IGNORE INTO stretches (width, series, {COLUMNS}) "  # noqa: S608 - a constant
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [(width, number, *row) for width, row in _rows(column, gap, ends)],
                )


class _Ends(NamedTuple):
    """Up to when the coarser tiers are gathered; later buckets are left to ``compaction``."""

    five_minutes: int
    hours: int


def _rows(column: SeriesColumn, gap: Gap, ends: _Ends) -> Iterator[tuple[int, Row]]:
    """The rows of a figure with their widths; each tier is made of the finer one."""
    if column.constant:
        yield from _constant(column.values[0], gap, ends)
        return
    seconds = gap.seconds[-len(column.values) :]
    readings = [
        _reading(second, None if value is None else kept(value))
        for second, value in zip(seconds, column.values, strict=True)
    ]
    old = bisect_left(seconds, gap.five_minutes_from)
    recent = bisect_left(seconds, gap.raw_from)
    fives = [*gathered(readings[old:recent], FIVE_MINUTES)]
    fives += gathered(readings[recent:], FIVE_MINUTES)
    # No row of a tier reaches over the moment from which on a finer one answers.
    for found, width, end in (
        ([*gathered(readings[:old], HOUR)], HOUR, gap.five_minutes_from),
        ([*gathered(fives, HOUR)], HOUR, ends.hours),
        (fives, FIVE_MINUTES, ends.five_minutes),
        (readings[recent:], RAW, gap.until + 1),
    ):
        for stretch in _joined((each for each in found if each.start < end), width):
            yield width, stretch.row()


def _constant(value: Decimal | None, gap: Gap, ends: _Ends) -> Iterator[tuple[int, Row]]:
    for width, begin, end in (
        (HOUR, gap.since, gap.five_minutes_from),
        (HOUR, gap.five_minutes_from, min(ends.hours, gap.until + 1)),
        (FIVE_MINUTES, gap.five_minutes_from, min(ends.five_minutes, gap.until + 1)),
        (RAW, gap.raw_from, gap.until + 1),
    ):
        parents: dict[int, list[int]] = {}
        for second in gap.seconds:
            if begin <= second < end:
                parents.setdefault(floor(second, PARENT[width]), []).append(second)
        for seconds in parents.values():
            whole = _reading(floor(seconds[0], width), None if value is None else kept(value))
            whole.until = seconds[-1]
            whole.count, whole.nulls = whole.count * len(seconds), whole.nulls * len(seconds)
            yield width, whole.row()


def _reading(second: int, value: Decimal | None) -> Stretch:
    if value is None:
        return Stretch(second, second, 0, 1, Decimal(0), None, None, None)
    return Stretch(second, second, 1, 0, value, value, value, value)


def _joined(found: Iterable[Stretch], width: int) -> Iterator[Stretch]:
    """Neighbours that said the same as one row, as ``writer`` and ``compaction`` make them."""
    last: Stretch | None = None
    for each in found:
        if last is not None and _goes_on(last, each, width):
            last.add(each)
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last


def _goes_on(before: Stretch, after: Stretch, width: int) -> bool:
    if width != RAW:
        return continues(before, after, width)
    same = before.low == after.low
    return same and floor(before.start, FIVE_MINUTES) == floor(after.start, FIVE_MINUTES)
