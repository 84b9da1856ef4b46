"""``gwtui gateway``: run the embedded gateway as a server, and issue keys for it."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.cli import exits
from gwtui.cli.command import (
    COLUMNS,
    FAULT,
    FILES,
    ROWS_OUTPUT,
    Argument,
    Command,
    Run,
    whole_number,
)
from gwtui.cli.output import OutputLostError, data_on_stdout, narrate, print_rows
from gwtui.cli.target import fault_injector, list_faults, wants_fault_list
from gwtui.contract.dialects import DIALECTS, GENERIC, Dialect
from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.demo import DATABASE_NAME
from gwtui.embedded.errors import (
    DatabaseInUseError,
    DatabaseMissingError,
    GatewayStartError,
)
from gwtui.local.paths import Paths
from gwtui.local.private_file import ensure_private

if TYPE_CHECKING:
    from gwtui.embedded.faults import FaultInjector
    from gwtui.embedded.gateway import EmbeddedGateway

_DEFAULT_PORT = 8088
_MAX_PORT = 65535


def _verb(work: Run) -> Run:
    in_use = exits.reporting(DatabaseInUseError, code=exits.IN_USE)
    return exits.reporting(GatewayStartError, code=exits.FAILED)(in_use(work))


def _serve(arguments: argparse.Namespace) -> int:
    from gwtui.embedded.hosting import serve_tcp  # noqa: PLC0415

    if wants_fault_list(arguments):
        return list_faults()
    faults = fault_injector(arguments.fault)
    database = _database(arguments)
    gateway = _open(database, arguments, faults)

    def ready(base_url: str) -> None:
        with data_on_stdout():
            print(base_url)
        narrate(f"serving {database}; press Ctrl+C to stop")
        for armed in faults.armed if faults is not None else ():
            narrate(f"fault: {armed.text}")
        narrate(f"to get a key, run: gwtui gateway issue-key --management --database {database}")

    try:
        return asyncio.run(serve_tcp(gateway, arguments.host, arguments.port, on_ready=ready))
    finally:
        gateway.close()


def _open(
    database: Path, arguments: argparse.Namespace, faults: FaultInjector | None = None
) -> EmbeddedGateway:
    from gwtui.embedded.gateway import EmbeddedGateway  # noqa: PLC0415 - loads the server

    return EmbeddedGateway(
        database,
        dialect=_dialect(arguments),
        seed=arguments.seed,
        content="empty" if arguments.empty else "simulated",
        faults=faults,
    )


def _issue(arguments: argparse.Namespace) -> int:
    from gwtui.embedded.auth import ISSUED_KEY_NAME, issue_key  # noqa: PLC0415 - the store

    database = _database(arguments)
    name = arguments.name or ISSUED_KEY_NAME
    # None: the dialect with which the database was last served.
    dialect = DIALECTS[arguments.dialect] if arguments.dialect else None
    try:
        key = issue_key(database, dialect=dialect, management=arguments.management, name=name)
    except DatabaseMissingError:
        gateway = _open(database, arguments)
        key = gateway.issue_key(management=arguments.management, name=name)
        gateway.close()
        narrate(f"created the database {database}")
    try:
        with data_on_stdout():
            print(key)
    except OutputLostError as error:
        why = f"{error}; the key {name!r} is lost: issue another one"
        raise exits.CommandError(why) from None
    return exits.OK


def _generations(arguments: argparse.Namespace) -> int:
    from gwtui.embedded.store.generations import recent_generations  # noqa: PLC0415 - the store

    database = _database(arguments)
    if arguments.demo and arguments.database is None:
        database = database.parent / "demo" / DATABASE_NAME
    rows = [
        {
            "id": generation.id,
            "made_at": timestamp_text(generation.made_at),
            "model": generation.model,
            "key": generation.key_name,
        }
        for generation in recent_generations(database)
    ]
    print_rows(rows, arguments, ("id", "made_at", "model", "key"))
    return exits.OK


def _dialect(arguments: argparse.Namespace) -> Dialect:
    return DIALECTS[arguments.dialect] if arguments.dialect else GENERIC


def _database(arguments: argparse.Namespace) -> Path:
    given: Path | None = arguments.database
    return given or ensure_private(Paths.of_user().data) / "gateway.sqlite3"


_DATABASE = Argument(
    "--database",
    type=Path,
    metavar="FILE",
    kind=FILES,
    help="SQLite database (default: a file in the data directory)",
)
_NEW_DATABASE = (
    _DATABASE,
    Argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the simulated data of a new database (default: 1)",
    ),
    Argument(
        "--empty",
        action="store_true",
        help="create a new database with the catalog only: no keys, no usage",
    ),
)
COMMAND = Command(
    verbs=(
        Command(
            "serve",
            "serve the API of the embedded gateway over HTTP",
            _verb(_serve),
            (
                Argument(
                    "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"
                ),
                Argument(
                    "--port",
                    type=whole_number(0, _MAX_PORT),
                    default=_DEFAULT_PORT,
                    help=f"port to listen on; 0 picks a free one (default: {_DEFAULT_PORT})",
                ),
                FAULT,
                *_NEW_DATABASE,
            ),
        ),
        Command(
            "issue-key",
            "create an API key and print only the key on stdout, once",
            _verb(_issue),
            (
                Argument("--management", action="store_true", help="create a management key"),
                Argument("--name", default="", help="name of the key"),
                *_NEW_DATABASE,
            ),
        ),
        Command(
            "generations",
            "list recent generations: id, time, model, key",
            _verb(_generations),
            (
                Argument("--demo", action="store_true", help="list generations of the demo"),
                ROWS_OUTPUT,
                COLUMNS,
                _DATABASE,
            ),
        ),
    )
)
