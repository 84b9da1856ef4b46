"""One server per database, by whatever name the file is called.

A database is locked where it really is, not where a symbolic link to it stands. Names that the
resolved path cannot tell (another hard link, or a new name given while a server runs) are found by
the file's identity: SQLite keeps its write-ahead log beside the name, so that two names of one file
are two logs and a damaged database.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path

from gwtui.embedded.errors import DatabaseInUseError, DatabaseUnusableError

_PRIVATE = 0o600


def database_path(given: Path) -> Path:
    """Where the file of a database is: absolute, every symbolic link followed.

    The file need not exist yet, but a link must lead to something: what it led to may have been
    moved, and a new database there would hide that. Raises DatabaseUnusableError.
    """
    try:
        broken = next((part for part in (given, *given.parents) if _leads_nowhere(part)), None)
        target = "" if broken is None else broken.readlink()
    except OSError as error:
        raise DatabaseUnusableError(f"Cannot use {given}: {error.strerror}.") from error
    if broken is not None:
        raise DatabaseUnusableError(
            f"{broken} is a link to {target}, where nothing is: if that was moved, let the link "
            "lead to where it is now, else remove the link."
        )
    return Path(os.path.realpath(given))


def _leads_nowhere(path: Path) -> bool:
    """Whether a link's target is missing, or the link itself."""
    return path.is_symlink() and not os.path.exists(path)  # noqa: PTH110 - Path's raises for loops


def refuse_other_names(database: Path) -> None:
    """Raise DatabaseUnusableError when the file, if there is one, has several names."""
    with suppress(OSError):
        found = database.stat()
        if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
            raise DatabaseUnusableError(
                f"{database} has {found.st_nlink} names (hard links), and each would have a log of "
                "its own: remove the others, or serve a copy."
            )


class DatabaseLock:
    """The right to serve a database: an advisory lock on a file beside it, and its identity.

    The kernel drops both with the process, so a crash leaves nothing to clean up. The lock file
    stays: removing it would let two processes hold locks on two files of one name.
    """

    def __init__(self, *descriptors: int) -> None:
        self._descriptors = list(descriptors)

    @classmethod
    def acquire(cls, database: Path) -> DatabaseLock:
        """Take the lock on a resolved path; the file is made when absent, and private.

        Raises DatabaseInUseError, and DatabaseUnusableError when not permitted.
        """
        lock = cls(_lock_file(database))
        try:
            refuse_other_names(database)
            lock._descriptors += _claim(database, _make_private(database))
        except BaseException:
            lock.release()
            raise
        return lock

    def release(self) -> None:
        """Give the right back. May be called twice."""
        while self._descriptors:
            os.close(self._descriptors.pop())


def _lock_file(database: Path) -> int:
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
    return descriptor


def _make_private(path: Path) -> os.stat_result:
    """Only the owner may read the file; SQLite gives its side files the same permissions.

    An existing file is not opened: closing it again would drop every lock that SQLite holds on it
    in this process.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, flags, _PRIVATE))
        is_file = path.is_file()
        if is_file:
            path.chmod(_PRIVATE)
        found = path.stat()
    except OSError as error:
        raise DatabaseUnusableError(f"Cannot use {path}: {error.strerror}.") from error
    if not is_file:
        raise DatabaseUnusableError(f"Cannot use {path}: it is not a file.")
    return found


def _claim(database: Path, found: os.stat_result) -> list[int]:
    """Hold the file's identity for as long as the descriptor given is open.

    None is given where the system has no such names.

    A lock on the file itself would do on a local disk, but over a network it is one with the locks
    of SQLite.
    """
    if sys.platform != "linux":
        return []
    name = f"\0gwtui gateway {os.getuid()} {found.st_dev} {found.st_ino}"
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(name)
    except OSError as error:
        claim.close()
        if error.errno != errno.EADDRINUSE:
            return []
        raise DatabaseInUseError(
            f"The database {database} is already in use by a gateway that knows it by another "
            "name: it was moved meanwhile. Stop that gateway first."
        ) from error
    return [claim.detach()]
