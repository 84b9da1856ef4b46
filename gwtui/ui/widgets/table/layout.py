"""Layout of a table: which columns fit, where they stand, and how header and rows are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from gwtui.domain.safe_text import safe_text
from gwtui.ui.text import fit

if TYPE_CHECKING:
    from gwtui.crud.resource import Cell, Column


GUTTER = 2
"""Cells before the first column, for the cursor and the mark."""
GAP = 2
"""Cells between two columns."""
_NAMES = 4
"""A long text in the first column may take a quarter of the width before others are placed."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A visible column: its index in the declaration, its position and its width in cells."""

    index: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The visible columns of one page.

    The first column is frozen: every page shows it. Page 0 shows the most important columns; the
    others follow on further pages, in the order of declaration. If the user chose columns, the
    pages show only these, in the chosen order.
    """

    slots: tuple[Slot, ...]
    hidden: tuple[int, ...]
    """Indices of the columns that are on other pages."""
    page: int
    pages: int
    width: int

    @property
    def marker(self) -> str:
        """Number of columns on other pages and their side, such as "+3 cols>"; empty if none."""
        if not self.hidden:
            return ""
        before = "<" if self.page else ""
        after = ">" if self.page + 1 < self.pages else ""
        noun = "col" if len(self.hidden) == 1 else "cols"
        return f"{before}+{len(self.hidden)} {noun}{after}"

    def is_marker(self, x: int) -> bool:
        """Whether the cell ``x`` of the header shows the marker."""
        frozen = self.slots[0]
        end = frozen.x + frozen.width
        return len(self.marker) < frozen.width and end - len(self.marker) <= x < end

    def slot_at(self, x: int) -> Slot | None:
        """Return the column at the cell ``x``, None if there is none; a gap counts to its left."""
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
    """Return the layout of a page in ``width`` cells; a page out of range is clamped.

    ``choice`` lists the indices of the columns that the user chose; None shows all columns in the
    order of declaration. ``longest`` is the width of the longest text by column index. A frozen
    column that can grow gets that width, up to a quarter of the room, before other columns are
    added.
    """
    room = max(width - GUTTER, 1)
    chosen = range(len(columns)) if choice is None else choice
    widths = {index: columns[index].width for index in chosen}
    frozen = chosen[0]
    if columns[frozen].grow:
        names = min(longest.get(frozen, 0), room // _NAMES)
        widths[frozen] = max(widths[frozen], names)
    pages = [[frozen]]
    for index in chosen[1:]:
        is_full = _needed(widths, [*pages[-1], index]) > room
        if is_full and (len(pages) == 1 or len(pages[-1]) > 1):
            pages.append([frozen])
        pages[-1].append(index)
    page = min(max(page, 0), len(pages) - 1)
    shown = pages[page]
    hidden = tuple(index for index in chosen if index not in shown)
    _fill(columns, widths, shown, room, longest)
    slots: list[Slot] = []
    x = GUTTER
    for index in shown:
        slots.append(Slot(index, x, widths[index]))
        x += widths[index] + GAP
    return Layout(tuple(slots), hidden, page, len(pages), width)


def _needed(widths: Mapping[int, int], shown: Sequence[int]) -> int:
    return sum(widths[index] for index in shown) + GAP * (len(shown) - 1)


def _fill(
    columns: Sequence[Column[Any]],
    widths: dict[int, int],
    shown: Sequence[int],
    room: int,
    longest: Mapping[int, int],
) -> None:
    # Shrink columns without room, then widen those with long texts, then those that grow.
    for index in (shown[0], shown[-1]):
        excess = max(_needed(widths, shown) - room, 0)
        widths[index] = max(widths[index] - excess, 1)
    for index in shown:
        spare = max(room - _needed(widths, shown), 0)
        longer = min(longest.get(index, 0), columns[index].most) - widths[index]
        widths[index] += max(min(longer, spare), 0)
    growing = [index for index in shown if columns[index].grow]
    spare = max(room - _needed(widths, shown), 0)
    for place, index in enumerate(growing):
        widths[index] += (spare + len(growing) - 1 - place) // len(growing)


# Strips -----------------------------------------------------------------------------------------

CURSOR = "▌"
MARK = "●"
ASCENDING = "▲"
DESCENDING = "▼"
Styles = Callable[[str], Style]
"""Returns the style for "header", "header-sorted", "mark", or a tone."""


def row_strip(
    cells: Sequence[Cell],
    layout: Layout,
    columns: Sequence[Column[Any]],
    styles: Styles,
    *,
    cursor: Style | None = None,
    marked: bool = False,
) -> Strip:
    """Return one row of the table; ``cursor`` is the style of the row under the cursor.

    Cursor and mark also have characters in the gutter, visible without colours.
    """
    base = cursor or styles("plain")
    parts = [
        (CURSOR if cursor else " ", base),
        (MARK if marked else " ", base + styles("mark") if marked and not cursor else base),
    ]
    for slot, cell in zip(layout.slots, cells, strict=True):
        text = fit(safe_text(cell.text), slot.width, right=columns[slot.index].right)
        parts.append((text + _gap(slot, layout), cursor or styles(cell.tone)))
    return _strip(parts, layout.width, base)


def header_strip(
    layout: Layout, columns: Sequence[Column[Any]], sorting: tuple[str, bool], styles: Styles
) -> Strip:
    """Return the header: titles, sort arrow, and the marker for hidden columns.

    ``sorting`` is the id of the sort column and whether the order is descending.
    """
    header = styles("header")
    parts = [(" " * layout.slots[0].x, header)]
    for slot in layout.slots:
        column = columns[slot.index]
        marker = layout.marker if slot is layout.slots[0] else ""
        arrow = ""
        if sorting[0] == column.id:
            arrow = DESCENDING if sorting[1] else ASCENDING
        text = _title(column, arrow, marker, slot.width)
        parts.append((text, styles("header-sorted") if arrow else header))
        parts.append((_gap(slot, layout), header))
    return _strip(parts, layout.width, header)


def _title(column: Column[Any], arrow: str, marker: str, width: int) -> str:
    if marker and width > len(marker):
        room = width - len(marker) - 1
        return fit(_title(column, arrow, "", room), room) + " " + marker
    title = safe_text(column.title)
    if arrow and cell_len(title) >= width:
        title = fit(title, max(width - 1, 0))
    # In a right-aligned column the arrow comes first, so that the title stays above the figures.
    return fit(arrow + title if column.right else title + arrow, width, right=column.right)


def _gap(slot: Slot, layout: Layout) -> str:
    return "" if slot is layout.slots[-1] else " " * GAP


def _strip(parts: Iterable[tuple[str, Style]], width: int, rest: Style) -> Strip:
    strip = Strip([Segment(text, style) for text, style in parts if text])
    return strip.adjust_cell_length(width, rest).simplify()
