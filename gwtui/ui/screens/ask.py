"""A question with a safe answer and another one."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.ui.screens.modal import Modal
from gwtui.ui.tones import toned


class AskScreen(Modal[bool]):
    """Returns True only for the deliberate answer; the safe one has the focus and is on Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "stay", show=False),
        Binding("y", "go", show=False),
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(self, question: str, text: str, *, safe: str, deliberate: str) -> None:
        super().__init__()
        self._question = question
        self._text = text
        self._safe = safe
        self._deliberate = deliberate

    def compose(self) -> ComposeResult:
        """Question, reason, two buttons."""
        with Vertical(classes="dialog"):
            yield Static(toned(self._question, "plain", bold=True), classes="title")
            yield Static(toned(self._text, "muted"))
            with Horizontal(classes="buttons"):
                yield Button(Content(self._safe), id="safe", compact=True)
                yield Button(Content(self._deliberate), id="deliberate", compact=True)

    def on_mount(self) -> None:
        """The safe answer first."""
        self.query_one("#safe").focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "deliberate")

    def action_stay(self) -> None:
        """The safe answer."""
        self.dismiss(False)

    def action_go(self) -> None:
        """The deliberate answer."""
        self.dismiss(True)
