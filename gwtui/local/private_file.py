"""Files that only their owner can read: made, read, locked, replaced in one step, destroyed.

No link in a file's place is followed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from pathlib import Path

MOST_BYTES = 256 * 1024
"""No more is read of a file."""
_PRIVATE = 0o600
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def is_regular(path: Path) -> bool:
    """Whether there is a file, and no link, pipe or directory in its place."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def create(path: Path, content: bytes) -> int:
    """A new file of mode 0600, on the disk and locked; its descriptor. Raises OSError.

    A file that could not be written whole is destroyed again.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, _PRIVATE)
    try:
        _lock(descriptor)
        os.fchmod(descriptor, _PRIVATE)
        write_all(descriptor, content)
        os.fsync(descriptor)
    except BaseException:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            destroy(path)
        raise
    return descriptor


def read(path: Path) -> bytes:
    """The content, cut where it is far too long. Raises OSError."""
    descriptor = os.open(path, _READING)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - opened without following links
        return file.read(MOST_BYTES)


def locked(path: Path) -> int | None:
    """A descriptor that holds the file's lock until it is closed; None when another one does.

    The lock ends with the process that holds it. Raises OSError.
    """
    descriptor = os.open(path, _READING)
    if _lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def is_free(path: Path) -> bool:
    """Whether nobody holds the file's lock. Raises OSError."""
    descriptor = locked(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


def destroy(path: Path) -> None:
    """Overwrite once, cut to nothing, unlink. Raises OSError when the name is still there."""
    # A file that cannot be overwritten is at least removed.
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            write_all(descriptor, bytes(min(size, MOST_BYTES)))
            os.fsync(descriptor)
            os.ftruncate(descriptor, 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    path.unlink(missing_ok=True)
    sync_directory(path.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; the caller syncs. Raises OSError."""
    while data:
        written = os.write(descriptor, data)
        if written == 0:
            raise OSError(errno.EIO, "nothing could be written")
        data = data[written:]


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, group: int | None = None) -> None:
    """Replace a file in one step: readers see the old or the new content, whole.

    With ``group``, the file goes to that group where that is allowed. Raises OSError.
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
    """Make what was created, renamed or removed in a directory last."""
    # Not every file system can sync a directory; the files themselves are synced by who writes.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """False when another process holds it. A file system without locks holds nobody back."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
