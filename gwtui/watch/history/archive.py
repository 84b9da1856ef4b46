"""A history for asyncio: one thread that writes, one that reads; the event loop never waits."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.history.deadline import Deadline
from gwtui.watch.history.file import is_damage, open_readable, open_writable, transaction
from gwtui.watch.history.lease import Lease
from gwtui.watch.history.model import (
    HistoryDamagedError,
    HistoryError,
    HistoryUnusableError,
    Retention,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.writer import HistoryWriter

T = TypeVar("T")


class ArchiveThread:
    """One connection in one thread of its own; work is done in the order it is given."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"history-{name}")
        self._connection: sqlite3.Connection | None = None
        self._deadline = Deadline()
        self._ended = False

    async def open(self, opening: Callable[[], sqlite3.Connection]) -> None:
        """Open the connection. Raises what ``opening`` raises."""

        def work() -> None:
            self._connection = opening()

        await self._run(work)

    async def call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the connection. Raises HistoryUnusableError, also once it is closed.

        Work that began is finished even when the caller is cancelled.
        """

        def guarded() -> T:
            if self._connection is None:
                raise HistoryUnusableError("the history is closed")
            try:
                with self._deadline.applied():
                    return work(self._connection)
            except sqlite3.Error as error:
                kind = HistoryDamagedError if is_damage(error) else HistoryUnusableError
                raise kind(f"The history cannot be used: {error}.") from error

        if self._ended:
            raise HistoryUnusableError("the history is closed")
        return await self._run(guarded)

    def end_within(self, seconds: float) -> None:
        """Let long work, under way or still to come, raise HistoryEndedError after so long."""
        self._deadline.set(seconds)

    async def leave(self) -> None:
        """Finish what was begun and close the connection; another can be opened."""

        def work() -> None:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

        await asyncio.shield(self._run(work))

    async def close(self) -> None:
        """Finish what was begun, then end. May be called twice."""
        if not self._ended:
            self._ended = True
            await self.leave()
            self._thread.shutdown(wait=True)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class Archive:
    """The history of one gateway, open: ``read`` for everyone, ``write`` for the recorder."""

    def __init__(self, path: Path, clock: Clock, retention: Retention) -> None:
        self.path = path
        self.retention = retention
        self.lease = Lease(clock)
        self.notice = ""
        """What a person should know about the file, such as that a damaged one was set aside."""
        self._clock = clock
        self._reading = ArchiveThread("reads")
        self._writing = ArchiveThread("writes")
        self._writer: HistoryWriter | None = None

    @classmethod
    async def open(
        cls, path: Path, clock: Clock = SYSTEM_CLOCK, retention: Retention | None = None
    ) -> Self:
        """Open a history, created when absent. Raises HistoryUnusableError."""
        archive = cls(path, clock, retention or Retention())
        try:
            await archive._open()
        except BaseException:
            await archive.close()
            raise
        return archive

    async def reopen(self) -> None:
        """After damage: read the file through, set it aside if need be, open it again.

        Raises HistoryUnusableError.
        """
        await self._reading.leave()
        await self._writing.leave()
        await self._open(doubted=True)

    async def _open(self, *, doubted: bool = False) -> None:
        def writable() -> sqlite3.Connection:
            opened = open_writable(self.path, self._clock.now(), doubted=doubted)
            self.notice = opened.notice
            self._writer = HistoryWriter(opened.connection, self.lease.id, self.retention)
            return opened.connection

        await self._writing.open(writable)
        await self._reading.open(lambda: open_readable(self.path))

    async def read(self, question: Callable[[HistoryReader], T]) -> T:
        """Ask, possibly several things of one consistent state: ``read(lambda h: h.latest(key))``.

        Raises HistoryUnusableError, and what the question raises.
        """

        def work(connection: sqlite3.Connection) -> T:
            with transaction(connection, "DEFERRED"):
                return question(HistoryReader(connection))

        return await self._reading.call(work)

    async def write(self, work: Callable[[HistoryWriter], T]) -> T:
        """Write as the one who records. Raises LeaseLostError, HistoryUnusableError."""

        def written(_connection: sqlite3.Connection) -> T:
            if self._writer is None:
                raise HistoryUnusableError("the history is closed")
            return work(self._writer)

        return await self._writing.call(written)

    async def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Change what any instance may: the lease, the watched models."""
        return await self._writing.call(work)

    async def hold(self) -> bool:
        """Renew or take the lease; see ``Lease.hold``."""
        return await self._writing.call(self.lease.hold)

    def end_within(self, seconds: float) -> None:
        """The program ends: what is read or written for longer than that is broken off.

        It raises HistoryEndedError with nothing written, and so does all long work after it.
        """
        self._reading.end_within(seconds)
        self._writing.end_within(seconds)

    async def close(self) -> None:
        """Give the lease back and close the file. May be called twice."""
        try:
            await self._writing.call(self.lease.release)
        except HistoryError:
            pass  # closed before, or the file cannot be written: the lease ends by itself
        finally:
            await self._writing.close()
            await self._reading.close()
