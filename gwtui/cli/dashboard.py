"""``gwtui``: open the dashboard on a gateway or on the demo."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
from typing import TYPE_CHECKING

from pydantic import SecretStr

from gwtui import __version__
from gwtui.cli import exits
from gwtui.cli.process import save_report
from gwtui.cli.target import (
    NoGatewayError,
    list_faults,
    resolve_connection,
    resolve_demo,
    wants_fault_list,
)
from gwtui.local.paths import Paths
from gwtui.local.profiles import FILE_NAME
from gwtui.local.targets import Targets
from gwtui.local.tokens import TRY_KEY_VARIABLE, take_token
from gwtui.resources.registry import PARENTS, PLACES, resource_of
from gwtui.resources.session import TryMemory

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp

_log = logging.getLogger(__name__)

_DEFAULT_ROUTE = "keys"
_TEXTUAL_VARIABLES = ("TEXTUAL", "TEXTUAL_LOG", "TEXTUAL_DEBUG")
"""Environment variables that make Textual log all key presses and pasted text."""


def run(arguments: argparse.Namespace) -> int:
    """Run the dashboard; returns its exit code."""
    for variable in _TEXTUAL_VARIABLES:
        os.environ.pop(variable, None)
    if wants_fault_list(arguments):
        return list_faults()
    route = arguments.route or _DEFAULT_ROUTE
    wrong = _contradiction(arguments) or _unknown_route(route)
    if not wrong and not (sys.stdin.isatty() and sys.stdout.isatty()):
        wrong = "the dashboard needs a terminal on stdin and stdout"
    if wrong:
        raise exits.CommandError(wrong, exits.USAGE)
    try:
        app = _app(arguments, route, Paths.of_user())
    except NoGatewayError:
        from gwtui.cli.login import welcome  # noqa: PLC0415 - who has a profile needs it never

        start = welcome(arguments)
        return exits.OK if start is None else run(start)
    return _show(app, mouse=not arguments.no_mouse)


def run_board(arguments: argparse.Namespace) -> int:
    """Run the dashboard on its board screen, read-only."""
    given = {
        "route": "board",
        "read_only": True,
        "allow_tries": arguments.allow_tries,
        "fresh": False,
        "fault": [],
    }
    return run(argparse.Namespace(**{**vars(arguments), **given}))


def _app(arguments: argparse.Namespace, route: str, paths: Paths) -> GwtuiApp:
    # Only the app refers to the connection and its key, so that switching profiles drops both.
    # Removed from the environment before a child process could inherit it.
    try_key = take_token(os.environ, TRY_KEY_VARIABLE)
    connect = resolve_connection(arguments, paths, may_ask=True)
    demo = connect if arguments.demo else resolve_demo(arguments, paths)
    from gwtui.ui.app import GwtuiApp  # noqa: PLC0415 - loads Textual

    return GwtuiApp(
        connect,
        start=route,
        theme=arguments.theme,
        data=paths.data,
        config=paths.config,
        state=paths.state,
        tries=TryMemory(arguments.allow_tries, SecretStr(try_key) if try_key else None),
        targets=Targets(paths.config / FILE_NAME, read_only=arguments.read_only, demo=demo),
    )


def _show(app: GwtuiApp, *, mouse: bool) -> int:
    gc.freeze()  # modules stay loaded
    # A full collection with the rows of a large account takes most of a second.
    gc.set_threshold(10_000, 10, 1_000_000)
    gc.enable()
    _log.info("start: gwtui %s, Python %s", __version__, sys.version.partition(" ")[0])
    try:
        app.run(mouse=mouse)
    finally:
        status = app.return_code if app.return_code is not None else exits.OK
        _log.info("exit status %s", status)
        # This also runs if an error ended the program.
        if app.crash is not None:
            save_report(app.crash)
    app.shutdown.finish()
    return status


def _contradiction(arguments: argparse.Namespace) -> str | None:
    for option, given in (("--fresh", arguments.fresh), ("--fault", arguments.fault)):
        if given and not arguments.demo:
            return f"{option} requires --demo"
    return None


def _unknown_route(route: str) -> str | None:
    first, _, path = route.strip("/").partition("/")
    place = resource_of(first, path)
    if place in PLACES or (place in PARENTS and path):
        return None
    return f"there is no command or resource {first!r}: 'gwtui --help' lists them"
