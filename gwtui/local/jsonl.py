"""Files of JSON lines that only grow: private, on the disk at once, shared between processes."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.local.private_file import replace_file, sync_directory, write_all

if TYPE_CHECKING:
    from pydantic import JsonValue


LOCK_PATIENCE = 2.0
"""Seconds that another process may hold the file before writing to it counts as failed."""
_LOCK_PAUSE = 0.01
_PRIVATE_FILE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class LineFile:
    """One file of JSON objects, one a line.

    Every writer holds an exclusive lock, and goes by the file that has the name once it has the
    lock: another process may have put a new one in its place meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, line: Mapping[str, JsonValue]) -> None:
        """Add a line and wait until it is on the disk.

        Raises OSError, and then nothing of the line stays; ValueError for what is not JSON.
        """
        data = encoded(line)
        with self.locked() as descriptor:
            add(descriptor, data)

    @contextmanager
    def locked(self) -> Iterator[int]:
        """The file open for appending, while no other process writes to it. Raises OSError."""
        _private_directory(self.path.parent)
        descriptor = self._own()
        try:
            if os.fstat(descriptor).st_mode & _OTHERS:
                os.fchmod(descriptor, _PRIVATE_FILE)
            yield descriptor
        finally:
            os.close(descriptor)

    def objects(self) -> Iterator[dict[str, Any]]:
        """Every readable line in file order; torn and foreign ones are passed over.

        Raises OSError.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        yield from parsed(content)

    def keep(self, select: Callable[[Iterable[bytes]], Iterable[bytes]], over: int) -> bool:
        """Replace the file by the lines that ``select`` gives, when it is larger than ``over``.

        It is replaced whole or not at all, whatever happens. Whether it was. Raises OSError.
        """
        if not self.path.exists() or self.path.stat().st_size <= over:
            return False
        with self.locked() as descriptor:
            content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
            kept = b"".join(line + b"\n" for line in select(content.split(b"\n")) if line)
            if len(kept) >= len(content):
                return False
            replace_file(self.path, kept)
        return True

    def _own(self) -> int:
        """A locked descriptor of the file that has the name now."""
        until = time.monotonic() + LOCK_PATIENCE
        while True:
            is_new = not self.path.exists()
            descriptor = os.open(self.path, _FLAGS, _PRIVATE_FILE)
            try:
                _lock(descriptor, until)
                if _is_at(descriptor, self.path):
                    if is_new:
                        sync_directory(self.path.parent)
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)


def encoded(line: Mapping[str, JsonValue]) -> bytes:
    """One line of ASCII: lone surrogates and line breaks in texts are escaped.

    Raises ValueError or TypeError for what is not JSON.
    """
    return json.dumps(dict(line), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def add(descriptor: int, data: bytes) -> None:
    """Append to a locked file and sync it. Raises OSError, and then nothing of it stays."""
    size = os.fstat(descriptor).st_size
    # A line torn by a crash must not swallow this one.
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    try:
        write_all(descriptor, b"\n" + data if torn else data)
        os.fsync(descriptor)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def parsed(content: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects among lines."""
    for line in content.split(b"\n"):
        found = parsed_line(line)
        if found is not None:
            yield found


def parsed_line(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None when it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


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


def _private_directory(directory: Path) -> None:
    try:
        ensure_private(directory)
    except PrivateDirectoryError as error:
        raise OSError(str(error)) from error
