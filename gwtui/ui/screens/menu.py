"""A small modal menu: one letter for each entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from gwtui.ui.guarded import clear_notices
from gwtui.ui.screens.modal import Modal
from gwtui.ui.text import fit
from gwtui.ui.tones import toned

KEYS = "a letter takes it · ↑ ↓ and Enter, too · Esc leaves"
_FRAME = 14
"""Cells of a line that are no note: the frame, its padding, letter and gaps."""
_NOTE = 60


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One thing to take, by a key that types one character. Texts must have passed ``safe_text``.

    ``note`` may be of any length: what has no room is cut.
    """

    id: str
    key: str
    title: str
    note: str = ""


class MenuScreen(Modal[str | None]):
    """Returns the id of the entry that is taken, None when left. Starts at ``current``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("enter", "take", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
    ]

    def __init__(
        self, title: str, entries: Sequence[MenuEntry], *, current: str | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._entries = tuple(entries)
        self._current = current

    def compose(self) -> ComposeResult:
        """Title, entries, keys."""
        with Vertical(classes="dialog menu"):
            yield Static(toned(self._title, "accent", bold=True), classes="title")
            options = OptionList(markup=False, compact=True)
            options.can_focus = False
            yield options
            yield Static(toned(KEYS, "muted"), classes="keys")

    def on_mount(self) -> None:
        """Start at the entry that is meant first; no notice stands on any."""
        clear_notices(self.app)
        options = self.query_one(OptionList)
        room = min(_NOTE, self.app.size.width - _FRAME - self._widest)
        options.add_options([Option(self._line(entry, room)) for entry in self._entries])
        ids = [entry.id for entry in self._entries]
        options.highlighted = ids.index(self._current) if self._current in ids else 0

    @property
    def _widest(self) -> int:
        return max(cell_len(entry.title) for entry in self._entries)

    def _line(self, entry: MenuEntry, room: int) -> Content:
        note = fit(entry.note, room) if cell_len(entry.note) > room else entry.note
        return Content.assemble(
            toned(f" {entry.key}  ", "accent", bold=True),
            toned(fit(entry.title, self._widest)),
            toned(f"  {note} ", "muted"),
        )

    def on_key(self, event: events.Key) -> None:
        """A letter takes its entry."""
        taken = [entry.id for entry in self._entries if entry.key == event.character]
        if taken:
            event.stop()
            event.prevent_default()
            self.dismiss(taken[0])

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._entries[event.option_index].id)

    def action_leave(self) -> None:
        """Take nothing."""
        self.dismiss(None)

    def action_take(self) -> None:
        """Take the highlighted entry."""
        self.dismiss(self._entries[self.query_one(OptionList).highlighted or 0].id)

    def action_step(self, step: int) -> None:
        """The next entry, or the one before; goes around at the ends."""
        options = self.query_one(OptionList)
        options.highlighted = ((options.highlighted or 0) + step) % len(self._entries)
