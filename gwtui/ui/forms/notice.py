"""Something a person must have read before going on."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from gwtui.ui.tones import toned


class NoticeScreen(ModalScreen[None]):
    """A title, a text and one button. Texts must have passed ``safe_text``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", show=False)]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """The text and the way on."""
        with Vertical(id="notice", classes="dialog"):
            yield Static(toned(self._title, "warn", bold=True), classes="title")
            yield Static(toned(self._text), classes="effect")
            with Horizontal(classes="buttons"):
                yield Button(Content("Close"), id="close", compact=True)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_leave()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)
