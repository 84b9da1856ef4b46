"""A short wait before the end that the person may cut shorter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.ui.screens.modal import Modal
from gwtui.ui.tones import toned


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
