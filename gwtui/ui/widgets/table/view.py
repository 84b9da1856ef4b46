"""Draws a table model in a scrolled viewport, and repaints only the lines that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from gwtui.crud.resource import Tone
from gwtui.domain.safe_text import safe_text
from gwtui.ui.text import fit
from gwtui.ui.widgets.table.layout import (
    GAP,
    DrawnRow,
    Frame,
    Layout,
    Slot,
    arrange,
    changed,
)
from gwtui.ui.widgets.table.model import TableModel

if TYPE_CHECKING:
    from gwtui.crud.resource import Column
    from gwtui.domain.filters import Spans


CURSOR = "▌"
MARK = "●"
ASCENDING = "▲"
DESCENDING = "▼"
T = TypeVar("T")
HEADER = 1
"""Lines of the header; the first row stands below it."""
_TONES: tuple[Tone, ...] = get_args(Tone)
_FIRST_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of a table in the current theme."""

    base: Style
    header: Style
    header_sorted: Style
    cursor: Style
    mark: Style
    match: Style
    tones: Mapping[Tone, Style]


def row_strip(
    row: DrawnRow, layout: Layout, columns: Sequence[Column[Any]], palette: Palette
) -> Strip:
    """One row. Shapes in the gutter show cursor and mark without colours."""
    base = palette.cursor if row.cursor else palette.base
    parts = [
        (CURSOR if row.cursor else " ", base),
        (MARK, base + palette.mark if not row.cursor else base) if row.marked else (" ", base),
    ]
    for place, (slot, cell) in enumerate(zip(layout.slots, row.cells, strict=True)):
        style = base if row.cursor else palette.tones[cell.tone]
        whole = safe_text(cell.text)
        text = fit(whole, slot.width, right=columns[slot.index].right)
        matches = row.matches[place] if row.matches and whole == cell.text else ()
        parts += _highlighted(text, whole, matches, style, palette.match)
        parts.append((_gap(slot, layout), style))
    return _strip(parts, layout.width, base)


def _highlighted(
    text: str, whole: str, matches: Spans, style: Style, match: Style
) -> Iterator[tuple[str, Style]]:
    """A cell in parts, with the visible ``matches`` (places in ``whole``) highlighted."""
    pushed = len(text) - len(whole) if text.endswith(whole) else 0
    cut = next((at for at, sign in enumerate(text) if sign != whole[at : at + 1]), len(text))
    end_of_text = len(text) if pushed else cut
    behind = 0
    for start, end in matches:
        begin, stop = start + pushed, min(end + pushed, end_of_text)
        if behind <= begin < stop:
            yield text[behind:begin], style
            yield text[begin:stop], style + match
            behind = stop
    yield text[behind:], style


def header_strip(
    layout: Layout,
    columns: Sequence[Column[Any]],
    sorting: tuple[str, bool] | None,
    palette: Palette,
) -> Strip:
    """The titles, the sort arrow, and the number of hidden columns."""
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
    """Parts as segments, joined if they have one style, padded to ``width``."""
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


