"""The base of all dialogs, and the small dialogs: question, wait, terminal too small."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar, Self, TypeVar

from rich.segment import Segment
from textual import events, on, work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Button, Static

from gwtui.local.caught_errors import caught_errors
from gwtui.ui.commands import with_keys
from gwtui.ui.input_queue import OPENING
from gwtui.ui.terminal.driver import SMALLEST
from gwtui.ui.text import toned
from gwtui.ui.widgets.lifetime import RunsWhileOpen, TerminalSized

Result = TypeVar("Result")

_ROOMY = [(30, "-roomy")]
"""Terminal height in lines from which dialogs have padding, with the CSS class for it."""
_WIDTH_PERCENT = 90
"""Maximum width of a dialog, in percent of the terminal width."""
_FRAME = 10
"""Cells that border, padding and scroll bar of a dialog take."""


class Dialog(RunsWhileOpen, ModalScreen[Result], TerminalSized[Result]):
    """A modal screen that returns exactly one result, however many keys arrive at once.

    Textual's ``dismiss`` closes the topmost screen, whichever screen calls it. A second result
    would close the screen below, and a result that comes too early the screen above.

    The screen below stays visible around the dialog. The last line of the terminal shows the keys
    that work in the dialog.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "press", show=False),
        Binding("escape", "leave", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"modal--footer"}
    VERTICAL_BREAKPOINTS = _ROOMY

    _waiting: tuple[Result | None] | None = None
    _painted_footer = ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the screen below, with the footer of the dialog as its last line."""
        lines = super().render_lines(crop)
        width, height = self.outer_size
        if crop.bottom == height:
            style = self.get_component_rich_style("modal--footer")
            self._painted_footer = self.footer
            footer = Strip([Segment(f" {with_keys(self._painted_footer)}", style)])
            lines[-1] = footer.adjust_cell_length(width, style).crop(crop.x, crop.right)
        return lines

    @property
    def hint(self) -> str:
        """The shortcuts that work now, most important first; {form.send} stands for a shortcut."""
        return ""

    @property
    def footer(self) -> str:
        """The last line of the terminal: the hint, plus PgDn if a part can scroll."""
        more = any(long.max_scroll_y > 0 for long in self._long_parts())
        return f"{self.hint} · PgDn shows more" if more else self.hint

    def refresh(
        self,
        *_regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Repaint the whole screen; only changed cells are sent to the terminal.

        If a screen repaints only a region, Textual forgets widgets that still wait to be repainted.
        """
        return super().refresh(repaint=repaint, layout=layout, recompose=recompose)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out without the scroll bar first: lines wrapped beside it could keep it visible."""
        if event.size != self.outer_size:
            for long in self._long_parts():
                long.show_vertical_scrollbar = False
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        for long in self._long_parts():
            if long.show_vertical_scrollbar:  # a hidden scroll bar does not follow
                long.vertical_scrollbar.position = long.scroll_y
        if self.footer != self._painted_footer:
            self.refresh()

    def _long_parts(self) -> Iterable[VerticalScroll]:
        return self.query(".long").results(VerticalScroll)

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog with ``result``, as soon as it is mounted and the topmost screen.

        Only the first result counts. A dialog cannot be closed while it is being composed, because
        its widgets do not exist yet.
        """
        stack = self.app.screen_stack
        if self not in stack:
            return AwaitComplete()
        if stack[-1] is self and self.is_mounted:
            return super().dismiss(result if self._waiting is None else self._waiting[0])
        if self._waiting is None:
            self._waiting = (result,)
        return AwaitComplete()

    async def on_event(self, event: events.Event) -> None:
        """Handle an event and contain errors; a dialog that cannot be composed closes."""
        try:
            await super().on_event(event)
        except Exception as error:
            if not self.is_attached:
                return  # gwtui is quitting and has already removed the widgets
            caught_errors.add(type(self).__name__, error)
            if isinstance(event, events.Compose):
                self.dismiss()

    def action_press(self) -> None:
        if isinstance(self.focused, Button):
            self.focused.press()

    def action_page(self, step: int) -> None:
        for long in self._long_parts():
            long.scroll_relative(y=step * max(1, long.size.height - 1), animate=False)

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        if self._waiting is not None:
            self.dismiss()


