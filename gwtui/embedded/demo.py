"""``gwtui --demo``: a private gateway inside the dashboard's process, with persistent data.

While it runs, a file beside its database leads other commands of the same user to it: socket,
dialect, and a random number from which its key is derived. The file and the socket are trusted only
if they belong to this user and nobody else can reach them.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pydantic import SecretStr

from gwtui.contract.dialects import DIALECTS, GENERIC, Dialect
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import AddressError, DatabaseInUseError

if TYPE_CHECKING:
    from gwtui.domain.history_source import HistorySource
    from gwtui.embedded.faults import FaultInjector

BASE_URL = "http://localhost/api/v1"
"""Base URL of the demo gateway, which is only reachable over its socket."""
DATABASE_NAME = "demo.sqlite3"
KEY_NAME = "gwtui --demo"
_ANNOUNCEMENT = "demo.running"
_PREFIX = "gwtui-"
_SOCKET_NAME = "gateway.sock"
_MAX_SOCKET_PATH = 100
"""Maximum length of a socket path in bytes: 107 on Linux, 103 on some systems."""
_OTHERS = 0o077
_MOST_BYTES = 4096
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class DemoSite:
    """Socket and token of the demo gateway. Valid while it runs."""

    socket_path: Path
    token: SecretStr
    dialect: str = "generic"
    past: Callable[[], HistorySource | None] | None = field(default=None, compare=False)
    """Returns the simulated past; None except in the process that runs the demo."""


@asynccontextmanager
async def demo_gateway(  # noqa: PLR0913 - all by name
    *,
    fresh: bool = False,
    data_dir: Path,
    runtime_dir: Path | None = None,
    clock: Clock = SYSTEM_CLOCK,
    seed: int = 1,
    dialect: Dialect = GENERIC,
    faults: FaultInjector | None = None,
) -> AsyncIterator[DemoSite]:
    """Run the demo gateway for the duration of the context.

    The database in ``data_dir`` persists; ``fresh`` replaces it. ``seed`` only applies to a new
    database. The management key is new each time and valid only during the context. The socket is
    in a new directory that no other user can enter. Raises GatewayStartError.
    """
    # Other commands look for the demo without loading the server.
    from gwtui.embedded.gateway import EmbeddedGateway  # noqa: PLC0415
    from gwtui.embedded.hosting import host_on_socket  # noqa: PLC0415
    from gwtui.embedded.store.database import database_path, erase  # noqa: PLC0415

    try:
        # Resolve links once, so that the erased file and the new file are the same.
        database = database_path(data_dir / DATABASE_NAME)
        if fresh:
            erase(database)
        gateway = EmbeddedGateway.open(
            database, dialect=dialect, seed=seed, clock=clock, faults=faults
        )
    except DatabaseInUseError as error:
        raise DatabaseInUseError(
            f"Another demo is already running on {data_dir / DATABASE_NAME}. Leave it first."
        ) from error
    try:
        with _socket_directory(runtime_dir) as directory:
            socket_path = Path(directory, _SOCKET_NAME)
            gateway.revoke_management_keys(KEY_NAME)
            number = secrets.token_hex(32)
            token = gateway.issue_key(management=True, name=KEY_NAME, body=_key_body(number))
            try:
                async with host_on_socket(gateway, socket_path):
                    site = DemoSite(socket_path, SecretStr(token), dialect.name, gateway.past)
                    with _announced(data_dir, site, number):
                        yield site
            finally:
                gateway.revoke_management_keys(KEY_NAME)
    finally:
        gateway.close()


def _socket_directory(runtime_dir: Path | None) -> TemporaryDirectory[str]:
    session = os.environ.get("XDG_RUNTIME_DIR")
    for parent in (runtime_dir, session, tempfile.gettempdir()):
        socket_path = Path(parent or "", f"{_PREFIX}12345678", _SOCKET_NAME)
        is_short = len(os.fsencode(socket_path)) <= _MAX_SOCKET_PATH
        if parent and is_short and os.access(parent, os.W_OK | os.X_OK):
            return TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True)
    raise AddressError(
        "There is no directory for the gateway's socket. Set XDG_RUNTIME_DIR to a directory of "
        "yours with a short path."
    )


def _key_body(number: str) -> str:
    return hashlib.sha256(f"gwtui demo key\0{number}".encode()).hexdigest()


@contextmanager
def _announced(data_dir: Path, site: DemoSite, number: str) -> Iterator[None]:
    path = data_dir / _ANNOUNCEMENT
    announcement = {"socket": str(site.socket_path), "dialect": site.dialect, "number": number}
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
        if not (path.is_absolute() and _is_ours(path)):
            return None
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(_SECONDS)
            probe.connect(str(path))
        token = dialect.management_key_prefix + _key_body(known["number"])
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
    # In a directory that other users cannot enter, they cannot listen either.
    directory, itself = path.parent.lstat(), path.lstat()
    ours = stat.S_ISSOCK(itself.st_mode) and itself.st_uid == os.geteuid()
    return ours and stat.S_ISDIR(directory.st_mode) and _private(directory)
