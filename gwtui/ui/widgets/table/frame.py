"""What stands on each line of the viewport, and which cells differ between two such pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gwtui.ui.widgets.table.layout import GUTTER, Layout

if TYPE_CHECKING:
    from gwtui.crud.resource import Cell


@dataclass(frozen=True, slots=True)
class Row:
    """One drawn row: the cells of the shown columns, in the order of the layout's slots."""

    identity: str
    item: object
    cells: tuple[Cell, ...]
    cursor: bool
    marked: bool


Frame = Sequence[Row | None]
"""One entry for each line of the viewport; None where no row stands."""


@dataclass(frozen=True, slots=True)
class Span:
    """Cells of one line that must be painted again."""

    line: int
    x: int
    width: int


def changed(before: Frame, after: Frame, layout: Layout) -> list[Span]:
    """The spans that differ, when both frames were drawn in the same layout; one for each line.

    Identities do not count, only what is seen: two rows that look alike need no paint. Textual
    sends a line from its widget's left edge to the end of the span, so a second span on the same
    line would send the first part twice.
    """
    spans: list[Span] = []
    for line in range(max(len(before), len(after))):
        old = before[line] if line < len(before) else None
        new = after[line] if line < len(after) else None
        if old is new:
            continue
        if old is None or new is None or old.cursor != new.cursor:
            spans.append(Span(line, 0, layout.width))
        elif (span := _row_span(line, old, new, layout)) is not None:
            spans.append(span)
    return spans


def _row_span(line: int, old: Row, new: Row, layout: Layout) -> Span | None:
    ends = [
        (slot.x, slot.x + slot.width)
        for slot, was, now in zip(layout.slots, old.cells, new.cells, strict=True)
        if was != now
    ]
    if old.marked != new.marked:
        ends.insert(0, (0, GUTTER))
    return Span(line, ends[0][0], ends[-1][1] - ends[0][0]) if ends else None
