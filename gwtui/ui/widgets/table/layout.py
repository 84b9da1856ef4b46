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
"""The part of the room that long names may take from other columns."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One shown column: its index in the declaration, its first cell and its width."""

    index: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The shown columns of one page.

    The first column is frozen: it is on every page. Page 0 shows what matters most; columns that
    found no room there follow on further pages, in the order of declaration. Where a person chose
    the columns, pages show them as they were put, and no other.
    """

    slots: tuple[Slot, ...]
    hidden: tuple[int, ...]
    """Indices of the columns that this page does not show and another one does."""
    page: int
    pages: int
    width: int

    @property
    def marker(self) -> str:
        """How many columns are hidden and on which side more are, such as "+3>"; "" for none."""
        if not self.hidden:
            return ""
        before = "<" if self.page else ""
        after = ">" if self.page + 1 < self.pages else ""
        return f"{before}+{len(self.hidden)}{after}"

    def is_marker(self, x: int) -> bool:
        """Whether the marker is drawn at a cell: at the right end of the frozen column."""
        frozen = self.slots[0]
        end = frozen.x + frozen.width
        return len(self.marker) < frozen.width and end - len(self.marker) <= x < end

    def slot_at(self, x: int) -> Slot | None:
        """The column drawn at a cell; the gap behind a column belongs to it."""
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
    """Lay the columns of one page into ``width`` cells; a page out of range is the nearest one.

    ``choice`` are the columns that a person chose, in their order; None shows what matters most.
    ``longest`` is the width of the longest text, by column. Where the frozen one can grow it is
    given so much, up to a quarter of the room, before less important columns are shown.
    """
    room = max(width - GUTTER, 1)
    wanted = range(len(columns)) if choice is None else choice
    names = min(longest.get(wanted[0], 0), room // _NAMES)
    columns = _named(columns, wanted[0], names)
    first = _most_important(columns, room) if choice is None else ()
    pages = _pages(columns, wanted, first, room)
    page = min(max(page, 0), len(pages) - 1)
    shown = pages[page]
    hidden = tuple(index for index in wanted if index not in shown)
    return Layout(_place(columns, shown, room, longest), hidden, page, len(pages), width)


def _named(columns: Sequence[Column[Any]], frozen: int, width: int) -> Sequence[Column[Any]]:
    """Columns of which the frozen one has this width at least, where it can grow."""
    if not columns[frozen].grow or width <= columns[frozen].width:
        return columns
    found = list(columns)
    found[frozen] = replace(found[frozen], width=width)
    return found


def _pages(
    columns: Sequence[Column[Any]], wanted: Sequence[int], first: tuple[int, ...], room: int
) -> list[tuple[int, ...]]:
    """``first``, then the rest of what is wanted, as much on each page as fits."""
    frozen = wanted[0]
    pages = [first] if first else []
    group: list[int] = []
    for index in wanted:
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
        wanted = min(longest.get(index, 0), columns[index].most) - widths[index]
        given = max(0, min(wanted, spare))
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
    """A page that fits no narrower set: take from the widest column until it does."""
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
    found: tuple[Spans, ...] = ()
    """The places in each cell that the filter asks for; empty where nothing filters."""


Frame = Sequence[DrawnRow | None]
"""One entry for each line of the viewport; None where no row stands."""


def changed(before: Frame, after: Frame) -> list[int]:
    """The lines that look different, when both frames were drawn in the same layout.

    Identities do not count, only what is seen: two rows that look alike need no paint. Which cells
    of a line go to the terminal is the screen memory's to find out.
    """
    lines: list[int] = []
    for line in range(max(len(before), len(after))):
        old = before[line] if line < len(before) else None
        new = after[line] if line < len(after) else None
        if old is not new and (old is None or new is None or _look(old) != _look(new)):
            lines.append(line)
    return lines


def _look(row: DrawnRow) -> tuple[bool, bool, tuple[Cell, ...], tuple[Spans, ...]]:
    return row.cursor, row.marked, row.cells, row.found
