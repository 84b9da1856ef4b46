"""Terminal driver that recognizes the Escape key without delay."""

from __future__ import annotations

import os
import re
import selectors
from codecs import getincrementaldecoder
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual import constants, events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from gwtui.ui.terminal.textual_private import PromptParser

if TYPE_CHECKING:
    from gwtui.ui.terminal.app import TerminalApp

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
        self._key_read = app.key_read

    def write(self, data: str) -> None:
        if _CURSOR.fullmatch(data) is None:
            super().write(data)

    def process_message(self, message: Message) -> None:
        """Deliver a message, and report keys to the app even while it is busy."""
        if isinstance(message, events.Key):
            self._key_read(message.key)
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
