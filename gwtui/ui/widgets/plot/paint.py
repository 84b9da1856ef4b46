"""A plot as lines of content: title, curves between axes, time axis; states as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from rich.cells import cell_len
from textual.content import Content

from gwtui.crud.resource import Tone
from gwtui.ui.text import toned
from gwtui.ui.widgets.plot.scale import PlotFigure, PlotLine, PlotWindow, Scale, scale_of, ticks_of
from gwtui.watch.history.model import Point

_BRAILLE = 0x2800
_ACROSS, _DOWN = 2, 4
"""Dots of a cell."""
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of a dot by its line and its column in the cell."""
ABSENT = "·"
NOTHING = "nothing is recorded of this time"
_COARSE = Decimal("1e9")
"""Steps that words do not tell apart even so are left as they are."""
_TICK_ROOM = 9
"""Cells that a label of the time axis takes with the space around it."""
_SIGNS: dict[Tone, str] = {
    "good": "▁",
    "warn": "▄",
    "bad": "█",
    "muted": "·",
    "plain": " ",
    "accent": "▂",
}
"""Heights tell the states apart where colours do not: the worse, the taller."""


Mark = tuple[str, Tone]
"""One cell: its sign and its tone."""


@dataclass(slots=True)
class _Column:
    """What falls into one column of dots."""

    low: Decimal | None = None
    high: Decimal | None = None
    total: Decimal = Decimal(0)
    count: int = 0
    nulls: bool = False

    def add(self, point: Point) -> None:
        self.nulls = self.nulls or point.state == "null"
        if point.low is None or point.high is None:
            return
        self.low = point.low if self.low is None else min(self.low, point.low)
        self.high = point.high if self.high is None else max(self.high, point.high)
        typical = point.last if point.mean is None else point.mean
        if typical is not None:
            self.total += typical
            self.count += 1

    @property
    def mean(self) -> Decimal | None:
        """The mean of the points; the lowest reading where none has a mean."""
        return self.total / self.count if self.count else self.low


