"""The connection of a command: which gateway, and which key."""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from gwtui.cli import exits
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.cli.prompts import NoAnswerGivenError, read_token
from gwtui.client.connection import Connection
from gwtui.contract.dialects import DIALECTS, Dialect
from gwtui.domain.known_secrets import Secret
from gwtui.local.paths import Paths
from gwtui.local.private_file import PrivateDirectoryError, ensure_private
from gwtui.local.profiles import (
    FILE_NAME,
    NoProfileError,
    Profile,
    ProfileError,
    load_profiles,
    resolve,
)
from gwtui.local.tokens import TokenError, find_token, take_token

if TYPE_CHECKING:
    from pathlib import Path

    from gwtui.embedded.faults import FaultInjector
    from gwtui.embedded.running_demo import DemoSite


_STARTING = 3.0
"""Seconds to wait for a demo that another process is starting or stopping."""
_LOOK = 0.1

Connect = Callable[[], "AbstractAsyncContextManager[Connection]"]
"""Opens a connection that its context manager closes."""


class NoGatewayError(exits.CommandError):
    """No gateway was given and there is no profile."""


def resolve_connection(
    arguments: argparse.Namespace, paths: Paths, *, may_ask: bool, key: Secret | None = None
) -> Connect:
    """How to connect to the gateway of the arguments. Raises CommandError.

    Without ``key`` the token sources are searched; with ``may_ask`` the person is prompted if none
    has a key. Runs an event loop of its own: not to be called inside one.
    """
    if arguments.demo and (arguments.base_url or arguments.profile):
        raise exits.CommandError(
            "--demo uses its own gateway: remove --profile and --base-url", exits.USAGE
        )
    if arguments.demo:
        return _demo(arguments, paths)
    return _open(open_target(arguments, paths, may_ask=may_ask, key=key))


def demo_beside(arguments: argparse.Namespace, paths: Paths) -> Connect:
    """The demo, for a dashboard that was started on another gateway."""
    options: dict[str, object] = {"demo": True, "dialect": None, "fresh": False, "fault": []}
    return _demo(argparse.Namespace(**{**vars(arguments), **options}), paths)


def _demo(arguments: argparse.Namespace, paths: Paths) -> Connect:
    """The embedded gateway in this process, on a socket that only this user can reach."""
    take_token(os.environ)  # so that no child process inherits it
    dialect = DIALECTS[arguments.dialect or "generic"]
    start_over = [getattr(arguments, "fresh", False)]
    faults = fault_injector(getattr(arguments, "fault", ()))

    @asynccontextmanager
    async def connect() -> AsyncIterator[Connection]:
        from gwtui.embedded.running_demo import BASE_URL  # noqa: PLC0415 - the demo only

        # Only the first connection resets the demo.
        fresh, start_over[0] = start_over[0], False
        async with AsyncExitStack() as stack:
            site = await _start(stack, paths, fresh, dialect, faults)
            if arguments.dialect and arguments.dialect != site.dialect:
                raise exits.CommandError(
                    f"the running demo uses the dialect {site.dialect}: quit it first, or remove "
                    "--dialect",
                    exits.IN_USE,
                )
            connection = Connection(
                base_url=BASE_URL,
                token=site.token,
                dialect=DIALECTS[site.dialect],
                read_only=arguments.read_only,
                socket_path=site.socket_path,
                label="demo",
                token_source="demo",  # noqa: S106 - where it comes from
                named_by=("--demo",),
                faults=faults is not None,
                past=site.past,
            )
            if fresh:
                from gwtui.watch.history.file import (  # noqa: PLC0415 - loads models
                    erase_history,
                    history_path,
                )

                erase_history(history_path(paths.data, connection.label, connection.base_url))
            yield connection

    return connect


async def _start(
    stack: AsyncExitStack,
    paths: Paths,
    fresh: bool,
    dialect: Dialect,
    faults: FaultInjector | None,
) -> DemoSite:
    """The running demo, or a new one that ends with the stack.

    A demo that is reset or has faults must be the only one. Raises CommandError.
    """
    from gwtui.embedded.errors import (  # noqa: PLC0415 - the demo only
        DatabaseInUseError,
        GatewayStartError,
    )
    from gwtui.embedded.running_demo import running_demo  # noqa: PLC0415

    exclusive = fresh or faults is not None
    until = time.monotonic() + _STARTING
    try:
        data_dir = ensure_private(paths.data / "demo")
        while True:
            site = None if exclusive else running_demo(data_dir)
            if site is not None:
                return site
            try:
                return await _host(stack, data_dir, fresh, dialect, faults)
            except DatabaseInUseError as error:
                # Another process may be starting or stopping it.
                if exclusive or time.monotonic() > until:
                    raise exits.CommandError(error.message, exits.IN_USE) from None
                await asyncio.sleep(_LOOK)
    except (GatewayStartError, PrivateDirectoryError) as error:
        raise exits.CommandError(str(error), exits.FAILED) from None


