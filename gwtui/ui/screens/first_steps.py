"""The first steps: what this is, what to try, where help is; on one small screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from gwtui.ui.screens.modal import Modal
from gwtui.ui.tones import toned

Step = tuple[str, str]
"""Keys, and what they lead to."""


class FirstStepsScreen(Modal[events.Key | None]):
    """Closes with any key, and returns it when it means something beneath; else None.

    Texts must have passed ``safe_text``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,space,q", "leave", show=False),
    ]

    def __init__(self, about: str, steps: Sequence[Step], help_keys: str) -> None:
        super().__init__()
        self._about = about
        self._steps = steps
        self._help_keys = help_keys

    def compose(self) -> ComposeResult:
        """What it is, the steps, the help."""
        widest = max(len(keys) for keys, _text in self._steps)
        with Vertical(id="first-steps", classes="dialog"):
            yield Static(toned("Welcome to gwtui", "accent", bold=True), classes="title")
            yield Static(toned(self._about))
            yield Static(toned("Worth a try:", "muted"), classes="section")
            for keys, text in self._steps:
                line = Content.assemble(toned(keys.ljust(widest + 2), "accent"), toned(text))
                yield Static(line, classes="step")
            yield Static(
                toned(
                    f"{self._help_keys} is help: every key of the screen you are on. "
                    "Esc takes you back.",
                ),
                classes="section",
            )
            yield Static(
                toned("Enter closes this; any other key closes it and does its work.", "muted"),
                classes="keys",
            )

    def on_key(self, event: events.Key) -> None:
        """A key that is not for this screen is for the one beneath."""
        event.stop()
        self.dismiss(event)

    def on_click(self) -> None:
        """A click closes it, too."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)
