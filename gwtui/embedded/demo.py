"""``gwtui --demo``: a private gateway inside the dashboard's process, with persistent data.

While it runs, its database holds the path of its socket. Other commands of the same user read it
there and issue a key of their own, which becomes invalid when the demo ends.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pydantic import SecretStr

from gwtui.contract.dialects import DIALECTS, GENERIC, Dialect
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import DatabaseInUseError, DatabaseVersionError, GatewayStartError

if TYPE_CHECKING:
    from gwtui.domain.history_source import HistorySource
    from gwtui.embedded.faults import FaultInjector

BASE_URL = "http://localhost/api/v1"
"""Base URL of the demo gateway, which is only reachable over its socket."""
DATABASE_NAME = "demo.sqlite3"
KEY_NAME = "gwtui --demo"
_PREFIX = "gwtui-"
_SOCKET_NAME = "gateway.sock"
_LONGEST_PARENT = 70
"""Maximum length of the parent directory: a socket path has at most 104 bytes on macOS."""
_OTHERS = 0o077
_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class DemoSite:
    """How to reach the demo gateway; valid while it runs."""

    socket_path: Path
    token: SecretStr
    dialect: str = "generic"
    past: Callable[[], HistorySource | None] | None = field(default=None, compare=False)
    """Returns the simulated past; None except in the process that runs the demo."""


@asynccontextmanager
async def demo_gateway(
    *,
    fresh: bool = False,
    data_dir: Path,
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
        gateway = EmbeddedGateway(database, dialect=dialect, seed=seed, clock=clock, faults=faults)
    except DatabaseInUseError as error:
        raise DatabaseInUseError(
            f"Another demo is already running on {data_dir / DATABASE_NAME}. Leave it first."
        ) from error
    except DatabaseVersionError as error:
        raise DatabaseVersionError(
            f"Another version of gwtui wrote the demo's data, {data_dir / DATABASE_NAME}. "
            "'gwtui --demo --fresh' replaces it with new data."
        ) from error
    try:
        with _socket_directory() as directory:
            socket_path = Path(directory, _SOCKET_NAME)
            gateway.revoke_management_keys(KEY_NAME)
            token = gateway.issue_key(management=True, name=KEY_NAME)
            try:
                async with host_on_socket(gateway, socket_path):
                    gateway.change_settings(demo_socket=str(socket_path))
                    yield DemoSite(socket_path, SecretStr(token), dialect.name, gateway.past)
            finally:
                gateway.change_settings(demo_socket=None)
                gateway.revoke_management_keys(KEY_NAME)
    finally:
        gateway.close()


def _socket_directory() -> TemporaryDirectory[str]:
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    is_usable = len(session) <= _LONGEST_PARENT and os.access(session, os.W_OK | os.X_OK)
    return TemporaryDirectory(
        prefix=_PREFIX, dir=session if is_usable else None, ignore_cleanup_errors=True
    )


def running_demo(data_dir: Path) -> DemoSite | None:
    """Return this user's running demo on the database in ``data_dir``; None if there is none.

    Each call issues a new key.
    """
    from gwtui.embedded.auth import issue  # noqa: PLC0415
    from gwtui.embedded.store import account  # noqa: PLC0415
    from gwtui.embedded.store.database import Database  # noqa: PLC0415

    try:
        with Database.visit(data_dir / DATABASE_NAME) as database:
            with database.read() as db:
                announced = account.setting(db, "demo_socket")
                dialect = DIALECTS[account.setting(db, "dialect")]
            # A demo that crashed leaves its path behind, and another user could listen there.
            if announced is None or not _is_private(Path(announced).parent):
                return None
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                probe.settimeout(_SECONDS)
                probe.connect(announced)
            now = SYSTEM_CLOCK.now()
            token = issue(database, dialect, now, management=True, name=KEY_NAME)
            return DemoSite(Path(announced), SecretStr(token), dialect.name)
    except (OSError, GatewayStartError):
        return None


def _is_private(directory: Path) -> bool:
    status = directory.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return is_ours and not stat.S_IMODE(status.st_mode) & _OTHERS
