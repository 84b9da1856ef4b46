"""``gwtui doctor``: check terminal, files, keyring, clock and gateway, and say what to do."""

from __future__ import annotations

import argparse
import asyncio
import os
from typing import TYPE_CHECKING

from gwtui.cli import exits
from gwtui.cli.command import DEMO, Command
from gwtui.cli.lists.command import columns_help, print_local_rows, query_arguments
from gwtui.cli.output import narrate
from gwtui.cli.target import Connect, find_profile, resolve_connection
from gwtui.client.gateway import GatewayClient
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_line
from gwtui.local.doctor import DoctorLine, TerminalFacts, is_wrong, machine_lines
from gwtui.local.paths import Paths
from gwtui.local.profiles import Profile, ProfileError
from gwtui.local.tokens import TOKEN_VARIABLE
from gwtui.resources.doctor import DOCTOR
from gwtui.watch.feeds.doctor import gateway_lines, tls_line

if TYPE_CHECKING:
    from gwtui.client.connection import Connection

_TEXT = 300


def run(arguments: argparse.Namespace) -> int:
    """Look at everything and print it; FAILED when something is wrong."""
    lines = _lines(arguments, Paths.of_user())
    print_local_rows(DOCTOR, lines, arguments)
    if is_wrong(lines):
        narrate("something is wrong: the first lines say what")
        return exits.FAILED
    return exits.OK


def _lines(arguments: argparse.Namespace, paths: Paths) -> list[DoctorLine]:
    """Each thing by itself: what cannot be found out keeps nothing else back."""
    profile = _profile(arguments, paths)
    # The environment goes before a keyring, and is emptied where it is looked at.
    given = bool(os.environ.get(TOKEN_VARIABLE))
    keyring = profile is not None and bool(profile.name) and profile.uses_keyring and not given
    missing, connect = _token(arguments, paths)
    return asyncio.run(_look(paths, keyring, (missing, profile), connect))


def _profile(arguments: argparse.Namespace, paths: Paths) -> Profile | None:
    try:
        return None if arguments.demo else find_profile(arguments, paths)
    except exits.CommandError:
        return None


def _token(arguments: argparse.Namespace, paths: Paths) -> tuple[DoctorLine | None, Connect | None]:
    """Whether a gateway is known and a token for it, and the way there."""
    try:
        return None, resolve_connection(arguments, paths, may_ask=False)
    except exits.CommandError as error:
        found = safe_line(str(error), _TEXT)
        advice = "gwtui login stores a token for a profile; gwtui --demo needs neither."
        return DoctorLine("token", "Token", "wrong", found, advice), None


async def _look(
    paths: Paths,
    keyring: bool,
    known: tuple[DoctorLine | None, Profile | None],
    connect: Connect | None,
) -> list[DoctorLine]:
    """Everything, one after the other. ``known`` is why there is no token, and the profile."""
    facts = TerminalFacts.present()
    lines = await machine_lines(paths, facts, needs_keyring=keyring)
    missing, profile = known
    if missing is not None:
        lines.append(missing)
        if profile is not None:
            lines.append(await _tls_alone(profile))
    if connect is not None:
        try:
            async with connect() as connection:
                lines += await _of_gateway(connection)
        except exits.CommandError as error:
            found = safe_line(str(error), _TEXT)
            lines.append(DoctorLine("gateway", "Gateway", "wrong", found))
    return lines


async def _tls_alone(profile: Profile) -> DoctorLine:
    """The TLS check, which needs no token."""
    try:
        connection = profile.connection(None, "none")
    except ProfileError as error:
        return DoctorLine("tls", "TLS", "wrong", safe_line(str(error), _TEXT))
    return await tls_line(connection, SYSTEM_CLOCK.now())


async def _of_gateway(connection: Connection) -> list[DoctorLine]:
    source = safe_line(connection.token_source or "nowhere", _TEXT)
    token = DoctorLine("token", "Token", "well", f"From: {source}")
    async with GatewayClient(connection) as client:
        return [token, *await gateway_lines(client, SYSTEM_CLOCK.now())]


COMMAND = Command(run=run, arguments=(*query_arguments(DOCTOR), DEMO), notes=columns_help(DOCTOR))
