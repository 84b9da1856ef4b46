"""A list with a cursor on the line API: a tick repaints one line, however long the list is."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message

from gwtui.ui.widgets.lines import LinesView

_CURSOR = "$foreground on $choice-background"


class RowList(LinesView):
    """Lines of which one is the current one. Texts from data must have passed ``safe_text``.

    Whether it takes keys itself is up to who holds it: ``can_focus`` may be switched off, and
    ``step``, ``jump`` and ``page`` be called.
    """

    DEFAULT_CSS = "RowList { overflow-x: hidden; scrollbar-gutter: stable; }"

    class Moved(Message):
        """Another row is the current one."""

        def __init__(self, rows: RowList) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    class Clicked(Message):
        """A row was clicked; it is the current one now."""

        def __init__(self, rows: RowList) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[Content, ...] = ()
        self._current = 0

    @property
    def current(self) -> int:
        """The place of the current row; 0 in an empty list."""
        return self._current

    def show_rows(self, rows: Sequence[Content], current: int | None = None) -> None:
        """Show these rows; the cursor stays at its place unless ``current`` gives another."""
        self._rows = tuple(rows)
        wanted = self._current if current is None else current
        self._current = min(max(wanted, 0), max(len(rows) - 1, 0))
        self._draw()
        self._follow()

    def show_row(self, place: int, row: Content) -> None:
        """Show one row anew."""
        self._rows = (*self._rows[:place], row, *self._rows[place + 1 :])
        self._draw()

    def step(self, step: int) -> None:
        """Rows further, or back."""
        self.jump(self._current + step)

    def page(self, direction: int) -> None:
        """A screenful further, or back."""
        self.step(direction * max(1, self.size.height - 1))

    def jump(self, place: int) -> None:
        """To a row; beyond the ends to the last or first."""
        place = min(max(place, 0), max(len(self._rows) - 1, 0))
        if place != self._current:
            self._current = place
            self._draw()
            self._follow()
            self.post_message(self.Moved(self))

    def action_scroll_up(self) -> None:
        """The row before."""
        self.step(-1)

    def action_scroll_down(self) -> None:
        """The next row."""
        self.step(1)

    def action_scroll_home(self) -> None:
        """The first row."""
        self.jump(0)

    def action_scroll_end(self) -> None:
        """The last row."""
        self.jump(len(self._rows))

    def action_page_up(self) -> None:
        """A screenful back."""
        self.page(-1)

    def action_page_down(self) -> None:
        """A screenful further."""
        self.page(1)

    def on_click(self, event: events.Click) -> None:
        """The clicked row."""
        place = event.y + self.scroll_offset.y
        if place < len(self._rows):
            self.jump(place)
            self.post_message(self.Clicked(self))

    def on_resize(self) -> None:
        """The cursor's line is as wide as the list."""
        self._draw()
        self._follow()

    def _draw(self) -> None:
        self.show([self._drawn(place, row) for place, row in enumerate(self._rows)])

    def _drawn(self, place: int, row: Content) -> Content:
        if place != self._current:
            return row
        room = max(0, self.size.width - row.cell_length)
        return row.pad_right(room).stylize_before(_CURSOR)

    def _follow(self) -> None:
        """Keep the cursor's line in sight."""
        if self._rows:
            self.scroll_to_region(
                Region(0, self._current, 1, 1), animate=False, x_axis=False, immediate=True
            )
