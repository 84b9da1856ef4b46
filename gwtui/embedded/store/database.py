"""One SQLite file, one connection, one writer at a time, and one serving process."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gwtui.embedded.errors import (
    DatabaseBusyError,
    DatabaseMissingError,
    DatabaseUnusableError,
)
from gwtui.embedded.store.database_lock import DatabaseLock, database_path, refuse_other_names
from gwtui.embedded.store.list_index import ListIndexes
from gwtui.embedded.store.schema import APPLICATION_ID, ERASABLE, MIGRATIONS, SCHEMA_VERSION
from gwtui.embedded.store.vault import key_file

BUSY_SECONDS = 5.0
"""How long a write waits for another process, such as the one that issues a key."""
CLOSE_SECONDS = 1.0
"""How long closing waits for another process that still reads what was erased."""

_PRIMARY_CODE = 0xFF
"""The part of SQLite's error codes that is not a refinement."""
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5
"""Seconds between attempts to clear the log; the longest bounds how long a trace stays."""

log = logging.getLogger("gwtui.embedded")


class LogCleaner:
    """Clears the write-ahead log after something was erased, as often as it takes.

    The log keeps pages as they were before. It can be cut only while no other process reads an
    older state, which may take as long as that process likes: until then a thread goes on trying,
    so that neither the event loop nor a request waits for it.

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


class DatabaseConnection(sqlite3.Connection):
    """A connection to the database, with what is remembered of the lists that were read on it."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.lists = ListIndexes(self)


class Database:
    """A connection with explicit transactions, safe to share between threads.

    ``path`` is where the file really is, None for a database in memory.
    """

    def __init__(
        self,
        connection: DatabaseConnection,
        path: Path | None,
        serving: DatabaseLock | None = None,
        cleaner: LogCleaner | None = None,
    ) -> None:
        self.path = path
        self._connection = connection
        self._serving = serving
        self._cleaner = cleaner
        self._turn = threading.Lock()
        self._pragmas: dict[str, str | int] = {}
        """The settings of the connection that transactions differ in, as they are now."""

    @classmethod
    def serve(cls, path: Path | None) -> Database:
        """Open for serving: created when absent, migrated when old, held against other servers.

        ``None`` is a private database in memory. Raises DatabaseInUseError and
        DatabaseUnusableError.
        """
        if path is None:
            return cls(_migrated(_connect(":memory:"), ":memory:"), None)
        path = database_path(path)
        serving = DatabaseLock.acquire(path)
        try:
            connection = _migrated(_connect(str(path)), str(path))
            cleaner = LogCleaner(_connect(str(path), patience=0))
        except BaseException:
            serving.release()
            raise
        # A process that died just after it erased something may have left it in the log.
        cleaner.clean_now()
        return cls(connection, path, serving, cleaner)

    @classmethod
    def visit(cls, path: Path) -> Database:
        """Open an existing database beside the process that serves it, for one small write.

        Raises DatabaseMissingError, and DatabaseUnusableError also when the schema is not exactly
        this version's: a visitor never migrates beneath a running server.
        """
        path = database_path(path)
        if not path.is_file():
            raise DatabaseMissingError(
                f"There is no gateway database at {path} yet: serve it once first."
            )
        refuse_other_names(path)
        connection = _connect(str(path))
        try:
            _current(connection, str(path))
        except BaseException:
            connection.close()
            raise
        return cls(connection, path)

    @property
    def is_erased(self) -> bool:
        """Whether nothing is left in any file of what transactions that erase did away with."""
        return self._cleaner is None or self._cleaner.done

    @contextmanager
    def write(
        self, *, durable: bool = True, erases: bool = False, patience: float = BUSY_SECONDS
    ) -> Iterator[DatabaseConnection]:
        """A transaction that may change things: committed as a whole or not at all.

        ``durable`` waits until the commit is on the disk. Figures that can be computed again do
        without, for the wait would be felt in the dashboard that shares the event loop.
        ``erases`` leaves nothing of what the transaction overwrote or deleted in any file: soon,
        and as soon as no other process reads an older state (``is_erased``).
        ``patience`` is how many seconds another process may go on writing before this one gives
        up with DatabaseBusyError.
        """
        level = "FULL" if durable else "NORMAL"
        with self._turn:
            self._set("query_only", "OFF")
            self._set("synchronous", level)
            self._set("busy_timeout", round(patience * 1000))
            with self._transaction("BEGIN IMMEDIATE"):
                yield self._connection
                if erases:
                    _write_anew(self._connection)
        if erases and self._cleaner is not None:
            self._cleaner.clean()

    @contextmanager
    def read(self) -> Iterator[DatabaseConnection]:
        """A transaction that sees one consistent state and refuses to change it."""
        with self._turn:
            self._set("query_only", "ON")
            self._set("busy_timeout", round(BUSY_SECONDS * 1000))
            with self._transaction("BEGIN"):
                yield self._connection

    def _set(self, pragma: str, value: str | int) -> None:
        """Change a setting of the connection, unless it is so already."""
        if self._pragmas.get(pragma) != value:
            self._connection.execute(f"PRAGMA {pragma} = {value}")
            self._pragmas[pragma] = value

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        try:
            self._connection.execute(begin)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY_CODE == sqlite3.SQLITE_BUSY:
                raise DatabaseBusyError(
                    "Another process is writing to the database and does not end: try again later."
                ) from error
            raise
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.lists.clear()
            raise

    def close(self) -> None:
        """Close the file and let another process serve it. May be called twice.

        Takes up to ``CLOSE_SECONDS`` while another process reads what was erased; the next one
        that serves the database goes on clearing it away then.
        """
        if self._cleaner is not None:
            self._cleaner.close(CLOSE_SECONDS)
        with self._turn:
            self._connection.close()
            if self._serving is not None:
                self._serving.release()


