"""Prompts of one line above the status line: a filter, a moment, a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.highlighter import Highlighter
from rich.text import Text
from textual import events, on
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

from gwtui.domain.cell_values import Tone
from gwtui.domain.safe_text import safe_characters, safe_line
from gwtui.ui.text import toned

if TYPE_CHECKING:
    from gwtui.domain.filter_completion import Suggestions


Complete = Callable[[str], str | None]
"""The whole of what a text is the beginning of; None where nothing is known."""
LANGUAGE = (
    'word  -without  "two words"  column:text  =exact  >80  created<7d  ~pattern  (this or that)'
)
_MARGIN = "   "
_VALUE = 40


class _ControlCharacterMarks(Highlighter):
    """Shows each control character of what is typed as a visible mark."""

    def __init__(self, field: Input) -> None:
        self._field = field

    def highlight(self, text: Text) -> None:
        # Of the value, for Rich has taken some control characters from the text already.
        text.plain = safe_characters(self._field.value)


class QuietInput(Input):
    """An input whose cursor does not blink: a blink costs bytes and attention.

    It is as wide as its place, so that no key that is typed lays out the screen anew. Its value
    may hold anything, also what came from the gateway; what it shows cannot disturb. What its ghost
    text shows is taken by Tab and Right.
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
        super().__init__(id=id, placeholder=placeholder, compact=True, highlighter=marks)
        self.cursor_blink = False
        self._complete: Complete = _nothing

    def complete_by(self, complete: Complete) -> None:
        """Show behind what is typed how it would go on."""
        self._complete = complete
        self.suggester = _Ghost(complete)

    def completed(self, text: str) -> str | None:
        """The whole of what a text is the beginning of; None where nothing is known."""
        return self._complete(text)

    def action_take(self) -> None:
        """Take the completion; computed now: keys may come faster than what they show.

        Without one Tab does what it does elsewhere.
        """
        if not self._take_completion():
            raise SkipAction

    def action_cursor_right(self, select: bool = False) -> None:
        """Take the completion at the end of the text, else move."""
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
        """Hold this text; what is typed next goes on with it, also when the focus comes."""
        self.select_on_focus = False
        self.value = text
        self.cursor_position = len(text)

    def watch_virtual_size(self) -> None:
        """Leave no more room behind a text that became shorter than it needs."""
        self.scroll_x = self.validate_scroll_x(self.scroll_x)


class _Ghost(Suggester):
    """Shows behind what is typed how it would go on."""

    def __init__(self, complete: Complete) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        """The whole text, None where nothing is known."""
        return self._complete(value)


