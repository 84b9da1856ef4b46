"""Clearing the write-ahead log after something was erased.

The log keeps pages as they were before. It can be cut only while no other process reads an older
state, which may take as long as that process likes: until then a thread of its own goes on trying,
so that neither the event loop nor a request waits for a stranger.
"""

from __future__ import annotations

import logging
import sqlite3
import threading

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5
"""Seconds between attempts; the longest bounds how long a trace outlives the last reader."""

log = logging.getLogger("gwtui.embedded")


class LogCleaner:
    """Moves the log into the database and cuts it to nothing, as often as it takes.

    ``connection`` is one of its own that waits for nobody: other connections go on meanwhile.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._state = threading.Lock()
        self._wanted = 0
        self._clean = threading.Event()
        self._clean.set()
        self._hurry = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._why = ""
        """What kept the last attempt from clearing everything; empty when nothing did."""

    def clean_now(self) -> None:
        """As ``clean``, with a first attempt in the caller's own thread."""
        if not self._attempt():
            self.clean()

    def clean(self) -> None:
        """Begin to clear away what the transactions committed so far left in the log."""
        with self._state:
            self._wanted += 1
            self._clean.clear()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="write-ahead log cleaner", daemon=True
                )
                self._thread.start()

    @property
    def done(self) -> bool:
        """Whether nothing is left to clear away."""
        return self._clean.is_set()

    def close(self, seconds: float) -> None:
        """Wait so long at most until all is cleared away, then close the connection.

        May be called twice.
        """
        self._hurry.set()
        self._clean.wait(seconds)
        self._stopped.set()
        with self._state:
            thread = self._thread
        if thread is not None:
            thread.join()
        self._connection.close()

    def _work(self) -> None:
        pause = FIRST_PAUSE
        told = False
        while not self._stopped.is_set():
            with self._state:
                wanted = self._wanted
            if self._attempt():
                with self._state:
                    if wanted == self._wanted:
                        self._clean.set()
                        self._thread = None
                        return
                pause = FIRST_PAUSE
                continue
            if not told and pause == LONGEST_PAUSE:
                told = True
                log.warning("erased keys stay in the write-ahead log for now: %s", self._why)
            if self._hurry.is_set():
                self._stopped.wait(FIRST_PAUSE)
            else:
                self._hurry.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _attempt(self) -> bool:
        try:
            (busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            self._why = str(error)
            return False
        self._why = "another process reads the database" if busy else ""
        return not busy
