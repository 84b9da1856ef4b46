"""Access to the history file for asyncio: one thread writes, one reads."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.history.file import (
    SCHEMA,
    open_readable,
    open_writable,
    transaction,
    translated_errors,
    try_lock,
)
from gwtui.watch.history.model import HistoryMissingError, HistoryUnusableError
from gwtui.watch.history.reader import HistoryReader

if TYPE_CHECKING:
    from gwtui.client.prometheus import PrometheusClient

T = TypeVar("T")

_STEPS_BETWEEN_CHECKS = 10_000
"""SQLite instructions between two checks for an interruption."""


class Archive:
    """The history of one gateway. Methods raise HistoryUnusableError, also after ``close``."""

    def __init__(
        self, path: Path, clock: Clock = SYSTEM_CLOCK, server: PrometheusClient | None = None
    ) -> None:
        self.path = path
        self.server = server
        """The source of figures, None for the file."""
        self.notice = ""
        """A message about the file, such as that a damaged one was moved aside."""
        self._clock = clock
        self._reads = ThreadPoolExecutor(1, thread_name_prefix="history-reads")
        self._writes = ThreadPoolExecutor(1, thread_name_prefix="history-writes")
        self._connection: sqlite3.Connection | None = None
        self._lock: int | None = None
        self._interrupted = False
        self._closed = False

    @classmethod
    async def open(
        cls, path: Path, clock: Clock = SYSTEM_CLOCK, server: PrometheusClient | None = None
    ) -> Self:
        """Open a history, creating the file if needed. Figures come from ``server`` if given."""
        archive = cls(path, clock, server)
        try:
            await archive.connect()
        except BaseException:
            await archive.close()
            raise
        return archive

    async def connect(self) -> None:
        """Open the file, creating it if needed. A damaged file is moved aside."""
        await self._run(self._writes, self._open)

    @property
    def is_open(self) -> bool:
        """Whether the file is open."""
        return self._connection is not None

    async def disconnect(self) -> None:
        """Close the file; ``connect`` opens it again."""
        await self._run(self._writes, self._leave)

    def _open(self) -> None:
        lock = try_lock(self.path) if self._lock is None else None
        locked = self.is_recording or lock is not None
        try:
            opened = open_writable(self.path, self._clock.now(), locked=locked)
        finally:
            if lock is not None:
                os.close(lock)
        self._connection, self.notice = opened
        self._connection.set_progress_handler(lambda: self._interrupted, _STEPS_BETWEEN_CHECKS)

    @property
    def is_recording(self) -> bool:
        """Whether this process holds the recording lock."""
        return self._lock is not None

    async def claim(self) -> bool:
        """Try to take the recording lock; returns whether this process holds it."""
        if self._lock is None:
            self._lock = await self._run(self._writes, lambda: try_lock(self.path))
        return self.is_recording

    def release(self) -> None:
        """Release the recording lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def read(self, question: Callable[[HistoryReader], T]) -> T:
        """Run a query on one consistent state: ``read(lambda history: history.series())``."""
        return await self._run(self._reads, lambda: ask(self.path, question, self.server))

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in one transaction and return its result. Any process may write."""

        def written() -> T:
            if self._connection is None or self._interrupted:
                raise HistoryUnusableError("the history is closed")
            with translated_errors(self.path), transaction(self._connection):
                return work(self._connection)

        return await self._run(self._writes, written)

    def interrupt(self) -> None:
        """Roll back the current write and refuse further ones."""
        self._interrupted = True

    async def close(self) -> None:
        """Finish pending work and close the file. May be called twice."""
        if not self._closed:
            await asyncio.shield(self.disconnect())
            self._closed = True
            self._reads.shutdown()
            self._writes.shutdown()
            if self.server is not None:
                self.server.close()
        self.release()

    def _leave(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    async def _run(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            raise HistoryUnusableError("the history is closed")
        return await asyncio.get_running_loop().run_in_executor(thread, work)


def ask(
    path: Path, question: Callable[[HistoryReader], T], server: PrometheusClient | None = None
) -> T:
    """Run a query on one consistent state of a file that another process may be writing.

    Figures come from ``server`` if given, even without a file. Raises HistoryMissingError,
    HistoryUnusableError.
    """
    with translated_errors(path), ExitStack() as stack:
        try:
            db = stack.enter_context(closing(open_readable(path)))
        except HistoryMissingError:
            if server is None:
                raise
            db = stack.enter_context(closing(sqlite3.connect(":memory:", isolation_level=None)))
            db.executescript(SCHEMA)
        stack.enter_context(transaction(db, "DEFERRED"))
        if server is None:
            return question(HistoryReader(db))
        from gwtui.watch.history.prometheus import PrometheusReader  # noqa: PLC0415 - few profiles

        return question(PrometheusReader(db, server))
