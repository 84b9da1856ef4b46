"""``gwtui whoami``: which gateway, which key with what rights, and which person at this machine."""

from __future__ import annotations

import argparse
import asyncio

from gwtui.cli import exits
from gwtui.cli.key_facts import ask_gateway, key_json, key_rows
from gwtui.cli.output import add_output_option, narrate, print_json, print_table
from gwtui.cli.target import NoTargetError, open_target
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.contract.current_key import CurrentKey
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.audit import Operator
from gwtui.local.paths import Paths


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``--output``."""
    add_output_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask the gateway; returns an exit code."""
    try:
        profile, connection = open_target(arguments, Paths.of_user(), may_ask=False)
        key = asyncio.run(ask_gateway(connection))
    except NoTargetError as error:
        narrate(str(error))
        return error.code
    except GatewayError as error:
        narrate(error.message)
        return exits.FAILED
    _show(connection, profile.name, key, as_json=arguments.output == "json")
    return exits.OK


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
    """Why nothing can be changed; None when something can, as far as the gateway says."""
    if connection.read_only:
        return "as asked"
    return "not a management key" if key.is_management_key is False else None
