"""Editors that are one line in the form and open a screen of their own to be changed."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button

from gwtui.crud.resource import Cell
from gwtui.ui.forms.editors import ChoiceEditor, Edited
from gwtui.ui.forms.reading import Typed
from gwtui.ui.screens.ask import AskScreen
from gwtui.ui.screens.modal import Answered
from gwtui.ui.tones import toned
from gwtui.ui.typed_ahead import OPENING


@dataclass(frozen=True, slots=True)
class Kept:
    """What a screen gave back; it may be None, so it stands in a box."""

    typed: Typed


class ValueScreen(Answered[Kept | None]):
    """Changes one value. Gives it back when done, None when left; leaving a change asks first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "done", show=False, priority=True, id="form.send"),
        Binding("escape", "leave", show=False, priority=True, id="form.leave"),
    ]

    def __init__(self, started: Typed) -> None:
        super().__init__()
        self._started = started

    @abstractmethod
    def result(self) -> Typed:
        """The value as it is now."""

    @property
    def unsaved(self) -> bool:
        """Whether leaving now would lose something."""
        return self.result() != self._started

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        return "What was changed here is not in the form yet."

    @on(Button.Pressed, "#done")
    def _pressed_done(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_done()

    @on(Button.Pressed, "#leave")
    def _pressed_leave(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_leave()

    def action_done(self) -> None:
        """Back to the form with the value."""
        self.dismiss(Kept(self.result()))

    def action_leave(self) -> None:
        """Back to the form as it was; first out of what was typed at a choice."""
        if isinstance(self.focused, ChoiceEditor) and self.focused.take_back():
            return
        if self.unsaved:
            self._ask()
        else:
            self.dismiss(None)

    @work(group=OPENING, exclusive=True)
    async def _ask(self) -> None:
        discard = await self.app.push_screen_wait(
            AskScreen(
                "Leave the field as it was?",
                "What you changed here is then lost.",
                safe="Keep changing",
                deliberate="Leave as it was",
            )
        )
        if discard:
            self.dismiss(None)


class OpeningEditor(Widget, can_focus=True):
    """Shows a value in a few words; Enter, space or a click open its screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "open", show=False)]
    DEFAULT_CSS = "OpeningEditor { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, typed: Typed) -> None:
        super().__init__()
        self.typed = typed

    @abstractmethod
    def summary(self) -> str:
        """The value in a few words, fit to be shown."""

    @abstractmethod
    def screen_to_open(self) -> ValueScreen:
        """The screen that changes the value."""

    def hint(self) -> Cell | None:
        """What the person should know of the value; None for nothing."""
        return None

    def render(self) -> Content:
        """The value, and that there is more to it."""
        return Content.assemble(
            toned("▾ ", "accent" if self.has_focus else "muted"),
            toned(self.summary(), "accent" if self.has_focus else "plain", bold=True),
            toned("  Enter opens" if self.has_focus else "", "muted"),
        )

    def on_click(self) -> None:
        """Open."""
        self.action_open()

    @work(group=OPENING, exclusive=True)
    async def action_open(self) -> None:
        """Let the person change the value."""
        kept = await self.app.push_screen_wait(self.screen_to_open())
        if kept is not None and kept.typed != self.typed:
            self.typed = kept.typed
            self.refresh()
            self.post_message(Edited(kept.typed))
