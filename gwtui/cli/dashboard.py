"""``gwtui``: open the dashboard on the gateway that was asked for, or on the demo."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from gwtui.cli import exits
from gwtui.cli.faults import list_faults, switchboard, wants_list
from gwtui.cli.output import narrate
from gwtui.contract.dialects import DIALECTS

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.embedded.faults import Switchboard
    from gwtui.local.paths import Paths

Connect = Callable[[], "AbstractAsyncContextManager[Connection]"]

_DEFAULT_ROUTE = "keys"


def run(arguments: argparse.Namespace) -> int:
    """Run the dashboard; returns its exit code."""
    from gwtui.local.paths import Paths  # noqa: PLC0415 - needed from here

    if wants_list(arguments.fault):
        return list_faults()
    route = arguments.route or _DEFAULT_ROUTE
    wrong = _contradiction(arguments) or _unknown_route(route)
    if wrong is not None:
        return _usage(wrong)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _usage("the dashboard needs a terminal on stdin and stdout")
    paths = Paths.of_user()
    try:
        connect = _demo(arguments, paths) if arguments.demo else _remote(arguments, paths)
    except _CannotStartError as error:
        return _usage(str(error), error.code)
    return _show(connect, route, arguments, paths)


def _show(connect: Connect, route: str, arguments: argparse.Namespace, paths: Paths) -> int:
    from gwtui.ui.app import GwtuiApp  # noqa: PLC0415 - loads Textual

    app = GwtuiApp(connect, start=route, theme=arguments.theme, data=paths.data)
    app.run(mouse=not arguments.no_mouse)
    app.departure.finish()
    return app.return_code if app.return_code is not None else exits.OK


class _CannotStartError(Exception):
    """The dashboard cannot be opened; the message says why, ``code`` is the exit code."""

    def __init__(self, message: str, code: int = exits.USAGE) -> None:
        super().__init__(message)
        self.code = code


def _usage(message: str, code: int = exits.USAGE) -> int:
    narrate(message)
    return code


def _contradiction(arguments: argparse.Namespace) -> str | None:
    """A message when options do not go together."""
    for option, given in (("--fresh", arguments.fresh), ("--fault", arguments.fault)):
        if given and not arguments.demo:
            return f"{option} goes with --demo"
    if arguments.demo and (arguments.base_url or arguments.profile):
        return "--demo brings its own gateway: leave out --profile and --base-url"
    return None


def _unknown_route(route: str) -> str | None:
    """A message when the first part of a route is no resource."""
    from gwtui.ui.resources.registry import TABS  # noqa: PLC0415 - loads the declarations

    first = route.partition("/")[0]
    if first in TABS:
        return None
    return f"there is no resource {first!r}; choose from {', '.join(TABS)}"


def _demo(arguments: argparse.Namespace, paths: Paths) -> Connect:
    """The embedded gateway in this process, on a socket that only this user can reach."""
    dialect = DIALECTS[arguments.dialect or "generic"]
    start_over = [arguments.fresh]
    faults = _faults(arguments)
    source = "demo" if faults is None else "faults on"

    @asynccontextmanager
    async def connect() -> AsyncIterator[Connection]:
        from gwtui.client.connection import Connection  # noqa: PLC0415 - after the first paint
        from gwtui.embedded.demo import demo_gateway  # noqa: PLC0415
        from gwtui.local.paths import ensure_private  # noqa: PLC0415
        from gwtui.watch.history.place import erase_history, history_path  # noqa: PLC0415

        directory = ensure_private(paths.data / "demo")
        # A later attempt to connect must not wipe what the first one made.
        fresh, start_over[0] = start_over[0], False
        async with demo_gateway(
            fresh=fresh, data_dir=directory, dialect=dialect, faults=faults
        ) as site:
            connection = Connection(
                base_url=site.base_url,
                token=site.token,
                dialect=dialect,
                read_only=arguments.read_only,
                socket_path=site.socket_path,
                label="demo",
                token_source=source,
                lasting_secret=site.lasting_secret,
            )
            if fresh:
                erase_history(history_path(paths.data, connection.label, connection.base_url))
            yield connection

    return connect


def _faults(arguments: argparse.Namespace) -> Switchboard | None:
    if not arguments.fault:
        return None
    from gwtui.embedded.errors import FaultSyntaxError  # noqa: PLC0415

    try:
        return switchboard(arguments.fault)
    except FaultSyntaxError as error:
        raise _CannotStartError(error.message) from None


def _remote(arguments: argparse.Namespace, paths: Paths) -> Connect:
    """The gateway of a profile or an address; asks for the token when no source has one."""
    from gwtui.cli.target import NoTargetError, open_target  # noqa: PLC0415

    try:
        _profile, connection = open_target(arguments, paths, may_ask=True)
    except NoTargetError as error:
        raise _CannotStartError(str(error), error.code) from None

    @asynccontextmanager
    async def connect() -> AsyncIterator[Connection]:
        yield connection

    return connect
