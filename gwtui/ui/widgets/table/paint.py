"""Rows and the header as strips: text cut by display width, styles by tone, never markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from gwtui.domain.safe_text import safe_text
from gwtui.ui.fitting import fit
from gwtui.ui.widgets.table.frame import Row
from gwtui.ui.widgets.table.layout import GAP, Layout, Slot

if TYPE_CHECKING:
    from gwtui.crud.resource import Column, Tone

CURSOR = "▌"
MARK = "●"
ASCENDING = "▲"
DESCENDING = "▼"


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of a table in the present theme."""

    base: Style
    header: Style
    header_sorted: Style
    cursor: Style
    mark: Style
    tones: Mapping[Tone, Style]


def row_strip(row: Row, layout: Layout, columns: Sequence[Column[Any]], palette: Palette) -> Strip:
    """One row. Shapes in the gutter show cursor and mark where colours do not."""
    base = palette.cursor if row.cursor else palette.base
    parts = [
        (CURSOR if row.cursor else " ", base),
        (MARK, base + palette.mark if not row.cursor else base) if row.marked else (" ", base),
    ]
    for slot, cell in zip(layout.slots, row.cells, strict=True):
        style = base if row.cursor else palette.tones[cell.tone]
        text = fit(safe_text(cell.text), slot.width, right=columns[slot.index].right)
        parts.append((text + _gap(slot, layout), style))
    return _strip(parts, layout.width, base)


def header_strip(
    layout: Layout,
    columns: Sequence[Column[Any]],
    sorting: tuple[str, bool] | None,
    palette: Palette,
) -> Strip:
    """The titles, the sort arrow, and in the frozen column how many columns are hidden."""
    parts = [(" " * layout.slots[0].x, palette.header)]
    for slot in layout.slots:
        column = columns[slot.index]
        marker = layout.marker if slot is layout.slots[0] else ""
        arrow = ""
        if sorting is not None and sorting[0] == column.id:
            arrow = DESCENDING if sorting[1] else ASCENDING
        text = _title(column, arrow, marker, slot.width)
        style = palette.header_sorted if arrow else palette.header
        parts.append((text, style))
        parts.append((_gap(slot, layout), palette.header))
    return _strip(parts, layout.width, palette.header)


def _title(column: Column[Any], arrow: str, marker: str, width: int) -> str:
    if marker and width > len(marker):
        room = width - len(marker) - 1
        return fit(_title(column, arrow, "", room), room) + " " + marker
    if not arrow:
        return fit(safe_text(column.title), width, right=column.right)
    title = safe_text(column.title)
    if cell_len(title) >= width:
        title = fit(title, max(width - 1, 0))
    # Beside right-aligned figures the arrow stands before the title, which stays above them.
    return fit(arrow + title, width, right=True) if column.right else fit(title + arrow, width)


def _gap(slot: Slot, layout: Layout) -> str:
    return "" if slot is layout.slots[-1] else " " * GAP


def _strip(parts: Iterable[tuple[str, Style]], width: int, rest: Style) -> Strip:
    """Parts as segments, neighbours of one style joined, filled up to ``width``."""
    segments: list[Segment] = []
    pending, pending_style, used = "", rest, 0
    for text, style in parts:
        used += len(text) if text.isascii() else cell_len(text)
        if style is pending_style or style == pending_style:
            pending += text
            continue
        if pending:
            segments.append(Segment(pending, pending_style))
        pending, pending_style = text, style
    if used < width and pending_style == rest:
        pending += " " * (width - used)
    if pending:
        segments.append(Segment(pending, pending_style))
    if used < width and pending_style != rest:
        segments.append(Segment(" " * (width - used), rest))
    strip = Strip(segments, max(used, width))
    return strip if used <= width else strip.crop(0, width)
