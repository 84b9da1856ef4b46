"""The connection of a command, its feeds, and its asynchronous part."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gwtui.cli import exits
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.cli.prompts import NoAnswerGivenError, read_token
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import DIALECTS, Dialect
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
from gwtui.local.targets import Connect, kept_open
from gwtui.local.tokens import TokenError, find_token, take_token
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.embedded.demo import DemoSite
    from gwtui.embedded.faults import FaultInjector


_STARTING = 3.0
"""Seconds to wait while another process starts or stops the demo."""
_LOOK = 0.1


class NoGatewayError(exits.CommandError):
    """No gateway was given and there is no profile."""


def resolve_connection(arguments: argparse.Namespace, paths: Paths, *, may_ask: bool) -> Connect:
    """Return a function that connects to the gateway of the arguments. Raises CommandError.

    The token sources are searched for a key; with ``may_ask``, the user is prompted if none has
    one. Runs its own event loop: do not call it inside one.
    """
    if arguments.demo and (arguments.base_url or arguments.profile):
        raise exits.CommandError(
            "--demo uses its own gateway: remove --profile and --base-url", exits.USAGE
        )
    if arguments.demo:
        return _demo(arguments, paths)
    return kept_open(open_target(arguments, paths, may_ask=may_ask))


def resolve_demo(arguments: argparse.Namespace, paths: Paths) -> Connect:
    """Return a function that connects to the demo, for a dashboard opened on another gateway."""
    options: dict[str, object] = {"demo": True, "dialect": None, "fresh": False, "fault": []}
    return _demo(argparse.Namespace(**{**vars(arguments), **options}), paths)


def _demo(arguments: argparse.Namespace, paths: Paths) -> Connect:
    take_token(os.environ)  # so that no child process inherits it
    dialect = DIALECTS[arguments.dialect or "generic"]
    start_over = [getattr(arguments, "fresh", False)]
    faults = fault_injector(getattr(arguments, "fault", ()))

    @asynccontextmanager
    async def connect() -> AsyncIterator[Connection]:
        from gwtui.embedded.demo import BASE_URL  # noqa: PLC0415 - the demo only

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
    # A demo that is reset or has faults cannot share the gateway of another process.
    from gwtui.embedded.demo import running_demo  # noqa: PLC0415
    from gwtui.embedded.errors import (  # noqa: PLC0415 - the demo only
        DatabaseInUseError,
        GatewayStartError,
    )

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
    from gwtui.embedded.demo import demo_gateway  # noqa: PLC0415 - loads the server

    site = demo_gateway(fresh=fresh, data_dir=data_dir, dialect=dialect, faults=faults)
    return await stack.enter_async_context(site)


def wants_fault_list(arguments: argparse.Namespace) -> bool:
    """Return whether "--fault list" was given."""
    return "list" in arguments.fault


def list_faults() -> int:
    """Print all faults that the demo can simulate; returns the exit code."""
    from gwtui.embedded.faults import catalogue  # noqa: PLC0415 - loads the server

    with data_on_stdout():
        print(*catalogue(), sep="\n")
    return exits.OK


def fault_injector(faults: Sequence[str]) -> FaultInjector | None:
    """Return the injector of the requested faults; None without faults. Raises CommandError."""
    if not faults:
        return None
    from gwtui.embedded.errors import FaultSyntaxError  # noqa: PLC0415 - the demo only
    from gwtui.embedded.faults import FaultInjector  # noqa: PLC0415 - loads the server

    with exits.reporting(FaultSyntaxError):
        return FaultInjector(faults)


def resolve_connection_without_key(
    arguments: argparse.Namespace, paths: Paths, *, management: bool
) -> Connect:
    """Return a function that connects for a command with its own key. Raises CommandError.

    With ``management``, the connection also has the profile's key if a token source has one; the
    person is never prompted. Do not call it inside an event loop.
    """
    if arguments.demo:
        return resolve_connection(arguments, paths, may_ask=False)
    profile = find_profile(arguments, paths)
    if management:
        return kept_open(_with_key(profile, may_ask=False) or _keyless(profile))
    take_token(os.environ)  # so that no child process inherits it
    return kept_open(_keyless(profile))


def open_target(arguments: argparse.Namespace, paths: Paths, *, may_ask: bool) -> Connection:
    """Return a connection to the gateway of a profile or address, with a key from a token source.

    With ``may_ask``, the user is prompted for a key if no source has one. Raises CommandError.
    """
    profile = find_profile(arguments, paths)
    if (connection := _with_key(profile, may_ask=may_ask)) is None:
        option = f"--profile {profile.name}" if profile.name else "--base-url URL"
        raise exits.CommandError(
            f"there is no management key for {profile.label}: "
            f"run 'gwtui login {option}' or set GWTUI_TOKEN",
            exits.FAILED,
        )
    return connection


def _with_key(profile: Profile, *, may_ask: bool) -> Connection | None:
    with exits.reporting(ProfileError, TokenError, NoAnswerGivenError, code=exits.FAILED):
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
    """Return the profile or address of the arguments, without its key. Raises CommandError."""
    given = (arguments.profile, arguments.base_url, arguments.dialect, arguments.read_only)
    with exits.reporting(ProfileError):
        book = load_profiles(paths.config / FILE_NAME)
        for note in book.unknown:
            narrate(note)
        try:
            return resolve(*given, os.environ, book=book)
        except NoProfileError as error:
            raise NoGatewayError(str(error), exits.USAGE) from None


_ENDINGS = {signal.SIGINT: exits.INTERRUPTED, signal.SIGTERM: exits.TERMINATED}


def run_async(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a coroutine and return its exit code; FAILED after a GatewayError, which is printed.

    Raises CommandError.
    """
    try:
        return asyncio.run(work())
    except GatewayError as error:
        narrate(error.message)
        return exits.FAILED


