"""The terminal: its driver, its modes, and the minimum size."""

from __future__ import annotations

import contextlib
import os
import re
import select
import selectors
import termios
from codecs import getincrementaldecoder
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual import constants, events
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

from gwtui.ui.terminal.textual_private import PromptParser

if TYPE_CHECKING:
    from gwtui.ui.terminal.app import TerminalApp

_RESET = (
    "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse
    "\x1b[?2004l\x1b[?2048l\x1b[?1004l"  # paste, resize and focus events
    "\x1b[<u\x1b[?1049l\x1b[?25h"  # keyboard protocol, alternate screen, cursor
)
_STANDARD_OUTPUT = 1

SMALLEST = Size(60, 15)
"""The minimum size for the dashboard."""
_ESCAPE = "\x1b"
_GLANCE = 0.1
"""Seconds between two checks of the stop flag while reading."""
_READ = 4096
_LONE_ESCAPE = 0.025
"""Seconds after which a lone escape character counts as the Escape key.

A terminal writes the sequence of a key at once, and SSH sends it in one packet. If a sequence is
split nevertheless, its rest is still recognized within ``ESCDELAY`` (0.1 s by default).
"""
_REST = re.compile(r"\[[0-9;?]*[@-~]|O[A-Za-z]")
"""The rest of a key's sequence after the escape character."""
_CURSOR = re.compile(r"\x1b\[\d+;\d+H")
"""Moves the cursor. Textual sends this after every update, even after an empty one."""


class PromptDriver(LinuxDriver):
    """Driver that recognizes the Escape key at once; Textual's own checks only every 0.1 s.

    It sends nothing for an update that changes no cell.
    """

    def __init__(self, app: TerminalApp, **options: Any) -> None:
        super().__init__(app, **options)
        self._before_key = app.before_key

    def write(self, data: str) -> None:
        if _CURSOR.fullmatch(data) is None:
            super().write(data)

    def process_message(self, message: Message) -> None:
        """Deliver a message, and report keys to the app even while it is busy."""
        if isinstance(message, events.Key):
            self._before_key(message.key)
        super().process_message(message)

    def run_input_thread(self) -> None:
        """Read the terminal and deliver the input until the driver stops."""
        parser = PromptParser()
        decode = getincrementaldecoder("utf-8")().decode
        shortened = "ESCDELAY" not in os.environ
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            last, torn_until = False, 0.0
            while not last:
                last = self.exit_event.is_set()
                due = parser.due
                wait = _GLANCE if due is None else min(_GLANCE, max(0.0, due - monotonic()))
                if selector.select(wait):
                    text = decode(os.read(self.fileno, _READ), final=last)
                    if due is None and monotonic() < torn_until and _REST.match(text):
                        text = _ESCAPE + text
                    for event in parser.feed(text) if text else ():
                        self.process_message(event)
                    if shortened and due is None and text == _ESCAPE:
                        parser.due = monotonic() + _LONE_ESCAPE
                        torn_until = monotonic() + constants.ESCAPE_DELAY
                for event in parser.tick():
                    self.process_message(event)
        for _ in parser.feed(""):
            pass  # drop an incomplete sequence


def is_too_small(size: Size) -> bool:
    """Return whether the size is too small for the dashboard."""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


def fills_erased(term: str) -> bool:
    """Return whether this terminal type erases with the current background colour (terminfo bce).

    False if terminfo has no entry for it.
    """
    try:
        import curses  # noqa: PLC0415 - not before the first rows

        curses.setupterm(term, _STANDARD_OUTPUT)  # Textual's stdout has no descriptor
        return curses.tigetflag("bce") == 1
    except (ImportError, curses.error):
        return False


def restore_terminal(driver: Driver | None) -> None:
    """Restore the modes of the terminal without waiting.

    Can be called from any thread. If the terminal accepts no bytes now, only its line settings are
    restored.
    """
    descriptor = getattr(driver, "fileno", None)
    before = getattr(driver, "attrs_before", None)
    if not isinstance(descriptor, int) or before is None:
        return
    with contextlib.suppress(OSError, termios.error):
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
    with contextlib.suppress(OSError):
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, _RESET.encode("ascii"))
