"""Editors of single fields: a line of text, several lines, or one of a few options.

Other editors show their value on one line and open a screen to change it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual import events, on, work
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, TextArea

from gwtui.crud.form import FormSpec
from gwtui.crud.resource import Cell, Tone
from gwtui.domain.safe_text import safe_characters
from gwtui.ui.forms.form_state import Typed
from gwtui.ui.input_queue import OPENING
from gwtui.ui.text import toned
from gwtui.ui.widgets.prompt import QuietInput

if TYPE_CHECKING:
    from gwtui.ui.forms.form_screen import FormScreen

_GAP = 2


@dataclass
class Edited(Message):
    """Message: the value of an editor was changed by the user."""

    typed: Typed


class Entered(Message):
    """Message: Enter was pressed in an editor that does not use it, so the form moves on."""


class TextEditor(QuietInput):
    """A line of text. Focusing it selects everything, so that typing replaces the text."""

    def __init__(self, value: str, placeholder: str) -> None:
        super().__init__(placeholder=placeholder)
        self._given = self.value = value
        self.cursor_position = len(value)
        self._cursor_kept = False

    def keep_cursor(self) -> None:
        """Keep cursor and selection the next time the editor gets the focus."""
        self._cursor_kept = True

    def on_focus(self) -> None:
        """Select the text, unless the cursor is kept; ``Input``'s own handler runs afterwards."""
        self.select_on_focus, self._cursor_kept = not self._cursor_kept, False

    def show_suggestion(self, value: str) -> None:
        """Show text that the form suggests, without reporting an edit."""
        if value != self.value:
            self._given = self.value = value
            self.cursor_position = len(value)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        # Not the event's value: the form may have suggested another one since.
        if self.value != self._given:
            self._given = self.value
            self.post_message(Edited(self.typed))

    @property
    def typed(self) -> Typed:
        """The text as ``FormState`` stores it."""
        return self.value

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(Entered())


async def fill_in(editor: Widget, spec: FormSpec) -> Any | None:
    """Let the user fill in another form, above the form that contains the editor.

    Returns the request of the other form, or None if it was cancelled.
    """
    form = cast("FormScreen[Any]", editor.screen)
    return await form.fill_in(spec)


class Hinted(Message):
    """Message: the hint of an editor has changed."""


