"""The tiers of a history: how samples become buckets, without ever counting one twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from gwtui.watch.history.model import EXACT, text_of

RAW = 0
FIVE_MINUTES = 300
HOUR = 3600
DAY = 86400
WEEK = 7 * DAY
WIDTHS = (RAW, FIVE_MINUTES, HOUR, DAY)
"""From fine to coarse, in seconds. Days are kept as long as hours: a year of them reads fast."""
PARENT = {RAW: FIVE_MINUTES, FIVE_MINUTES: HOUR, HOUR: DAY, DAY: WEEK}
"""The boundary that no row of a width crosses."""
KEPT = {RAW: HOUR, FIVE_MINUTES: DAY, HOUR: WEEK, DAY: WEEK}
"""What is kept of a width begins at such a boundary, which no row of the next one crosses."""

Row = tuple[int, int, int, int, str | None, str | None, str | None, str | None]
"""start, until, count, nulls, total, low, high, last: as they stand in the file."""
COLUMNS = "start, until, count, nulls, total, low, high, last"


def floor(moment: int, width: int) -> int:
    """The beginning of the bucket that holds a moment; raw samples have none of their own."""
    return moment if not width else moment - moment % width


@dataclass(slots=True)
class Stretch:
    """Samples of one series, as sums: see ``schema``."""

    start: int
    until: int
    count: int
    nulls: int
    total: Decimal
    low: Decimal | None
    high: Decimal | None
    last: Decimal | None

    @classmethod
    def of(cls, row: Row) -> Stretch:
        """As read from the file."""
        start, until, count, nulls, total, low, high, last = row
        if high is None:
            value = None if low is None else Decimal(low)
            whole = EXACT.multiply(value, Decimal(count)) if value is not None else Decimal(0)
            return cls(start, until, count, nulls, whole, value, value, value)
        return cls(
            start,
            until,
            count,
            nulls,
            Decimal(total or 0),
            Decimal(low or 0),
            Decimal(high),
            None if last is None else Decimal(last),
        )

    @property
    def flat(self) -> bool:
        """Whether every sample said the same."""
        return not self.count or (not self.nulls and self.low == self.high)

    def row(self) -> Row:
        """As it stands in the file."""
        head = (self.start, self.until, self.count, self.nulls)
        if self.flat:
            return (*head, None, _text(self.low), None, None)
        return (*head, text_of(self.total), _text(self.low), _text(self.high), _text(self.last))

    def add(self, later: Stretch) -> None:
        """Take in a later stretch of the same series."""
        self.until = later.until
        self.nulls += later.nulls
        self.last = later.last
        if later.count:
            self.count += later.count
            self.total = EXACT.add(self.total, later.total)
            self.low = _least(self.low, later.low)
            self.high = _most(self.high, later.high)


def gathered(finer: Iterable[Stretch], width: int) -> Iterator[Stretch]:
    """Buckets of ``width`` from the stretches of the finer tier, which come in order of time."""
    bucket: Stretch | None = None
    for each in finer:
        start = floor(each.start, width)
        if bucket is not None and bucket.start == start:
            bucket.add(each)
            continue
        if bucket is not None:
            yield bucket
        bucket = Stretch(
            start, each.until, each.count, each.nulls, each.total, each.low, each.high, each.last
        )
    if bucket is not None:
        yield bucket


def continues(before: Stretch, after: Stretch, width: int) -> bool:
    """Whether two rows of a width can be one: neighbours that said the same, in one parent."""
    return (
        before.flat
        and after.flat
        and before.low == after.low
        and floor(before.until, width) + width == after.start
        and floor(before.start, PARENT[width]) == floor(after.start, PARENT[width])
    )


def _text(value: Decimal | None) -> str | None:
    return None if value is None else text_of(value)


def _least(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return other if one is None or (other is not None and other < one) else one


def _most(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return other if one is None or (other is not None and other > one) else one