async def _host(
    stack: AsyncExitStack,
    data_dir: Path,
    fresh: bool,
    dialect: Dialect,
    faults: FaultInjector | None,
) -> DemoSite:
    """Start the demo's gateway in this process. Raises GatewayStartError."""
    from gwtui.embedded.demo import demo_gateway  # noqa: PLC0415 - loads the server

    site = demo_gateway(fresh=fresh, data_dir=data_dir, dialect=dialect, faults=faults)
    return await stack.enter_async_context(site)


def wants_fault_list(arguments: argparse.Namespace) -> bool:
    """Whether "--fault list" was given."""
    return "list" in arguments.fault


def list_faults() -> int:
    """Print all faults; returns the exit code."""
    from gwtui.embedded.faults import catalogue  # noqa: PLC0415 - loads the server

    with data_on_stdout():
        print(*catalogue(), sep="\n")
    return exits.OK


def fault_injector(faults: Sequence[str]) -> FaultInjector | None:
    """The requested faults; None for none. Raises CommandError."""
    if not faults:
        return None
    from gwtui.embedded.errors import FaultSyntaxError  # noqa: PLC0415 - the demo only
    from gwtui.embedded.faults import FaultInjector  # noqa: PLC0415 - loads the server

    with exits.reporting(FaultSyntaxError):
        return FaultInjector(faults)


def resolve_connection_without_key(
    arguments: argparse.Namespace, paths: Paths, *, management: bool
) -> Connect:
    """How to connect for a command that has a key of its own. Raises CommandError.

    With ``management``, the connection also has the profile's key if a token source has one; the
    person is never prompted. Not to be called inside an event loop.
    """
    if arguments.demo:
        return resolve_connection(arguments, paths, may_ask=False)
    profile = find_profile(arguments, paths)
    if management:
        return _open(_with_key(profile, may_ask=False) or _keyless(profile))
    take_token(os.environ)  # so that no child process inherits it
    return _open(_keyless(profile))


def _open(connection: Connection) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Connection]:
        yield connection

    return connect


def open_target(
    arguments: argparse.Namespace, paths: Paths, *, may_ask: bool, key: Secret | None = None
) -> Connection:
    """The gateway of a profile or an address, with the given key or one from a token source.

    With ``may_ask``, the person is prompted if there is none. Raises CommandError.
    """
    profile = find_profile(arguments, paths)
    if (connection := _with_key(profile, key, may_ask=may_ask)) is None:
        raise exits.CommandError(
            f"there is no key for {profile.label}: run gwtui login", exits.FAILED
        )
    return connection


def _with_key(profile: Profile, key: Secret | None = None, *, may_ask: bool) -> Connection | None:
    """None if there is no key. Raises CommandError."""
    with exits.reporting(ProfileError, TokenError, NoAnswerGivenError, code=exits.FAILED):
        if key is not None:
            return profile.connection(key, "prompt")
        search = asyncio.run(find_token(profile))
        for note in search.notes:
            narrate(note)
        if search.token is not None or not may_ask:
            return profile.connection(search.token, search.source) if search.token else None
        # Refuse plain http, for example, before a key is typed.
        profile.connection(None, "prompt")
        typed = read_token(f"Management key for {profile.label} (not stored; see gwtui login): ")
        return profile.connection(typed, "prompt")


def _keyless(profile: Profile) -> Connection:
    with exits.reporting(ProfileError, code=exits.FAILED):
        return profile.connection(None, "none")


def find_profile(arguments: argparse.Namespace, paths: Paths) -> Profile:
    """The gateway of a profile or an address, without its key. Raises CommandError."""
    given = (arguments.profile, arguments.base_url, arguments.dialect, arguments.read_only)
    with exits.reporting(ProfileError):
        book = load_profiles(paths.config / FILE_NAME)
        for note in book.unknown:
            narrate(note)
        try:
            return resolve(*given, os.environ, book=book)
        except NoProfileError as error:
            raise NoGatewayError(str(error), exits.USAGE) from None
