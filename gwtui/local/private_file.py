"""Creates, locks and replaces private files, without following symbolic links.

Exports are private files as well, at a path that the user typed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import JsonValue

LOCK_PATIENCE = 2.0
"""The maximum seconds to wait for a lock."""
_LOCK_PAUSE = 0.01
_PRIVATE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PRIVATE_DIRECTORY = 0o700
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class PrivateDirectoryError(OSError):
    """A directory cannot be made private; ``strerror`` is the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EACCES, reason)

    def __str__(self) -> str:
        return str(self.strerror)


class UnusableFileError(Exception):
    """A file cannot be used; the message is the reason, without the name of the file."""


def read_owned(path: Path, most: int, *, forbidden: int) -> bytes:
    """The content of a regular file of this user or root, at most ``most`` bytes.

    Raises OSError, and UnusableFileError for another owner, a larger file, or a mode with any of
    the ``forbidden`` bits.
    """
    # Opening a pipe would block without O_NONBLOCK.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - the checked file
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise UnusableFileError("is not a regular file")
        if facts.st_uid not in {os.geteuid(), 0}:
            raise UnusableFileError("belongs to another user")
        if stat.S_IMODE(facts.st_mode) & forbidden:
            raise UnusableFileError(f"other users have access to it, run: chmod 600 {path}")
        content = file.read(most + 1)
    if len(content) > most:
        raise UnusableFileError(f"is larger than {most // 1024} KiB")
    return content


def ensure_private(directory: Path) -> Path:
    """Create a directory and its parents with mode 0700, and return it.

    An existing directory of this user gets that mode. Raises PrivateDirectoryError if it or its
    parent belongs to another user, or if it cannot be created.
    """
    problem = ""
    try:
        _make(directory)
        facts = directory.stat()
        if not stat.S_ISDIR(facts.st_mode):
            problem = "is not a directory"
        elif facts.st_uid != os.geteuid():
            problem = "belongs to another user"
        elif directory.resolve().parent.stat().st_uid not in {os.geteuid(), 0}:
            problem = "lies in another user's directory"
        elif stat.S_IMODE(facts.st_mode) & _OTHERS:
            directory.chmod(_PRIVATE_DIRECTORY)
    except OSError as error:
        raise PrivateDirectoryError(f"{directory}: {error.strerror or 'not usable'}") from error
    if problem:
        raise PrivateDirectoryError(f"{directory} {problem}")
    return directory


def _make(directory: Path) -> None:
    # ``Path.mkdir(parents=True)`` would give new parents the default mode.
    if directory.is_dir():
        return
    if directory.parent != directory:
        _make(directory.parent)
    directory.mkdir(mode=_PRIVATE_DIRECTORY, exist_ok=True)


def create(path: Path, content: bytes) -> None:
    """Create a file of mode 0600 and sync it; it is removed again on an error. Raises OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFELY, _PRIVATE)
    try:
        os.fchmod(descriptor, _PRIVATE)
        write_all(descriptor, content)
        os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def try_lock(path: Path) -> int | None:
    """Lock a file without waiting; returns a descriptor, None if another process has the lock.

    The lock is held until the descriptor is closed. On a file system without locks, every process
    gets it. Raises OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | _SAFELY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        pass
    return descriptor


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, without a sync. Raises OSError."""
    while data:
        written = os.write(descriptor, data)
        if written == 0:
            raise OSError(errno.EIO, "nothing could be written")
        data = data[written:]


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, group: int | None = None) -> None:
    """Replace a file atomically and sync it. Raises OSError.

    ``group`` is the id of its group, ignored if this user may not set it.
    """
    descriptor, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        try:
            write_all(descriptor, data)
            if group is not None:
                with contextlib.suppress(OSError):
                    os.fchown(descriptor, -1, group)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        Path(part).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(part).unlink()
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Sync a directory to disk, so that creations, renames and deletions survive a crash."""
    # Some file systems cannot sync a directory.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def open_locked(path: Path) -> Iterator[int]:
    """Open a private file for appending, locked until the context ends. Raises OSError.

    Yields the file descriptor. The file is created if needed. Waits up to ``LOCK_PATIENCE`` seconds
    for the lock. If another process replaces the file meanwhile, the new file is opened.
    """
    descriptor = _opened(path, time.monotonic() + LOCK_PATIENCE)
    try:
        if os.fstat(descriptor).st_mode & _OTHERS:
            os.fchmod(descriptor, _PRIVATE)
        yield descriptor
    finally:
        os.close(descriptor)


def _opened(path: Path, until: float) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        is_new = not path.exists()
        descriptor = os.open(path, flags, _PRIVATE)
        try:
            _lock(descriptor, until)
            if _is_at(descriptor, path):
                if is_new:
                    sync_directory(path.parent)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


# JSON lines ---------------------------------------------------------------------------------------


def encode_line(line: Mapping[str, JsonValue]) -> bytes:
    """A JSON object as one line of ASCII. Raises ValueError or TypeError if it is not JSON."""
    return json.dumps(dict(line), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def append(descriptor: int, data: bytes) -> None:
    """Append to a locked file and sync it. Raises OSError and leaves the file as it was."""
    size = os.fstat(descriptor).st_size
    # After a line that a crash cut off, the new one starts on its own line.
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    try:
        write_all(descriptor, b"\n" + data if torn else data)
        os.fsync(descriptor)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def read_all(descriptor: int) -> bytes:
    """The whole content of an open file. Raises OSError."""
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


def parse_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects in lines of text; other lines are skipped."""
    return filter(None, map(_parse_line, content.split(b"\n")))


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _lock(descriptor: int, until: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError(errno.ETIMEDOUT, "another process holds the file") from None
            time.sleep(_LOCK_PAUSE)
        else:
            return


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


# Exports ------------------------------------------------------------------------------------------


def export_name(what: str, moment: datetime, ending: str) -> str:
    """The default file name of an export, such as gwtui-keys-20261121T093000Z.csv."""
    return f"gwtui-{what}-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}.{ending}"
