"""Finds the running demo, so that other commands of the same user can talk to it.

The demo says so in a file beside its database: process, socket, dialect. Its key stands nowhere: it
is derived from the secret beside the database and a number beside the socket, another one in each
run. Nothing of that is believed unless it belongs to this user, nobody else can touch it, and the
process that was named answers on the socket.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import json
import os
import secrets
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from gwtui.contract.dialects import DIALECTS
from gwtui.embedded.errors import DatabaseUnusableError

if TYPE_CHECKING:
    from gwtui.domain.history_source import HistorySource

BASE_URL = "http://localhost/api/v1"
"""Address of the demo's gateway, which is reached by its socket only."""
DATABASE_NAME = "demo.sqlite3"
SEALING_NAME = "demo.sealing"
_SECRET_LENGTH = 64
_ANNOUNCEMENT = "demo.running"
_NUMBER = "number"
_NUMBER_BYTES = 32
_PRIVATE = 0o600
_OTHERS = 0o077
_MOST_BYTES = 4096
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SECONDS = 1.0
_PEER = struct.Struct("3i")
"""Process, user and group of who listens on a socket, as Linux tells them."""


@dataclass(frozen=True, slots=True)
class DemoSite:
    """Address and token of the demo's gateway. Valid while it runs."""

    base_url: str
    socket_path: Path
    token: SecretStr
    lasting_secret: SecretStr
    """The same in every run on this database, unlike the token."""
    dialect: str = "generic"
    past: Callable[[], HistorySource | None] | None = field(default=None, compare=False)
    """Asks for what was before now; only in the process that runs the demo."""


@contextmanager
def announced(data_dir: Path, site: DemoSite, number: str) -> Iterator[None]:
    """Let other processes of this user find the demo for as long as this lasts.

    ``number`` is what its key was derived from.
    """
    path = data_dir / _ANNOUNCEMENT
    proof = _digest(site.lasting_secret, "number", number)
    said = {
        "pid": os.getpid(),
        "socket": str(site.socket_path),
        "base_url": site.base_url,
        "dialect": site.dialect,
    }
    # Without it the demo runs all the same, for its own process.
    with contextlib.suppress(OSError):
        _place(site.socket_path.with_name(_NUMBER), f"{number} {proof}".encode("ascii"))
        _place(path, json.dumps(said).encode("ascii"))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def running_demo(data_dir: Path) -> DemoSite | None:
    """The demo on the database in ``data_dir`` that runs now and is this user's; else None."""
    try:
        said = json.loads(_content(data_dir / _ANNOUNCEMENT))
        path, pid = Path(_text(said, "socket")), said["pid"]
        if not (path.is_absolute() and isinstance(pid, int) and _is_ours(path)):
            return None
        if not _answers(path, pid):
            return None
        secret = lasting_secret(data_dir)
        number, proof = _content(path.with_name(_NUMBER)).decode("ascii").split(" ")
        if not hmac.compare_digest(proof, _digest(secret, "number", number)):
            return None
        dialect = DIALECTS[_text(said, "dialect")]
        return DemoSite(
            base_url=_text(said, "base_url"),
            socket_path=path,
            token=SecretStr(dialect.management_key_prefix + key_body(secret, number)),
            lasting_secret=secret,
            dialect=dialect.name,
        )
    except (OSError, ValueError, KeyError, TypeError, DatabaseUnusableError):
        return None


def lasting_secret(data_dir: Path) -> SecretStr:
    """The secret beside the demo's database, made at the first call.

    Raises DatabaseUnusableError.
    """
    path = data_dir / SEALING_NAME
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "r+", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            text = file.read(_SECRET_LENGTH + 1)
            if len(text) != _SECRET_LENGTH:
                text = secrets.token_hex(_SECRET_LENGTH // 2)
                file.seek(0)
                file.truncate()
                file.write(text)
    except OSError as error:
        raise DatabaseUnusableError(f"Cannot use {path}: {error.strerror}.") from error
    return SecretStr(text)


def new_number() -> str:
    """A number that no run had before."""
    return secrets.token_hex(_NUMBER_BYTES)


def key_body(secret: SecretStr, number: str) -> str:
    """The 64 hex digits of the demo's key; without the secret the number does not tell them."""
    return _digest(secret, "key", number)


def _digest(secret: SecretStr, purpose: str, number: str) -> str:
    key = secret.get_secret_value().encode("ascii")
    return hmac.new(key, f"gwtui demo {purpose}\0{number}".encode("ascii"), "sha256").hexdigest()


def _text(said: Any, key: str) -> str:
    found = said[key]
    if not isinstance(found, str):
        raise TypeError(key)
    return found


def _place(path: Path, content: bytes) -> None:
    """Write a new file of mode 0600 in the place of an old one. Raises OSError."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
        file.write(content)


def _content(path: Path) -> bytes:
    """The content of a private file of this user. Raises OSError for any other file."""
    descriptor = os.open(path, _READING)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - opened without following links
        found = os.fstat(descriptor)
        if not (stat.S_ISREG(found.st_mode) and _private(found)):
            raise PermissionError(path)
        return file.read(_MOST_BYTES)


def _private(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & _OTHERS


def _is_ours(path: Path) -> bool:
    """Whether a socket is this user's, in a directory that nobody else may enter."""
    directory, itself = path.parent.lstat(), path.lstat()
    ours = stat.S_ISSOCK(itself.st_mode) and itself.st_uid == os.geteuid()
    return ours and stat.S_ISDIR(directory.st_mode) and _private(directory)


def _answers(path: Path, pid: int) -> bool:
    """Whether that process listens on the socket, as this user, where the system tells."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_SECONDS)
        probe.connect(str(path))
        if sys.platform != "linux":
            return True
        peer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    found, user, _group = _PEER.unpack(peer)
    return (found, user) == (pid, os.geteuid())
