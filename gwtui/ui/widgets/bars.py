"""A bar chart of one figure per day, drawn line by line; only lines that changed are repainted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from rich.cells import cell_len
from textual.content import Content

from gwtui.ui.text import STYLES, toned
from gwtui.ui.widgets.lines import Drawing

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_STEPS = 8
_NICE = tuple(Decimal(step) for step in ("1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10"))
_LABEL_EVERY = 7
_ROWS_WITH_HALF = 4
_BACKGROUND = " on "
UNKNOWN_BAR = "?"


PICKED = STYLES["accent"]
SERIES = tuple(f"$series-{number}" for number in range(1, 5))
"""Styles of the parts, by rank."""
REST = STYLES["muted"]
_CHOSEN_REST = STYLES["plain"]

_Text = tuple[str, str]
"""Text and its style."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar; None is unknown. ``parts`` are stacked from below; the rest is muted."""

    label: str
    value: Decimal | None
    parts: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart(Drawing):
    """A bar chart. ``format_value`` gives the text of a figure, with its unit.

    ``chosen`` are the indices of the first and last selected bar, which have the labels; None
    selects all.
    """

    bars: Sequence[Bar]
    format_value: Callable[[Decimal], str]
    chosen: tuple[int, int] | None = None
    looks: tuple[str, ...] = ()
    """The style of each part, the same in every bar."""

    def draw(self, width: int, height: int) -> list[Content]:
        """The chart in ``width`` cells and ``height`` lines: axis, bars, labels below."""
        rows = max(1, height - 1)
        top = nice_top(max((bar.value or Decimal(0) for bar in self.bars), default=Decimal(0)))
        figures = {rows - 1: self.format_value(Decimal(0)), 0: self.format_value(top)}
        if rows >= _ROWS_WITH_HALF and rows % 2 == 0:
            figures[rows // 2] = self.format_value(top / 2)
        axis = max(map(cell_len, figures.values()))
        room = max(1, width - axis - 2)
        pitch = max(1, room // max(1, min(len(self.bars), room)))
        wide = max(1, pitch - 1)
        bars = self.bars[-room:]
        left = len(self.bars) - len(bars)
        first, last = self.chosen or (-1, -1)
        stacks = [
            _eighths(self, bar, _CHOSEN_REST if first <= place <= last else REST, top, rows)
            for place, bar in enumerate(bars, left)
        ]
        gap = " " * (pitch - wide), ""
        lines = []
        for row in range(rows):
            name = toned(figures.get(row, "").rjust(axis), "muted")
            wall = toned("┤" if row in figures else "│", "muted")
            cells = [cell for stack in stacks for cell in (_cell(stack, rows - 1 - row, wide), gap)]
            lines.append(Content.assemble(name, " ", wall, *_joined(cells)))
        places = range(len(bars) - 1, -1, -_LABEL_EVERY)
        labelled = [max(0, index - left) for index in self.chosen] if self.chosen else places
        labels = " " * (axis + 2) + _labels(bars, labelled, pitch, room)
        return [*lines, toned(labels, "accent" if self.chosen else "muted")]


def nice_top(highest: Decimal) -> Decimal:
    """The upper end of the axis: the next round figure, 1 without values."""
    if highest <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(highest.adjusted())
    return next(power * step for step in _NICE if power * step >= highest)


def _eighths(chart: Chart, bar: Bar, rest: str, top: Decimal, rows: int) -> list[str] | None:
    """The style of each eighth of a line, from below; None for an unknown value."""
    if bar.value is None:
        return None
    styles: list[str] = []
    so_far = Decimal(0)
    for style, part in zip((*chart.looks, rest), (*bar.parts, bar.value), strict=True):
        so_far = min(bar.value, so_far + max(Decimal(0), part))
        styles += [style] * (_steps(so_far, top, rows) - len(styles))
    return styles


def _cell(eighths: Sequence[str] | None, level: int, wide: int) -> _Text:
    """The part of a bar on one line; level 0 is the lowest line.

    A full cell can show two styles, any other cell one.
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
    """Join neighbouring bars of the same style; of a blank only the background counts."""
    joined: list[_Text] = [("", "")]
    for text, style in cells:
        before, look = joined[-1]
        if style == look or (text.isspace() and _BACKGROUND not in look):
            joined[-1] = before + text, look
        else:
            joined.append((text, style))
    return [Content.styled(text, style) for text, style in joined if text]


def _steps(value: Decimal, top: Decimal, rows: int) -> int:
    """A height in eighths of a line; at least 1 for any positive value."""
    exact = max(Decimal(0), value) / top * rows * _STEPS
    if 0 < exact < 1:
        return int(exact.to_integral_value(ROUND_CEILING))
    return round(exact)


def _labels(bars: Sequence[Bar], places: Iterable[int], pitch: int, room: int) -> str:
    """The labels below the bars at these indices, as far as they fit."""
    line = [" "] * room
    for index in places:
        label = bars[index].label
        start = min(index * pitch, room - len(label))
        if start >= 0 and all(cell == " " for cell in line[start : start + len(label) + 1]):
            line[start : start + len(label)] = label
    return "".join(line).rstrip()
