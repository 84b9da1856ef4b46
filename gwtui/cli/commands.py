"""Lists all commands and runs command lines. Without a command, the dashboard opens.

The module of a command is imported when the command is called.
"""

from __future__ import annotations

import argparse
import gc
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from gwtui import __version__
from gwtui.cli import exits
from gwtui.cli.command import (
    ALLOW_TRIES,
    CONNECTION,
    DEMO,
    FAULT,
    FILES,
    HELP,
    Argument,
    Command,
    positionals,
    without,
)
from gwtui.cli.output import OutputLostError, data_on_stdout, narrate
from gwtui.cli.process import report_caught_errors
from gwtui.domain.lookup import closest
from gwtui.resources.registry import ALIASES, COMMAND_RESOURCES, PLACES

COMMANDS: Mapping[str, str] = {
    "login": "verify a management key and store it for a profile",
    "logout": "remove the stored key of a profile from this machine",
    "profiles": "list and remove profiles, set the default profile",
    "config": "print and change preferences",
    "whoami": "print the profile, and the permissions and limits of its key",
    "check": "print a status line for a monitoring system",
    "try": "send a test request to a model through a key",
    "watch": "open the board of credits, endpoints and limits, or print its readings",
    "alerts": "list alerts, alert rules and alert history",
    "findings": "list problems across the account and how to fix them",
    "audit": "list the changes made from this machine",
    "export": "export metrics to Prometheus",
    "doctor": "check terminal, clipboard, keyring, clock, TLS and permissions",
    "completion": "print the completion script for bash, zsh or fish",
    "man": "print a manual page, or write all of them to a directory",
    "gateway": "run the embedded gateway and issue keys for it",
}
"""Command -> description. Its module has the same name and defines COMMAND, or see _MODULES."""
_MODULES = {
    "completion": ("shell", "COMPLETION"),
    "findings": ("alerts", "FINDINGS"),
    "logout": ("profiles", "LOGOUT"),
    "man": ("shell", "MAN"),
    "try": ("tries", "COMMAND"),
}
"""Command -> module and object, for the commands that ``COMMANDS`` does not locate."""


def load(name: str, verb: str = "") -> Command:
    """Import and return the command with this name, which may be the name of a resource.

    If ``verb`` only reads the resource, the verbs that change it are not loaded, to save time.
    """
    if name in COMMANDS:
        module, constant = _MODULES.get(name, (name, "COMMAND"))
        command: Command = getattr(import_module(f"gwtui.cli.{module}"), constant)
        return replace(command, name=name, help=COMMANDS[name])
    from gwtui.cli.lists.command import resource_command  # noqa: PLC0415 - heavier than --version needs

    return resource_command(COMMAND_RESOURCES[name], verb)


def every_command() -> Iterator[Command]:
    """Yield the dashboard, all commands and all resources. Importing them takes about a second."""
    yield DASHBOARD
    for name in {**COMMANDS, **COMMAND_RESOURCES}:
        yield load(name)


def plain_tree() -> dict[str, Any]:
    """Return the command tree as JSON values: the dashboard, with all commands as verbs."""
    program, *commands = map(_plain, every_command())
    return {**program, "verbs": commands, "common": [*map(_plain_argument, CONNECTION)]}


def _plain(command: Command) -> dict[str, Any]:
    default = next((verb for verb in command.verbs if verb.name == command.verb), command)
    return {
        "name": command.name,
        "help": command.help,
        "verbs": [_plain(verb) for verb in command.verbs],
        "arguments": [_plain_argument(argument) for argument in default.arguments],
    }


def _plain_argument(argument: Argument) -> dict[str, Any]:
    return {
        "names": argument.names,
        "help": argument.help,
        "option": argument.is_option,
        "takes": argument.takes_value,
        "several": argument.several,
        "values": (*argument.values, *argument.offers),
        "joined": argument.joined,
        "kind": argument.kind,
        "is_file": argument.kind == FILES,
    }


def _open_dashboard(arguments: argparse.Namespace) -> int:
    gc.disable()  # the modules loaded now stay; the dashboard enables it again
    try:
        from gwtui.cli import dashboard  # noqa: PLC0415 - heavier than --version needs

        return dashboard.run(arguments)
    finally:
        gc.enable()


def _theme(name: str) -> str:
    from gwtui.ui.themes import known_theme  # noqa: PLC0415 - loads Textual

    try:
        return known_theme(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


DISPLAY = (
    Argument(
        "--theme",
        type=_theme,
        metavar="NAME",
        group="display",
        help="gwtui-dark (default), gwtui-light, gwtui-contrast, or gwtui-terminal, which uses the "
        "colors of the terminal",
    ),
    Argument("--no-mouse", action="store_true", group="display", help="do not capture the mouse"),
)
"""The display options of the full-screen dashboard."""

_LISTED = "\n".join(f"  {name:<12} {help}" for name, help in COMMANDS.items())
_RESOURCES = textwrap.fill(
    ", ".join(COMMAND_RESOURCES),
    initial_indent="  ",
    subsequent_indent="  ",
    break_on_hyphens=False,
)
DASHBOARD = Command(
    help="administer and watch an AI-model gateway",
    about="Administer and watch an AI-model gateway, in a full-screen dashboard or with commands.",
    run=_open_dashboard,
    arguments=(
        Argument(
            "route",
            nargs="?",
            metavar="RESOURCE[/ID]",
            offers=PLACES,
            help="open the dashboard at this path, such as keys or models/author/slug",
        ),
        Argument(
            "--version",
            action="version",
            version=f"gwtui {__version__}",
            help="print the version and exit",
        ),
        DEMO,
        Argument("--fresh", action="store_true", help="with --demo: reset the demo first"),
        FAULT,
        ALLOW_TRIES,
        *DISPLAY,
    ),
    notes=f"commands:\n{_LISTED}\n\n"
    f"resources, with 'gwtui RESOURCE VERB', such as 'gwtui keys list':\n{_RESOURCES}\n\n"
    "Run 'gwtui COMMAND --help' or 'gwtui RESOURCE --help' for details.",
)
"""The default command."""


# Running a command line ---------------------------------------------------------------------------


def run_words(words: Sequence[str]) -> int:
    """Run a command line; returns the exit code."""
    try:
        return _reported(words)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except exits.CommandError as error:
        narrate(str(error))
        return error.code
    except OutputLostError as error:
        if error.left:
            return exits.OK
        narrate(str(error))
        return exits.FAILED


def _reported(words: Sequence[str]) -> int:
    try:
        status = _run(words)
    except SystemExit:
        with data_on_stdout():
            pass  # flush the output of --help and --version
        raise
    report_caught_errors()
    return status


def _run(words: Sequence[str]) -> int:
    places = positionals(words, DASHBOARD.arguments)
    first, verb = [*(words[place] for place in places), "", ""][:2]
    is_resource = first in COMMAND_RESOURCES and bool(verb or HELP.intersection(words))
    if first in COMMANDS or is_resource:
        return load(first, verb).call(without(words, places[:1]))
    if first:
        _refuse_mistyped(first)
    return DASHBOARD.call(words)


def _refuse_mistyped(first: str) -> None:
    # Suggest the closest command before the dashboard's parser rejects the other words.
    place = first.partition("/")[0]
    known = [*COMMANDS, *COMMAND_RESOURCES, *PLACES, *ALIASES]
    if place not in known and (meant := closest(place, known)) is not None:
        raise exits.CommandError(
            f"there is no command or resource {place!r}; did you mean {meant!r}?", exits.USAGE
        )
