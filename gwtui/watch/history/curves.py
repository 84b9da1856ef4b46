"""Curves: a span of a series cut into slots of equal width, from the tiers that hold it."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby, pairwise
from operator import itemgetter

from gwtui.watch.history.model import (
    EXACT,
    Curve,
    Point,
    Reading,
    Run,
    Series,
    State,
    mean_of,
    moment_of,
    seconds_of,
)
from gwtui.watch.history.tiers import COLUMNS, FIVE_MINUTES, PARENT, RAW, WIDTHS, Stretch, floor
from gwtui.watch.history.writer import gap_after

MOST_POINTS = 400
"""Slots of a curve unless asked otherwise: more than the columns of most terminals."""
STEPS = (
    *(60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 14400, 21600, 43200),
    *(86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400),
)
"""Widths of slots in seconds. The coarser ones are multiples of the tiers' widths."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A span that is read from one tier."""

    width: int
    since: int
    until: int


class _Slot:
    """What is known of one slot."""

    __slots__ = ("about", "count", "high", "last", "low", "nulls", "seen", "total")

    def __init__(self) -> None:
        self.count = self.nulls = 0
        self.total = Decimal(0)
        self.low: Decimal | None = None
        self.high: Decimal | None = None
        self.last: Decimal | None = None
        self.about: Decimal | None = None
        self.seen = -1

    def add(self, found: Stretch, count: int, nulls: int, seen: int) -> None:
        """Take in (a part of) a stretch; ``seen`` is the moment of its last sample here."""
        self.nulls += nulls
        self.seen = seen
        self.last = found.last
        if not found.count:
            return
        self.count += count
        if count:
            share = found.total if count == found.count else _share(found, count)
            self.total = EXACT.add(self.total, share)
        else:
            self.about = mean_of(found.total, found.count)
        if self.low is None or (found.low is not None and found.low < self.low):
            self.low = found.low
        if self.high is None or (found.high is not None and found.high > self.high):
            self.high = found.high

    def point(self, at: datetime) -> Point:
        """The slot that begins at a moment."""
        if self.low is None:
            return Point(at, "null", nulls=self.nulls)
        mean = mean_of(self.total, self.count) if self.count else self.about
        return Point(at, "value", self.low, self.high, mean, self.last, self.count, self.nulls)


@dataclass(frozen=True, slots=True)
class CurveSpan:
    """Slots of ``width`` seconds from ``begin``, a whole multiple of it, on."""

    begin: int
    width: int
    count: int

    @property
    def end(self) -> int:
        """When the last slot ends."""
        return self.begin + self.count * self.width


