"""Signals that end the program: the terminal must be restored first."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

_ENDING = (signal.SIGTERM, signal.SIGHUP)


def restore_on_signals(leave: Callable[[int], None]) -> Callable[[], None]:
    """Call ``leave`` with the exit status on SIGTERM and SIGHUP; returns the way to undo it."""
    loop = asyncio.get_running_loop()
    hooked: list[signal.Signals] = []
    for number in _ENDING:
        # Not every loop can: one outside the main thread gets no signals at all.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, leave, 128 + number)
            hooked.append(number)

    def unhook() -> None:
        for number in hooked:
            loop.remove_signal_handler(number)

    return unhook