@contextmanager
def on_signals(end: Callable[[int], None]) -> Iterator[list[int]]:
    """On SIGINT and SIGTERM within the context, call ``end`` with the exit code for the signal.

    Yields a list to which each signal adds its exit code; the list stays empty without a signal.
    """
    loop, codes = asyncio.get_running_loop(), list[int]()

    def signalled(code: int) -> None:
        codes.append(code)
        end(code)

    for number, code in _ENDINGS.items():
        loop.add_signal_handler(number, signalled, code)
    try:
        yield codes
    finally:
        for number in _ENDINGS:
            loop.remove_signal_handler(number)


@asynccontextmanager
async def reading_hub(connect: Connect) -> AsyncIterator[FeedHub]:
    """Connect and yield the feeds. Raises CommandError."""
    async with connect() as connection, open_hub(connection) as hub:
        yield hub


@asynccontextmanager
async def open_hub(connection: Connection) -> AsyncIterator[FeedHub]:
    """Yield the feeds of an open connection."""
    async with GatewayClient(connection, on_retry=report_retry) as gateway:
        hub = FeedHub(gateway)
        attach_history(hub)
        try:
            yield hub
        finally:
            await hub.close()


def attach_history(hub: FeedHub) -> Path:
    """Let the feeds of ``hub`` read the recorded history; return its path, which may not exist.

    In the demo, the first feed that needs the history fills it with simulated past data.
    """
    paths, to = Paths.of_user(), hub.connection
    from gwtui.watch.history.file import history_path  # noqa: PLC0415 - SQLite

    path = hub.history_file = history_path(paths.data, to.label, to.base_url)
    filling: list[asyncio.Task[None]] = []

    async def fill_once() -> None:
        if not filling:
            filling.append(asyncio.create_task(_fill_past(to, path), name="past"))
        await asyncio.shield(filling[0])

    if to.past is not None:
        hub.fill_past = fill_once
    return path


async def _fill_past(connection: Connection, path: Path) -> None:
    from gwtui.watch.history.past import fill_past  # noqa: PLC0415 - the demo only

    past = None if connection.past is None else connection.past()
    if past is None:
        return
    # A hub of its own, so that the command does not start with cached readings.
    async with GatewayClient(connection) as gateway:
        hub = FeedHub(gateway)
        try:
            await fill_past(hub, path, past)
        finally:
            await hub.close()


def report_retry(reason: str) -> None:
    """Print that a read is retried."""
    narrate(f"{reason}; retrying")