class Raster:
    """A grid of cells that lines are drawn into, one after the other."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._dots = [[0] * width for _ in range(height)]
        self._tones: list[list[Tone]] = [["plain"] * width for _ in range(height)]
        self._nulls = [False] * width

    def draw(self, line: PlotLine, window: PlotWindow, scale: Scale) -> None:
        """Draw a curve: the means joined to a line, the lowest and the highest as dots beside it.

        Where a column holds many readings all between these would be a blot that hides the curve.
        """
        before: int | None = None
        for x, column in enumerate(self._columns(line, window)):
            if column is None or column.low is None or column.high is None or column.mean is None:
                before = None
                if column is not None and column.nulls:
                    self._nulls[x // _ACROSS] = True
                continue
            for extreme in (column.low, column.high):
                self._dot(x, self._row(extreme, scale), line.tone)
            middle = self._row(column.mean, scale)
            top, bottom = sorted((middle, middle if before is None else before))
            for y in range(top, bottom + 1):
                self._dot(x, y, line.tone)
            before = middle

    def _columns(self, line: PlotLine, window: PlotWindow) -> Sequence[_Column | None]:
        """The slots by the columns of dots that they reach over; a gap has none."""
        count = self.width * _ACROSS
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
        most = self.height * _DOWN - 1
        return most - round(scale.share(value) * most)

    def _dot(self, x: int, y: int, tone: Tone) -> None:
        row, column = y // _DOWN, x // _ACROSS
        self._dots[row][column] |= _DOTS[y % _DOWN][x % _ACROSS]
        self._tones[row][column] = tone

    def cell(self, row: int, column: int) -> Mark:
        """The cell of a line, counted from above, and a column."""
        dots = self._dots[row][column]
        if dots:
            return chr(_BRAILLE + dots), self._tones[row][column]
        if row == self.height - 1 and self._nulls[column]:
            return ABSENT, "muted"
        return " ", "plain"


def column_of(moment: datetime, window: PlotWindow, count: int, *, end: bool = False) -> int:
    """The column, of ``count`` in all, that a moment falls into; ``end``: the one after it."""
    share = (moment - window.since).total_seconds() / window.seconds * count
    return min(count, max(0, round(share))) if end else min(count - 1, max(0, round(share)))


def plot_lines(figure: PlotFigure, width: int, height: int) -> list[Content]:
    """The plot in ``width`` cells and ``height`` lines, three at least."""
    rows = max(1, height - 2)
    scale = _scale(figure, rows)
    empty = _is_empty(figure)
    figures = {} if empty else dict(_axis_figures(figure, scale, rows))
    axis = max(cell_len(text) for text in (*figures.values(), _zone(figure)))
    room = max(1, width - axis - 1)
    raster = Raster(room, rows)
    for line in figure.lines:
        raster.draw(line, figure.window, scale)
    lines = [title_line(figure, width)]
    for row in range(rows):
        name = toned(figures.get(row, "").rjust(axis), "muted")
        edge = toned("┤" if row in figures else "│", "muted")
        if empty and row == rows // 2:
            lines.append(Content.assemble(name, edge, toned(NOTHING[:room].center(room), "muted")))
            continue
        marks = [raster.cell(row, column) for column in range(room)]
        lines.append(Content.assemble(name, edge, *_runs(marks)))
    lines.append(toned(_moments(figure, axis, room), "muted"))
    return lines


def title_line(figure: PlotFigure, width: int) -> Content:
    """The title and the newest value of each line."""
    parts = [_named(line, figure) for line in figure.lines]
    head = toned(figure.title, "plain", bold=True)
    roomy, dense = (Content(gap).join([head, *parts]) for gap in ("  ", " "))
    return (roomy if roomy.cell_length <= width else dense).truncate(width, ellipsis=True)


def _named(line: PlotLine, figure: PlotFigure) -> Content:
    newest = _latest(line, figure)
    return Content.assemble(
        toned(f"{line.name} ", line.tone) if line.name else "", toned(_words(newest, figure))
    )


def _words(point: Point | None, figure: PlotFigure) -> str:
    if point is None:
        return "not recorded"
    if point.last is None:
        return figure.absent
    return figure.format_value(point.last)


def _latest(line: PlotLine, figure: PlotFigure) -> Point | None:
    """The newest slot that holds anything, as the value it ended with."""
    for point in reversed(line.points(figure.window)):
        if point.state == "null":
            return point
        if point.state == "value" and point.last is not None:
            return point
    return None


def _scale(figure: PlotFigure, rows: int) -> Scale:
    """The range of all lines, with steps that can be told apart in words."""
    lows: list[Decimal] = []
    highs: list[Decimal] = []
    for line in figure.lines:
        points = line.points(figure.window)
        lows += [point.low for point in points if point.low is not None]
        highs += [point.high for point in points if point.high is not None]
    low, high = min(lows, default=None), max(highs, default=None)
    finest = Decimal(0)
    while True:
        scale = scale_of(low, high, ceiling=figure.ceiling, rows=rows, finest=finest)
        names = [figure.format_value(value) for value in scale.figures]
        if len(set(names)) == len(names) or finest >= _COARSE:
            return scale
        finest = scale.step * 2


def _is_empty(figure: PlotFigure) -> bool:
    return all(
        point.state == "gap" for line in figure.lines for point in line.points(figure.window)
    )


def _axis_figures(figure: PlotFigure, scale: Scale, rows: int) -> Iterator[tuple[int, str]]:
    """The round figures of the vertical axis by the line they stand on, top and bottom first."""
    yield 0, figure.format_value(scale.top)
    if rows == 1:
        return
    yield rows - 1, figure.format_value(scale.bottom)
    for value in scale.figures:
        row = round((1 - scale.share(value)) * (rows - 1))
        if 0 < row < rows - 1:
            yield row, figure.format_value(value)


def _runs(marks: Iterable[Mark]) -> Iterator[Content]:
    """Neighbours of one tone as one text: each change of colour costs bytes."""
    for tone, run in groupby(marks, key=lambda mark: mark[1]):
        yield toned("".join(sign for sign, _ in run), tone)


def _zone(figure: PlotFigure) -> str:
    return "UTC" if figure.zone is None else "local"


def _moments(figure: PlotFigure, axis: int, room: int) -> str:
    """The labels beneath, each at its moment; the zone in the corner."""
    line = [" "] * (axis + 1 + room)
    zone = _zone(figure)
    line[: len(zone)] = zone
    for moment in figure.marks:
        if figure.window.since <= moment < figure.window.until:
            line[axis + 1 + column_of(moment, figure.window, room)] = "▲"
    for tick in ticks_of(figure.window, figure.zone, room // _TICK_ROOM):
        start = axis + 1 + min(room - 1, round(tick.share * room))
        text = f"╵{tick.label}"
        if start + len(text) <= len(line) and set(line[max(0, start - 1) : start + len(text)]) <= {
            " "
        }:
            line[start : start + len(text)] = text
    return "".join(line).rstrip()


@dataclass(frozen=True, slots=True)
class Block:
    """A cell in one state; "plain" with no word stands for a gap."""

    word: str
    tone: Tone


def legend(states: Sequence[Block]) -> Content:
    """The sign and the word of each state, so that one who sees a timeline can read it."""
    return Content("  ").join(
        Content.assemble(toned(_SIGNS[one.tone], one.tone), toned(f" {one.word}", "muted"))
        for one in states
    )


def timeline(blocks: Sequence[Block], width: int) -> Content:
    """The blocks side by side, cut to the last ``width`` cells; like neighbours become one."""
    cells = blocks[-width:]
    parts = []
    for (word, tone), run in groupby(cells, key=lambda block: (block.word, block.tone)):
        length = sum(1 for _ in run)
        sign = _SIGNS[tone]
        # What is well needs no word; what is not says so as soon as there is room.
        if word and tone not in {"good", "plain"} and length >= len(word):
            text = word.center(length, sign)
        else:
            text = sign * length
        parts.append(toned(text, tone))
    return Content.assemble(" " * (width - len(cells)), *parts)
