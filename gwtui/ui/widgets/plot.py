"""Draws figures as lines of text: curves with axes, timelines of states, bar charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from gwtui.crud.resource import Tone
from gwtui.domain.times import DAY, HOUR, MINUTE
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import Drawing
from gwtui.watch.history.model import Curve, Point


@dataclass(frozen=True, slots=True)
class Span:
    """A zoom level of plots: its name, its length, and the stride by which the window moves.

    Between two strides the window stays in place, so that new samples only extend the curve. A
    window that moved with each sample would repaint the whole plot.
    """

    name: str
    length: timedelta
    stride: timedelta


SPANS: tuple[Span, ...] = (
    Span("1h", timedelta(hours=1), timedelta(minutes=10)),
    Span("24h", timedelta(hours=24), timedelta(hours=3)),
    Span("7d", timedelta(days=7), timedelta(hours=12)),
    Span("30d", timedelta(days=30), timedelta(days=3)),
)
"""The zoom levels, shortest first."""
_LEAST_SEEN = 4
"""Number of parts of a window; a window with few samples shrinks to one part at most."""


@dataclass(frozen=True, slots=True)
class PlotWindow:
    """The time range of a plot, from ``since`` up to but not including ``until``, UTC."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """The length of the window in seconds."""
        return (self.until - self.since).total_seconds()

    def holds(self, moment: datetime) -> bool:
        """Whether ``moment`` lies in the window."""
        return self.since <= moment < self.until

    def column(self, moment: datetime, count: int, *, end: bool = False) -> int:
        """Return the index of the column for ``moment``, if the plot has ``count`` columns.

        With ``end``, the result is an exclusive end and may be ``count``.
        """
        share = (moment - self.since).total_seconds() / self.seconds * count
        return min(count if end else count - 1, max(0, round(share)))


def window_at(span: Span, now: datetime) -> PlotWindow:
    """Return the window of ``span`` that contains ``now``; it ends at the next full stride, UTC."""
    stride = int(span.stride.total_seconds())
    until = datetime.fromtimestamp((int(now.timestamp()) // stride + 1) * stride, UTC)
    return PlotWindow(until - span.length - span.stride, until)


def fitted(window: PlotWindow, curves: Iterable[Curve | None]) -> PlotWindow:
    """Return ``window`` without the empty time before the first sample of any curve.

    The start is rounded down to a quarter of the window, so that the plot does not move with each
    sample.
    """
    quarter = (window.until - window.since) / _LEAST_SEEN
    points = (point for curve in curves if curve is not None for point in curve.points)
    firsts = (point.at for point in points if point.state != "gap" and window.holds(point.at))
    first = min(firsts, default=window.since)
    quarters = min(_LEAST_SEEN - 1, (first - window.since) // quarter)
    return PlotWindow(window.since + quarters * quarter, window.until)


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A curve, its label and its colour in the plot; ``curve`` is None if nothing was recorded.

    ``newest`` replaces the newest sample in the title of the plot.
    """

    curve: Curve | None
    name: str = ""
    tone: Tone = "accent"
    newest: Decimal | None = None

    def points(self, window: PlotWindow) -> tuple[Point, ...]:
        """Return the samples of the curve that lie in ``window``."""
        points = () if self.curve is None else self.curve.points
        return tuple(point for point in points if window.holds(point.at))

    def columns(self, window: PlotWindow, count: int) -> list[list[Point]]:
        """Return the samples in each of ``count`` columns; a column in a gap is empty."""
        columns: list[list[Point]] = [[] for _ in range(count)]
        for point in self.points(window):
            if point.state != "gap" and self.curve is not None:
                first = window.column(point.at, count)
                last = window.column(point.at + self.curve.width, count, end=True)
                for column in columns[first : max(first + 1, last)]:
                    column.append(point)
        return columns


