"""``gwtui whoami``: the gateway, the key and its rights, and the user of this machine."""

from __future__ import annotations

import argparse

from gwtui.cli import exits
from gwtui.cli.command import DEMO, OUTPUT, Command
from gwtui.cli.lists.show import print_detail
from gwtui.cli.output import print_json, print_table
from gwtui.cli.target import find_profile, report_retry, resolve_connection, run_async
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CurrentKey
from gwtui.crud.export import raw_object
from gwtui.domain import money
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local import targets
from gwtui.local.ledger import Operator
from gwtui.local.paths import Paths
from gwtui.resources.keys.current import THIS_KEY


def run(arguments: argparse.Namespace) -> int:
    """Print the connection and the key; returns an exit code."""
    paths = Paths.of_user()
    connect = resolve_connection(arguments, paths, may_ask=False)
    profile = targets.DEMO if arguments.demo else find_profile(arguments, paths).name

    async def ask() -> int:
        async with connect() as connection:
            key = await read_current_key(connection)
            show = _print_json if arguments.output == "json" else _print_rows
            show(connection, profile, key)
        return exits.OK

    return run_async(ask)


def _print_json(connection: Connection, profile: str, key: CurrentKey) -> None:
    operator = Operator.present()
    print_json(
        {
            "profile": profile or None,
            "base_url": connection.base_url,
            "host": connection.host_and_port,
            "dialect": connection.dialect.name,
            "token_source": connection.token_source,
            "read_only": connection.read_only,
            "critical": connection.critical,
            "can_write": _held_back(connection, key) is None,
            "operator": f"{operator.user}@{operator.host}",
            "key": raw_object(THIS_KEY, key),
        }
    )


def _print_rows(connection: Connection, profile: str, key: CurrentKey) -> None:
    operator, held_back = Operator.present(), _held_back(connection, key)
    print_table(
        [
            ("profile", profile or "none (address only)"),
            ("gateway", connection.base_url),
            ("dialect", connection.dialect.name),
            ("key from", connection.token_source),
            ("writes", f"READ-ONLY: {held_back}" if held_back else "allowed"),
            ("critical", "CRITICAL" if connection.critical else "no"),
            ("operator", f"{operator.user}@{operator.host}"),
            ("", ""),
        ]
    )
    print_detail(THIS_KEY, key, SYSTEM_CLOCK.now())


def _held_back(connection: Connection, key: CurrentKey) -> str | None:
    if connection.read_only:
        return "read-only connection"
    return "not a management key" if key.is_management_key is False else None


async def read_current_key(connection: Connection) -> CurrentKey:
    """Read the key of a connection. Raises GatewayError."""
    async with GatewayClient(connection, on_retry=report_retry) as gateway:
        return await gateway.keys.current()


def key_summary(key: CurrentKey) -> str:
    """Return the kind, label and limit of a key in one line."""
    manages = key.is_management_key
    kind = "key" if manages is None else "management key" if manages else "inference key"
    if key.limit is None:
        limit = "no limit" if key.sent_null("limit") else f"limit {UNKNOWN}"
    else:
        limit = f"limit {money.usd(key.limit)}, {money.usd(key.limit_remaining)} left"
    return f"{kind} {key.label or UNKNOWN}, {limit}"


COMMAND = Command(run=run, arguments=(DEMO, OUTPUT))