def _nothing(_text: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Taken:
    """What Tab put in, and what it was chosen from: the next Tab puts another in its place."""

    before: str
    behind: str
    offered: Suggestions
    place: int
    value: str


class FilterInput(QuietInput):
    """The input of the filter: a question mark at the start of a word asks for its language.

    Tab takes the first of what ``suggest`` gives for the text before the cursor, the next Tab the
    one after it. Without ``suggest`` it leads elsewhere, as ever.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete(1)", show=False),
        Binding("shift+tab", "complete(-1)", show=False),
    ]

    class HelpAsked(Message):
        """The language of the filter should be explained."""

    def __init__(self, *, id: str | None = None, placeholder: str = "") -> None:
        super().__init__(id=id, placeholder=placeholder)
        self.suggest: Callable[[str], Suggestions] | None = None
        self._taken: _Taken | None = None

    @property
    def offered(self) -> tuple[Suggestions, int | None]:
        """What can stand at the cursor, and which of it Tab has put there; None for none.

        Where there was only one, what can follow it is told.
        """
        taken = self._taken
        several = taken is not None and len(taken.offered.offered) > 1
        if taken is not None and several and taken.value == self.value:
            return taken.offered, taken.place
        before = self.value[: self.cursor_position]
        if self.suggest is not None:
            return self.suggest(before), None
        from gwtui.domain.filter_completion import Suggestions  # noqa: PLC0415 - with the first

        return Suggestions(len(before)), None

    def action_complete(self, way: int) -> None:
        """Put in what can stand here; the next, or the one before, where that was done just now."""
        if self.suggest is None:
            (self.screen.focus_next if way > 0 else self.screen.focus_previous)()
            return
        offered, place = self.offered
        if not offered.offered:
            return
        if self._taken is None or place is None:
            before, behind = self.value[: self.cursor_position], self.value[self.cursor_position :]
            place = 0 if way > 0 else -1
        else:
            before, behind, place = self._taken.before, self._taken.behind, place + way
        place %= len(offered.offered)
        completed = offered.applied(before, place)
        self._taken = _Taken(before, behind, offered, place, completed + behind)
        self.value = completed + behind
        self.cursor_position = len(completed)

    async def on_key(self, event: events.Key) -> None:
        """Ask for the explanation; every other key is typed."""
        before = self.value[: self.cursor_position]
        if event.key == "question_mark" and (not before or before.endswith(" ")):
            event.stop()
            event.prevent_default()
            self.post_message(self.HelpAsked())


class Prompt(Horizontal):
    """A sign and an input, hidden until opened. Escape leaves it; Tab never leads out of it."""

    FOCUS_KEYS: ClassVar[str] = "Enter goes on · Esc leaves"
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
        """Something was entered, or the prompt was left (``text`` empty)."""

        prompt: Prompt
        text: str

        @property
        def control(self) -> Prompt:
            """The prompt, for the selector of ``on``."""
            return self.prompt

    def __init__(self, sign: str, hint: str = "", *, id: str | None = None) -> None:
        """``hint`` says what can be typed."""
        super().__init__(id=id)
        self._sign = sign
        self._hint = hint

    def compose(self) -> ComposeResult:
        """The sign and the input."""
        yield Static(f" {self._sign} ", classes="sign", markup=False)
        yield self.INPUT(placeholder=self._hint)

    @property
    def input(self) -> QuietInput:
        """The input."""
        return self.query_one(QuietInput)

    def offer(self, names: Iterable[str]) -> None:
        """Complete what is typed from these."""
        typeable = [name for name in names if name.isprintable()]

        def complete(text: str) -> str | None:
            return next((name for name in typeable if text and name.startswith(text)), None)

        self.input.complete_by(complete)

    def open(self, text: str = "") -> None:
        """Show the prompt and give it the keys at once, so that fast typing is not lost.

        It starts empty, or with a ``text`` that could not be understood.
        """
        self.input.begin_with(text)
        self.show()

    def show(self) -> None:
        """Show it as it is."""
        self.display = True
        self.screen.set_focus(self.input)

    def close(self) -> None:
        """Hide the prompt."""
        self.display = False

    def submit(self, text: str) -> None:
        """Close, and say what was entered."""
        self.close()
        self.post_message(self.Entered(self, text))

    def action_leave(self) -> None:
        """Leave without doing anything."""
        self.submit("")

    def action_stay(self) -> None:
        """A prompt has one field."""

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.submit(event.value.strip())


class FilterPrompt(Prompt):
    """The filter of a list: applies while typed, Enter keeps it, Escape clears it."""

    FOCUS_KEYS = "Enter keeps the filter · Esc clears it · Tab completes · ? explains it"
    INPUT = FilterInput

    @dataclass
    class Changed(Message):
        """The text is now this."""

        text: str

    class Closed(Message):
        """The keys go back to the list."""

    @property
    def text(self) -> str:
        """The filter."""
        return self.input.value

    @property
    def filter_input(self) -> FilterInput:
        """The input, with what can be typed into it."""
        return self.query_one(FilterInput)

    def clear(self) -> None:
        """No filter, no prompt."""
        self.input.value = ""
        self.close()

    def action_leave(self) -> None:
        """Clear the filter."""
        self.clear()
        self.post_message(self.Closed())

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    def submit(self, text: str) -> None:
        """Keep the filter."""
        if not text:
            self.clear()
        self.post_message(self.Closed())


def suggestion_line(error: str, offered: Suggestions, taken: int | None) -> Content:
    """What is wrong with a filter, else what can be typed next; ``taken`` was typed by Tab."""
    if error:
        return toned(f"{_MARGIN}{error}", "bad")
    if not offered.offered:
        return Content("")
    parts = [toned("Tab", "accent"), Content("  ")]
    first = 0 if taken is None else taken
    for place, one in enumerate(offered.offered[first:], first):
        tone: Tone = "accent" if place == taken else "muted"
        parts += [toned(safe_line(one.shown, _VALUE), tone), Content("  ")]
    return Content("").join(parts)
