"""The bases of all dialogs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self, TypeVar

from rich.segment import Segment
from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Button

from gwtui.local.caught_errors import caught_errors
from gwtui.ui.commands import with_keys
from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.widgets.lifetime import RunsWhileOpen, TerminalSized

Result = TypeVar("Result")

_ROOMY = [(30, "-roomy")]
"""From how many lines on dialogs have air around what they say, and the class that gives it."""
_WIDTH_PERCENT = 90
"""Of the terminal, that a dialog takes at most."""
_FRAME = 10
"""Cells of the border, the padding and a scrollbar of a dialog."""


class Dialog(RunsWhileOpen, ModalScreen[Result], TerminalSized[Result]):
    """Gives its answer once, whatever comes in one burst of keys and whatever stands above it.

    Textual takes the topmost screen away for each ``dismiss``, whichever screen asked for it: a
    second answer would close what is beneath, and one that comes while another screen stands above
    would close that one.

    It is transparent: what is beneath stays around it. A screen that shows a secret masks it while
    another one covers it. The last line is the footer: the keys of what has the focus.

    A part with the class ``long`` takes what the rest of its dialog leaves: title and buttons are
    in sight.
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
        """What is beneath, and the footer as the last line."""
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
        """Which keys do what now, the most important first; actions as {form.send}."""
        return ""

    @property
    def footer(self) -> str:
        """The last line; it says how to read on where there is more than is in sight."""
        more = any(long.max_scroll_y > 0 for long in self._long_parts())
        return f"{self.hint} · PgDn more" if more else self.hint

    def refresh(
        self,
        *_regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Repaint it as a whole; what is sent is the difference.

        Where a screen repaints a region, Textual forgets the widgets that are still to be painted.
        """
        return super().refresh(repaint=repaint, layout=layout, recompose=recompose)

    def on_mount(self) -> None:
        """No notice stands on what may take the whole height."""
        if any(self._long_parts()):
            self.clear_notices()

    def clear_notices(self) -> None:
        """Take away the notices that would cover this; warnings and errors stay."""
        if isinstance(self.app, TerminalApp):
            self.app.clear_information()

    def on_resize(self) -> None:
        """The footer depends on whether everything fits."""
        self.call_after_refresh(self._refresh_footer)

    def _refresh_footer(self) -> None:
        if self.footer != self._painted_footer:
            self.refresh()

    def _long_parts(self) -> Iterable[VerticalScroll]:
        """None once it was answered."""
        return self.query(".long").results(VerticalScroll)

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with this result: now, or once it is open and nothing stands above.

        The first result counts. A screen that is closed while it is being built would find itself
        without its parts.
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
        """An error costs what it happened in; a dialog that cannot be made closes."""
        try:
            await super().on_event(event)
        except Exception as error:
            if not self.is_attached:
                return  # the program ends: nothing more is made, and so not found
            caught_errors.add(type(self).__name__, error)
            if isinstance(event, events.Compose):
                self.dismiss()

    def action_press(self) -> None:
        """Press the button that has the focus, as Enter does."""
        if isinstance(self.focused, Button):
            self.focused.press()

    def action_page(self, step: int) -> None:
        """Read on."""
        for long in self._long_parts():
            long.scroll_relative(y=step * max(1, long.size.height - 1), animate=False)

    def action_leave(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        """It is open, and nothing stands above: what was answered meanwhile holds."""
        if self._waiting is not None:
            self.dismiss()


def dialog_room(screen: Dialog[Any]) -> int:
    """Cells of a line in a dialog that is as wide as it may be, beside a scrollbar."""
    return screen.app.size.width * _WIDTH_PERCENT // 100 - _FRAME


def buttons(**labels: str) -> Horizontal:
    """The buttons of a dialog by id; one without a label is left out."""
    return Horizontal(
        *(Button(Content(text), id=name, compact=True) for name, text in labels.items() if text),
        classes="buttons",
    )
