"""What every screen and every notice passes on its way to the terminal, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from rich.console import RenderableType
from rich.segment import Segment, Segments
from textual import events
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App, ScreenStackError
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.errors import NoWidget
from textual.filter import LineFilter
from textual.notifications import Notify, SeverityLevel
from textual.screen import Screen
from textual.worker import WorkerFailed

from gwtui.domain.failures import crash_report
from gwtui.domain.safe_text import safe_text
from gwtui.ui.garbage import Garbage
from gwtui.ui.line_filter import ControlCharacterFilter
from gwtui.ui.notices import Notice
from gwtui.ui.screen_memory import Difference, ScreenMemory

_LAST_LOOK = ControlCharacterFilter()


class GuardedApp(App[int], inherit_bindings=False):
    """An app that shows no markup from data, no control character and no value in a crash.

    It sends the terminal only what that does not show already.
    """

    crash: str | None = None
    """The report of the failure that ended the program, None while there was none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._on_terminal = ScreenMemory()
        self.garbage = Garbage()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send only what the terminal does not show already."""
        if self._displays and isinstance(renderable, LayoutUpdate | ChopsUpdate):
            colours = self.console._color_system
            text = self._on_terminal.difference(renderable, self.size, colours)
            if not text:
                return
            super()._display(screen, cast("RenderableType", Difference(text)))
        else:
            super()._display(screen, renderable)

    @property
    def _displays(self) -> bool:
        """Whether an update goes to a terminal now."""
        running = self._running and not self._closed and not self._batch_count
        return running and not self.is_headless and self._driver is not None

    def redraw(self) -> None:
        """Send the whole screen: something else may have written on it."""
        self._on_terminal.forget()
        self.screen.refresh()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Every line passes the control character filter on its way to the terminal."""
        return [*super().get_line_filters(), _LAST_LOOK]

    async def on_event(self, event: events.Event) -> None:
        """A click on what is just being taken away hits nothing: Textual finds it still painted."""
        if isinstance(event, events.InputEvent):
            self.garbage.touched()
        if not (isinstance(event, events.MouseEvent) and self._hits_what_goes(event)):
            await super().on_event(event)

    def _hits_what_goes(self, event: events.MouseEvent) -> bool:
        try:
            widget, _ = self.screen.get_widget_at(event.x, event.y)
        except (NoWidget, ScreenStackError):
            return False
        return not widget.is_attached

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002 - whatever is asked for
    ) -> None:
        """A notice is text from anywhere: never markup, control characters made visible."""
        notice = Notice(
            safe_text(message, 300, newlines=True),
            safe_text(title, 80),
            severity,
            self.NOTIFICATION_TIMEOUT if timeout is None else timeout,
            markup=False,
        )
        self.post_message(Notify(notice))

    def say(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """A short notice."""
        self.notify(message, severity=severity)

    def _handle_exception(self, error: Exception) -> None:
        """A screen that is being opened while the program ends finds itself empty: no failure."""
        if not (self._exit and isinstance(error, NoMatches | NoScreen)):
            super()._handle_exception(error)

    def panic(self, *_renderables: Any) -> None:
        """End the program; what an error has to show of itself may hold values."""
        self._fatal_error()

    def _fatal_error(self) -> None:
        """Print where it happened; Textual's own report prints values, tokens among them."""
        if self.crash is not None:
            return
        self.bell()
        error: BaseException | None = self._exception
        if isinstance(error, WorkerFailed):
            error = error.error  # only this one knows where it happened
        self.crash = crash_report(error) if error is not None else "gwtui stopped.\n"
        self._exit_renderables.append(Segments([Segment(self.crash)]))
        self._close_messages_no_wait()
