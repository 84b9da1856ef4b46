"""Ending on demand: SIGTERM, SIGHUP, a terminal that is gone, a quit that nothing reacts to.

The program has two seconds. It uses them to close in order: the terminal is restored, a write
under way gets a moment for its answer and then stands in the ledger as unknown. What holds that
up, such as a name lookup or a stalled terminal, is not waited for: the ledger's intent is on the
disk since before the request left, so that nothing is lost by ending hard.
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
"""Seconds for the orderly end."""
REACTION = 3.0
"""Seconds in which the program has to begin to handle the key that quits."""
CLOSING = 10.0
"""Seconds for the end that a person asked for: everything is closed by then, or let go."""
_LAST_WORDS = 0.2
"""Seconds for what is written down when the end was not orderly; the disk may be slow, too."""


class Shutdown:
    """Watches for the demand to end; then calls ``leave`` once in the event loop with the status.

    When the process still runs ``PATIENCE`` seconds later, ``write_down`` is called to say what is
    known of writes under way, and ``give_back`` to restore the terminal, both from other threads;
    then the process ends, within ``_LAST_WORDS`` seconds whatever they do.
    """

    def __init__(
        self,
        leave: Callable[[int], None],
        give_back: Callable[[], None],
        write_down: Callable[[], None] = lambda: None,
    ) -> None:
        self._leave = leave
        self._give_back = give_back
        self._write_down = write_down
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._due: threading.Timer | None = None
        self.status: int | None = None
        """The exit status that was demanded; None while nobody demands an end."""

    def watch(self, *, terminal: bool) -> None:
        """Begin; needs a running event loop. ``terminal`` is whether there is one to lose."""
        self._loop = asyncio.get_running_loop()
        for number in ENDING:
            # Outside the main thread there are no signals at all. The loop's own handlers would
            # not do: they wait for a loop that may wait for a stalled terminal.
            with contextlib.suppress(ValueError):
                self._before[number] = signal.signal(number, self._on_signal)
        if terminal and sys.__stdin__ is not None:
            threading.Thread(
                target=self._watch_terminal, args=(sys.__stdin__.fileno(),), daemon=True
            ).start()

    def unwatch(self) -> None:
        """Give the signals back. A demand that was made stays one."""
        self._loop = None
        self.expect_nothing()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def finish(self) -> None:
        """At the very end: leave the process at once when that was demanded, else do nothing.

        Everything is closed by now, and taking the interpreter down may take longer than there is
        time.
        """
        if self.status is not None:
            logging.shutdown()
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(self.status)

    def expect_end(self, seconds: float) -> None:
        """Demand the end with status 0 in so many seconds; from any thread."""
        self.expect_nothing()
        self._due = threading.Timer(seconds, self.demand, (0,))
        self._due.daemon = True
        self._due.start()

    def expect_nothing(self) -> None:
        """Take the last ``expect_end`` back."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def demand(self, status: int) -> None:
        """End with this exit status; from any thread, and from a signal's handler."""
        loop = self._loop
        if loop is None or self.status is not None:
            return
        self.status = status
        deadline = threading.Timer(PATIENCE, self._end, (status,))
        deadline.daemon = True
        deadline.start()
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(self._leave, status)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.demand(128 + number)

    def _watch_terminal(self, descriptor: int) -> None:
        """A lost terminal reads as an endless nothing, and not everyone gets a SIGHUP for it."""
        watched = select.poll()
        watched.register(descriptor, 0)  # hang-ups are always told
        with contextlib.suppress(OSError):
            for _, event in watched.poll():
                if event & select.POLLHUP:
                    self.demand(128 + signal.SIGHUP)

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
