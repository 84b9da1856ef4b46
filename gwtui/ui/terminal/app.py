"""The app's border to the terminal: filters of lines, notices, what is sent, mouse events."""

from __future__ import annotations

import gc
import logging
import os
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

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
from gwtui.ui.terminal.driver import PromptDriver
from gwtui.ui.terminal.modes import TerminalTitle, fills_erased
from gwtui.ui.terminal.screen_diff import ScreenDiff
from gwtui.ui.terminal.textual_private import HookedApp, Piece, driver_of

_REST_S = 10.0
"""Seconds without input before garbage is collected."""
_LONGEST_S = 120.0
"""Seconds of use after which it is collected without such a rest."""
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_HARMLESS_FORMAT = frozenset("\u200d\ufe0f")
"""Joiner and emoji presentation: they only shape the glyph before them."""
_LEAST = 0.1
"""Seconds. Textual's timers never end with a negative delay: they spin and the screen stands still.

A toast is made anew on each screen that opens, also in the very moment in which its time is over.
"""


def _is_dangerous(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Cf":
        return character not in _HARMLESS_FORMAT
    return category in {"Cc", "Cs", "Zl", "Zp"}


class ControlCharacterFilter(LineFilter):
    """Replaces control, surrogate and direction characters that slipped past ``safe_text``."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The same segments, with each dangerous character replaced by a visible mark.

        Most of these characters were counted for nothing, and each mark takes a cell: what a line
        grows by is taken from the blanks at its end, so that it pushes nothing off the screen.
        """
        if all(segment.text.isascii() and segment.text.isprintable() for segment in segments):
            return segments
        cleaned = [self._clean(segment) for segment in segments]
        excess = Segment.get_line_length(cleaned) - Segment.get_line_length(segments)
        return _shortened(cleaned, excess) if excess > 0 else cleaned

    def _clean(self, segment: Segment) -> Segment:
        text, style, control = segment
        if control or text.isprintable():
            return segment
        cleaned = "".join(
            _REPLACEMENT if _is_dangerous(character) else character for character in text
        )
        return Segment(cleaned, style, None)


def _shortened(segments: list[Segment], cells: int) -> list[Segment]:
    """The segments with up to so many blanks less at the end."""
    kept = list(segments)
    for place in range(len(kept) - 1, -1, -1):
        text, style, control = kept[place]
        blanks = len(text) - len(text.rstrip(" "))
        taken = min(blanks, cells)
        kept[place] = Segment(text[: len(text) - taken], style, control)
        cells -= taken
        if not cells or taken < len(text):
            break
    return kept


_LAST_LOOK = ControlCharacterFilter()
_log = logging.getLogger(__name__)


class Notice(Notification):
    """A notification whose delay is always one that a timer can wait for."""

    @property
    def time_left(self) -> float:
        """Seconds that a toast made now is shown; a wall clock that was set changes little."""
        return min(max(super().time_left, _LEAST), max(self.timeout, _LEAST))

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return super().time_left <= 0


class Garbage:
    """Collects closed screens once nobody has used the keyboard or mouse for ten seconds.

    A screen and its widgets refer to each other, so that a closed one stays in memory until the
    collector goes through every object. On a large account that takes most of a second: it waits
    for a rest, for two minutes at most.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._touched_at: float | None = None
        self._used_since: float | None = None

    def touched(self) -> None:
        """Somebody pressed a key or moved the mouse."""
        self._touched_at = self._monotonic()
        if self._used_since is None:
            self._used_since = self._touched_at

    def tick(self) -> bool:
        """Collect at the first call of a rest; whether it did. Call it once a second."""
        if self._touched_at is None or self._used_since is None:
            return False
        now = self._monotonic()
        if now - self._touched_at < _REST_S and now - self._used_since < _LONGEST_S:
            return False
        self._touched_at = self._used_since = None
        gc.collect()
        return True


class TerminalApp(HookedApp, inherit_bindings=False):
    """An app that shows no markup from data, no control character and no value in a crash.

    It sends the terminal only what that does not show already.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._on_terminal = ScreenDiff()
        self.title_on_terminal = TerminalTitle()
        self.garbage = Garbage()
        self._notices: list[Notice] = []
        self._leaving = False

    def get_driver_class(self) -> type[Driver]:
        """The driver of this platform."""
        found = super().get_driver_class()
        return PromptDriver if found is LinuxDriver else found

    def outgoing(self, painted: Iterable[Piece]) -> str:
        """Send only what the terminal does not show already."""
        shown = self.console.color_system
        colours = None if shown is None else COLOR_SYSTEMS[shown]
        return self._on_terminal.difference(painted, self.size, colours)

    def exit(self, *arguments: Any, **options: Any) -> None:
        """End the program."""
        self._leaving = True
        super().exit(*arguments, **options)

    def learn_terminal(self) -> None:
        """Learn from its description what the terminal can do with fewer bytes."""
        self._on_terminal.erases = fills_erased(os.environ.get("TERM", ""))

    def set_terminal_title(self, text: str) -> None:
        """Show a text in the terminal's title; an empty text gives the title back."""
        self.title_on_terminal.show(driver_of(self), text)

    def key_read(self, key: str) -> None:
        """Hook: a key was typed. Called in the thread that reads the terminal."""

    def redraw(self) -> None:
        """Send the whole screen: something else may have written on it."""
        self._on_terminal.forget()
        self.screen.refresh()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Every line passes the control character filter on its way to the terminal."""
        return (*super().get_line_filters(), _LAST_LOOK)

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
        self._notices = [one for one in self._notices if not one.has_expired]
        self._notices.append(notice)
        self.post_message(Notify(notice))

    def clear_notifications(self) -> None:
        """Take every notice away."""
        self._notices.clear()
        super().clear_notifications()

    def clear_information(self) -> None:
        """Take every notice away that is neither a warning nor an error."""
        kept = [one for one in self._notices if one.severity != "information"]
        self.clear_notifications()
        self._notices = kept
        for notice in kept:
            self.post_message(Notify(notice))

    def say(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """A short notice."""
        self.notify(message, severity=severity)

    def survives(self, error: Exception) -> bool:
        """Whether the program goes on after an error.

        An error in a worker costs its work alone, one in a dialog that is opening closes it.
        Nothing fails while the program ends: what is begun then finds everything closed.
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
