"""A bar chart of one figure per day, drawn line by line; only lines that changed are repainted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from rich.cells import cell_len
from textual.content import Content

from gwtui.domain.cell_values import Tone
from gwtui.ui.text import STYLES, toned
from gwtui.ui.widgets.lines import LinesView

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_STEPS = 8
_NICE = tuple(Decimal(step) for step in ("1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10"))
_LABEL_EVERY = 7
_ROWS_WITH_HALF = 4
_BACKGROUND = " on "
UNKNOWN_BAR = "?"


PICKED = STYLES["accent"]
SERIES = tuple(f"$series-{number}" for number in range(1, 5))
"""Styles of parts in the order of a ranking."""
REST = STYLES["muted"]
_CHOSEN_REST = STYLES["plain"]

_Text = tuple[str, str]
"""Text and its style."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; None is unknown. ``parts`` of it are stacked from below; the rest is muted."""

    label: str
    value: Decimal | None
    parts: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn. ``format_value`` gives the text of a figure, with its unit.

    ``chosen`` are the places of the first and the last selected
    bar, None for all of them: those have the labels.
    """

    bars: Sequence[Bar]
    format_value: Callable[[Decimal], str]
    chosen: tuple[int, int] | None = None
    looks: tuple[str, ...] = ()
    """The style of each part, the same in every bar."""


def nice_top(highest: Decimal) -> Decimal:
    """The upper end of the axis: the next round figure, 1 when there is nothing to draw."""
    if highest <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(highest.adjusted())
    return next(power * step for step in _NICE if power * step >= highest)


def _axis(chart: Chart, height: int) -> tuple[int, Decimal, dict[int, str]]:
    """Lines for bars, the upper end of the axis, and its figures by line."""
    rows = max(1, height - 1)
    highest = max((bar.value or Decimal(0) for bar in chart.bars), default=Decimal(0))
    top = nice_top(highest)
    figures = {rows - 1: chart.format_value(Decimal(0)), 0: chart.format_value(top)}
    if rows >= _ROWS_WITH_HALF and rows % 2 == 0:
        figures[rows // 2] = chart.format_value(top / 2)
    return rows, top, figures


def _places(chart: Chart, width: int, figures: Iterable[str]) -> tuple[int, int, int]:
    """Cells of the axis and for the bars, and from one bar to the next."""
    axis = max(cell_len(text) for text in figures)
    room = max(1, width - axis - 2)
    return axis, room, max(1, room // max(1, min(len(chart.bars), room)))


def chart_lines(chart: Chart, width: int, height: int) -> list[Content]:
    """The chart in ``width`` cells and ``height`` lines: axis, bars, labels below."""
    rows, top, figures = _axis(chart, height)
    axis, room, pitch = _places(chart, width, figures.values())
    bars = chart.bars[-room:]
    left = len(chart.bars) - len(bars)
    stacks = [
        _eighths(chart, bar, _rest(chart, left + place), top, rows)
        for place, bar in enumerate(bars)
    ]
    wide = max(1, pitch - 1)
    gap = " " * (pitch - wide)
    lines = []
    for row in range(rows):
        name = toned(figures.get(row, "").rjust(axis), "muted")
        wall = toned("┤" if row in figures else "│", "muted")
        level = rows - 1 - row
        cells = [piece for stack in stacks for piece in (_cell(stack, level, wide), (gap, ""))]
        lines.append(Content.assemble(name, " ", wall, *_joined(cells)))
    places = range(len(bars) - 1, -1, -_LABEL_EVERY)
    wanted = places if chart.chosen is None else [max(0, one - left) for one in chart.chosen]
    labels = _labels(bars, wanted, pitch, room)
    tone: Tone = "muted" if chart.chosen is None else "accent"
    lines.append(toned(" " * (axis + 2) + labels, tone))
    return lines


def _rest(chart: Chart, place: int) -> str:
    """The look of what is no part of a bar: that of chosen ones stands out from the others."""
    chosen = chart.chosen
    return _CHOSEN_REST if chosen is not None and chosen[0] <= place <= chosen[1] else REST


def _eighths(chart: Chart, bar: Bar, rest: str, top: Decimal, rows: int) -> list[str] | None:
    """The style of each eighth of a line from below; None where the value is unknown."""
    if bar.value is None:
        return None
    styles: list[str] = []
    so_far = Decimal(0)
    for style, part in zip((*chart.looks, rest), (*bar.parts, bar.value), strict=True):
        so_far = min(bar.value, so_far + max(Decimal(0), part))
        styles += [style] * (_steps(so_far, top, rows) - len(styles))
    return styles


def _cell(eighths: Sequence[str] | None, level: int, wide: int) -> _Text:
    """A bar of ``wide`` cells on one line; level 0 is the lowest line.

    A cell can show two styles when it is full, else one.
    """
    if eighths is None:
        return (UNKNOWN_BAR if level == 0 else " ") * wide, STYLES["warn"]
    inside = eighths[level * _STEPS : (level + 1) * _STEPS]
    if not inside:
        return " " * wide, ""
    lowest = inside.count(inside[0])
    above = inside[lowest:]
    if above and len(inside) == _STEPS:
        return _EIGHTHS[lowest] * wide, f"{inside[0]}{_BACKGROUND}{_most(above)}"
    return _EIGHTHS[len(inside)] * wide, _most(inside)


def _most(styles: Sequence[str]) -> str:
    return Counter(styles).most_common(1)[0][0]


def _joined(cells: Iterable[_Text]) -> list[Content]:
    """Bars of one look beside each other as one piece: of a blank only the background is seen."""
    found: list[_Text] = [("", "")]
    for text, style in cells:
        before, look = found[-1]
        if style == look or (text.isspace() and _BACKGROUND not in look):
            found[-1] = before + text, look
        else:
            found.append((text, style))
    return [Content.styled(text, style) for text, style in found if text]


def _steps(value: Decimal, top: Decimal, rows: int) -> int:
    """A height in eighths of a line; what is more than nothing is seen."""
    exact = max(Decimal(0), value) / top * rows * _STEPS
    if 0 < exact < 1:
        return int(exact.to_integral_value(ROUND_CEILING))
    return round(exact)


def _labels(bars: Sequence[Bar], places: Iterable[int], pitch: int, room: int) -> str:
    """Labels beneath the bars at these places, as far as they have room beside each other."""
    line = [" "] * room
    for index in places:
        label = bars[index].label
        start = min(index * pitch, room - len(label))
        if start >= 0 and all(cell == " " for cell in line[start : start + len(label) + 1]):
            line[start : start + len(label)] = label
    return "".join(line).rstrip()


class BarChart(LinesView, can_focus=False):
    """Draws a chart in the room it has."""

    DEFAULT_CSS = "BarChart { overflow: hidden hidden; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._chart: Chart | None = None

    def draw(self, chart: Chart) -> None:
        """Draw this; lines that stay the same are not repainted."""
        self._chart = chart
        self.on_resize()

    def on_resize(self) -> None:
        """Draw in the room there is."""
        if self._chart is not None and self.size.width and self.size.height:
            self.show(chart_lines(self._chart, self.size.width, self.size.height))
