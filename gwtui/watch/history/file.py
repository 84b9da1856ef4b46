"""The history file: private, moved aside if damaged, written by one recorder at a time."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gwtui.local import private_file
from gwtui.local.private_file import ensure_private
from gwtui.watch.history.model import (
    HistoryDamagedError,
    HistoryMissingError,
    HistoryUnusableError,
)

APPLICATION_ID = 0x67774849
"""Marks a SQLite file as a gwtui history."""
SCHEMA_VERSION = 5
"""Files of older versions are moved aside, those of newer versions are not opened."""
SCHEMA = """
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- "every": seconds between two readings
CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    identity TEXT NOT NULL,
    figure TEXT NOT NULL,
    every INTEGER NOT NULL,
    UNIQUE (resource, identity, figure)
);

-- Equal readings in a row, within one hour. A value is decimal text; NULL is "no figure".
CREATE TABLE runs (
    series INTEGER NOT NULL,
    start INTEGER NOT NULL,
    until INTEGER NOT NULL,
    value TEXT,
    PRIMARY KEY (series, start)
) WITHOUT ROWID;

-- "until" is the last reading of the hour, or of equal hours after it, within one day. "low",
-- "high" and "mean" leave NULL readings out.
CREATE TABLE hours (
    series INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    until INTEGER NOT NULL,
    low TEXT,
    high TEXT,
    mean REAL,
    last TEXT,
    PRIMARY KEY (series, hour)
) WITHOUT ROWID;

-- The first and the last time that each source was read.
CREATE TABLE sources (
    name TEXT PRIMARY KEY,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
) WITHOUT ROWID;

-- What was known of a subject from "since" to "until"; NULL is until now.
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    identity TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    fields TEXT NOT NULL
);
CREATE INDEX facts_of ON facts (resource, identity, since);
CREATE INDEX facts_now ON facts (resource, identity) WHERE until IS NULL;

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
);
CREATE INDEX changes_at ON changes (at);

CREATE TABLE watched_models (
    model TEXT PRIMARY KEY,
    added_at INTEGER NOT NULL
) WITHOUT ROWID;

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
) WITHOUT ROWID;

