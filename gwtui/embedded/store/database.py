"""One SQLite file, one connection, one writer at a time, and one serving process."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gwtui.embedded.errors import (
    DatabaseInUseError,
    DatabaseMissingError,
    DatabaseUnusableError,
)
from gwtui.embedded.store.schema import APPLICATION_ID, ERASABLE, MIGRATIONS, SCHEMA_VERSION
from gwtui.embedded.store.vault import key_file

BUSY_SECONDS = 5.0
"""How long a write waits for another process, such as the one that issues a key."""

_PRIVATE = 0o600


class Database:
    """A connection with explicit transactions, safe to share between threads."""

    def __init__(self, connection: sqlite3.Connection, serving: ServingLock | None) -> None:
        self._connection = connection
        self._serving = serving
        self._turn = threading.Lock()
        self._traces = False

    @classmethod
    def serve(cls, path: Path | None) -> Database:
        """Open for serving: created when absent, migrated when old, held against other servers.

        ``None`` is a private database in memory. Raises DatabaseInUseError and
        DatabaseUnusableError.
        """
        if path is None:
            return cls(_migrated(_connect(":memory:"), ":memory:"), None)
        serving = ServingLock.acquire(path)
        try:
            _make_private(path)
            return cls(_migrated(_connect(str(path)), str(path)), serving)
        except BaseException:
            serving.release()
            raise

    @classmethod
    def visit(cls, path: Path) -> Database:
        """Open an existing database beside the process that serves it, for one small write.

        Raises DatabaseMissingError, and DatabaseUnusableError also when the schema is not exactly
        this version's: a visitor never migrates beneath a running server.
        """
        if not path.is_file():
            raise DatabaseMissingError(
                f"There is no gateway database at {path} yet: serve it once first."
            )
        connection = _connect(str(path))
        try:
            _current(connection, str(path))
        except BaseException:
            connection.close()
            raise
        return cls(connection, None)

    @contextmanager
    def write(self, *, durable: bool = True, erases: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction that may change things: committed as a whole or not at all.

        ``durable`` waits until the commit is on the disk. Figures that can be computed again do
        without, for the wait would be felt in the dashboard that shares the event loop.
        ``erases`` leaves nothing of what the transaction overwrote or deleted in any file.
        """
        level = "FULL" if durable else "NORMAL"
        with self._turn:
            self._connection.execute(f"PRAGMA synchronous = {level}")
            with self._transaction("BEGIN IMMEDIATE"):
                yield self._connection
                if erases:
                    _write_anew(self._connection)
            self._traces = self._traces or erases
            if self._traces:
                self._traces = not _forget_log(self._connection)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees one consistent state and refuses to change it."""
        with self._turn:
            self._connection.execute("PRAGMA query_only = ON")
            try:
                with self._transaction("BEGIN"):
                    yield self._connection
            finally:
                self._connection.execute("PRAGMA query_only = OFF")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._connection.execute(begin)
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file and let another process serve it. May be called twice."""
        with self._turn:
            self._connection.close()
            if self._serving is not None:
                self._serving.release()


class ServingLock:
    """The right to serve a database: an advisory lock on a file beside it.

    The kernel drops it with the process, so a crash leaves nothing to clean up. The file itself
    stays: removing it would let two processes hold locks on two files of one name.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, database: Path) -> ServingLock:
        """Take the lock or raise DatabaseInUseError; DatabaseUnusableError when not permitted."""
        path = database.with_name(database.name + ".lock")
        try:
            database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
        except OSError as error:
            raise DatabaseUnusableError(f"Cannot use {database}: {error.strerror}.") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            by = f"process {holder}" if holder.isdigit() else "another process"
            raise DatabaseInUseError(
                f"The database {database} is already in use by {by}. "
                "Stop that gateway first, or choose another database."
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Give the right back. May be called twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def erase(path: Path) -> None:
    """Remove a database that nobody serves, with everything that is kept beside it.

    Raises DatabaseInUseError when somebody does.
    """
    serving = ServingLock.acquire(path)
    try:
        for suffix in ("", "-wal", "-shm", "-journal"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        key_file(path).unlink(missing_ok=True)
    finally:
        serving.release()


def _make_private(path: Path) -> None:
    """Only the owner may read the file; SQLite gives its side files the same permissions."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE))
        path.chmod(_PRIVATE)
    except OSError as error:
        raise DatabaseUnusableError(f"Cannot use {path}: {error.strerror}.") from error


def _connect(path: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
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


def _forget_log(connection: sqlite3.Connection) -> bool:
    """Move the write-ahead log into the database and cut it to nothing.

    The log keeps every page as it was before. False while another process still reads it.
    """
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _version(connection: sqlite3.Connection, path: str) -> int:
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


def _current(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a database whose schema is not exactly this version's."""
    found = _version(connection, path)
    if found != SCHEMA_VERSION:
        raise DatabaseUnusableError(
            f"{path} has schema version {found}, this program uses {SCHEMA_VERSION}: "
            "serve it once with this version first."
        )


def _migrated(connection: sqlite3.Connection, path: str) -> sqlite3.Connection:
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
        # A process that died just after it erased something may have left it in the log.
        _forget_log(connection)
    except BaseException as error:
        with suppress(sqlite3.Error):
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise DatabaseUnusableError(f"Cannot use {path}: {error}.") from error
        raise
    return connection