def dialog_room(screen: Dialog[Any]) -> int:
    """Return how many cells a line can have in a dialog of maximum width."""
    return screen.app.size.width * _WIDTH_PERCENT // 100 - _FRAME


def buttons(**labels: str) -> Horizontal:
    """Return a row of buttons with these labels, by id; an empty label drops the button."""
    return Horizontal(
        *(Button(Content(text), id=name, compact=True) for name, text in labels.items() if text),
        classes="buttons",
    )


# The small ones -----------------------------------------------------------------------------------

_LONGEST = 300


class Question(Dialog[bool]):
    """Asks a question. Returns True for the deliberate answer, else False.

    The safe answer has the focus and is also given by Escape. If ``deliberate`` is empty, there is
    only the safe button. All texts must have passed ``safe_text``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n,q", "leave", show=False, id="question.no"),
        Binding("y", "go", show=False, id="question.yes"),
        Binding("left,up", "app.focus_previous", show=False, id="question.previous"),
        Binding("right,down", "app.focus_next", show=False, id="question.next"),
    ]
    AUTO_FOCUS = "#safe"

    def __init__(
        self, question: str, text: str, *, safe: str = "Close", deliberate: str = ""
    ) -> None:
        super().__init__()
        self._question = question
        self._text = text
        self._safe = safe
        self._deliberate = deliberate

    @property
    def hint(self) -> str:
        if not self._deliberate:
            return "{question.no} closes"
        yes, no = f"{{question.yes}}: {self._deliberate}", f"{{question.no}}: {self._safe}"
        return f"{yes} · {no} · Tab moves · Enter presses"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(toned(self._question, "plain", bold=True), classes="title")
            yield Static(toned(self._text, "muted"))
            yield buttons(safe=self._safe, deliberate=self._deliberate)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "deliberate")

    def action_leave(self) -> None:
        self.dismiss(False)

    def action_go(self) -> None:
        if self._deliberate:
            self.dismiss(True)


class AskScreen(Question):
    """A question or a notice: a title and one text."""


class Editing(Dialog[Result]):
    """A dialog that may hold unsaved changes, and asks for confirmation before they are lost."""

    @property
    def unsaved(self) -> bool:
        """Whether leaving now would lose changes."""
        raise NotImplementedError

    @property
    def loss(self) -> str:
        """What quitting gwtui now would lose, for the warning before quitting."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Close the dialog; ask for confirmation if changes would be lost."""
        if self.unsaved:
            self._ask()
        else:
            self.dismiss(None)

    @work(group=OPENING, exclusive=True)
    async def _ask(self) -> None:
        question = AskScreen(
            "Discard your changes?",
            "They have not been sent.",
            safe="Keep editing",
            deliberate="Discard",
        )
        if await self.app.push_screen_wait(question):
            self.dismiss(None)


class WaitScreen(Question):
    """Shows what gwtui is waiting for. Closes when ``until`` is done or the user stops waiting.

    ``enough`` is the label of the button that stops waiting.
    """

    hint = "Esc stops waiting"

    def __init__(
        self, title: str, text: str, until: Callable[[], Awaitable[object]], *, enough: str
    ) -> None:
        super().__init__(title, text, safe=enough)
        self._until = until

    def on_mount(self) -> None:
        self.run_worker(self._wait())

    async def _wait(self) -> None:
        await self._until()
        self.dismiss(False)


class TooSmallScreen(Dialog[None]):
    """Covers the dashboard while the terminal is too small; everything below keeps its state."""

    covers_all = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "app.quit", show=False)]

    def compose(self) -> ComposeResult:
        yield Static(
            "The terminal is too small for gwtui.\n"
            f"It needs {SMALLEST.width} columns and {SMALLEST.height} lines.\n"
            "Everything is kept; q quits.",
            markup=False,
        )

    def action_leave(self) -> None:
        """Do nothing: only a larger terminal closes this screen."""
