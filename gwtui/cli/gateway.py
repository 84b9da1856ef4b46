"""``gwtui gateway``: the embedded gateway as a server of its own, and keys for it."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.cli import exits
from gwtui.cli.faults import add_fault_option, fault_injector, list_faults, wants_list
from gwtui.cli.output import OutputLostError, data_on_stdout
from gwtui.cli.rows import add_row_options, print_rows
from gwtui.contract.dialects import DIALECTS, GENERIC, Dialect
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.safe_text import safe_text
from gwtui.embedded.errors import (
    DatabaseInUseError,
    DatabaseMissingError,
    FaultSyntaxError,
    GatewayStartError,
)
from gwtui.embedded.running_demo import DATABASE_NAME
from gwtui.local.paths import Paths
from gwtui.local.private_file import ensure_private

if TYPE_CHECKING:
    from gwtui.embedded.faults import FaultInjector
    from gwtui.embedded.gateway import EmbeddedGateway

_DEFAULT_PORT = 8088
_MAX_PORT = 65535


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``serve``, ``issue-key`` and ``generations``."""
    commands = parser.add_subparsers(dest="gateway_command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the management API over HTTP")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    serve.add_argument(
        "--port", type=_port, default=_DEFAULT_PORT, help=f"0 picks a free one ({_DEFAULT_PORT})"
    )
    add_fault_option(serve)
    issue = commands.add_parser(
        "issue-key", help="make an API key; prints the key alone on stdout, once"
    )
    issue.add_argument("--management", action="store_true", help="allow management operations")
    issue.add_argument("--name", default="", help="what the key is for")
    recent = commands.add_parser(
        "generations", help="list recent generations to look up: id, moment, model, key"
    )
    recent.add_argument("--demo", action="store_true", help="of the demo instead of the gateway")
    add_row_options(recent)
    for command in (serve, issue, recent):
        command.add_argument(
            "--database", type=Path, metavar="FILE", help="SQLite file (in your data directory)"
        )
    for command in (serve, issue):
        command.add_argument(
            "--seed", type=int, default=1, help="new database: another seed, another world (1)"
        )
        command.add_argument(
            "--empty", action="store_true", help="new database: no keys, no usage, only the catalog"
        )
        command.add_argument(
            "--dialect",
            choices=sorted(DIALECTS),
            default=argparse.SUPPRESS,
            help="names used on the wire",
        )


def run(arguments: argparse.Namespace) -> int:
    """Carry out one of the commands; returns an exit code."""
    try:
        command = {"issue-key": _issue, "generations": _generations}
        return command.get(arguments.gateway_command, _serve)(arguments)
    except FaultSyntaxError as error:
        return _failed(error.message, exits.USAGE)
    except DatabaseInUseError as error:
        return _failed(error.message, exits.IN_USE)
    except GatewayStartError as error:
        return _failed(error.message, exits.FAILED)


def _serve(arguments: argparse.Namespace) -> int:
    from gwtui.embedded.hosting import serve_tcp  # noqa: PLC0415

    if wants_list(arguments.fault):
        return list_faults()
    faults = fault_injector(arguments.fault)
    database = _database(arguments)
    gateway = _open(database, arguments, faults)

    def ready(base_url: str) -> None:
        with data_on_stdout():
            print(base_url)
        _narrate(f"serving {database}; stop with ctrl+c")
        for armed in faults.armed if faults is not None else ():
            _narrate(f"fault: {armed.text}")
        _narrate(f"for a key: gwtui gateway issue-key --management --database {database}")

    try:
        return asyncio.run(serve_tcp(gateway, arguments.host, arguments.port, on_ready=ready))
    finally:
        gateway.close()


def _open(
    database: Path, arguments: argparse.Namespace, faults: FaultInjector | None = None
) -> EmbeddedGateway:
    from gwtui.embedded.gateway import EmbeddedGateway  # noqa: PLC0415 - loads the server

    return EmbeddedGateway.open(
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
    # As the database was last served, unless said otherwise.
    dialect = DIALECTS[arguments.dialect] if arguments.dialect else None
    try:
        key = issue_key(database, dialect=dialect, management=arguments.management, name=name)
    except DatabaseMissingError:
        gateway = _open(database, arguments)
        key = gateway.issue_key(management=arguments.management, name=name)
        gateway.close()
        _narrate(f"made the database {database}")
    try:
        with data_on_stdout():
            print(key)
    except OutputLostError as error:
        return _failed(f"{error}; nobody has the key {name!r}: issue another one", exits.FAILED)
    return exits.OK


_RECENT = ("id", "made_at", "model", "key")


def _generations(arguments: argparse.Namespace) -> int:
    from gwtui.embedded.store.generations import recent_generations  # noqa: PLC0415 - the store

    database = _database(arguments)
    if arguments.demo and arguments.database is None:
        database = database.parent / "demo" / DATABASE_NAME
    rows = [
        dict(
            zip(
                _RECENT, (one.id, timestamp_text(one.made_at), one.model, one.key_name), strict=True
            )
        )
        for one in recent_generations(database)
    ]
    if arguments.output != "table" or arguments.columns is not None:
        form, columns = arguments.output, arguments.columns
        print_rows(rows, form, known=_RECENT, usual={}, columns=columns)
        return exits.OK
    with data_on_stdout():
        for row in rows:
            print(*(safe_text(value) for value in row.values()), sep="\t")
    return exits.OK


def _dialect(arguments: argparse.Namespace) -> Dialect:
    return DIALECTS[arguments.dialect] if arguments.dialect else GENERIC


def _database(arguments: argparse.Namespace) -> Path:
    given: Path | None = arguments.database
    return given or ensure_private(Paths.of_user().data) / "gateway.sqlite3"


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MAX_PORT:
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return int(text)


def _narrate(message: str) -> None:
    print(f"gwtui gateway: {safe_text(message, 1000)}", file=sys.stderr, flush=True)


def _failed(message: str, code: int) -> int:
    _narrate(message)
    return code
