"""The driver of the terminal: a prompt Escape key, and nothing read behind a key that quits."""

from __future__ import annotations

import os
import re
import selectors
import signal
from codecs import getincrementaldecoder
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual import constants, events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from gwtui.ui.terminal.modes import MOUSE_OFF
from gwtui.ui.terminal.textual_private import PromptParser

if TYPE_CHECKING:
    from gwtui.ui.terminal.app import TerminalApp

_ESCAPE = "\x1b"
_GLANCE = 0.1
"""Seconds between two looks at whether the terminal is to be read any longer."""
_READ = 4096
_LONE_ESCAPE = 0.025
"""Seconds after which an escape character that came all by itself was the key of that name.

A terminal writes the sequence of a key in one piece, and SSH sends it in one packet. Only what
lost its head in a longer text is waited for longer: as ``ESCDELAY`` says, or 0.1 s. For
that long the rest of a sequence that came apart is still taken for its key, not for letters.
"""
_REST = re.compile(r"\[[0-9;?]*[@-~]|O[A-Za-z]")
"""What follows the escape character in the sequence of a key."""
LONGEST_HANDLING = 2.0
"""Seconds that reading waits until a key that may end the program is handled."""


class PromptDriver(LinuxDriver):
    """A driver that takes the Escape key for one soon: Textual's own looks every 0.1 s only.

    It reads nothing behind a key that may end the program until the app has handled that key. If
    the program ends, what was typed behind it is for the shell.
    """

    leaving_keys: frozenset[str] = frozenset()
    """Keys that may end the program; those of one character count."""

    def __init__(self, app: TerminalApp, **options: Any) -> None:
        super().__init__(app, **options)
        self._key_read = app.key_read
        self._handled = Event()
        self._handled.set()
        self._left = False

    def key_handled(self) -> None:
        """The app has handled what was handed on: read on."""
        self._handled.set()

    def leave_the_rest(self) -> None:
        """Read no more, if nothing was read behind the key that ends the program."""
        if not self._handled.is_set():
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
            self.write(MOUSE_OFF)
            self.flush()
            # Textual would discard what was typed: it does so when it ends the reading itself.
            self.exit_event.set()
            self._left = True
            self._handled.set()

    def _typed(self, selector: selectors.BaseSelector) -> bytes:
        """What was typed; a key that may end the program comes alone."""
        first = os.read(self.fileno, 1)
        alone = first.decode("ascii", "replace") in self.leaving_keys or not selector.select(0)
        return first if alone else first + os.read(self.fileno, _READ)

    def process_message(self, message: Message) -> None:
        """Hand on what was typed; the app sees its keys here, even if it is too busy for them."""
        if isinstance(message, events.Key):
            self._key_read(message.key)
        super().process_message(message)

    def _hand_on(self, parser: PromptParser, text: str) -> None:
        for event in parser.feed(text) if text else ():
            if isinstance(event, events.Key) and text in self.leaving_keys:
                self._handled.clear()
            self.process_message(event)

    def run_input_thread(self) -> None:
        """Read the terminal until the end, and hand on what was typed."""
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
                    text = decode(self._typed(selector), final=last)
                    if due is None and monotonic() < torn_until and _REST.match(text):
                        text = _ESCAPE + text
                    self._hand_on(parser, text)
                    if shortened and due is None and text == _ESCAPE:
                        parser.due = monotonic() + _LONE_ESCAPE
                        torn_until = monotonic() + constants.ESCAPE_DELAY
                for event in parser.tick():
                    self.process_message(event)
                if not self._handled.wait(LONGEST_HANDLING):
                    self._handled.set()
                if self._left:
                    break
        for _ in parser.feed(""):
            pass  # what was half typed at the end is dropped
