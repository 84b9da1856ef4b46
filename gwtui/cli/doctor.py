"""``gwtui doctor``: check terminal, files, keyring, clock and gateway."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os

from gwtui.cli import exits
from gwtui.cli.command import DEMO, Command
from gwtui.cli.lists.command import columns_help, print_local_rows, query_arguments
from gwtui.cli.output import narrate
from gwtui.cli.target import find_profile, resolve_connection
from gwtui.client.gateway import GatewayClient
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_line
from gwtui.local.doctor import DoctorLine, TerminalInfo, has_errors, machine_lines
from gwtui.local.paths import Paths
from gwtui.local.profiles import Profile
from gwtui.local.targets import Connect
from gwtui.local.tokens import TOKEN_VARIABLE
from gwtui.resources.doctor import DOCTOR
from gwtui.watch.feeds.doctor import gateway_lines

_TEXT = 300


def run(arguments: argparse.Namespace) -> int:
    """Run all checks and print the results; returns FAILED if one has an error."""
    lines = _lines(arguments, Paths.of_user())
    print_local_rows(DOCTOR, lines, arguments)
    if has_errors(lines):
        narrate("some checks failed; they are listed first")
        return exits.FAILED
    return exits.OK


def _lines(arguments: argparse.Namespace, paths: Paths) -> list[DoctorLine]:
    profile: Profile | None = None
    with contextlib.suppress(exits.CommandError):
        profile = None if arguments.demo else find_profile(arguments, paths)
    # GWTUI_TOKEN takes precedence over the keyring; resolving the connection removes it.
    given = bool(os.environ.get(TOKEN_VARIABLE))
    keyring = profile is not None and bool(profile.name) and profile.uses_keyring and not given
    missing, connect = "", None
    try:
        connect = resolve_connection(arguments, paths, may_ask=False)
    except exits.CommandError as error:
        missing = safe_line(str(error), _TEXT)

    async def look() -> list[DoctorLine]:
        lines = list(await machine_lines(paths, TerminalInfo.present(), needs_keyring=keyring))
        if connect is not None:
            return [*lines, *await _gateway(connect)]
        advice = "Run gwtui login to store a key, or gwtui --demo, which needs none."
        return [*lines, DoctorLine("key", "Management key", "error", missing, advice)]

    return asyncio.run(look())


async def _gateway(connect: Connect) -> list[DoctorLine]:
    try:
        async with connect() as connection, GatewayClient(connection) as client:
            source = safe_line(connection.token_source or "nowhere", _TEXT)
            key = DoctorLine("key", "Management key", "ok", f"From: {source}")
            return [key, *await gateway_lines(client, SYSTEM_CLOCK.now())]
    except exits.CommandError as error:
        return [DoctorLine("gateway", "Gateway", "error", safe_line(str(error), _TEXT))]


COMMAND = Command(run=run, arguments=(*query_arguments(DOCTOR), DEMO), notes=columns_help(DOCTOR))