class ChoiceEditor(Widget, can_focus=True):
    """Shows a few options side by side and selects one: "● never  ○ daily".

    Arrows, space, the mouse, or the first letters of a word in a label select an option. Options
    are (value, label); labels must have passed ``safe_text``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", show=False),
        Binding("right,space", "step(1)", show=False),
        Binding("home", "jump(0)", show=False),
        Binding("end", "jump(-1)", show=False),
        Binding("enter", "enter", show=False),
    ]

    FOCUS_KEYS: ClassVar[str] = "← → choose"
    """Key hints for the footer while the editor has the focus."""
    chosen: reactive[int] = reactive(0)

    def __init__(
        self, options: Sequence[tuple[Typed, str]], value: Typed, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._options = tuple(options)
        values = [option for option, _ in self._options]
        self.set_reactive(ChoiceEditor.chosen, values.index(value) if value in values else 0)
        self.styles.height = "auto"
        self._typed = ""

    @property
    def value(self) -> Typed:
        """The chosen value."""
        return self._options[self.chosen][0]

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        return len(self._wrapped(width))

    def _wrapped(self, width: int) -> list[list[int]]:
        lines: list[list[int]] = [[]]
        used = 0
        for index in range(len(self._options)):
            if lines[-1] and used + self._width(index) > width:
                lines.append([])
                used = 0
            lines[-1].append(index)
            used += self._width(index) + _GAP
        return lines

    def _width(self, index: int) -> int:
        return Content(self._options[index][1]).cell_length + _GAP

    def render(self) -> Content:
        """Draw every option; the chosen one differs in its symbol as well as in colour."""
        lines = self._wrapped(self.size.width)
        gap = Content(" " * _GAP)
        return Content("\n").join([gap.join(map(self._option, line)) for line in lines])

    def _option(self, index: int) -> Content:
        chosen = index == self.chosen
        tone: Tone = "accent" if chosen and self.has_focus else "plain" if chosen else "muted"
        return toned(f"{'●' if chosen else '○'} {self._options[index][1]}", tone, bold=chosen)

    def watch_chosen(self) -> None:
        """Report the choice to the form."""
        self.post_message(Edited(self.value))

    def action_step(self, step: int) -> None:
        """Choose the option ``step`` places further; from the last option go on to the first."""
        self.chosen = (self.chosen + step) % len(self._options)

    def action_jump(self, index: int) -> None:
        self.chosen = index % len(self._options)

    def action_enter(self) -> None:
        self.post_message(Entered())

    def on_blur(self) -> None:
        self._typed = ""

    def on_key(self, event: events.Key) -> None:
        """Choose an option by typing its label, or a word of it; other letters ring the bell."""
        typed = self._typed + (event.character or "")
        index = self._find(typed) if event.is_printable else None
        if index is not None and typed.strip():
            event.stop()
            self._typed, self.chosen = typed, index
        elif event.is_printable and event.key != "space":
            event.stop()
            self.app.bell()
        else:
            self._typed = ""

    def _find(self, typed: str) -> int | None:
        labels = [label.casefold() for _, label in self._options]
        typed = typed.casefold()
        matches = [at for at, label in enumerate(labels) if label.startswith(typed)]
        matches += [at for at, label in enumerate(labels) if f" {typed}" in label]
        return matches[0] if matches else None

    def on_click(self, event: events.Click) -> None:
        lines = self._wrapped(self.size.width)
        end = 0
        for index in lines[event.y] if event.y < len(lines) else ():
            start, end = end, end + self._width(index) + _GAP
            if start <= event.x < end - _GAP:
                self.chosen = index
                return


class LinesEditor(TextArea):
    """Edits several lines of text.

    Tab moves to the next field, and so do the arrows beyond the first and last line. The text may
    contain control characters from the gateway; they are shown as visible marks.
    """

    FOCUS_KEYS: ClassVar[str] = "Enter starts a new line"

    def __init__(self, value: str, placeholder: str = "") -> None:
        shown = Content(placeholder)
        super().__init__(value, compact=True, highlight_cursor_line=False, placeholder=shown)
        self.cursor_blink = False
        self._given = self.text

    def on_resize(self) -> None:
        """Wrap the text again without the scroll bar, which would otherwise stay."""
        self.show_vertical_scrollbar = False
        # It was painted in its new size with the old line breaks.
        self.refresh()

    def get_line(self, line_index: int) -> Text:
        """A line as shown. Textual expands the tabs later."""
        parts = self.document.get_line(line_index).split("\t")
        return Text("\t".join(map(safe_characters, parts)), end="", no_wrap=True)

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.text != self._given:
            self._given = self.text
            self.post_message(Edited(self.text))

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self._line == 0:
            self.screen.focus_previous()
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self._line == self.wrapped_document.height - 1:
            self.screen.focus_next()
        else:
            super().action_cursor_down(select)

    def action_cursor_page_up(self) -> None:
        raise SkipAction

    def action_cursor_page_down(self) -> None:
        raise SkipAction

    @property
    def _line(self) -> int:
        return self.wrapped_document.location_to_offset(self.cursor_location).y


class OpeningEditor(Widget, can_focus=True):
    """Summarizes a value; Enter, space or a click opens a screen to change it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "open", show=False)]
    FOCUS_KEYS: ClassVar[str] = "Enter opens"
    DEFAULT_CSS = "OpeningEditor { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, typed: Typed) -> None:
        super().__init__()
        self.typed = typed
        self.missing = ""
        """The text to show in place of the value until it is changed; "" shows the value."""

    @abstractmethod
    def summary(self) -> str:
        """A short description of the value, safe to show."""

    @abstractmethod
    async def ask(self, search_text: str) -> Typed:
        """Let the user change the value; return the new value, or the old one if cancelled.

        ``search_text`` is the initial search text of a list.
        """

    def hint(self) -> Cell | None:
        """A remark about the value; None if there is none."""
        return None

    def render(self) -> Content:
        return Content.assemble(
            toned("▾ ", "accent" if self.has_focus else "muted"),
            toned(
                self.missing or self.summary(), "accent" if self.has_focus else "plain", bold=True
            ),
            toned("  Enter opens" if self.has_focus else "", "muted"),
        )

    def on_click(self) -> None:
        self.action_open()

    @work(group=OPENING, exclusive=True)
    async def action_open(self, search_text: str = "") -> None:
        typed = await self.ask(search_text)
        if typed != self.typed:
            self.typed, self.missing = typed, ""
            self.refresh()
            self.post_message(Edited(typed))


class SearchingEditor(OpeningEditor):
    """An editor that also opens when a letter is typed, with the letter as search text."""

    def on_key(self, event: events.Key) -> None:
        """Open the list on a letter; further letters wait for the list in the input queue."""
        if event.character and event.character.isalnum():
            event.stop()
            self.action_open(event.character)
