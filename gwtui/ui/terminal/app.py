"""Base app: screen updates, line filters, notices and garbage collection."""

from __future__ import annotations

import gc
import logging
import os
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import get_character_cell_size
from rich.console import COLOR_SYSTEMS
from rich.segment import Segment
from textual import events
from textual.app import ScreenStackError
from textual.color import Color
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.errors import NoWidget
from textual.filter import LineFilter
from textual.notifications import Notification, Notify, SeverityLevel
from textual.screen import ModalScreen
from textual.worker import WorkerFailed

from gwtui.domain.safe_text import safe_text
from gwtui.local.caught_errors import caught_errors
from gwtui.ui.terminal.driver import PromptDriver, fills_erased
from gwtui.ui.terminal.screen_diff import ScreenDiff
from gwtui.ui.terminal.textual_private import HookedApp, Piece

_REST_S = 10
"""Seconds without input before a garbage collection."""
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_HARMLESS_FORMAT = frozenset("\u200d\ufe0f")
"""Zero-width joiner and emoji variation selector, which only change the preceding glyph."""
_LEAST = 0.1
"""Minimum seconds for a toast: a Textual timer with a negative delay never ends.

Each screen that opens creates its toasts again, even at the moment they expire.
"""


def _is_dangerous(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Cf":
        return character not in _HARMLESS_FORMAT
    return category in {"Cc", "Cs", "Zl", "Zp"}


class ControlCharacterFilter(LineFilter):
    """Replaces control, surrogate and direction characters that ``safe_text`` missed."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments with a visible mark in place of each dangerous character.

        A dangerous character of zero width is removed, because a mark would widen the line.
        """
        return [self._clean(segment) for segment in segments]

    def _clean(self, segment: Segment) -> Segment:
        text, style, control = segment
        if control or text.isprintable():
            return segment
        cleaned = "".join(
            _REPLACEMENT * get_character_cell_size(character)
            if _is_dangerous(character)
            else character
            for character in text
        )
        return Segment(cleaned, style, None)


_LAST_LOOK = ControlCharacterFilter()
_log = logging.getLogger(__name__)


class Notice(Notification):
    """A notification whose time left is always positive, as Textual's timer requires."""

    @property
    def time_left(self) -> float:
        """Seconds left to show the toast; independent of changes to the wall clock."""
        return min(max(super().time_left, _LEAST), max(self.timeout, _LEAST))

    @property
    def has_expired(self) -> bool:
        return super().time_left <= 0


class TerminalApp(HookedApp, inherit_bindings=False):
    """Base app: no markup, control characters as marks, crash reports without values.

    It sends only the cells that have changed.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._on_terminal = ScreenDiff()
        self._idle_s = _REST_S
        self._leaving = False

    def get_driver_class(self) -> type[Driver]:
        driver = super().get_driver_class()
        return PromptDriver if driver is LinuxDriver else driver

    def outgoing(self, painted: Iterable[Piece]) -> str:
        """Return the output for only the cells that have changed."""
        shown = self.console.color_system
        colours = None if shown is None else COLOR_SYSTEMS[shown]
        return self._on_terminal.difference(painted, self.size, colours)

    def exit(self, *arguments: Any, **options: Any) -> None:
        self._leaving = True
        super().exit(*arguments, **options)

    def detect_terminal(self) -> None:
        """Detect whether the terminal can erase with a background color, which saves bytes."""
        self._on_terminal.erases = fills_erased(os.environ.get("TERM", ""))

    def before_key(self, key: str) -> None:
        """Hook: called for each key that is read from the terminal, before the app handles it.

        Called in the thread that reads the terminal, even while the app is busy.
        """

    def redraw(self) -> None:
        """Send the whole screen, for use after another program wrote to the terminal."""
        self._on_terminal.forget()
        self.screen.refresh()

    def collect_at_rest(self) -> None:
        """Collect garbage ten seconds after the last input; call this once a second.

        A screen and its widgets refer to each other, so that a closed screen stays in memory until
        a full collection, which takes most of a second on a large account.
        """
        self._idle_s += 1
        if self._idle_s == _REST_S:
            gc.collect()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), _LAST_LOOK)

    async def on_event(self, event: events.Event) -> None:
        """Ignore clicks on a widget that is being removed: Textual would still find it."""
        if isinstance(event, events.InputEvent):
            self._idle_s = 0
        if not (isinstance(event, events.MouseEvent) and self._hits_removed_widget(event)):
            await super().on_event(event)

    def _hits_removed_widget(self, event: events.MouseEvent) -> bool:
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
        markup: bool = False,  # noqa: ARG002 - never markup
    ) -> None:
        """Show a notice as plain text, with control characters as visible marks."""
        notice = Notice(
            safe_text(message, 300, newlines=True),
            safe_text(title, 80),
            severity,
            self.NOTIFICATION_TIMEOUT if timeout is None else timeout,
            markup=False,
        )
        self.post_message(Notify(notice))

    def say(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """Show a short notice."""
        self.notify(message, severity=severity)

    def contain_error(self, error: Exception) -> bool:
        """Log an error that does not end the program, and return True; return False for others.

        An error in a worker ends only that worker; an error while a dialog opens closes the dialog.
        Errors during shutdown are ignored, because the widgets are gone then.
        """
        if self._leaving and not isinstance(error, NoMatches | NoScreen):
            _log.error("an error while the program ended", exc_info=error)
        if self._leaving:
            return True
        if isinstance(error, WorkerFailed):
            caught_errors.add("worker", error.error)
            return True
        opening = [screen for screen in self.screen_stack[-1:] if not screen.is_mounted]
        for screen in opening:
            if isinstance(screen, ModalScreen):
                caught_errors.add(f"compose of {type(screen).__name__}", error)
                screen.dismiss()
                return True
        return False
