"""Writing so that it is on the disk: what the journal and everything like it are made of."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; the caller syncs. Raises OSError."""
    while data:
        written = os.write(descriptor, data)
        if written == 0:
            raise OSError(errno.EIO, "nothing could be written")
        data = data[written:]


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, group: int | None = None) -> None:
    """Put a file in the place of another in one step: readers see the old or the new, whole.

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
