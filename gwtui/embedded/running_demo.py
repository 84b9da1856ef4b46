"""Find the running demo, so that other commands of the same user can connect to it.

The demo writes a file beside its database: process, socket, dialect, and a random number from which
its key is derived. The file is trusted only if this user owns it, nobody else can write it, and the
named process listens on the socket.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from gwtui.contract.dialects import DIALECTS

if TYPE_CHECKING:
    from gwtui.domain.history_source import HistorySource

BASE_URL = "http://localhost/api/v1"
"""Base URL of the demo gateway, which is only reachable over its socket."""
DATABASE_NAME = "demo.sqlite3"
_ANNOUNCEMENT = "demo.running"
_OTHERS = 0o077
_MOST_BYTES = 4096
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_SECONDS = 1.0
_PEER = struct.Struct("3i")
"""Process, user and group at the other end of a socket, in the format of Linux."""


@dataclass(frozen=True, slots=True)
class DemoSite:
    """Socket and token of the demo gateway. Valid while it runs."""

    socket_path: Path
    token: SecretStr
    dialect: str = "generic"
    past: Callable[[], HistorySource | None] | None = field(default=None, compare=False)
    """Returns the simulated past; None except in the process that runs the demo."""


def key_body(number: str) -> str:
    """Return the 64 hex digits of the demo's key."""
    return hashlib.sha256(f"gwtui demo key\0{number}".encode()).hexdigest()


@contextmanager
def announced(data_dir: Path, site: DemoSite, number: str) -> Iterator[None]:
    """Announce the demo to other processes of this user for the duration of the context.

    Its key is derived from ``number``.
    """
    path = data_dir / _ANNOUNCEMENT
    announcement = {
        "pid": os.getpid(),
        "socket": str(site.socket_path),
        "dialect": site.dialect,
        "number": number,
    }
    # Without the file the demo still works for its own process.
    with suppress(OSError):
        path.unlink(missing_ok=True)
        with open(os.open(path, _WRITING, 0o600), "w") as file:  # noqa: PTH123 - a descriptor
            json.dump(announcement, file)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def running_demo(data_dir: Path) -> DemoSite | None:
    """Return this user's running demo on the database in ``data_dir``; None if there is none."""
    try:
        known = json.loads(_content(data_dir / _ANNOUNCEMENT))
        path, dialect = Path(known["socket"]), DIALECTS[known["dialect"]]
        if not (path.is_absolute() and _is_ours(path) and _listens(path, known["pid"])):
            return None
        token = dialect.management_key_prefix + key_body(known["number"])
        return DemoSite(path, SecretStr(token), dialect.name)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _content(path: Path) -> bytes:
    # Raises OSError unless the file is private to this user.
    descriptor = os.open(path, _READING)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - opened without following links
        status = os.fstat(descriptor)
        if not (stat.S_ISREG(status.st_mode) and _private(status)):
            raise PermissionError(path)
        return file.read(_MOST_BYTES)


def _private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & _OTHERS


def _is_ours(path: Path) -> bool:
    # The directory must be inaccessible to other users as well.
    directory, itself = path.parent.lstat(), path.lstat()
    ours = stat.S_ISSOCK(itself.st_mode) and itself.st_uid == os.geteuid()
    return ours and stat.S_ISDIR(directory.st_mode) and _private(directory)


def _listens(path: Path, pid: int) -> bool:
    # Only Linux reports the process at the other end of a socket.
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_SECONDS)
        probe.connect(str(path))
        if sys.platform != "linux":
            return True
        peer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    peer_pid, user, _group = _PEER.unpack(peer)
    return (peer_pid, user) == (pid, os.geteuid())