CREATE TABLE alert_silences (
    rule TEXT NOT NULL,
    resource TEXT NOT NULL,
    identity TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    who TEXT NOT NULL,
    PRIMARY KEY (rule, resource, identity)
) WITHOUT ROWID;

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
);
"""

BUSY_SECONDS = 2.0
"""How long a statement waits for another process, in seconds."""
_SIDE_FILES = ("-wal", "-shm", "")


class OpenedHistory(NamedTuple):
    """A connection, and a message if the old file was moved aside."""

    connection: sqlite3.Connection
    notice: str = ""


def open_writable(path: Path, now: datetime, *, locked: bool) -> OpenedHistory:
    """Open the file for reading and writing, creating it if needed.

    ``locked``: this process holds the recording lock, so it may move aside a damaged file or one of
    an older version. Raises HistoryUnusableError.
    """
    with translated_errors(path):
        ensure_private(path.parent)
        _make_private(path)
        connection = _connect(path)
        reason = _reason_to_set_aside(connection, path)
        if not reason:
            return OpenedHistory(connection)
        connection.close()
        if not locked:
            raise HistoryUnusableError(f"{path} {reason}, and another gwtui has it open.")
        aside = _set_aside(path, now)
        _make_private(path)
        connection = _connect(path)
        if _reason_to_set_aside(connection, path):
            raise HistoryUnusableError(f"Cannot use {path}.")
    return OpenedHistory(
        connection, f"The history {reason}. It was moved to {aside}, and recording starts over."
    )


def open_readable(path: Path) -> sqlite3.Connection:
    """Open the file for reading only, while another process may write.

    Raises HistoryMissingError, HistoryUnusableError, sqlite3.Error.
    """
    if not path.is_file():
        raise HistoryMissingError(f"Nothing is recorded in {path} yet.")
    with ExitStack() as stack:
        connection = stack.enter_context(closing(_connect(path)))
        version = _version(connection, path)
        if not version:
            raise HistoryMissingError(f"Nothing is recorded in {path} yet.")
        if version != SCHEMA_VERSION:
            raise HistoryUnusableError(f"{path} was recorded by an older version.")
        connection.execute("PRAGMA query_only = ON")
        stack.pop_all()
    return connection


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Translate errors: a damaged database to HistoryDamagedError.

    Any other OSError or sqlite3.Error becomes HistoryUnusableError.
    """
    try:
        yield
    except OSError as error:
        raise HistoryUnusableError(f"Cannot use {path}: {error.strerror}.") from error
    except sqlite3.Error as error:
        kind = HistoryDamagedError if is_damage(error) else HistoryUnusableError
        raise kind(f"Cannot use {path}: {error}.") from error


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the database is damaged."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Run the body in a transaction; ``kind`` DEFERRED gives readers a consistent state."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def setting(db: sqlite3.Connection, name: str) -> int | None:
    """Read a number from the table of settings, None if absent."""
    row = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def remember_setting(db: sqlite3.Connection, name: str, value: int) -> None:
    """Store a number in the table of settings."""
    db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, str(value)))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def _reason_to_set_aside(connection: sqlite3.Connection, path: Path) -> str:
    try:
        version = _version(connection, path)
        if 0 < version < SCHEMA_VERSION:
            return "was recorded by an older version"
        connection.execute("PRAGMA journal_mode = WAL")
        # In WAL mode this outlives a killed process; only a power cut may take the last seconds.
        connection.execute("PRAGMA synchronous = NORMAL")
        with transaction(connection):
            if not _version(connection, path):
                for statement in SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return "was damaged"
    return "" if result == "ok" else "was damaged"


def _version(connection: sqlite3.Connection, path: Path) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if objects and owner != APPLICATION_ID:
        raise HistoryUnusableError(f"{path} belongs to another program; it was left untouched.")
    if version > SCHEMA_VERSION:
        raise HistoryUnusableError(f"{path} was recorded by a newer version of gwtui.")
    return int(version) if objects else 0


def _set_aside(path: Path, now: datetime) -> Path:
    aside = path.with_name(f"{path.name}.aside-{now:%Y%m%dT%H%M%S}")
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    return aside


def _make_private(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


# Recording lock ----------------------------------------------------------------------------------


def try_lock(path: Path) -> int | None:
    """Take the recording lock; returns a descriptor to close, None if another process has it.

    The lock ends with the process. The lock file contains the process id. Raises
    HistoryUnusableError.
    """
    lock = _lock_of(path)
    with translated_errors(lock):
        ensure_private(path.parent)
        _make_private(lock)
        descriptor = private_file.try_lock(lock)
        if descriptor is not None:
            lock.write_text(str(os.getpid()), "ascii")
    return descriptor


def recording_process(path: Path) -> int | None:
    """The id of the process that records, None if none does."""
    lock = _lock_of(path)
    try:
        descriptor = private_file.try_lock(lock)
        if descriptor is None:
            return int(lock.read_text("ascii") or 0)
        os.close(descriptor)
    except (OSError, ValueError):
        pass
    return None


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


# Path ------------------------------------------------------------------------------------------


_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_NAME = 40
_DIGEST = 12


def history_path(data: Path, label: str, base_url: str) -> Path:
    """The path of the history of a profile (or host) at a gateway."""
    readable = _UNFIT.sub("-", label)[:_NAME].strip(".-") or "gateway"
    digest = hashlib.sha256(f"{label}\n{base_url}".encode()).hexdigest()[:_DIGEST]
    return data / "history" / f"{readable}-{digest}.sqlite3"


def erase_history(path: Path) -> None:
    """Delete a history file that no process has open. Raises OSError."""
    for suffix in _SIDE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
