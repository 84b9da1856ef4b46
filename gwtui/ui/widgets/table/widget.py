"""The table widget: its API, keys and mouse."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Region

from gwtui.crud.resource import Facets
from gwtui.ui.widgets.table import messages
from gwtui.ui.widgets.table import messages as keys
from gwtui.ui.widgets.table.matching import FEW
from gwtui.ui.widgets.table.model import Lost, TableModel
from gwtui.ui.widgets.table.view import HEADER, TableView

if TYPE_CHECKING:
    from gwtui.crud.resource import Column

T = TypeVar("T")

WHEEL = 3
"""Rows per notch of the mouse wheel."""


class ResourceTable(TableView[T], Generic[T], can_focus=True, inherit_bindings=False):
    """A list of any length, drawn from its declared columns.

    Cursor, marks and scroll position belong to identities: new data, another order or a filter
    never move the cursor to another resource without a ``SelectionLost``. ``now`` returns the time
    for the cells. ``facets`` are additional names for the filter. ``can_mark`` allows marking rows,
    where an action supports it.
    """

    BINDINGS: ClassVar[list[BindingType]] = keys.BINDINGS

    Highlighted = messages.Highlighted
    Opened = messages.Opened
    SelectionLost = messages.SelectionLost
    SortChanged = messages.SortChanged
    CountsChanged = messages.CountsChanged

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
        super().__init__(TableModel(columns, identity, now, facets or {}), id=id)
        self.can_mark = can_mark
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
    def hidden_columns(self) -> tuple[str, ...]:
        """Ids of the columns that this page does not show."""
        return tuple(self.model.columns[index].id for index in self.shape.hidden)

    @property
    def sorting(self) -> tuple[str, bool]:
        """Id of the sort column, and whether descending; ("", False) if unsorted."""
        return self.model.sorting or ("", False)

    @property
    def filter_error(self) -> str | None:
        """The error in the filter text; the last valid filter stays active."""
        return self.model.filter_error

    # What others do ---------------------------------------------------------------------------

    def show(self, items: Sequence[T]) -> None:
        """Replace the items, and repaint the lines that differ."""
        self._follow(lambda: self.model.show(items))
        if self.total_count > FEW:
            self._prepare_filter()

    def filter_by(self, text: str) -> str | None:
        """Filter the rows; returns the error in the text, if any."""
        self._follow(lambda: self.model.filter_by(text))
        return self.filter_error

    def sort_by(self, column: str, descending: bool = False) -> None:
        """Sort the rows by a column. Raises KeyError for an unknown column."""
        if self.sorting == (column, descending):
            return
        self._follow(lambda: self.model.sort_by(column, descending))
        self.refresh(Region(0, 0, self.size.width, HEADER))
        self.post_message(self.SortChanged(self, column, descending))

    def choose_columns(self, choice: tuple[int, ...] | None) -> None:
        """Show the first page of these columns, by index; None for the default columns."""
        self.choice, self.page = choice, 0
        if self.size:
            self.lay_out()
            self._post_changes()

    def select(self, identity: str) -> bool:
        """Move the cursor to an identity and scroll to it; returns False if it is not visible."""
        is_visible = self.model.select(identity)
        if is_visible:
            self._moved()
        return is_visible

    def to_first(self) -> None:
        """Move the cursor to the first row."""
        self.model.move_to(0)
        self._moved()

    def to_last(self) -> None:
        """Move the cursor to the last row."""
        self._step(self.visible_count)
        self._end = self.selected_identity

    def change_marks(self, change: Callable[[TableModel[T]], object]) -> None:
        """Change the marks, if rows can be marked."""
        if self.can_mark:
            change(self.model)
            self._moved()

    def unmark(self, identities: Collection[str]) -> None:
        """Unmark these rows."""
        self.change_marks(lambda model: model.marks.difference_update(identities))

    @property
    def at_end(self) -> bool:
        """Whether the cursor was sent to the last row and has stayed there."""
        return self._end is not None and self._end == self.selected_identity

    def tick(self) -> None:
        """Update texts that depend on the time."""
        self.redraw(anew=True)
        if self.model.filtering:
            self._prepare_filter()

    # Keys -------------------------------------------------------------------------------------

    def action_cursor_up(self) -> None:
        """One row up."""
        self._step(-1)

    def action_cursor_down(self) -> None:
        """One row down."""
        self._step(1)

    def action_page_up(self) -> None:
        """One screenful up."""
        self._leap(-1)

    def action_page_down(self) -> None:
        """One screenful down."""
        self._leap(1)

    def action_first(self) -> None:
        """Go to the first row."""
        self._step(-self.visible_count)

    def action_last(self) -> None:
        """Go to the last row."""
        self.to_last()

    def action_columns_left(self) -> None:
        """Show the previous page of columns."""
        self._turn(-1)

    def action_columns_right(self) -> None:
        """Show the next page of columns."""
        self._turn(1)

    def action_open(self) -> None:
        """Open the selected row."""
        if (identity := self.selected_identity) is not None:
            self.post_message(self.Opened(self, identity))

    def action_toggle_mark(self) -> None:
        """Mark or unmark the selected row, and go to the next one."""
        if self.can_mark and (identity := self.selected_identity) is not None:
            self.model.toggle_mark(identity)
            self._step(1)

    def action_mark_down(self) -> None:
        """Mark the selected row and the one below, and go there."""
        self.change_marks(lambda model: model.mark_on(1))

    def action_mark_up(self) -> None:
        """Mark the selected row and the one above, and go there."""
        self.change_marks(lambda model: model.mark_on(-1))

    # Mouse ------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Sort by a title, show hidden columns by their count, select a row or open it."""
        event.stop()
        at = event.get_content_offset(self)
        if at is None:
            return
        if at.y < HEADER:
            self._press_header(at.x)
            return
        index = self.top + at.y - HEADER
        if index >= self.visible_count:
            return
        if index == self.model.cursor:
            self.action_open()
        else:
            self.model.move_to(index)
            self._moved()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down; with Shift or Ctrl, show the next page of columns."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up; with Shift or Ctrl, show the previous page of columns."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseScrollDown | events.MouseScrollUp, way: int) -> None:
        event.stop()
        event.prevent_default()
        if event.shift or event.ctrl:
            self._turn(way)
        else:
            self.scroll_rows(self.top + way * WHEEL)

    def _press_header(self, x: int) -> None:
        slot = self.shape.slot_at(x)
        if self.shape.is_marker(x):
            self._turn(1 if self.shape.page + 1 < self.shape.pages else -self.shape.page)
        elif slot is not None:
            self.sort_by(*self.model.columns[slot.index].order_after(self.sorting))

    def on_hide(self, event: events.Hide) -> None:
        """Keep the focus if the table was hidden only for a moment and is visible again."""
        if all(node.display for node in self.ancestors_with_self):
            event.prevent_default()

    # Inside -----------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Arrange the columns that fit, and keep the cursor in view."""
        if self.laid_out:
            self.redraw()
        else:
            self.lay_out()
        self.fit_height()
        self.reveal()
        self._post_changes()

    def _follow(self, change: Callable[[], Lost | None]) -> None:
        """Change the rows; the anchor row keeps its line on the screen."""
        anchor = self._anchor()
        line = 0 if anchor is None else (self.model.index_of(anchor) or 0) - self.top
        lost = change()
        if self.size and not self.laid_out:
            # Names may be longer; and a table that is first shown during scrolling may never get a
            # resize event.
            self.lay_out()
        self.fit_height()
        if lost is not None and lost.identity == anchor:
            anchor = lost.neighbour
        index = None if anchor is None else self.model.index_of(anchor)
        self.scroll_rows(self.top if index is None else index - line)
        if anchor is None:
            self.reveal()
        self.redraw()
        if lost is not None:
            self.post_message(self.SelectionLost(self, lost))
        self._post_changes()

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

    def _step(self, rows: int) -> None:
        cursor = self.model.cursor
        if cursor is not None:
            self.model.move_to(cursor + rows)
            self._moved()

    def _leap(self, way: int) -> None:
        """Move cursor and view by a screenful; the cursor keeps its line."""
        self.scroll_rows(self.top + way * self.lines)
        self._step(way * self.lines)

    def _moved(self) -> None:
        self.reveal()
        self.redraw()
        self._post_changes()

    def _turn(self, way: int) -> None:
        """Go to another page of columns."""
        page = min(max(self.shape.page + way, 0), self.shape.pages - 1)
        if page != self.shape.page:
            self.page = page
            self.lay_out()
            self._post_changes()

    def _post_changes(self) -> None:
        """Report a changed selection and changed counts to the screen."""
        identity = self.selected_identity
        if identity != self._highlighted:
            self._highlighted = identity
            self.post_message(self.Highlighted(self, identity))
        model = self.model
        counts = (len(model.order), model.total, len(model.marks), len(self.shape.hidden))
        if counts != self._counts:
            self._counts = counts
            self.post_message(self.CountsChanged(self, *counts))
