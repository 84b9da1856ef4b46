"""A question with a safe answer and another one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.ui.screens.modal import Answered, Modal
from gwtui.ui.tones import toned


class AskScreen(Modal[bool]):
    """Returns True only for the deliberate answer; the safe one has the focus and is on Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n,q", "stay", show=False, id="question.no"),
        Binding("y", "go", show=False, id="question.yes"),
        Binding("left,up", "app.focus_previous", show=False, id="question.previous"),
        Binding("right,down", "app.focus_next", show=False, id="question.next"),
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
        """The safe answer first. A question that is taken back at once has no buttons any more."""
        self.query("#safe").focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "deliberate")

    def action_stay(self) -> None:
        """The safe answer."""
        self.dismiss(False)

    def action_go(self) -> None:
        """The deliberate answer."""
        self.dismiss(True)


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


class WaitScreen(Modal[None]):
    """Says what is waited for; closes when that is over or when the person does not want to."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "enough", show=False)]

    def __init__(
        self, title: str, text: str, until: Callable[[], Awaitable[object]], *, enough: str
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._until = until
        self._enough = enough

    def compose(self) -> ComposeResult:
        """What is waited for, and the way not to."""
        with Vertical(classes="dialog"):
            yield Static(toned(self._title, "plain", bold=True), classes="title")
            yield Static(toned(self._text, "muted"))
            with Horizontal(classes="buttons"):
                yield Button(Content(self._enough), id="enough", compact=True)

    def on_mount(self) -> None:
        """Begin to wait."""
        self.query_one("#enough").focus()
        self.run_worker(self._wait())

    async def _wait(self) -> None:
        await self._until()
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self) -> None:
        self.action_enough()

    def action_enough(self) -> None:
        """Wait no longer."""
        self.dismiss(None)
