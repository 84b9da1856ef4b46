"""The virtual table that every resource list is drawn with.

Cells are read when their line is painted; ``ScreenDiff`` sends only those that look different.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar, get_args

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from gwtui.crud.resource import Column, Facets, Tone
from gwtui.resources.actions import TABLE_KEYS
from gwtui.ui.widgets.table.layout import Layout, arrange, header_strip, row_strip
from gwtui.ui.widgets.table.model import FEW, Lost, TableModel

T = TypeVar("T")

HEADER = 1
"""Lines of the header; the first row stands below it."""
WHEEL = 3
"""Rows per notch of the mouse wheel."""
_STYLES = ("header", "header-sorted", "cursor", "mark", "match", *get_args(Tone))


@dataclass
class TableMessage(Message):
    """Base of the messages; ``table`` is the sender. They name identities, never row numbers."""

    table: Widget

    @property
    def control(self) -> Widget:
        """The sender, for the selector of ``on``."""
        return self.table


@dataclass
class Highlighted(TableMessage, namespace="resource_table"):
    """The cursor is on another identity, or on none (None) because nothing is visible."""

    identity: str | None


@dataclass
class Opened(TableMessage, namespace="resource_table"):
    """The person pressed Enter on the selected row, or clicked it."""

    identity: str


@dataclass
class SelectionLost(TableMessage, namespace="resource_table"):
    """The selected row vanished."""

    lost: Lost


class SortChanged(TableMessage, namespace="resource_table"):
    """The rows are in another order."""


class CountsChanged(TableMessage, namespace="resource_table"):
    """The number of visible rows, all rows, marked rows or hidden columns has changed."""


class ResourceTable(ScrollView, Generic[T], can_focus=True, inherit_bindings=False):
    """A list of any length, drawn from its declared columns.

    Cursor, marks and scroll position belong to identities: new data, another order or a filter
    never move the cursor to another resource without a ``SelectionLost``. ``now`` returns the time
    for the cells. ``facets`` are additional names for the filter. ``can_mark`` allows marking rows,
    where an action supports it.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, f"press('{name}')", description, show=False, id=f"table.{name}")
        for keys, name, description in TABLE_KEYS
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"resource-table--{name}" for name in _STYLES}
    DEFAULT_CSS = """
    ResourceTable {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(
        self,
        columns: Sequence[Column[T]],
        identity: Callable[[T], str],
        now: Callable[[], datetime],
        *,
        facets: Facets[T] | None = None,
        can_mark: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.model = TableModel(columns, identity, now, facets or {})
        self.can_mark = can_mark
        self.choice: tuple[int, ...] | None = None
        """Indices of the columns that the person chose; None for the default."""
        self.page = 0
        """The requested page of columns."""
        self._shape: tuple[object, Layout] | None = None
        """The layout, and the values that it was arranged for."""
        self._end: str | None = None
        """The last row, if the cursor was sent there."""
        self._counts = (0, 0, 0, 0)
        self._highlighted: str | None = None

    # What others see --------------------------------------------------------------------------

    @property
    def selected(self) -> T | None:
        """The item under the cursor."""
        return self.model.selected

    @property
    def selected_identity(self) -> str | None:
        """The identity under the cursor. Capture it when a key is pressed, not later."""
        return self.model.selected_identity

    @property
    def identities(self) -> Sequence[str]:
        """The identities of the visible rows from top to bottom."""
        return self.model.order

    @property
    def visible_count(self) -> int:
        """The number of rows that match the filter."""
        return len(self.model.order)

    @property
    def total_count(self) -> int:
        """The number of all rows."""
        return self.model.total

    @property
    def marked(self) -> tuple[str, ...]:
        """Identities of the marked rows in sort order, including hidden ones."""
        return self.model.marked

    @property
    def sorting(self) -> tuple[str, bool]:
        """Id of the sort column, and whether descending; ("", False) if unsorted."""
        return self.model.sorting

    @property
    def shape(self) -> Layout:
        """The columns at the current width. The scroll bar's column stays free."""
        width = self.scrollable_content_region.width
        inputs = (width, self.page, self.choice, self.model.longest)
        if self._shape is None or self._shape[0] != inputs:
            self._shape = inputs, arrange(self.model.columns, *inputs)
        return self._shape[1]

    @property
    def lines(self) -> int:
        """Rows that fit below the header."""
        return max(self.size.height - HEADER, 1)

    @property
    def top(self) -> int:
        """Index of the first row in view."""
        return self.scroll_offset.y

    # What others do ---------------------------------------------------------------------------

    def show(self, items: Sequence[T], *, keep_ends: bool = False) -> None:
        """Replace the items.

        With ``keep_ends``, a cursor on the first row stays on the first row, and one that was sent
        to the last row goes on to the new last row.
        """
        at_first = keep_ends and self.model.cursor == 0
        at_last = keep_ends and self._end is not None and self._end == self.selected_identity
        self._follow(lambda: self.model.show(items))
        if at_last:
            self.to_last()
        elif at_first:
            self.to_first()
        if self.total_count > FEW:
            self._prepare_filter()

    def filter_by(self, text: str) -> None:
        """Filter the rows; an error in the text is in ``model.filter_error``."""
        self._follow(lambda: self.model.filter_by(text))

    def sort_by(self, column: str, descending: bool = False) -> None:
        """Sort the rows by a column. Raises KeyError for an unknown column."""
        if self.sorting != (column, descending):
            self._follow(lambda: self.model.sort_by(column, descending))
            self.post_message(SortChanged(self))

    def choose_columns(self, choice: tuple[int, ...] | None) -> None:
        """Show the first page of these columns, by index; None for the default columns."""
        self.choice, self.page = choice, 0
        self._changed()

    def select(self, identity: str) -> bool:
        """Move the cursor to an identity and scroll to it; returns False if it is not visible."""
        is_visible = self.model.select(identity)
        if is_visible:
            self._changed()
        return is_visible

    def to_first(self) -> None:
        """Move the cursor to the first row."""
        self.step(-self.visible_count)

    def to_last(self) -> None:
        """Move the cursor to the last row."""
        self.step(self.visible_count)
        self._end = self.selected_identity

    def change_marks(self, change: Callable[[TableModel[T]], object]) -> None:
        """Change the marks, if rows can be marked."""
        if self.can_mark:
            change(self.model)
            self._changed()

    def tick(self) -> None:
        """Update texts that depend on the time."""
        self.refresh()
        if self.model.filtering:
            self._prepare_filter()

    def scroll_rows(self, top: float) -> None:
        """Scroll row ``top`` to the top; does nothing before the table is mounted."""
        if self.is_mounted:
            # Forced: before the next layout the scroll bar may not know the new rows.
            self.scroll_to(y=max(top, 0), animate=False, force=True)

    # Keys and mouse ---------------------------------------------------------------------------

    def action_press(self, name: str) -> None:
        """Do what a key of ``TABLE_KEYS`` stands for."""
        _ON_KEY[name](self)

    def open_selected(self) -> None:
        """Ask the screen to open the selected row."""
        if (identity := self.selected_identity) is not None:
            self.post_message(Opened(self, identity))

    def toggle_mark(self) -> None:
        """Mark or unmark the selected row, and go to the next one."""
        if self.can_mark and (identity := self.selected_identity) is not None:
            self.model.toggle_mark(identity)
            self.step(1)

    def on_click(self, event: events.Click) -> None:
        """Sort by a title, show hidden columns by their count, select a row or open it."""
        event.stop()
        at = event.get_content_offset_capture(self)
        index = self.top + at.y - HEADER
        if at.y < HEADER:
            self._press_header(at.x)
        elif index == self.model.cursor:
            self.open_selected()
        elif index < self.visible_count:
            self.model.move_to(index)
            self._changed()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down; with Shift or Ctrl, show the next page of columns."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up; with Shift or Ctrl, show the previous page of columns."""
        self._wheel(event, -1)

    def scroll_page_down(self, **_options: Any) -> None:
        """Scroll down by a screenful, for a click below the handle of the scroll bar."""
        self.scroll_rows(self.top + self.lines)

    def scroll_page_up(self, **_options: Any) -> None:
        """Scroll up by a screenful."""
        self.scroll_rows(self.top - self.lines)

    def _wheel(self, event: events.MouseScrollDown | events.MouseScrollUp, way: int) -> None:
        event.stop()
        event.prevent_default()
        if event.shift or event.ctrl:
            self.turn(way)
        else:
            self.scroll_rows(self.top + way * WHEEL)

    def _press_header(self, x: int) -> None:
        shape, slot = self.shape, self.shape.slot_at(x)
        if shape.is_marker(x):
            self.turn(1 if shape.page + 1 < shape.pages else -shape.page)
        elif slot is not None:
            self.sort_by(*self.model.columns[slot.index].order_after(self.sorting))

    def on_hide(self, event: events.Hide) -> None:
        """Keep the focus if the table was hidden only for a moment and is visible again."""
        if all(node.display for node in self.ancestors_with_self):
            event.prevent_default()

    # Painting ---------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._changed()

    def render_line(self, y: int) -> Strip:
        """The header or a row."""
        model, shape = self.model, self.shape
        if y < HEADER:
            strip = header_strip(shape, model.columns, model.sorting, self._style)
            return strip.adjust_cell_length(self.size.width, self._style("header"))
        row = self.top + y - HEADER
        if row >= len(model.order):
            return Strip.blank(self.size.width, self._style("plain"))
        identity, now = model.order[row], model.now()
        columns = [model.columns[slot.index] for slot in shape.slots]
        cells = [column.cell(model[identity], now) for column in columns]
        return row_strip(
            cells,
            shape,
            model.columns,
            self._style,
            cursor=self._style("cursor") if identity == self.selected_identity else None,
            marked=identity in model.marks,
            matches=[
                model.highlights.found_in(column.id, cell.text)
                for column, cell in zip(columns, cells, strict=True)
                if model.highlights is not None
            ],
        )

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"resource-table--{name}", partial=name == "match")

    # Inside -----------------------------------------------------------------------------------

    def _follow(self, change: Callable[[], Lost | None]) -> None:
        """Change the rows; the anchor row keeps its line on the screen."""
        anchor = self._anchor()
        line = 0 if anchor is None else (self.model.index_of(anchor) or 0) - self.top
        lost = change()
        if lost is not None and lost.identity == anchor:
            anchor = lost.neighbour
        index = None if anchor is None else self.model.index_of(anchor)
        self.fit_height()
        self.scroll_rows(self.top if index is None else index - line)
        if lost is not None:
            self.post_message(SelectionLost(self, lost))
        self._changed(reveal=anchor is None)

    def fit_height(self) -> None:
        """Tell the scroll bar the number of rows."""
        self.virtual_size = Size(self.shape.width, self.visible_count + HEADER)

    def _prepare_filter(self) -> None:
        if self.is_mounted:
            self.run_worker(self._read_texts(), group="texts", exclusive=True)

    async def _read_texts(self) -> None:
        """Read the texts of many rows, and handle input between the parts."""
        any_read = False
        for _ in self.model.read_texts():
            any_read = True
            await asyncio.sleep(0)
        if any_read:
            self._follow(self.model.refilter)

    def _anchor(self) -> str | None:
        """The selected row if it is in view, else the first row in view."""
        cursor = self.model.cursor
        if cursor is not None and self.top <= cursor < self.top + self.lines:
            return self.selected_identity
        return self.model.order[self.top] if self.top < self.visible_count else None

    def step(self, rows: int) -> None:
        """Move the cursor by this number of rows, up if negative."""
        cursor = self.model.cursor
        if cursor is not None:
            self.model.move_to(cursor + rows)
            self._changed()

    def leap(self, way: int) -> None:
        """Move cursor and view by a screenful; the cursor keeps its line."""
        self.scroll_rows(self.top + way * self.lines)
        self.step(way * self.lines)

    def turn(self, way: int) -> None:
        """Go to another page of columns."""
        self.page = min(max(self.shape.page + way, 0), self.shape.pages - 1)
        self._changed(reveal=False)

    def _changed(self, *, reveal: bool = True) -> None:
        """Repaint, and report a changed selection and changed counts to the screen.

        ``reveal`` scrolls the cursor into view.
        """
        model, identity, cursor = self.model, self.selected_identity, self.model.cursor
        self.fit_height()
        if reveal and cursor is not None:
            self.scroll_rows(min(max(self.top, cursor - self.lines + 1), cursor))
        self.refresh()
        if identity != self._highlighted:
            self._highlighted = identity
            self.post_message(Highlighted(self, identity))
        counts = (len(model.order), model.total, len(model.marks), len(self.shape.hidden))
        if counts != self._counts:
            self._counts = counts
            self.post_message(CountsChanged(self))


_ON_KEY: Mapping[str, Callable[[ResourceTable[Any]], object]] = {
    "cursor_up": lambda table: table.step(-1),
    "cursor_down": lambda table: table.step(1),
    "page_up": lambda table: table.leap(-1),
    "page_down": lambda table: table.leap(1),
    "first": lambda table: table.to_first(),
    "last": lambda table: table.to_last(),
    "columns_left": lambda table: table.turn(-1),
    "columns_right": lambda table: table.turn(1),
    "toggle_mark": lambda table: table.toggle_mark(),
    "mark_down": lambda table: table.change_marks(lambda model: model.mark_on(1)),
    "mark_up": lambda table: table.change_marks(lambda model: model.mark_on(-1)),
    "open": lambda table: table.open_selected(),
}
"""The effect of each key of ``TABLE_KEYS``."""
