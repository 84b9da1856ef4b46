"""Which columns fit into a width, and where each stands. Pure arithmetic in terminal cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gwtui.crud.resource import Cell, Column
    from gwtui.domain.filters import Spans


GUTTER = 2
"""Cells before the first column: the cursor's shape and the mark."""
GAP = 2
"""Cells between two columns."""
_NAMES = 4
"""Long names may take a quarter of the room from other columns."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One shown column: its index in the declaration, its first cell and its width."""

    index: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The shown columns of one page.

    The first column is frozen: it is on every page. Page 0 shows the most important columns; the
    others follow on further pages, in the order of declaration. If the person chose columns, the
    pages show only these, in the chosen order.
    """

    slots: tuple[Slot, ...]
    hidden: tuple[int, ...]
    """Indices of the columns that only other pages show."""
    page: int
    pages: int
    width: int

    @property
    def marker(self) -> str:
        """The number of hidden columns and the side where they are, such as "+3>"; "" for none."""
        if not self.hidden:
            return ""
        before = "<" if self.page else ""
        after = ">" if self.page + 1 < self.pages else ""
        return f"{before}+{len(self.hidden)}{after}"

    def is_marker(self, x: int) -> bool:
        """Whether the marker, at the right end of the frozen column, covers a cell."""
        frozen = self.slots[0]
        end = frozen.x + frozen.width
        return len(self.marker) < frozen.width and end - len(self.marker) <= x < end

    def slot_at(self, x: int) -> Slot | None:
        """The column at a cell; the gap after a column belongs to it."""
        if x < 0:
            return None
        for slot in self.slots:
            start = 0 if slot.x == GUTTER else slot.x
            if start <= x < slot.x + slot.width + GAP:
                return slot
        return None


def arrange(
    columns: Sequence[Column[Any]],
    width: int,
    page: int = 0,
    choice: Sequence[int] | None = None,
    longest: Mapping[int, int] = MappingProxyType({}),
) -> Layout:
    """Arrange the columns of a page in ``width`` cells; a page out of range is clamped.

    ``choice`` lists the columns that the person chose; None shows the most important ones.
    ``longest`` is the width of the longest text by column. A frozen column that can grow gets that
    width, up to a quarter of the room, before less important columns are shown.
    """
    room = max(width - GUTTER, 1)
    chosen = range(len(columns)) if choice is None else choice
    names = min(longest.get(chosen[0], 0), room // _NAMES)
    columns = _named(columns, chosen[0], names)
    first = _most_important(columns, room) if choice is None else ()
    pages = _pages(columns, chosen, first, room)
    page = min(max(page, 0), len(pages) - 1)
    shown = pages[page]
    hidden = tuple(index for index in chosen if index not in shown)
    return Layout(_place(columns, shown, room, longest), hidden, page, len(pages), width)


def _named(columns: Sequence[Column[Any]], frozen: int, width: int) -> Sequence[Column[Any]]:
    """The columns, with at least this width for the frozen one, if it can grow."""
    if not columns[frozen].grow or width <= columns[frozen].width:
        return columns
    widened = list(columns)
    widened[frozen] = replace(widened[frozen], width=width)
    return widened


def _pages(
    columns: Sequence[Column[Any]], chosen: Sequence[int], first: tuple[int, ...], room: int
) -> list[tuple[int, ...]]:
    """``first``, then the remaining columns, as many per page as fit."""
    frozen = chosen[0]
    pages = [first] if first else []
    group: list[int] = []
    for index in chosen:
        if index in first or index == frozen:
            continue
        if group and _needed(columns, (frozen, *group, index)) > room:
            pages.append((frozen, *group))
            group = []
        group.append(index)
    if group or not pages:
        pages.append((frozen, *group))
    return pages


def _most_important(columns: Sequence[Column[Any]], room: int) -> tuple[int, ...]:
    """Drop the last column until the rest fits."""
    shown = list(range(len(columns)))
    while len(shown) > 1 and _needed(columns, shown) > room:
        shown.pop()
    return tuple(shown)


def _needed(columns: Sequence[Column[Any]], shown: Sequence[int]) -> int:
    return sum(columns[index].width for index in shown) + GAP * (len(shown) - 1)


def _place(
    columns: Sequence[Column[Any]], shown: Sequence[int], room: int, longest: Mapping[int, int]
) -> tuple[Slot, ...]:
    widths = {index: columns[index].width for index in shown}
    spare = room - _needed(columns, shown)
    for index in shown:
        chosen = min(longest.get(index, 0), columns[index].most) - widths[index]
        given = max(0, min(chosen, spare))
        widths[index] += given
        spare -= given
    growing = [index for index in shown if columns[index].grow]
    if spare > 0 and growing:
        each, rest = divmod(spare, len(growing))
        for order, index in enumerate(growing):
            widths[index] += each + (order < rest)
    elif spare < 0:
        _shrink(widths, -spare)
    slots: list[Slot] = []
    x = GUTTER
    for index in shown:
        slots.append(Slot(index, x, widths[index]))
        x += widths[index] + GAP
    return tuple(slots)


def _shrink(widths: dict[int, int], excess: int) -> None:
    """Narrow the widest column until the page fits."""
    while excess > 0 and (widest := max(widths, key=lambda index: widths[index])) is not None:
        if widths[widest] <= 1:
            return
        widths[widest] -= 1
        excess -= 1


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """One drawn row: the cells of the shown columns, in the order of the layout's slots."""

    identity: str
    item: object
    cells: tuple[Cell, ...]
    cursor: bool
    marked: bool
    matches: tuple[Spans, ...] = ()
    """The filter matches in each cell; empty without a filter."""


Frame = Sequence[DrawnRow | None]
"""One entry for each line of the viewport; None where no row stands."""


def changed(before: Frame, after: Frame) -> list[int]:
    """The lines that look different in two frames of the same layout.

    Only the look counts: two rows that look alike need no repaint. ``ScreenDiff`` finds out which
    cells of a line are sent.
    """
    lines: list[int] = []
    for line in range(max(len(before), len(after))):
        old = before[line] if line < len(before) else None
        new = after[line] if line < len(after) else None
        if old is not new and (old is None or new is None or _look(old) != _look(new)):
            lines.append(line)
    return lines


def _look(row: DrawnRow) -> tuple[bool, bool, tuple[Cell, ...], tuple[Spans, ...]]:
    return row.cursor, row.marked, row.cells, row.matches
