"""``gwtui --demo``: a private gateway inside the dashboard's process, with persistent data."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pydantic import SecretStr

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import AddressError, DatabaseInUseError
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from gwtui.embedded.running_demo import (
    DATABASE_NAME,
    DemoSite,
    announced,
    key_body,
)
from gwtui.embedded.store.database import database_path, erase

if TYPE_CHECKING:
    from gwtui.embedded.faults import FaultInjector

KEY_NAME = "gwtui --demo"
_PREFIX = "gwtui-"
_SOCKET_NAME = "gateway.sock"
_MAX_SOCKET_PATH = 100
"""Maximum length of a socket path in bytes: 107 on Linux, 103 on some systems."""


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
            token = gateway.issue_key(management=True, name=KEY_NAME, body=key_body(number))
            try:
                async with host_on_socket(gateway, socket_path):
                    site = DemoSite(socket_path, SecretStr(token), dialect.name, gateway.past)
                    with announced(data_dir, site, number):
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
