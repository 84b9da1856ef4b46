"""Giving the terminal back without the help of the program that is stuck."""

from __future__ import annotations

import contextlib
import os
import select
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.driver import Driver

_RESET = (
    "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse
    "\x1b[?2004l\x1b[?2048l\x1b[?1004l"  # paste, resize and focus events
    "\x1b[<u\x1b[?1049l\x1b[?25h"  # keyboard protocol, alternate screen, cursor
)


def give_back(driver: Driver | None, last_words: str = "") -> None:
    """Put the modes of the terminal back as they were; never waits.

    ``last_words`` are sent besides. From any thread. A terminal that takes no bytes now keeps its
    own modes, its line settings are put back all the same.
    """
    descriptor = getattr(driver, "fileno", None)
    before = getattr(driver, "attrs_before", None)
    if not isinstance(descriptor, int) or before is None:
        return
    with contextlib.suppress(OSError, termios.error):
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
    with contextlib.suppress(OSError):
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, (last_words + _RESET).encode("ascii"))
