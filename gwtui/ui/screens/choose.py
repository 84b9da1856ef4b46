"""A small modal list to choose one thing from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from gwtui.ui.fitting import fit
from gwtui.ui.screens.modal import Modal
from gwtui.ui.tones import toned


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose. Texts from data must have passed ``safe_text``."""

    id: str
    title: str
    note: str = ""


class ChooseScreen(Modal[str | None]):
    """Returns the id of the choice, None when left with Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, title: str, choices: Sequence[Choice], *, current: str | None) -> None:
        super().__init__()
        self._title = title
        self._choices = tuple(choices)
        self._current = current

    def compose(self) -> ComposeResult:
        """Title, list, keys."""
        width = max(cell_len(choice.title) for choice in self._choices)
        with Vertical(classes="dialog"):
            yield Static(toned(self._title, "accent", bold=True), classes="title")
            yield OptionList(
                *(Option(self._line(choice, width)) for choice in self._choices),
                markup=False,
                compact=True,
            )
            yield Static(toned("Enter chooses · Esc leaves it", "muted"), classes="keys")

    def on_mount(self) -> None:
        """Start at the present choice."""
        options = self.query_one(OptionList)
        ids = [choice.id for choice in self._choices]
        options.highlighted = ids.index(self._current) if self._current in ids else 0
        options.focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index].id)

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def action_down(self) -> None:
        """The next one."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """The one before."""
        self.query_one(OptionList).action_cursor_up()

    def _line(self, choice: Choice, width: int) -> Content:
        sign = "● " if choice.id == self._current else "  "
        return Content.assemble(
            toned(sign, "accent"),
            toned(fit(choice.title, width)),
            toned(f"  {choice.note}", "muted"),
        )