def erase(path: Path) -> None:
    """Remove a database that nobody serves, with everything that is kept beside it.

    Raises DatabaseInUseError when somebody does.
    """
    path = database_path(path)
    serving = DatabaseLock.acquire(path)
    try:
        for suffix in ("", "-wal", "-shm", "-journal"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        key_file(path).unlink(missing_ok=True)
    finally:
        serving.release()


def _connect(path: str, *, patience: float = BUSY_SECONDS) -> DatabaseConnection:
    try:
        connection = sqlite3.connect(
            path,
            timeout=patience,
            isolation_level=None,
            check_same_thread=False,
            factory=DatabaseConnection,
        )
    except sqlite3.Error as error:
        raise DatabaseUnusableError(f"Cannot open {path}: {error}.") from error
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    # What is deleted or overwritten is also gone from the pages that held it.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _write_anew(connection: sqlite3.Connection) -> None:
    """Put what is left in the erasable tables into clean pages.

    ``secure_delete`` clears a deleted row, but not the copies of it that remain between the rows
    of a page when others move to another page. Emptying a table clears all of its pages.
    """
    for table in ERASABLE:
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - a constant
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", tuple(row))  # noqa: S608 - a constant


def _version(connection: DatabaseConnection, path: str) -> int:
    """The schema version found; 0 for an empty file. Refuses what is not ours or is newer."""
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.DatabaseError as error:
        raise DatabaseUnusableError(f"{path} is not a gateway database: {error}.") from error
    if objects and owner != APPLICATION_ID:
        raise DatabaseUnusableError(f"{path} belongs to another program; it was left untouched.")
    if version > SCHEMA_VERSION:
        raise DatabaseUnusableError(
            f"{path} was written by a newer version (schema {version}, this program knows "
            f"{SCHEMA_VERSION}). Upgrade, or choose another database."
        )
    return int(version) if objects else 0


def _current(connection: DatabaseConnection, path: str) -> None:
    """Refuse a database whose schema is not exactly this version's."""
    found = _version(connection, path)
    if found != SCHEMA_VERSION:
        raise DatabaseUnusableError(
            f"{path} has schema version {found}, this program uses {SCHEMA_VERSION}: "
            "serve it once with this version first."
        )


def _migrated(connection: DatabaseConnection, path: str) -> DatabaseConnection:
    try:
        _version(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        for statements in MIGRATIONS[_version(connection, path) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException as error:
        with suppress(sqlite3.Error):
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise DatabaseUnusableError(f"Cannot use {path}: {error}.") from error
        raise
    return connection
