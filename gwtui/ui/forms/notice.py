"""Something a person must have read before going on."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.ui.screens.modal import Answered
from gwtui.ui.tones import toned


class NoticeScreen(Answered[bool]):
    """A title, a text and a button. Texts must have passed ``safe_text``.

    ``way_on`` is a second button, such as going where something can be done; it has the focus.
    Returns whether it was taken.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", show=False)]

    def __init__(self, title: str, text: str, *, way_on: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._way_on = way_on

    def compose(self) -> ComposeResult:
        """The text and the way on."""
        with Vertical(id="notice", classes="dialog"):
            yield Static(toned(self._title, "warn", bold=True), classes="title")
            yield Static(toned(self._text), classes="effect")
            with Horizontal(classes="buttons"):
                if self._way_on:
                    yield Button(Content(self._way_on), id="way-on", compact=True)
                yield Button(Content("Close"), id="close", compact=True)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "way-on")

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(False)
