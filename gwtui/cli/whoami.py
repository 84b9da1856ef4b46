"""``gwtui whoami``: which gateway, which key with what rights, and which person at this machine.

What the gateway says of the key in use (GET /key) is read and put into words here for login, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from gwtui.cli import exits
from gwtui.cli.output import add_output_option, narrate, print_json, print_table
from gwtui.cli.running import run_async
from gwtui.cli.target import add_demo_option, find_profile, resolve_connection
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.current_key import CurrentKey
from gwtui.contract.scalars import timestamp_text
from gwtui.crud.cells import is_null
from gwtui.domain import money, times
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.resets import describe_reset
from gwtui.local.ledger import Operator
from gwtui.local.paths import Paths
from gwtui.local.targets import DEMO

_SAID = (
    "label",
    "is_management_key",
    "limit",
    "limit_remaining",
    "limit_reset",
    "expires_at",
    "usage",
    "usage_monthly",
    "creator_user_id",
    "organization_id",
    "workspace_id",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``--demo`` and ``--output``."""
    add_demo_option(parser)
    add_output_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask the gateway; returns an exit code."""
    paths = Paths.of_user()
    connect = resolve_connection(arguments, paths, may_ask=False)
    profile = DEMO if arguments.demo else find_profile(arguments, paths).name

    async def ask() -> int:
        async with connect() as connection:
            key = await read_current_key(connection)
            _show(connection, profile, key, as_json=arguments.output == "json")
        return exits.OK

    return run_async(ask)


def _show(connection: Connection, profile: str, key: CurrentKey, *, as_json: bool) -> None:
    operator = Operator.present()
    if as_json:
        print_json(
            {
                "profile": profile or None,
                "base_url": connection.base_url,
                "host": connection.where,
                "dialect": connection.dialect.name,
                "token_source": connection.token_source,
                "read_only": connection.read_only,
                "critical": connection.critical,
                "can_write": _held_back(connection, key) is None,
                "operator": f"{operator.user}@{operator.host}",
                "key": key_json(key),
            }
        )
        return
    held_back = _held_back(connection, key)
    print_table(
        [
            ("profile", profile or "none: an address alone"),
            ("gateway", connection.base_url),
            ("dialect", connection.dialect.name),
            ("key from", connection.token_source),
            ("writes", f"READ-ONLY: {held_back}" if held_back else "allowed"),
            ("critical", "CRITICAL" if connection.critical else "no"),
            ("you", f"{operator.user}@{operator.host}"),
            *key_rows(key, SYSTEM_CLOCK.now()),
        ]
    )


def _held_back(connection: Connection, key: CurrentKey) -> str | None:
    """Why nothing can be changed; None when it can be, as far as is known."""
    if connection.read_only:
        return "as asked"
    return "not a management key" if key.is_management_key is False else None


async def read_current_key(connection: Connection) -> CurrentKey:
    """What the key of a connection may do. Raises GatewayError."""
    async with GatewayClient(
        connection, on_retry=lambda notice: narrate(f"{notice.reason}; trying again")
    ) as gateway:
        return await gateway.keys.current()


def key_rows(key: CurrentKey, now: datetime) -> Sequence[tuple[str, str]]:
    """The facts as label and text; an em dash for what is unknown."""
    return (
        ("key", key.label or UNKNOWN),
        ("management key", _yes_no(key.is_management_key)),
        ("limit", _limit(key)),
        ("limit resets", _schedule(key, now)),
        ("expires", _moment(key, now)),
        ("used", f"{money.usd(key.usage)}, {money.usd(key.usage_monthly)} of it this month (UTC)"),
    )


def key_json(key: CurrentKey) -> dict[str, JsonValue]:
    """The same facts by their names on the wire; unknown ones are left out."""
    return {name: _json(getattr(key, name)) for name in _SAID if name in key.raw}


def key_summary(key: CurrentKey) -> str:
    """One line: which key this is and how far it goes."""
    manages = key.is_management_key
    kind = "key" if manages is None else "management key" if manages else "ordinary key"
    return f"{kind} {key.label or UNKNOWN}, {_limit(key)}"


def _limit(key: CurrentKey) -> str:
    if key.limit is None:
        return "no limit" if is_null(key, "limit") else f"limit {UNKNOWN}"
    left = money.usd(key.limit_remaining)
    return f"limit {money.usd(key.limit)}, {left} left"


def _schedule(key: CurrentKey, now: datetime) -> str:
    if key.limit_reset is None and not is_null(key, "limit_reset"):
        return UNKNOWN
    return describe_reset(key.limit_reset, now)


def _moment(key: CurrentKey, now: datetime) -> str:
    if key.expires_at is None:
        return "never" if is_null(key, "expires_at") else UNKNOWN
    return f"{times.utc(key.expires_at)}, {times.relative(key.expires_at, now)}"


def _yes_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def _json(value: object) -> JsonValue:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return timestamp_text(value)
    return value if isinstance(value, bool | str) else None
