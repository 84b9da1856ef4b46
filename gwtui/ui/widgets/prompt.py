"""One-line inputs, and prompts above the status line for a filter, a time or a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.highlighter import Highlighter
from rich.text import Text
from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.suggester import Suggester
from textual.widgets import Input, Static

from gwtui.domain.safe_text import safe_characters, safe_line
from gwtui.ui.text import toned

if TYPE_CHECKING:
    from gwtui.domain.filter_completion import Suggestions


Complete = Callable[[str], str | None]
"""Returns the whole completed text for a typed text; None if there is no completion."""
_VALUE = 40


class _ControlCharacterMarks(Highlighter):
    """Shows control characters in an input as visible marks."""

    def __init__(self, field: Input) -> None:
        self._field = field

    def highlight(self, text: Text) -> None:
        # ``text`` lacks some control characters: Rich has already removed them.
        text.plain = safe_characters(self._field.value)


class QuietInput(Input):
    """A one-line input without a blinking cursor, which would cost bandwidth and attention.

    Its width never changes while typing, so no new layout is needed. The value may contain control
    characters from the gateway, shown as visible marks. Tab and Right accept the completion.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "take", show=False)]

    DEFAULT_CSS = """
    QuietInput, QuietInput:focus {
        height: 1; border: none; padding: 0; background: $panel; background-tint: transparent;
    }
    """

    virtual_size = Reactive(Size(0, 0), layout=False)

    def __init__(self, *, id: str | None = None, placeholder: str = "") -> None:
        marks = _ControlCharacterMarks(self)
        super().__init__(id=id, placeholder=placeholder, highlighter=marks)
        self.cursor_blink = False
        self._complete: Complete = _nothing

    def complete_by(self, complete: Complete) -> None:
        """Set the function that completes the text; its completion is shown after the cursor."""
        self._complete = complete
        self.suggester = _Ghost(complete)

    def completed(self, text: str) -> str | None:
        """Return the whole completed text for ``text``; None if there is no completion."""
        return self._complete(text)

    def action_take(self) -> None:
        """Accept the completion; without a completion, leave Tab to the screen.

        The completion is computed now, because keys may arrive before the shown one is up to date.
        """
        if not self._take_completion():
            raise SkipAction

    def action_cursor_right(self, select: bool = False) -> None:
        """Accept the completion at the end of the text; elsewhere, move the cursor."""
        if select or not self._take_completion():
            super().action_cursor_right(select)

    def _take_completion(self) -> bool:
        whole = self.completed(self.value) if self.cursor_at_end else None
        if whole is None or whole == self.value or not self.selection.is_empty:
            return False
        self.value = whole
        self.cursor_position = len(whole)
        return True

    def begin_with(self, text: str) -> None:
        """Set the text and put the cursor behind it, so that typing appends."""
        self.select_on_focus = False
        self.value = text
        self.cursor_position = len(text)

    def watch_virtual_size(self) -> None:
        """Scroll back when the text became shorter."""
        self.scroll_x = self.validate_scroll_x(self.scroll_x)


class _Ghost(Suggester):
    """Suggests the completion of the typed text after the cursor."""

    def __init__(self, complete: Complete) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        return self._complete(value)


def _nothing(_text: str) -> None:
    return None


class FilterInput(QuietInput):
    """The input of a filter. Tab inserts the first suggestion for the text before the cursor."""

    suggest: Callable[[str], Suggestions] | None = None

    @property
    def suggestions(self) -> Suggestions | None:
        """The suggestions for the text before the cursor."""
        return None if self.suggest is None else self.suggest(self.value[: self.cursor_position])

    def action_take(self) -> None:
        before, behind = self.value[: self.cursor_position], self.value[self.cursor_position :]
        suggestions = self.suggestions
        if suggestions is not None and suggestions.offered:
            completed = suggestions.apply(before)
            self.value = completed + behind
            self.cursor_position = len(completed)


class Prompt(Horizontal):
    """A sign and an input, hidden until opened. Escape closes the prompt; Tab stays in it."""

    FOCUS_KEYS: ClassVar[str] = "Enter continues · Esc cancels"
    INPUT: ClassVar[type[QuietInput]] = QuietInput
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("tab,shift+tab", "stay", show=False),
    ]
    DEFAULT_CSS = """
    Prompt { height: 1; background: $panel; display: none; }
    Prompt .sign { width: 3; color: $tone-accent; text-style: bold; }
    """

    @dataclass
    class Entered(Message):
        """The user entered ``text``, or left the prompt; ``text`` is then empty."""

        prompt: Prompt
        text: str

        @property
        def control(self) -> Prompt:
            """The prompt that sent this, for the selector of ``on``."""
            return self.prompt

    def __init__(self, sign: str, hint: str = "", *, id: str | None = None) -> None:
        """``hint`` is the placeholder."""
        super().__init__(id=id)
        self._sign = sign
        self.input = self.INPUT(placeholder=hint)

    def compose(self) -> ComposeResult:
        yield Static(f" {self._sign} ", classes="sign", markup=False)
        yield self.input

    def open(self, text: str = "") -> None:
        """Show the prompt with this text, and focus it at once so that no key is lost."""
        self.input.begin_with(text)
        self.show()

    def show(self) -> None:
        """Show and focus the prompt, with the text that it had last."""
        self.display = True
        self.screen.set_focus(self.input)

    def close(self) -> None:
        """Hide the prompt. ``show`` displays its text again."""
        self.display = False

    def submit(self, text: str) -> None:
        """Hide the prompt, and post ``Entered`` with ``text``."""
        self.close()
        self.post_message(self.Entered(self, text))

    def action_leave(self) -> None:
        """Leave the prompt: post ``Entered`` with an empty text."""
        self.submit("")

    def action_stay(self) -> None:
        """Ignore Tab: a prompt has only one field."""

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.submit(event.value.strip())


def suggestion_line(suggestions: Suggestions | None) -> Content:
    """Return the line of suggestions above a filter prompt."""
    if suggestions is None or not suggestions.offered:
        return Content("")
    names = [toned(safe_line(offer, _VALUE), "muted") for offer in suggestions.offered]
    return Content("  ").join([toned("Tab", "accent"), *names])
