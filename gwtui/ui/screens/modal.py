"""The base of all dialogs."""

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
"""From 30 lines on, dialogs get this class, which adds padding."""
_WIDTH_PERCENT = 90
"""Maximum width of a dialog, in percent of the terminal."""
_FRAME = 10
"""Cells for the border, the padding and a scroll bar of a dialog."""


class Dialog(RunsWhileOpen, ModalScreen[Result], TerminalSized[Result]):
    """A modal screen that returns exactly one result, however many keys arrive at once.

    Textual's ``dismiss`` closes the topmost screen, whichever screen calls it: a second result
    would close the screen below, and a result that comes too early would close the screen above.

    A dialog is transparent: the screen below stays visible around it. Its last line is the footer,
    with the keys of the focused widget.
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
        """The screen below, with the footer as the last line."""
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
        """The keys that work now, the most important first; actions as {form.send}."""
        return ""

    @property
    def footer(self) -> str:
        """The last line; it mentions PgDn if there is more to read."""
        more = any(long.max_scroll_y > 0 for long in self._long_parts())
        return f"{self.hint} · PgDn more" if more else self.hint

    def refresh(
        self,
        *_regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Repaint everything; only the difference is sent to the terminal.

        If a screen repaints a region, Textual forgets other widgets that wait to be repainted.
        """
        return super().refresh(repaint=repaint, layout=layout, recompose=recompose)

    def on_mount(self) -> None:
        """Clear notices that could cover a long dialog."""
        if any(self._long_parts()):
            self.clear_notices()

    def clear_notices(self) -> None:
        """Clear notices, except warnings and errors."""
        if isinstance(self.app, TerminalApp):
            self.app.clear_information()

    def on_resize(self, event: events.Resize) -> None:
        """Lay out without the scroll bar first: lines that wrap beside it could keep it there."""
        if event.size != self.outer_size:
            for long in self._long_parts():
                long.show_vertical_scrollbar = False
        self.call_after_refresh(self._refresh_footer)

    def _refresh_footer(self) -> None:
        if self.footer != self._painted_footer:
            self.refresh()

    def _long_parts(self) -> Iterable[VerticalScroll]:
        """The scrolling parts; none once the dialog is closed."""
        return self.query(".long").results(VerticalScroll)

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with this result: now, or once it is mounted and on top.

        The first result counts. A screen that closes while it is being composed would miss its
        widgets.
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
        """Contain an error in one event; a dialog that cannot be composed closes."""
        try:
            await super().on_event(event)
        except Exception as error:
            if not self.is_attached:
                return  # the program ends, and widgets are gone
            caught_errors.add(type(self).__name__, error)
            if isinstance(event, events.Compose):
                self.dismiss()

    def action_press(self) -> None:
        """Press the focused button, as Enter does."""
        if isinstance(self.focused, Button):
            self.focused.press()

    def action_page(self, step: int) -> None:
        """Scroll the long part by a page."""
        for long in self._long_parts():
            long.scroll_relative(y=step * max(1, long.size.height - 1), animate=False)

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        """It is mounted and on top: a result that came earlier closes it now."""
        if self._waiting is not None:
            self.dismiss()


def dialog_room(screen: Dialog[Any]) -> int:
    """Cells of a line in a dialog of maximum width."""
    return screen.app.size.width * _WIDTH_PERCENT // 100 - _FRAME


def buttons(**labels: str) -> Horizontal:
    """The buttons of a dialog, by id; one with an empty label is left out."""
    return Horizontal(
        *(Button(Content(text), id=name, compact=True) for name, text in labels.items() if text),
        classes="buttons",
    )
