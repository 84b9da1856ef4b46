"""The virtual table widget: it reads and paints only the rows in view."""

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
"""Number of header lines above the first row."""
WHEEL = 3
"""Number of rows to scroll per notch of the mouse wheel."""
_STYLES = ("header", "header-sorted", "cursor", "mark", *get_args(Tone))


@dataclass
class TableMessage(Message):
    """Base of the messages of a table, which ``table`` sent. Rows are named by identity."""

    table: Widget

    @property
    def control(self) -> Widget:
        """The table that sent this, for the selector of ``on``."""
        return self.table


@dataclass
class Highlighted(TableMessage, namespace="resource_table"):
    """The cursor moved to another row; ``identity`` is None if no row is visible."""

    identity: str | None


@dataclass
class Opened(TableMessage, namespace="resource_table"):
    """The user opened the selected row with Enter or a click."""

    identity: str


@dataclass
class SelectionLost(TableMessage, namespace="resource_table"):
    """The selected row is no longer visible."""

    lost: Lost


class SortChanged(TableMessage, namespace="resource_table"):
    """The sort order has changed."""


class CountsChanged(TableMessage, namespace="resource_table"):
    """The number of rows, visible rows, marked rows or hidden columns has changed."""


class ResourceTable(ScrollView, Generic[T], can_focus=True, inherit_bindings=False):
    """A list of any length, drawn from its declared columns.

    Cursor, marks and scroll position belong to identities: new data, another sort order or a filter
    never move the cursor to another row without a ``SelectionLost``.

    ``now`` returns the time that cells are drawn for. ``facets`` are additional filter fields.
    ``can_mark`` lets the user mark rows.
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
        """Indices of the columns that the user chose; None for the default."""
        self.page = 0
        """The requested page of columns; the layout clamps it."""
        self._shape: tuple[object, Layout] | None = None
        """The layout, preceded by the inputs that it was computed from."""
        self._end: str | None = None
        """Identity of the last row, if the user sent the cursor there."""
        self._counts = (0, 0, 0, 0)
        self._highlighted: str | None = None

    # What others see --------------------------------------------------------------------------

    @property
    def selected(self) -> T | None:
        """The item under the cursor; None if no row is visible."""
        return self.model.selected

    @property
    def selected_identity(self) -> str | None:
        """The identity of the row under the cursor; None if no row is visible.

        Capture it when a key is pressed: later the cursor may be on another row.
        """
        return self.model.selected_identity

    @property
    def visible_count(self) -> int:
        """The number of rows that match the filter."""
        return len(self.model.order)

    @property
    def shape(self) -> Layout:
        """The column layout for the current width minus the scroll bar."""
        width = self.scrollable_content_region.width
        inputs = (width, self.page, self.choice, self.model.longest)
        if self._shape is None or self._shape[0] != inputs:
            self._shape = inputs, arrange(self.model.columns, *inputs)
        return self._shape[1]

    @property
    def lines(self) -> int:
        """The number of rows that fit below the header."""
        return max(self.size.height - HEADER, 1)

    @property
    def top(self) -> int:
        """The index of the first row in view."""
        return self.scroll_offset.y

    # What others do ---------------------------------------------------------------------------

    def show(self, items: Sequence[T], *, keep_ends: bool = False) -> None:
        """Replace the items.

        With ``keep_ends``, a cursor on the first row stays on the first row, and a cursor that the
        person sent to the last row moves on to the new last row.
        """
        at_first = keep_ends and self.model.cursor == 0
        at_last = keep_ends and self._end is not None and self._end == self.selected_identity
        self._follow(lambda: self.model.show(items))
        if at_last:
            self.to_last()
        elif at_first:
            self.to_first()
        if self.model.total > FEW:
            self._prepare_filter()

    def filter_by(self, text: str) -> None:
        """Filter the rows; ``model.filter_error`` holds the error if ``text`` is invalid."""
        self._follow(lambda: self.model.filter_by(text))

    def sort_by(self, column: str, descending: bool = False) -> None:
        """Sort the rows by a column. Raises KeyError for an unknown column."""
        if self.model.sorting != (column, descending):
            self._follow(lambda: self.model.sort_by(column, descending))
            self.post_message(SortChanged(self))

    def choose_columns(self, choice: tuple[int, ...] | None) -> None:
        """Show only these columns, given by index, in this order; None for the default columns."""
        self.choice, self.page = choice, 0
        self._changed()

    def select(self, identity: str) -> bool:
        """Move the cursor to a row and scroll to it.

        Returns False if there is no such row or the filter hides it.
        """
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
        """Apply ``change`` to the model if the table allows marks."""
        if self.can_mark:
            change(self.model)
            self._changed()

    def tick(self) -> None:
        self.refresh()
        if self.model.filtering:
            self._prepare_filter()

    def scroll_rows(self, top: float) -> None:
        """Scroll so that row ``top`` is the first in view; does nothing before mounting."""
        if self.is_mounted:
            # Forced: the scroll bar may not have the new number of rows before the next layout.
            self.scroll_to(y=max(top, 0), animate=False, force=True)

    # Keys and mouse ---------------------------------------------------------------------------

    def action_press(self, name: str) -> None:
        _ON_KEY[name](self)

    def open_selected(self) -> None:
        """Post ``Opened`` for the selected row."""
        if (identity := self.selected_identity) is not None:
            self.post_message(Opened(self, identity))

    def toggle_mark(self) -> None:
        """Mark or unmark the selected row, and move to the next one."""
        if self.can_mark and (identity := self.selected_identity) is not None:
            self.model.toggle_mark(identity)
            self.step(1)

    def on_click(self, event: events.Click) -> None:
        """Handle a click in the header or on a row.

        In the header, sort by the column or show the next page of columns. On a row, select it, or
        open it if it is selected already.
        """
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
        """Scroll down by a page; Textual calls this for a click below the scroll bar's handle."""
        self.scroll_rows(self.top + self.lines)

    def scroll_page_up(self, **_options: Any) -> None:
        """Scroll up by a page."""
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
            self.sort_by(*self.model.columns[slot.index].order_after(self.model.sorting))

    def on_hide(self, event: events.Hide) -> None:
        if all(node.display for node in self.ancestors_with_self):
            event.prevent_default()

    # Painting ---------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self._changed()

    def render_line(self, y: int) -> Strip:
        """Return the header or a row as line ``y`` of the widget."""
        model, shape = self.model, self.shape
        if y < HEADER:
            strip = header_strip(shape, model.columns, model.sorting, self._style)
            return strip.adjust_cell_length(self.size.width, self._style("header"))
        row = self.top + y - HEADER
        if row >= len(model.order):
            return Strip.blank(self.size.width, self._style("plain"))
        identity, now = model.order[row], model.now()
        cells = [model.columns[slot.index].cell(model[identity], now) for slot in shape.slots]
        return row_strip(
            cells,
            shape,
            model.columns,
            self._style,
            cursor=self._style("cursor") if identity == self.selected_identity else None,
            marked=identity in model.marks,
        )

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"resource-table--{name}")

    # Inside -----------------------------------------------------------------------------------

    def _follow(self, change: Callable[[], Lost | None]) -> None:
        """Call ``change``, then scroll so that the anchor row stays on its line of the screen."""
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
        """Set the scrollable height to the number of rows."""
        self.virtual_size = Size(self.shape.width, self.visible_count + HEADER)

    def _prepare_filter(self) -> None:
        if self.is_mounted:
            self.run_worker(self._read_texts(), group="texts", exclusive=True)

    async def _read_texts(self) -> None:
        any_read = False
        for _ in self.model.read_texts():
            any_read = True
            await asyncio.sleep(0)  # let Textual handle input between two parts
        if any_read:
            self._follow(self.model.refilter)

    def _anchor(self) -> str | None:
        """Return the selected row if it is in view, else the first row in view."""
        cursor = self.model.cursor
        if cursor is not None and self.top <= cursor < self.top + self.lines:
            return self.selected_identity
        return self.model.order[self.top] if self.top < self.visible_count else None

    def step(self, rows: int) -> None:
        """Move the cursor by ``rows`` rows; negative moves up."""
        cursor = self.model.cursor
        if cursor is not None:
            self.model.move_to(cursor + rows)
            self._changed()

    def leap(self, way: int) -> None:
        """Move cursor and view by a page, down (1) or up (-1)."""
        self.scroll_rows(self.top + way * self.lines)
        self.step(way * self.lines)

    def turn(self, way: int) -> None:
        """Show the next (1) or previous (-1) page of columns."""
        self.page = min(max(self.shape.page + way, 0), self.shape.pages - 1)
        self._changed(reveal=False)

    def _changed(self, *, reveal: bool = True) -> None:
        """Repaint, and post messages if the selection or a count has changed.

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
    "open": lambda table: table.open_selected(),
}
"""The effect of each key in ``TABLE_KEYS``."""
