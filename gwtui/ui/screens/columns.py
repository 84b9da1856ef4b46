"""Which columns a list shows, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from gwtui.ui.screens.modal import Dialog, dialog_room
from gwtui.ui.text import fit, hanging, toned
from gwtui.ui.widgets.table.layout import arrange

if TYPE_CHECKING:
    from gwtui.crud.resource import Column

_LONGEST_TITLE = 24


class ColumnsScreen(Dialog[tuple[str, ...] | None]):
    """Returns the ids of the chosen columns, empty for the usual ones, None when left.

    Shown columns stand first, in their order. ``choice`` are the indices of those that were
    chosen. Where nobody chose yet, those are shown that fit into the ``room`` of the list, in
    cells; what is changed about them, and nothing else, becomes a choice.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("enter", "done", show=False),
        Binding("space", "turn", show=False),
        Binding("up,k", "step(-1)", show=False),
        Binding("down,j", "step(1)", show=False),
        Binding("left,h", "move(-1)", show=False),
        Binding("right,l", "move(1)", show=False),
        Binding("r", "reset", show=False),
    ]
    hint = "Enter done · Esc leaves · Space shows or hides · ← → moves it · r resets"

    def __init__(
        self,
        title: str,
        columns: Sequence[Column[Any]],
        choice: tuple[int, ...] | None,
        room: int,
    ) -> None:
        super().__init__()
        self._title = title
        self._columns = tuple(columns)
        self._room = room
        self._at = 0
        self._begin(choice)

    def _begin(self, choice: tuple[int, ...] | None) -> None:
        self._chosen = choice is not None
        slots = arrange(self._columns, self._room).slots
        shown = tuple(slot.index for slot in slots) if choice is None else choice
        hidden = (index for index in range(len(self._columns)) if index not in shown)
        self._order = [*shown, *hidden]
        self._shown = set(shown)

    def compose(self) -> ComposeResult:
        """Title, the columns."""
        with Vertical(classes="dialog choose"):
            yield Static(toned(self._title, "accent", bold=True), classes="title")
            options = OptionList(markup=False, compact=True)
            options.can_focus = False
            yield options

    def on_mount(self) -> None:
        """Start at the first column."""
        self._list()

    def on_resize(self) -> None:
        """Fold what is said of the columns to the new width."""
        self._list()

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._at = event.option_index
        self.action_turn()

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)

    def action_done(self) -> None:
        """Return what was chosen."""
        names = tuple(self._columns[one].id for one in self._order if one in self._shown)
        self.dismiss(names if self._chosen else ())

    def action_step(self, step: int) -> None:
        """The next column, or the one before; goes around at the ends."""
        self._at = (self._at + step) % len(self._order)
        self.query_one(OptionList).highlighted = self._at

    def action_turn(self) -> None:
        """Show or hide the column; one always stays."""
        index = self._order[self._at]
        if self._shown == {index}:
            self.app.bell()
            return
        self._shown ^= {index}
        self._chosen = True
        self._list()

    def action_move(self, step: int) -> None:
        """Put the column further left or right."""
        place = self._at + step
        if not 0 <= place < len(self._order):
            self.app.bell()
            return
        order = self._order
        order[self._at], order[place] = order[place], order[self._at]
        self._at = place
        self._chosen = True
        self._list()

    def action_reset(self) -> None:
        """Go back to the usual columns."""
        self._begin(None)
        self._at = 0
        self._list()

    def _list(self) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        titles = min(max(cell_len(one.title) for one in self._columns), _LONGEST_TITLE)
        options.add_options([Option(self._line(index, titles)) for index in self._order])
        options.highlighted = self._at

    def _line(self, index: int, titles: int) -> Content:
        column, shown = self._columns[index], index in self._shown
        line = Content.assemble(
            toned("[x] " if shown else "[ ] ", "accent" if shown else "muted", bold=shown),
            toned(fit(column.title, titles), "plain" if shown else "muted"),
            "  ",
        )
        return hanging(line, toned(column.help, "muted"), dialog_room(self))
