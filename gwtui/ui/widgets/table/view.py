"""Drawing a model in a scrolled viewport, with its marks; only lines that differ are repainted."""

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
    """The styles of a table in the present theme."""

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
    """One row. Shapes in the gutter show cursor and mark where colours do not."""
    base = palette.cursor if row.cursor else palette.base
    parts = [
        (CURSOR if row.cursor else " ", base),
        (MARK, base + palette.mark if not row.cursor else base) if row.marked else (" ", base),
    ]
    for place, (slot, cell) in enumerate(zip(layout.slots, row.cells, strict=True)):
        style = base if row.cursor else palette.tones[cell.tone]
        whole = safe_text(cell.text)
        text = fit(whole, slot.width, right=columns[slot.index].right)
        found = row.found[place] if row.found and whole == cell.text else ()
        parts += _highlighted(text, whole, found, style, palette.match)
        parts.append((_gap(slot, layout), style))
    return _strip(parts, layout.width, base)


def _highlighted(
    text: str, whole: str, found: Spans, style: Style, match: Style
) -> Iterator[tuple[str, Style]]:
    """A drawn cell in parts; ``found`` are places in its ``whole`` text, where those are seen."""
    pushed = len(text) - len(whole) if text.endswith(whole) else 0
    cut = next((at for at, sign in enumerate(text) if sign != whole[at : at + 1]), len(text))
    end_of_text = len(text) if pushed else cut
    behind = 0
    for start, end in found:
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


class TableView(ScrollView, Generic[T], inherit_bindings=False):
    """Shows a model; says nothing and takes no keys.

    ``_drawn`` is what stands on the screen. Every change of the model ends in ``redraw``, which
    compares it with what should stand there: that is how one changed figure costs one line to
    paint however it came about.
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
    """As ever, but another number of rows alone repaints nothing: ``redraw`` does that."""

    def __init__(
        self, model: TableModel[T], *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.model = model
        self.shape: Layout = arrange(model.columns, _FIRST_WIDTH)
        """Where the columns stand at the present width."""
        self.choice: tuple[int, ...] | None = None
        """The columns that a person chose, by index in their order; None while nobody did."""
        self.page = 0
        """Which page of columns is wanted."""
        self._drawn: Frame = ()
        self._palettes: Mapping[bool, Palette] = {}
        """By whether the table has the keys."""
        self._arranged: tuple[int, int, tuple[int, ...] | None, Mapping[int, int]] | None = None
        """What the columns were laid out for: cells, page, what was chosen, the longest texts."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """As ever, in the present size, which is told only after the first paint in it."""
        if self.size and not self.laid_out:
            self._arrange()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """The header or one row, from what was last compared."""
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
        """Compare what should be seen with what is, and repaint the lines that differ.

        ``anew`` reads every cell again; otherwise cells of unchanged items stay as they were.
        """
        known = {} if anew else {row.identity: row for row in self._drawn if row is not None}
        frame = self._frame(known)
        lines = changed(self._drawn, frame)
        self._drawn = frame
        if lines:
            self.refresh(*(Region(0, line + HEADER, self.shape.width, 1) for line in lines))

    def lay_out(self) -> None:
        """Choose the columns of the page for the present width, and repaint everything."""
        self._arrange()
        self.refresh()

    @property
    def laid_out(self) -> bool:
        """Whether the columns stand as width, page, choice and texts want it now."""
        return self._arranged == self._wanted()

    def _wanted(self) -> tuple[int, int, tuple[int, ...] | None, Mapping[int, int]]:
        # The scrollbar's column is kept free, so that rows do not move when it comes and goes.
        width = self.scrollable_content_region.width
        return width, self.page, self.choice, self.model.longest

    def _arrange(self) -> None:
        self._arranged = width, page, choice, longest = self._wanted()
        self.shape = arrange(self.model.columns, width, page, choice, longest)
        self._drawn = self._frame({})

    def fit_height(self) -> None:
        """Let the scrollbar know how many rows there are."""
        self.virtual_size = Size(self.shape.width, len(self.model.order) + HEADER)

    def scroll_rows(self, top: float) -> None:
        """Put row ``top`` first, without animation; nothing before there is a screen."""
        if not self.is_mounted:
            return
        # Forced: before the next layout the scrollbar may not have heard of the new rows.
        self.scroll_to(y=max(top, 0), animate=False, force=True)

    def reveal(self) -> None:
        """Scroll as little as needed for the cursor to be seen."""
        cursor = self.model.cursor
        if cursor is None:
            return
        if cursor < self.top:
            self.scroll_rows(cursor)
        elif cursor >= self.top + self.lines:
            self.scroll_rows(cursor - self.lines + 1)

    def scroll_page_down(self, **_options: Any) -> None:
        """A click below the scrollbar's handle: as many rows as fit below the header."""
        self.scroll_rows(self.top + self.lines)

    def scroll_page_up(self, **_options: Any) -> None:
        """A click above the scrollbar's handle."""
        self.scroll_rows(self.top - self.lines)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Repaint what is different at the new position."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = new_value
        if round(old_value) != round(new_value):
            self.redraw()

    def notify_style_update(self) -> None:
        """Another theme: styles are looked up again."""
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
