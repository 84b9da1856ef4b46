"""Dialog to choose which columns a list shows, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from gwtui.crud.fields import PickOption
from gwtui.crud.resource import Column
from gwtui.ui.screens.picker import TickList
from gwtui.ui.text import toned
from gwtui.ui.widgets.table.layout import arrange


class ColumnsScreen(TickList[tuple[str, ...] | None]):
    """Lets the person choose and order the columns of a list.

    Returns the ids of the visible columns in order; empty for the default columns, None if
    cancelled. ``choice`` holds the indices of the columns that were chosen earlier. If it is None,
    the dialog starts with the columns that fit ``room`` cells, and returns the default unless the
    person changes something.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "shift(-1)", show=False, priority=True),
        Binding("right", "shift(1)", show=False, priority=True),
        Binding("ctrl+r", "reset", show=False),
    ]
    hint = "Enter applies · Esc cancels · Space shows or hides · ← → moves it · Ctrl+R resets"

    def __init__(
        self,
        title: str,
        columns: Sequence[Column[Any]],
        choice: tuple[int, ...] | None,
        room: int,
    ) -> None:
        super().__init__(
            title, [PickOption(column.id, column.title, column.help) for column in columns]
        )
        usual = tuple(slot.index for slot in arrange(columns, room).slots)
        self._usual = [columns[index].id for index in usual]
        self._begin(self._usual if choice is None else [columns[index].id for index in choice])
        self._chosen = choice is not None

    def _begin(self, shown: Sequence[str]) -> None:
        hidden = (option.value for option in self.source.options if option.value not in shown)
        self._order = [*shown, *hidden]
        self._visible = set(shown)
        self._chosen = False

    def find(self, text: str) -> Sequence[PickOption]:
        """Return the matching columns, the visible ones first."""
        return self.source.search(text, self._order)

    def mark(self, option: PickOption) -> Content:
        """Return a checkbox that is ticked if the column is visible."""
        shown = option.value in self._visible
        return toned("[x] " if shown else "[ ] ", "accent" if shown else "muted", bold=shown)

    def submit(self, option: PickOption) -> None:  # noqa: ARG002 - whatever is highlighted
        """Close, and return the visible columns."""
        names = tuple(one for one in self._order if one in self._visible)
        self.dismiss(names if self._chosen else ())

    def take(self, option: PickOption) -> None:
        """Show or hide the column; the last visible column cannot be hidden."""
        if self._visible == {option.value}:
            self.app.bell()
            return
        self._visible ^= {option.value}
        self._chosen = True
        self.draw_again(self.row)

    def action_shift(self, step: int) -> None:
        """Move the column to the left (-1) or to the right (1)."""
        place = self.row + step
        if self.search_text or not 0 <= place < len(self._order):
            self.app.bell()
            return
        order = self._order
        order[self.row], order[place] = order[place], order[self.row]
        self._chosen = True
        self.fill(place)

    def action_reset(self) -> None:
        """Return to the default columns."""
        self._begin(self._usual)
        self.fill(0)
