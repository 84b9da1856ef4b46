"""Writing so that it is on the disk: what the journal and everything like it are made of."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; the caller syncs. Raises OSError."""
    while data:
        written = os.write(descriptor, data)
        if written == 0:
            raise OSError(errno.EIO, "nothing could be written")
        data = data[written:]


def sync_directory(directory: Path) -> None:
    """Make what was created, renamed or removed in a directory last."""
    # Not every file system can sync a directory; the files themselves are synced by who writes.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