@dataclass(frozen=True, slots=True)
class PlotFigure(Drawing):
    """A plot of one or more curves against time.

    ``title`` must have passed ``safe_text``. ``format_value`` formats a value with its unit. The
    vertical axis reaches at least up to ``ceiling``. ``absent`` replaces the value if the newest
    sample is null. ``marks`` are moments to mark on the time axis, such as price changes. With
    ``loading``, the samples are not read yet.
    """

    title: str
    window: PlotWindow
    lines: tuple[PlotLine, ...]
    format_value: Callable[[Decimal], str]
    ceiling: Decimal | None = None
    absent: str = "no traffic"
    marks: tuple[datetime, ...] = ()
    loading: bool = False

    @property
    def points(self) -> Iterator[Point]:
        """The samples of all curves that lie in the window."""
        return (point for line in self.lines for point in line.points(self.window))

    def draw(self, width: int, height: int) -> list[Content]:
        """Return the lines of the plot, ``width`` cells wide and at least 3 lines high."""
        rows = max(1, height - 2)
        scale = _scale(self, rows)
        empty = all(point.state == "gap" for point in self.points)
        figures = {} if empty else dict(_axis_figures(self, scale, rows))
        axis = max(cell_len(text) for text in (*figures.values(), _ZONE))
        room = max(1, width - axis - 1)
        cells = _dots(self, scale, room, rows)
        if empty:
            nothing = "loading…" if self.loading else NOTHING
            cells[rows // 2] = [(sign, "muted") for sign in nothing[:room].center(room)]
        lines = [_title(self, width)]
        for row, marks in enumerate(cells):
            name = toned(figures.get(row, "").rjust(axis), "muted")
            edge = toned("┤" if row in figures else "│", "muted")
            # Join cells of the same tone: each change of colour costs bytes.
            runs = groupby(marks, key=lambda mark: mark[1])
            texts = (toned("".join(sign for sign, _ in run), tone) for tone, run in runs)
            lines.append(Content.assemble(name, edge, *texts))
        return [*lines, toned(_time_axis(self, _ZONE.ljust(axis + 1), room), "muted")]


# The axes ---------------------------------------------------------------------------------------

_LINES_A_STEP, _MOST_STEPS = 3, 8
"""Minimum number of lines per step of the vertical axis, and maximum number of steps."""
_STEPS = tuple(Decimal(step) for step in ("1", "2", "2.5", "5", "10"))
_COARSE = Decimal("1e9")
"""Largest step that is tried to make all labels of the vertical axis differ."""
_TIME_STEPS = (
    *(MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE),
    *(HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR),
    *(DAY, 2 * DAY, 3 * DAY, 7 * DAY, 14 * DAY),
)
_MONDAY = 4 * DAY
"""Seconds from the epoch, a Thursday, to the first Monday."""
_ZONE = "UTC"
_TICK_ROOM = 9
"""Cells per label of the time axis, including the space around it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of the vertical axis, and the ``step`` between its labels."""

    bottom: Decimal
    top: Decimal
    step: Decimal

    @property
    def figures(self) -> Iterator[Decimal]:
        """The values to label, from the bottom to the top."""
        value = self.bottom
        while value < self.top:
            yield value
            value += self.step
        yield self.top

    def share(self, value: Decimal) -> float:
        """Return the relative height of ``value``: 0 at the bottom, 1 at the top, clamped."""
        return min(1.0, max(0.0, float((value - self.bottom) / (self.top - self.bottom))))


def scale_of(
    low: Decimal | None,
    high: Decimal | None,
    *,
    ceiling: Decimal | None = None,
    rows: int = 8,
    finest: Decimal = Decimal(0),
) -> Scale:
    """Return a scale with round numbers that contains ``low`` and ``high``.

    ``rows`` is the height in lines. The scale reaches at least up to ``ceiling``, and ends there
    unless a value is higher. No step is smaller than ``finest``.
    """
    values = [value for value in (low, high, ceiling) if value is not None]
    bottom, top = (min(values), max(values)) if values else (Decimal(0), Decimal(1))
    if bottom == top:
        room = abs(top) / 10 or Decimal(1)
        bottom, top = bottom - room, top if top == ceiling else top + room
    count = min(_MOST_STEPS, -(-rows // _LINES_A_STEP))
    least = max((top - bottom) / count, finest)
    power = Decimal(1).scaleb(least.adjusted())
    step = next(power * step for step in _STEPS if power * step >= least)
    lowest = (bottom / step).to_integral_value(ROUND_FLOOR) * step
    highest = (top / step).to_integral_value(ROUND_CEILING) * step
    if ceiling is not None and top <= ceiling:
        highest = min(highest, ceiling)
    return Scale(lowest, highest, step)


def _scale(figure: PlotFigure, rows: int) -> Scale:
    low = min((point.low for point in figure.points if point.low is not None), default=None)
    high = max((point.high for point in figure.points if point.high is not None), default=None)
    finest = Decimal(0)
    # Double the step until all labels differ.
    while True:
        scale = scale_of(low, high, ceiling=figure.ceiling, rows=rows, finest=finest)
        names = [figure.format_value(value) for value in scale.figures]
        if len(set(names)) == len(names) or finest >= _COARSE:
            return scale
        finest = scale.step * 2


def _axis_figures(figure: PlotFigure, scale: Scale, rows: int) -> Iterator[tuple[int, str]]:
    """Yield the line index and the text of each label of the vertical axis.

    Of several labels on the same line, the last one counts.
    """
    yield 0, figure.format_value(scale.top)
    if rows == 1:
        return
    yield rows - 1, figure.format_value(scale.bottom)
    for value in scale.figures:
        row = round((1 - scale.share(value)) * (rows - 1))
        if 0 < row < rows - 1:
            yield row, figure.format_value(value)


def ticks_of(window: PlotWindow, most: int) -> Iterator[tuple[datetime, str]]:
    """Yield about ``most`` round moments in the window, with their labels."""
    step = next((step for step in _TIME_STEPS if window.seconds / step <= max(1, most)), 14 * DAY)
    monday = _MONDAY if step % (7 * DAY) == 0 else 0
    seconds = -(-(window.since.timestamp() - monday) // step) * step + monday
    while seconds < window.until.timestamp():
        moment = datetime.fromtimestamp(seconds, UTC)
        yield moment, moment.strftime("%m-%d" if step >= DAY else "%H:%M")
        seconds += step


def _time_axis(figure: PlotFigure, corner: str, room: int) -> str:
    line = [*corner, *" " * room]
    for moment in filter(figure.window.holds, figure.marks):
        line[len(corner) + figure.window.column(moment, room)] = "▲"
    for moment, label in ticks_of(figure.window, room // _TICK_ROOM):
        start = len(corner) + figure.window.column(moment, room)
        end = start + len(label) + 1
        if end <= len(line) and set(line[max(0, start - 1) : end]) <= {" "}:
            line[start:end] = f"╵{label}"
    return "".join(line).rstrip()


def _title(figure: PlotFigure, width: int) -> Content:
    parts = [toned(figure.title, "plain", bold=True)]
    for line in () if figure.loading else figure.lines:
        name = toned(f"{line.name} ", line.tone) if line.name else ""
        parts.append(Content.assemble(name, toned(_newest(line, figure))))
    roomy, dense = (Content(gap).join(parts) for gap in ("  ", " "))
    return (roomy if roomy.cell_length <= width else dense).truncate(width, ellipsis=True)


def _newest(line: PlotLine, figure: PlotFigure) -> str:
    if line.newest is not None:
        return figure.format_value(line.newest)
    # Gaps are skipped: the newest sample counts, however old.
    for point in reversed(line.points(figure.window)):
        if point.state == "null":
            return figure.absent
        if point.state == "value" and point.last is not None:
            return figure.format_value(point.last)
    return "not recorded"


# The curves -------------------------------------------------------------------------------------

_BRAILLE = 0x2800
_ACROSS, _DOWN = 2, 4
"""Number of dots in a cell: columns and lines."""
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot in a braille character, by line and column."""
ABSENT = "·"
NOTHING = "no samples recorded in this period"
Mark = tuple[str, Tone]
"""A cell of the plot: its character and its tone."""


def _dots(figure: PlotFigure, scale: Scale, width: int, height: int) -> list[list[Mark]]:
    """Return the cells of the plot, line by line.

    Each curve joins the means of its samples; lowest and highest values are single dots. Filling
    the range between them would hide the curve.
    """
    bits = [[0] * width for _ in range(height)]
    marks: list[list[Mark]] = [[(" ", "plain")] * width for _ in range(height)]

    def dot(x: int, y: int, tone: Tone) -> None:
        row, column = y // _DOWN, x // _ACROSS
        bits[row][column] |= _DOTS[y % _DOWN][x % _ACROSS]
        marks[row][column] = chr(_BRAILLE + bits[row][column]), tone

    def level(value: Decimal) -> int:
        most = height * _DOWN - 1
        return most - round(scale.share(value) * most)

    for line in figure.lines:
        before: int | None = None
        for x, points in enumerate(line.columns(figure.window, width * _ACROSS)):
            known = [point for point in points if point.low is not None]
            if not known:
                before = None
                if points and not bits[-1][x // _ACROSS]:
                    marks[-1][x // _ACROSS] = ABSENT, "muted"
                continue
            middle = level(_mean(known))
            dot(x, level(min(point.low for point in known if point.low is not None)), line.tone)
            dot(x, level(max(point.high for point in known if point.high is not None)), line.tone)
            top, bottom = sorted((middle, middle if before is None else before))
            for y in range(top, bottom + 1):
                dot(x, y, line.tone)
            before = middle
    return marks


def _mean(points: Sequence[Point]) -> Decimal:
    # A sample without a mean counts with its last or lowest value.
    typical = [next(v for v in (p.mean, p.last, p.low) if v is not None) for p in points]
    return sum(typical, Decimal(0)) / len(typical)


# Timelines --------------------------------------------------------------------------------------

_SIGNS: dict[Tone, str] = {
    "good": "▁",
    "warn": "▄",
    "bad": "█",
    "muted": "·",
    "plain": " ",
    "accent": "▂",
}
"""Characters by tone. The worse the state, the taller: states differ even without colours."""


@dataclass(frozen=True, slots=True)
class Block:
    """A cell of a timeline; tone "plain" without a word is a gap."""

    word: str
    tone: Tone


def legend(states: Sequence[Block]) -> Content:
    """Return the legend of a timeline: the character and the name of each state."""
    return Content("  ").join(
        Content.assemble(toned(_SIGNS[state.tone], state.tone), toned(f" {state.word}", "muted"))
        for state in states
    )


def timeline(blocks: Sequence[Block]) -> Content:
    """Return the blocks as one line; each state is named once, where there is room for its word."""
    parts, named = [], {"good", "plain"}  # healthy states and gaps carry no word
    for block, run in groupby(blocks):
        length, word = len([*run]), ""
        if block.tone not in named and length >= len(block.word):
            named.add(block.tone)
            word = block.word
        parts.append(toned(word.center(length, _SIGNS[block.tone]), block.tone))
    return Content.assemble(*parts)


# Bars -------------------------------------------------------------------------------------------

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_LEVELS = 8
_LABEL_EVERY = 7
_ROWS_WITH_HALF = 4
UNKNOWN_BAR = "?"


class Bar(NamedTuple):
    """A bar of a chart; ``value`` None is unknown."""

    label: str
    value: Decimal | None


@dataclass(frozen=True, slots=True)
class Chart(Drawing):
    """A bar chart. ``format_value`` formats a value with its unit.

    ``chosen`` holds the indices of the first and last selected bar; only these two are labelled,
    and the other bars are muted. None selects no bars; every seventh bar is labelled.
    """

    bars: Sequence[Bar]
    format_value: Callable[[Decimal], str]
    chosen: tuple[int, int] | None = None

    def draw(self, width: int, height: int) -> list[Content]:
        """Return axis, bars and labels as lines, in ``width`` cells and ``height`` lines."""
        rows = max(1, height - 1)
        highest = max((bar.value or Decimal(0) for bar in self.bars), default=Decimal(0))
        # Finer steps than those of a plot: only the ends and the middle are labelled.
        top = scale_of(Decimal(0), highest, rows=2 * rows).top
        figures = {rows - 1: self.format_value(Decimal(0)), 0: self.format_value(top)}
        if rows >= _ROWS_WITH_HALF and rows % 2 == 0:
            figures[rows // 2] = self.format_value(top / 2)
        axis = max(map(cell_len, figures.values()))
        room = max(1, width - axis - 2)
        pitch = max(1, room // max(1, min(len(self.bars), room)))
        left = max(0, len(self.bars) - room)
        bars = self.bars[left:]
        lines = []
        for row in range(rows):
            name = toned(figures.get(row, "").rjust(axis), "muted")
            wall = toned("┤" if row in figures else "│", "muted")
            signs = [_sign(bar.value, rows - 1 - row, top / rows) for bar in bars]
            # Join bars of the same tone: each change of colour costs bytes.
            runs = groupby(zip(signs, self._tones()[left:], strict=True), key=lambda bar: bar[1])
            texts = (
                toned("".join((sign * max(1, pitch - 1)).ljust(pitch) for sign, _ in run), tone)
                for tone, run in runs
            )
            lines.append(Content.assemble(name, " ", wall, *texts))
        places = range(len(bars) - 1, -1, -_LABEL_EVERY)
        labelled = [max(0, index - left) for index in self.chosen] if self.chosen else places
        labels = " " * (axis + 2) + _labels(bars, labelled, pitch, room)
        return [*lines, toned(labels, "accent" if self.chosen else "muted")]

    def _tones(self) -> list[Tone]:
        first, last = self.chosen or (0, len(self.bars))
        return [
            "warn" if bar.value is None else "accent" if first <= place <= last else "muted"
            for place, bar in enumerate(self.bars)
        ]


def _sign(value: Decimal | None, level: int, step: Decimal) -> str:
    """Return the character of a bar on one line of height ``step``; level 0 is the lowest line."""
    if value is None:
        return UNKNOWN_BAR if level == 0 else " "
    eighths = value / step * _LEVELS
    # Any positive value is visible.
    filled = 1 if 0 < eighths < 1 else round(eighths)
    return _EIGHTHS[min(_LEVELS, max(0, filled - level * _LEVELS))]


def _labels(bars: Sequence[Bar], places: Iterable[int], pitch: int, room: int) -> str:
    line = [" "] * room
    for index in places:
        label = bars[index].label
        start = min(index * pitch, room - len(label))
        # A label that would overlap another one is left out.
        if start >= 0 and all(cell == " " for cell in line[start : start + len(label) + 1]):
            line[start : start + len(label)] = label
    return "".join(line).rstrip()
