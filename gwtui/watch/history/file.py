"""The file of a history: opened private, migrated, set aside when damaged."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.watch.history.model import HistoryMissingError, HistoryUnusableError

APPLICATION_ID = 0x67774849
"""Marks a SQLite file as a history of ours."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE settings (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE series (
            id INTEGER PRIMARY KEY,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            figure TEXT NOT NULL,
            unit TEXT NOT NULL,
            every INTEGER NOT NULL,
            UNIQUE (resource, identity, figure)
        )
        """,
        """
        CREATE TABLE stretches (
            width INTEGER NOT NULL,
            series INTEGER NOT NULL,
            start INTEGER NOT NULL,
            until INTEGER NOT NULL,
            count INTEGER NOT NULL,
            nulls INTEGER NOT NULL,
            total TEXT,
            low TEXT,
            high TEXT,
            last TEXT,
            PRIMARY KEY (width, series, start)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE tiers (
            width INTEGER PRIMARY KEY,
            kept_from INTEGER NOT NULL,
            rolled_until INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE coverage (
            source TEXT NOT NULL,
            start INTEGER NOT NULL,
            until INTEGER NOT NULL,
            PRIMARY KEY (source, start)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE versions (
            id INTEGER PRIMARY KEY,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER,
            fields TEXT NOT NULL
        )
        """,
        "CREATE INDEX versions_of ON versions (resource, identity, since)",
        "CREATE INDEX versions_now ON versions (resource, identity) WHERE until IS NULL",
        """
        CREATE TABLE changes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            not_before INTEGER,
            kind TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            name TEXT NOT NULL,
            field TEXT NOT NULL,
            before TEXT,
            after TEXT
        )
        """,
        "CREATE INDEX changes_at ON changes (at)",
        "CREATE INDEX changes_of ON changes (resource, identity, at)",
        """
        CREATE TABLE watched_models (
            model TEXT PRIMARY KEY,
            added_at INTEGER NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE lease (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            holder TEXT NOT NULL,
            pid INTEGER NOT NULL,
            host TEXT NOT NULL,
            beat INTEGER NOT NULL,
            taken_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        )
        """,
    ),
    (
        """
        CREATE TABLE alerts (
            rule TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            state TEXT NOT NULL,
            since INTEGER NOT NULL,
            fired_at INTEGER,
            severity TEXT NOT NULL,
            title TEXT NOT NULL,
            name TEXT NOT NULL,
            said TEXT NOT NULL,
            value TEXT,
            acknowledged_at INTEGER,
            acknowledged_by TEXT,
            PRIMARY KEY (rule, resource, identity)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE alert_silences (
            rule TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL,
            who TEXT NOT NULL,
            PRIMARY KEY (rule, resource, identity)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE alert_events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            event TEXT NOT NULL,
            rule TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            severity TEXT NOT NULL,
            title TEXT NOT NULL,
            name TEXT NOT NULL,
            said TEXT NOT NULL,
            value TEXT,
            who TEXT NOT NULL,
            until INTEGER,
            quiet INTEGER NOT NULL
        )
        """,
    ),
    (
        """
        CREATE TABLE probe_days (
            day TEXT PRIMARY KEY,
            told TEXT NOT NULL,
            open TEXT NOT NULL
        ) WITHOUT ROWID
        """,
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)


BUSY_SECONDS = 2.0
"""How long a statement waits for another process."""
CHECKED_WHOLE = 64 * 1024 * 1024
"""Bytes up to which a file is read through for damage when it is opened."""

_PRIVATE = 0o600
_LONGEST_LOG = 4 * 1024 * 1024
_CACHE_KIB = 1024
"""Of pages that a connection keeps in memory: it never gives them back, and two are open."""
_SIDE_FILES = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class OpenedHistory:
    """A connection, and what a person should know about how it came to be; empty when nothing."""

    connection: sqlite3.Connection
    notice: str = ""


def open_writable(path: Path, now: datetime, *, doubted: bool = False) -> OpenedHistory:
    """Open for reading and writing: created when absent, migrated when old.

    A damaged file is moved aside, beside the new one, and the notice says so. A file that is
    ``doubted`` is read through whatever its size. Raises HistoryUnusableError.
    """
    try:
        ensure_private(path.parent)
    except PrivateDirectoryError as error:
        raise HistoryUnusableError(f"No history is recorded: {error}") from error
    with _alone(path):
        _make_private(path)
        try:
            return OpenedHistory(_opened(path, doubted=doubted))
        except sqlite3.Error as error:
            if not is_damage(error):
                raise HistoryUnusableError(f"Cannot use {path}: {error}.") from error
            aside = _set_aside(path, now)
        _make_private(path)
        try:
            connection = _opened(path)
        except sqlite3.Error as error:
            raise HistoryUnusableError(f"Cannot use {path}: {error}.") from error
        return OpenedHistory(
            connection, f"The history was damaged; it was set aside as {aside} and begins anew."
        )


def open_readable(path: Path) -> sqlite3.Connection:
    """Open for reading only, beside whoever writes. Raises HistoryMissingError, -UnusableError."""
    if not path.is_file():
        raise HistoryMissingError(f"Nothing is recorded in {path} yet.")
    try:
        connection = _connect(path)
        try:
            _refuse_other_version(connection, path)
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise HistoryUnusableError(f"Cannot read {path}: {error}.") from error
    return connection


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file is not a sound database any more."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return type(error) is sqlite3.DatabaseError
    return code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """All or nothing. ``kind`` DEFERRED gives readers one consistent state."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _opened(path: Path, *, doubted: bool = False) -> sqlite3.Connection:
    connection = _connect(path)
    try:
        _migrate(connection, path)
        if doubted or path.stat().st_size <= CHECKED_WHOLE:
            _check(connection)
    except BaseException:
        with suppress(sqlite3.Error):
            connection.close()
        raise
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    found = _version(connection, path)
    if not found:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only before the first table
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA journal_size_limit = {_LONGEST_LOG}")
    # In WAL mode this outlives a killed process; only a power cut may take the last seconds.
    connection.execute("PRAGMA synchronous = NORMAL")
    if found == SCHEMA_VERSION:
        return
    with transaction(connection):
        for statements in MIGRATIONS[found:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version found; 0 for an empty file. Refuses what is not ours or is newer."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if objects and owner != APPLICATION_ID:
        raise HistoryUnusableError(f"{path} belongs to another program; it was left untouched.")
    if version > SCHEMA_VERSION:
        raise HistoryUnusableError(
            f"{path} was written by a newer version (schema {version}, this program knows "
            f"{SCHEMA_VERSION}): nothing is recorded."
        )
    return int(version) if objects else 0


def _refuse_other_version(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection, path)
    if not version:
        raise HistoryMissingError(f"Nothing is recorded in {path} yet.")
    if version != SCHEMA_VERSION:
        raise HistoryUnusableError(f"{path} is of an older version: open it once to write.")


def _check(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError when pages are damaged."""
    with closing(connection.execute("PRAGMA quick_check(1)")) as cursor:
        (found,) = cursor.fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError("damaged")


def _set_aside(path: Path, now: datetime) -> Path:
    """Move the file and its side files away; gives the new place."""
    stamp = f"{now:%Y%m%dT%H%M%S}"
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    try:
        for suffix in reversed(_SIDE_FILES):
            with suppress(FileNotFoundError):
                path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    except OSError as error:
        raise HistoryUnusableError(f"Cannot set {path} aside: {error.strerror}.") from error
    return aside


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process at a time creates, migrates or sets aside."""
    try:
        descriptor = os.open(
            path.with_name(path.name + ".lock"),
            os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
            _PRIVATE,
        )
    except OSError as error:
        raise HistoryUnusableError(f"Cannot use {path}: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make_private(path: Path) -> None:
    """Only the owner may read the file; SQLite gives its side files the same permissions."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
        try:
            os.fchmod(descriptor, _PRIVATE)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise HistoryUnusableError(f"Cannot use {path}: {error.strerror}.") from error


_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_NAME = 40
_DIGEST = 12


def history_path(data: Path, label: str, base_url: str) -> Path:
    """The file of a profile (or host) at a gateway, below the data directory."""
    readable = _UNFIT.sub("-", label)[:_NAME].strip(".-") or "gateway"
    digest = hashlib.sha256(f"{label}\n{base_url}".encode()).hexdigest()[:_DIGEST]
    return data / "history" / f"{readable}-{digest}.sqlite3"


def erase_history(path: Path) -> None:
    """Forget all that was recorded in a file that nobody has open. Raises OSError."""
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
