"""Shutdown by SIGTERM, SIGHUP, a lost terminal, or an unanswered quit key.

The program has two seconds for an orderly exit: it restores the terminal, and waits a moment for
the response to a write in flight before the ledger records it as unknown. It does not wait for a
name lookup or a stalled terminal. The ledger has the intent on disk before a request is sent, so a
forced exit loses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

ENDING = (signal.SIGTERM, signal.SIGHUP)
PATIENCE = 1.6
"""Seconds for the orderly exit."""
REACTION = 3.0
"""Seconds in which the program must react to a quit key."""
CLOSING = 10.0
"""Seconds after a requested quit until the process is forced to exit."""
_LAST_WORDS = 0.2
"""Seconds for the ledger entries of a forced exit, because the disk may be slow."""


class Shutdown:
    """Waits for a shutdown request, then calls ``leave`` once in the event loop with the status.

    If the process still runs ``PATIENCE`` seconds later, other threads call ``write_down`` to log
    the writes in flight, and ``restore_terminal``; then the process ends, within ``_LAST_WORDS``
    seconds.
    """

    def __init__(
        self,
        leave: Callable[[int], None],
        restore_terminal: Callable[[], None],
        write_down: Callable[[], None] = lambda: None,
    ) -> None:
        self._leave = leave
        self._give_back = restore_terminal
        self._write_down = write_down
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._due: threading.Timer | None = None
        self.status: int | None = None
        """The requested exit status; None without a request."""

    def watch(self, *, terminal: bool) -> None:
        """Start watching signals, and the terminal if there is one; needs a running event loop.

        ``terminal`` tells whether there is one.
        """
        self._loop = asyncio.get_running_loop()
        for number in ENDING:
            # Only the main thread can handle signals. The loop's own handlers would wait for a
            # loop that may be blocked by a stalled terminal.
            with contextlib.suppress(ValueError):
                self._before[number] = signal.signal(number, self._on_signal)
        if terminal and sys.__stdin__ is not None:
            threading.Thread(
                target=self._watch_terminal, args=(sys.__stdin__.fileno(),), daemon=True
            ).start()

    def unwatch(self) -> None:
        """Restore the signal handlers; an earlier shutdown request stays valid."""
        self._loop = None
        self.clear_deadline()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def finish(self) -> None:
        """Exit at once if a shutdown was requested: the interpreter's own exit may be too slow."""
        if self.status is not None:
            logging.shutdown()
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(self.status)

    def set_deadline(self, seconds: float) -> None:
        """Exit with status 0 in this many seconds, unless the deadline is cleared before.

        Replaces an earlier deadline. Can be called from any thread.
        """
        self.clear_deadline()
        self._due = threading.Timer(seconds, self.request_exit, (0,))
        self._due.daemon = True
        self._due.start()

    def clear_deadline(self) -> None:
        """Cancel the deadline; does nothing without one."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def request_exit(self, status: int) -> None:
        """Request an exit with this status; only the first request counts.

        Can be called from any thread and from a signal handler.
        """
        loop = self._loop
        if loop is None or self.status is not None:
            return
        self.status = status
        deadline = threading.Timer(PATIENCE, self._end, (status,))
        deadline.daemon = True
        deadline.start()
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._leave, status)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.request_exit(128 + number)

    def _watch_terminal(self, descriptor: int) -> None:
        watched = select.poll()
        watched.register(descriptor, 0)  # POLLHUP is always reported
        with contextlib.suppress(OSError):
            for _, event in watched.poll():
                if event & select.POLLHUP:
                    self.request_exit(128 + signal.SIGHUP)

    def _end(self, status: int) -> None:
        writing = threading.Thread(target=self._write, daemon=True)
        writing.start()
        writing.join(_LAST_WORDS)
        with contextlib.suppress(Exception):
            self._give_back()
        os._exit(status)

    def _write(self) -> None:
        with contextlib.suppress(Exception):
            self._write_down()
