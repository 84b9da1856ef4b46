"""What stands on each line of the viewport, and which cells differ between two such pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gwtui.ui.widgets.table.layout import GAP, GUTTER, Layout

if TYPE_CHECKING:
    from gwtui.ui.resources.spec import Cell


@dataclass(frozen=True, slots=True)
class Row:
    """One drawn row: the cells of the shown columns, in the order of the layout's slots."""

    identity: str
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
    """The spans that differ, when both frames were drawn in the same layout.

    Identities do not count, only what is seen: two rows that look alike need no paint.
    """
    spans: list[Span] = []
    for line in range(max(len(before), len(after))):
        old = before[line] if line < len(before) else None
        new = after[line] if line < len(after) else None
        if old is new:
            continue
        if old is None or new is None or old.cursor != new.cursor:
            spans.append(Span(line, 0, layout.width))
        else:
            spans.extend(_row_spans(line, old, new, layout))
    return spans


def _row_spans(line: int, old: Row, new: Row, layout: Layout) -> Iterator[Span]:
    if old.marked != new.marked:
        yield Span(line, 0, GUTTER)
    start = end = -1
    for slot, was, now in zip(layout.slots, old.cells, new.cells, strict=True):
        if was == now:
            continue
        # Neighbours become one span: jumping over the gap costs more than painting it.
        if slot.x - end <= GAP and start >= 0:
            end = slot.x + slot.width
            continue
        if start >= 0:
            yield Span(line, start, end - start)
        start, end = slot.x, slot.x + slot.width
    if start >= 0:
        yield Span(line, start, end - start)