def span_of(
    since: datetime, until: datetime, resolution: float | None, max_points: int
) -> CurveSpan:
    """The slots that cover a span: as wide as asked for, else the finest that are few enough.

    Raises ValueError for a span that ends before it begins.
    """
    begin, end = seconds_of(since), seconds_of(until)
    if end <= begin:
        raise ValueError("the span must end after it begins")
    if resolution is not None:
        width = STEPS[min(bisect_left(STEPS, resolution), len(STEPS) - 1)]
    else:
        fitting = (step for step in STEPS if end - floor(begin, step) <= step * max_points)
        width = next(fitting, STEPS[-1])
    begin = floor(begin, width)
    return CurveSpan(begin, width, -(-(end - begin) // width))


def curve(connection: sqlite3.Connection, number: int, series: Series, span: CurveSpan) -> Curve:
    """The curve of the series that has this number in the file."""
    slots: list[_Slot | None] = [None] * span.count
    for part in _parts(connection, span):
        for stretch in _stretches(connection, number, part):
            _spread(slots, stretch, part.width, span)
    points = tuple(_points(slots, span, gap_after(series.every)))
    return Curve(series, timedelta(seconds=span.width), points)


def readings(
    connection: sqlite3.Connection, number: int, since: datetime, until: datetime
) -> Iterator[Reading]:
    """The samples of a span with the moments they were taken at, one for each five minutes.

    The newest ones come one by one. A stretch in which nothing changed gives its first and last.
    """
    begin, end = seconds_of(since), seconds_of(until)
    span = CurveSpan(floor(begin, FIVE_MINUTES), FIVE_MINUTES, (end - begin) // FIVE_MINUTES + 2)
    for part in _parts(connection, span):
        for found in _stretches(connection, number, part):
            moments = {found.until} if not found.flat else {found.start, found.until}
            for at in sorted(moments):
                if begin <= at <= end:
                    state: State = "null" if found.last is None else "value"
                    yield Reading(state, found.last, moment_of(at))


def runs(
    connection: sqlite3.Connection, number: int, since: datetime, until: datetime, width: int
) -> Iterator[Run]:
    """The stretches of a span as they are kept, none finer than ``width`` where coarser is kept."""
    begin, end = seconds_of(since), seconds_of(until)
    span = CurveSpan(floor(begin, width), width, (end - begin) // width + 2)
    for part in _parts(connection, span):
        for found in _stretches(connection, number, part):
            if found.start <= end:
                yield Run(
                    moment_of(max(found.start, begin)),
                    moment_of(min(found.until, end)),
                    found.low,
                    found.high,
                    found.last,
                    found.flat,
                )


def _parts(connection: sqlite3.Connection, span: CurveSpan) -> Iterator[_Part]:
    """Which tier answers for which part of the span.

    The coarsest that is no coarser than the slots; where that has nothing (yet, or any more), the
    nearest that has.
    """
    begin, end = span.begin, span.end
    reach: dict[int, tuple[int, int]] = {RAW: (0, end)}
    for tier, kept_from, rolled in connection.execute(
        "SELECT width, kept_from, rolled_until FROM tiers"
    ):
        reach[tier] = (kept_from, end if tier == RAW else rolled)
    bounds = sorted({begin, end, *(at for pair in reach.values() for at in pair)})
    fine = [tier for tier in reversed(WIDTHS) if tier <= span.width and tier in reach]
    coarse = [tier for tier in WIDTHS if tier > span.width and tier in reach]
    spans = [(left, right) for left, right in pairwise(bounds) if begin <= left < end]
    chosen = (
        (next((tier for tier in (*fine, *coarse) if _holds(reach[tier], left)), RAW), left, right)
        for left, right in spans
    )
    # Neighbours of one tier are one part: a row may lie in both.
    for tier, parts in groupby(chosen, key=itemgetter(0)):
        whole = list(parts)
        yield _Part(tier, whole[0][1], whole[-1][2])


def _holds(reach: tuple[int, int], moment: int) -> bool:
    return reach[0] <= moment < reach[1]


def _stretches(connection: sqlite3.Connection, number: int, part: _Part) -> Iterator[Stretch]:
    """The rows that begin in a part, and those before it that reach into it."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM stretches WHERE width = ? AND series = ? "  # noqa: S608 - a constant
        "AND start >= ? AND start < ? ORDER BY start",
        (part.width, number, floor(part.since, PARENT[part.width]), part.until),
    ).fetchall()
    for row in rows:
        if row[1] >= part.since:
            yield Stretch.of(row)


def _spread(slots: list[_Slot | None], found: Stretch, tier: int, span: CurveSpan) -> None:
    """Put a stretch into the slots it reaches over; its samples lie evenly in it."""
    width, begin = span.width, span.begin
    right = found.until if tier <= width else floor(found.until, tier) + tier - 1
    first, last = (found.start - begin) // width, (right - begin) // width
    if first == last:  # by far the most rows of a long span
        if 0 <= first < len(slots):
            _slot(slots, first).add(found, found.count, found.nulls, found.until)
        return
    across = last - first + 1
    for place in range(max(0, -first), min(across, len(slots) - first)):
        _slot(slots, first + place).add(
            found,
            _portion(found.count, place, across),
            _portion(found.nulls, place, across),
            found.until if place == across - 1 else begin + (first + place + 1) * width - 1,
        )


def _slot(slots: list[_Slot | None], place: int) -> _Slot:
    slot = slots[place]
    if slot is None:
        slot = slots[place] = _Slot()
    return slot


def _portion(whole: int, place: int, across: int) -> int:
    """One of ``across`` parts of a count that together make the whole."""
    return whole * (place + 1) // across - whole * place // across


def _share(found: Stretch, count: int) -> Decimal:
    return EXACT.multiply(mean_of(found.total, found.count), Decimal(count))


def _points(slots: list[_Slot | None], span: CurveSpan, patience: int) -> Iterator[Point]:
    before: _Slot | None = None
    for place, slot in enumerate(slots):
        start = span.begin + place * span.width
        at = moment_of(start)
        if slot is not None:
            before = slot
            yield slot.point(at)
        elif before is not None and start - before.seen <= patience:
            yield _held(at, before.last)
        else:
            yield Point(at)


def _held(at: datetime, value: Decimal | None) -> Point:
    """A slot between two readings."""
    if value is None:
        return Point(at, "null")
    return Point(at, "value", value, value, value, value)
