"""Modal lists to choose one thing from: one that typing narrows, and one with a letter for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from gwtui.domain.safe_text import safe_line
from gwtui.ui.screens.modal import Dialog, dialog_room
from gwtui.ui.text import fit, hanging, toned
from gwtui.ui.widgets.prompt import QuietInput

_LONGEST_TITLE = 46
"""Cells of a title at most; what is longer ends in an ellipsis."""
_MENU_FRAME = 14
"""Cells of a line that are no note: the frame, its padding, letter and gaps."""
_MENU_NOTE = 60


def letters(text: str) -> str:
    """What a search compares: letters and digits only, so that "gpt5" finds "openai/gpt-5"."""
    return "".join(char for char in text.lower() if char.isalnum())


def nothing_matches(search_text: str) -> str:
    """What is said where a search finds nothing."""
    return f"No match for “{safe_line(search_text, 30)}”"


def show_options(options: OptionList, lines: Iterable[Content], search_text: str) -> None:
    """Show these lines, and in an empty list that nothing matches."""
    options.clear_options()
    options.add_options([Option(line) for line in lines])
    if not options.option_count:
        options.add_option(Option(toned(nothing_matches(search_text), "warn"), disabled=True))


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose. Texts from data must have passed ``safe_text``."""

    id: str
    title: str
    note: str = ""


class ChooseScreen(Dialog[str | None]):
    """Returns the id of the choice, None when left with Escape.

    Letters narrow the list to the choices whose title or note has them, titles first; Escape first
    ends the search. ``search_text`` is what was typed before it opened.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("up,ctrl+p", "step(-1)", show=False, priority=True),
        Binding("down,ctrl+n", "step(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("home", "jump(0)", show=False, priority=True),
        Binding("end", "jump(-1)", show=False, priority=True),
    ]
    hint = "Enter chooses · Esc leaves · letters search · ↑ ↓ move"

    def __init__(
        self, title: str, choices: Sequence[Choice], *, current: str | None, search_text: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._choices = tuple(choices)
        self._current = current
        widest = max(cell_len(choice.title) for choice in self._choices)
        self._width = min(widest, _LONGEST_TITLE)
        self._shown = self._choices
        self._search_text = search_text

    def compose(self) -> ComposeResult:
        """Title, search line, list, note."""
        with Vertical(classes="dialog choose"):
            yield Static(toned(self._title, "accent", bold=True), classes="title")
            with Horizontal(classes="seek"):
                yield Static(toned("/ ", "accent", bold=True), classes="sign")
                yield QuietInput(placeholder="type to search")
            options = OptionList(markup=False, compact=True)
            options.can_focus = False
            yield options
            yield Static(classes="note")

    def on_mount(self) -> None:
        """Start at the present choice, or with what was typed already."""
        seek = self.query_one(QuietInput)
        seek.begin_with(self._search_text)
        self.set_focus(seek)
        self._list()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._search_text:
            self._search_text = event.value
            self._keep_size()
            self._list()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._choose(self.query_one(OptionList).highlighted)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._choose(event.option_index)

    def on_resize(self) -> None:
        """Another window: the list is as large as it needs again."""
        options = self.query_one(OptionList)
        options.styles.min_width = options.styles.min_height = None
        self._list()

    def _keep_size(self) -> None:
        """The list stays as large as it is while it is narrowed."""
        options = self.query_one(OptionList)
        options.styles.min_width, options.styles.min_height = options.outer_size

    def action_leave(self) -> None:
        """First out of the search, then out of the list with nothing chosen."""
        seek = self.query_one(QuietInput)
        if seek.value:
            seek.value = ""
        else:
            self.dismiss(None)

    def action_step(self, step: int) -> None:
        """The next one, or the one before; goes around at the ends."""
        if self._shown:
            options = self.query_one(OptionList)
            options.highlighted = ((options.highlighted or 0) + step) % len(self._shown)

    def action_page(self, direction: int) -> None:
        """A screenful further."""
        options = self.query_one(OptionList)
        if self._shown:
            place = (options.highlighted or 0) + direction * max(1, options.size.height - 1)
            options.highlighted = min(max(place, 0), len(self._shown) - 1)

    def action_jump(self, place: int) -> None:
        """To an end of the list."""
        if self._shown:
            self.query_one(OptionList).highlighted = place % len(self._shown)

    def _choose(self, place: int | None) -> None:
        if place is not None and place < len(self._shown):
            self.dismiss(self._shown[place].id)
        else:
            self.app.bell()

    def _list(self) -> None:
        """Show what the search finds; without one everything, at the present choice."""
        wanted = letters(self._search_text)
        found = (one for one in self._choices if wanted in letters(f"{one.title} {one.note}"))
        self._shown = tuple(sorted(found, key=lambda one: wanted not in letters(one.title)))
        options = self.query_one(OptionList)
        show_options(options, map(self._line, self._shown), self._search_text)
        present = [at for at, one in enumerate(self._shown) if one.id == self._current]
        first = 0 if self._shown else None
        options.highlighted = present[0] if present and not wanted else first
        note = self.query_one(".note", Static)
        note.display = bool(self.note.plain)
        note.update(self.note)

    @property
    def note(self) -> Content:
        """What is said below the list."""
        return Content("")

    def _line(self, choice: Choice) -> Content:
        sign = "● " if choice.id == self._current else "  "
        title = Content.assemble(toned(sign, "accent"), toned(fit(choice.title, self._width)), "  ")
        return hanging(title, toned(choice.note, "muted"), dialog_room(self))


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One thing to take, by a key that types one character. Texts must have passed ``safe_text``.

    ``note`` may be of any length: what has no room is cut.
    """

    id: str
    key: str
    title: str
    note: str = ""


class MenuScreen(Dialog[str | None]):
    """Returns the id of the entry that is taken, None when left. Starts at ``current``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("enter", "take", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
    ]
    hint = "a letter takes it · Esc leaves · ↑ ↓ move · Enter takes it"

    def __init__(
        self, title: str, entries: Sequence[MenuEntry], *, current: str | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._entries = tuple(entries)
        self._current = current

    def compose(self) -> ComposeResult:
        """Title, entries."""
        with Vertical(classes="dialog menu"):
            yield Static(toned(self._title, "accent", bold=True), classes="title")
            options = OptionList(markup=False, compact=True)
            options.can_focus = False
            yield options

    def on_mount(self) -> None:
        """Start at the entry that is meant first; no notice stands on any."""
        self.clear_notices()
        options = self.query_one(OptionList)
        room = min(_MENU_NOTE, self.app.size.width - _MENU_FRAME - self._widest)
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