class TableView(ScrollView, Generic[T], inherit_bindings=False):
    """Shows a model; it posts no messages and handles no keys.

    ``_drawn`` is the frame on the screen. Every change of the model ends in ``redraw``, which
    compares it with the new frame: one changed figure repaints one line, whatever caused it.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "resource-table--header",
        "resource-table--header-sorted",
        "resource-table--cursor",
        "resource-table--cursor-focused",
        "resource-table--mark",
        "resource-table--match",
        *(f"resource-table--{tone}" for tone in _TONES),
    }
    DEFAULT_CSS = """
    TableView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    virtual_size = Reactive(Size(0, 0), layout=True, repaint=False)
    """Another number of rows does not repaint: ``redraw`` does that."""

    def __init__(
        self, model: TableModel[T], *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.model = model
        self.shape: Layout = arrange(model.columns, _FIRST_WIDTH)
        """The columns at the current width."""
        self.choice: tuple[int, ...] | None = None
        """Indices of the columns that the person chose; None for the default."""
        self.page = 0
        """The requested page of columns."""
        self._drawn: Frame = ()
        self._palettes: Mapping[bool, Palette] = {}
        """By whether the table has the focus."""
        self._arranged: tuple[int, int, tuple[int, ...] | None, Mapping[int, int]] | None = None
        """The inputs of the present layout: width, page, chosen columns, longest texts."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lay out first: the resize event comes only after the first paint in a size."""
        if self.size and not self.laid_out:
            self._arrange()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """The header or a row of the last frame."""
        palette = self._styles_now()
        columns = self.model.columns
        if y < HEADER:
            header = header_strip(self.shape, columns, self.model.sorting, palette)
            return header.adjust_cell_length(self.size.width, palette.header)
        line = y - HEADER
        row = self._drawn[line] if line < len(self._drawn) else None
        if row is None:
            return Strip.blank(self.size.width, palette.base)
        return row_strip(row, self.shape, columns, palette)

    @property
    def lines(self) -> int:
        """Rows that fit below the header."""
        return max(self.size.height - HEADER, 1)

    @property
    def top(self) -> int:
        """Index of the first row in view."""
        return self.scroll_offset.y

    def redraw(self, *, anew: bool = False) -> None:
        """Compare the new frame with the one on the screen, and repaint the lines that differ.

        ``anew`` reads every cell again; otherwise cells of unchanged items are reused.
        """
        known = {} if anew else {row.identity: row for row in self._drawn if row is not None}
        frame = self._frame(known)
        lines = changed(self._drawn, frame)
        self._drawn = frame
        if lines:
            self.refresh(*(Region(0, line + HEADER, self.shape.width, 1) for line in lines))

    def lay_out(self) -> None:
        """Arrange the columns for the current width, and repaint everything."""
        self._arrange()
        self.refresh()

    @property
    def laid_out(self) -> bool:
        """Whether the layout fits the current width, page, choice and texts."""
        return self._arranged == self._wanted()

    def _wanted(self) -> tuple[int, int, tuple[int, ...] | None, Mapping[int, int]]:
        # The scroll bar's column stays free, so that rows do not move when it appears.
        width = self.scrollable_content_region.width
        return width, self.page, self.choice, self.model.longest

    def _arrange(self) -> None:
        self._arranged = width, page, choice, longest = self._wanted()
        self.shape = arrange(self.model.columns, width, page, choice, longest)
        self._drawn = self._frame({})

    def fit_height(self) -> None:
        """Tell the scroll bar the number of rows."""
        self.virtual_size = Size(self.shape.width, len(self.model.order) + HEADER)

    def scroll_rows(self, top: float) -> None:
        """Scroll row ``top`` to the top; does nothing before the table is mounted."""
        if not self.is_mounted:
            return
        # Forced: before the next layout the scroll bar may not know the new rows.
        self.scroll_to(y=max(top, 0), animate=False, force=True)

    def reveal(self) -> None:
        """Scroll the cursor into view."""
        cursor = self.model.cursor
        if cursor is None:
            return
        if cursor < self.top:
            self.scroll_rows(cursor)
        elif cursor >= self.top + self.lines:
            self.scroll_rows(cursor - self.lines + 1)

    def scroll_page_down(self, **_options: Any) -> None:
        """Scroll down by a screenful, for a click below the handle of the scroll bar."""
        self.scroll_rows(self.top + self.lines)

    def scroll_page_up(self, **_options: Any) -> None:
        """Scroll up by a screenful."""
        self.scroll_rows(self.top - self.lines)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Repaint the lines that differ at the new position."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = new_value
        if round(old_value) != round(new_value):
            self.redraw()

    def notify_style_update(self) -> None:
        """Look up the styles of the new theme."""
        self._palettes = {}
        super().notify_style_update()

    def _frame(self, known: Mapping[str, DrawnRow]) -> Frame:
        if not self.size:
            return ()
        return self.model.frame(self.top, self.size.height - HEADER, self.shape, known)

    def _styles_now(self) -> Palette:
        if not self._palettes:
            named = self._component
            palette = Palette(
                base=self.rich_style,
                header=named("header"),
                header_sorted=named("header-sorted"),
                cursor=named("cursor"),
                mark=named("mark"),
                match=named("match", partial=True),
                tones={tone: named(tone) for tone in _TONES},
            )
            focused = replace(palette, cursor=named("cursor-focused"))
            self._palettes = {False: palette, True: focused}
        return self._palettes[self.has_focus]

    def _component(self, name: str, *, partial: bool = False) -> Style:
        return self.get_component_rich_style(f"resource-table--{name}", partial=partial)
