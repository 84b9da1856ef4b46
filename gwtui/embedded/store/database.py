"""One SQLite file with one connection, one writer at a time, and one serving process."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gwtui.embedded.errors import (
    DatabaseBusyError,
    DatabaseInUseError,
    DatabaseMissingError,
    DatabaseUnusableError,
    DatabaseVersionError,
)
from gwtui.embedded.store.account import is_founded
from gwtui.embedded.store.byok import key_file
from gwtui.embedded.store.documents import APPLICATION_ID, SCHEMA_VERSION, schema

BUSY_SECONDS = 5.0
"""Maximum seconds that a write waits for another process, such as one that issues a key."""

_PRIVATE = 0o600
_CREATE = "'gwtui gateway serve --database FILE' creates it."


class Database:
    """A connection with explicit transactions, safe to share between threads.

    ``path`` is the resolved path; None for a database in memory.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path | None, lock: int | None = None
    ) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._turn = threading.Lock()

    @classmethod
    def serve(cls, path: Path | None) -> Database:
        """Open a database for a gateway process.

        The file is created if missing, and locked until ``close``: a second gateway gets
        DatabaseInUseError. None opens a new database in memory. Raises DatabaseUnusableError.
        """
        if path is None:
            return cls(_open(":memory:", create=True), None)
        path = database_path(path)
        lock = _acquire(path)
        try:
            return cls(_open(str(path), create=True), path, lock)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    @contextmanager
    def visit(cls, path: Path) -> Iterator[Database]:
        """Open an existing database for a small task, even while another process serves it.

        Raises DatabaseMissingError and DatabaseUnusableError.
        """
        path = database_path(path)
        if not path.is_file():
            raise DatabaseMissingError(f"There is no gateway database at {path}. {_CREATE}")
        database = cls(_open(str(path)), path)
        try:
            with database.read() as db:
                if not is_founded(db):
                    raise DatabaseMissingError(f"{path} is empty. {_CREATE}")
            yield database
        finally:
            database.close()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Run a write transaction: committed at the end of the context, rolled back on errors.

        Deleted secrets are then also removed from the write-ahead log, or after a later write if
        another process is still reading. Raises DatabaseBusyError if another process keeps writing.
        """
        with self._turn:
            with self._transaction("BEGIN IMMEDIATE"):
                yield self._connection
            # Do not wait for readers.
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Run a read-only transaction."""
        with self._turn, self._transaction("BEGIN"):
            yield self._connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        try:
            self._connection.execute(begin)
        except sqlite3.OperationalError as error:
            raise DatabaseBusyError(
                "Another process keeps writing to the database. Try again later."
            ) from error
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the database, so that another process can open it. A second call does nothing."""
        with self._turn:
            self._connection.close()
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None


def database_path(given: Path) -> Path:
    """Return the absolute path of a database file, with all symbolic links resolved."""
    return Path(os.path.realpath(given))


def erase(path: Path) -> None:
    """Delete a database and the files beside it. Raises DatabaseInUseError while it is served."""
    path = database_path(path)
    lock = _acquire(path)
    try:
        for suffix in ("", "-wal", "-shm", "-journal"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        key_file(path).unlink(missing_ok=True)
    finally:
        os.close(lock)


def _acquire(path: Path) -> int:
    # Lock the database file, created private if missing; closing the descriptor unlocks it.
    #
    # The kernel releases the lock when the process ends. Raises DatabaseInUseError and
    # DatabaseUnusableError.
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
        os.fchmod(descriptor, _PRIVATE)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not path.exists() or os.fstat(descriptor).st_ino != path.stat().st_ino:
            # Another process erased the file meanwhile.
            os.close(descriptor)
            return _acquire(path)
    except BlockingIOError:
        # The descriptor stays open: closing it would drop the locks that SQLite holds on the file
        # if the server is in this process.
        raise DatabaseInUseError(
            f"The database {path} is already in use by another gateway. "
            "Stop that gateway first, or choose another database."
        ) from None
    except OSError as error:
        raise DatabaseUnusableError(f"Cannot use {path}: {error.strerror}.") from error
    return descriptor


def _open(path: str, *, create: bool = False) -> sqlite3.Connection:
    # Connect; ``create`` creates the tables in an empty file.
    #
    # Raises DatabaseUnusableError for a file that is not a gateway database or of another version,
    # and DatabaseMissingError for an empty one without ``create``.
    connection = None
    try:
        connection = sqlite3.connect(
            path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        # Overwrite deleted content in the pages that held it.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        _prepare(connection, path, create=create)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise DatabaseUnusableError(f"Cannot use {path}: {error}.") from error
        raise
    return connection


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    for statement in schema():
        connection.execute(statement)
    connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection, path: str, *, create: bool) -> None:
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.DatabaseError as error:
        raise DatabaseUnusableError(f"{path} is not a gateway database: {error}.") from error
    if objects and owner != APPLICATION_ID:
        raise DatabaseUnusableError(f"{path} belongs to another program; it was left untouched.")
    if objects and version != SCHEMA_VERSION:
        age, remedy = (
            ("a newer", "Upgrade") if version > SCHEMA_VERSION else ("an older", "Erase it")
        )
        raise DatabaseVersionError(
            f"{path} was written by {age} version (schema {version}, this program uses "
            f"{SCHEMA_VERSION}). {remedy}, or choose another database."
        )
    if not objects:
        if not create:
            raise DatabaseMissingError(f"{path} is empty. {_CREATE}")
        _create_tables(connection)
