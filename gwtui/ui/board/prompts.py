"""The lines of the board that are typed into: a moment to go to, a model to watch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input

from gwtui.ui.widgets.prompt import Prompt


class BoardPrompt(Prompt):
    """A prompt that starts empty; ``HINT`` says what can be typed."""

    HINT: ClassVar[str] = ""

    class Entered(Message):
        """Something was entered, or the prompt was left (``text`` empty)."""

        def __init__(self, prompt: BoardPrompt, text: str) -> None:
            super().__init__()
            self.prompt = prompt
            self.text = text

        @property
        def control(self) -> BoardPrompt:
            """The prompt, for the selector of ``on``."""
            return self.prompt

    def open(self) -> None:
        """Start with an empty line."""
        self.input.value = ""
        self.input.placeholder = self.HINT
        super().open()

    def action_leave(self) -> None:
        """Leave without doing anything."""
        self._close("")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close(event.value.strip())

    def _close(self, text: str) -> None:
        self.close()
        self.post_message(self.Entered(self, text))


class JumpPrompt(BoardPrompt):
    """A moment."""

    SIGN = "@"
    HINT = "moment, UTC: 2026-11-20 18:00, yesterday 18:00, 3h ago"


class WatchPrompt(BoardPrompt):
    """A model; completes with the right arrow."""

    SIGN = "+"
    HINT = "model to watch: author/slug"

    def offer(self, models: Iterable[str]) -> None:
        """Complete from these."""
        self.input.suggester = SuggestFromList(name for name in models if name.isprintable())


class DaysPrompt(BoardPrompt):
    """Days of activity."""

    SIGN = "@"
    HINT = "days, UTC: yesterday, 7d, 2026-11-20, 2026-11-01 .. 2026-11-07, all"


class BetweenPrompt(BoardPrompt):
    """Two moments."""

    SIGN = "@"
    HINT = "from .. to, UTC: yesterday 18:00 .. 3h ago, or 2026-11-20 .. now"
