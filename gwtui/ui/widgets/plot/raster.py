"""Curves as characters: braille dots, or one sign per cell where a terminal lacks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gwtui.crud.resource import Tone
from gwtui.ui.widgets.plot.figure import Line
from gwtui.ui.widgets.plot.scale import Scale
from gwtui.ui.widgets.plot.spans import Window
from gwtui.watch.history.model import Point

_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of a dot by its line and its column in the cell."""
ABSENT = "·"
ABSENT_ASCII = "_"
SIGNS_ASCII = "*o+x"
"""Of the lines of a plot in their order: they are told apart without colours."""
_EXTREME_ASCII = "."


@dataclass(frozen=True, slots=True)
class Mark:
    """One cell: its sign and its tone."""

    sign: str = " "
    tone: Tone = "plain"


EMPTY = Mark()


@dataclass(slots=True)
class _Column:
    """What falls into one column of dots."""

    low: Decimal | None = None
    high: Decimal | None = None
    total: Decimal = Decimal(0)
    weight: int = 0
    nulls: bool = False

    def add(self, point: Point) -> None:
        self.nulls = self.nulls or point.state == "null"
        if point.low is None or point.high is None:
            return
        self.low = point.low if self.low is None else min(self.low, point.low)
        self.high = point.high if self.high is None else max(self.high, point.high)
        typical = point.last if point.mean is None else point.mean
        if typical is not None:
            weight = max(1, point.samples)
            self.total += typical * weight
            self.weight += weight

    @property
    def mean(self) -> Decimal | None:
        """Of all readings; no finer than the lowest where nobody knows."""
        return self.total / self.weight if self.weight else self.low


class Raster:
    """A grid of cells that lines are drawn into, one after the other."""

    def __init__(self, width: int, height: int, *, ascii: bool = False) -> None:
        self.width = width
        self.height = height
        self._across, self._down = (1, 1) if ascii else (2, 4)
        self._ascii = ascii
        self._dots = [[0] * width for _ in range(height)]
        self._signs = [[""] * width for _ in range(height)]
        self._tones: list[list[Tone]] = [["plain"] * width for _ in range(height)]
        self._nulls = [False] * width
        self._drawn = 0

    def draw(self, line: Line, window: Window, scale: Scale) -> None:
        """Draw a curve: the means joined to a line, the lowest and the highest as dots beside it.

        Where a column holds many readings all between these would be a blot that hides the curve.
        """
        sign = SIGNS_ASCII[self._drawn % len(SIGNS_ASCII)]
        self._drawn += 1
        before: int | None = None
        for x, column in enumerate(self._columns(line, window)):
            if column is None or column.low is None or column.high is None or column.mean is None:
                before = None
                if column is not None and column.nulls:
                    self._nulls[x // self._across] = True
                continue
            for extreme in (column.low, column.high):
                self._dot(x, self._row(extreme, scale), line.tone, _EXTREME_ASCII)
            middle = self._row(column.mean, scale)
            top, bottom = sorted((middle, middle if before is None else before))
            for y in range(top, bottom + 1):
                self._dot(x, y, line.tone, sign)
            before = middle

    def _columns(self, line: Line, window: Window) -> Sequence[_Column | None]:
        """The slots by the columns of dots that they reach over; a gap has none."""
        count = self.width * self._across
        columns: list[_Column | None] = [None] * count
        for point in line.points(window):
            if point.state == "gap" or line.curve is None:
                continue
            first = column_of(point.at, window, count)
            last = column_of(point.at + line.curve.width, window, count, end=True)
            for x in range(first, max(first + 1, last)):
                found = columns[x] = columns[x] or _Column()
                found.add(point)
        return columns

    def _row(self, value: Decimal, scale: Scale) -> int:
        most = self.height * self._down - 1
        return most - round(scale.share(value) * most)

    def _dot(self, x: int, y: int, tone: Tone, sign: str) -> None:
        row, column = y // self._down, x // self._across
        if sign == _EXTREME_ASCII and self._ascii and self._signs[row][column]:
            return
        self._dots[row][column] |= 1 if self._ascii else _DOTS[y % 4][x % 2]
        self._signs[row][column] = sign
        self._tones[row][column] = tone

    def cell(self, row: int, column: int) -> Mark:
        """The cell of a line, counted from above, and a column."""
        dots = self._dots[row][column]
        if dots:
            sign = self._signs[row][column] if self._ascii else chr(_BRAILLE + dots)
            return Mark(sign, self._tones[row][column])
        if row == self.height - 1 and self._nulls[column]:
            return Mark(ABSENT_ASCII if self._ascii else ABSENT, "muted")
        return EMPTY


def column_of(moment: datetime, window: Window, count: int, *, end: bool = False) -> int:
    """The column, of ``count`` in all, that a moment falls into; ``end``: the one after it."""
    share = (moment - window.since).total_seconds() / window.seconds * count
    return min(count, max(0, round(share))) if end else min(count - 1, max(0, round(share)))
