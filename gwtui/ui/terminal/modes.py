"""Terminal size and modes."""

from __future__ import annotations

import contextlib
import os
import select
import termios
from typing import TYPE_CHECKING

from textual.geometry import Size

if TYPE_CHECKING:
    from textual.driver import Driver


MOUSE_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"
_RESET = (
    MOUSE_OFF + "\x1b[?2004l\x1b[?2048l\x1b[?1004l"  # paste, resize and focus events
    "\x1b[<u\x1b[?1049l\x1b[?25h"  # keyboard protocol, alternate screen, cursor
)


_STANDARD_OUTPUT = 1

SMALLEST = Size(60, 15)
"""The minimum size for the dashboard."""


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


def give_back(driver: Driver | None) -> None:
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
