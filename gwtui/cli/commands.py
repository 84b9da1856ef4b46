"""The commands of the command line, and the dashboard, which is what runs without one.

Imports no command: its module is loaded when it is called.
"""

from __future__ import annotations

import argparse
import gc
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from gwtui import __version__
from gwtui.cli.command import ALLOW_TRIES, CONNECTION, DEMO, FAULT, Argument, Command
from gwtui.cli.resources import RESOURCES
from gwtui.resources.registry import PLACES

COMMANDS: Mapping[str, str] = {
    "login": "check a management key and keep it for a profile",
    "logout": "remove a profile's key from this machine",
    "profiles": "list the gateways you know, choose the default",
    "config": "show and change what is remembered of your choices",
    "whoami": "show the profile, its key's rights and limits",
    "check": "tell a monitoring system how things stand, in one line",
    "try": "send a real request to a model through a key",
    "watch": "show the board, or print readings as they come",
    "alerts": "list alerts, their rules and history",
    "findings": "list what to look at across the account, and its fix",
    "audit": "list and export what was changed from this machine",
    "export": "give what is watched to Prometheus",
    "doctor": "look at terminal, clipboard, keyring, clock, TLS and rights; say what to do",
    "completion": "complete words in bash, zsh and fish",
    "man": "show the manual pages, or write them to a directory",
    "gateway": "run the embedded gateway, issue keys for it",
}
"""Each command with what it does. Its module is called like it, and offers COMMAND."""
_MODULES = {"try": "tries.command"}
"""Modules that cannot be called like their command."""


def load(name: str, verb: str = "") -> Command:
    """A command or a resource by its name; of a resource perhaps only what ``verb`` needs."""
    if name in COMMANDS:
        module = import_module(f"gwtui.cli.{_MODULES.get(name, name)}")
        command: Command = module.COMMAND
        return replace(command, name=name, help=COMMANDS[name])
    from gwtui.cli.lists.command import resource_command  # noqa: PLC0415 - heavier than --version needs

    return resource_command(RESOURCES[name], verb)


def every_command() -> Iterator[Command]:
    """The dashboard, each command and each resource. It loads all of them: about a second."""
    yield DASHBOARD
    for name in {**COMMANDS, **RESOURCES}:
        yield load(name)


def plain_tree() -> dict[str, Any]:
    """The command line as plain values, for a file: the dashboard with the commands below it."""
    program, *commands = map(_plain, every_command())
    return {**program, "verbs": commands, "common": [*map(_plain_argument, CONNECTION)]}


def _plain(command: Command) -> dict[str, Any]:
    """A command as plain values; what may be typed without a verb belongs to the usual one."""
    usual = next((one for one in command.verbs if one.name == command.verb), command)
    return {
        "name": command.name,
        "help": command.help,
        "verbs": [_plain(verb) for verb in command.verbs],
        "arguments": [_plain_argument(one) for one in usual.arguments],
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
    }


def _open_dashboard(arguments: argparse.Namespace) -> int:
    gc.disable()  # what is loaded now stays; the dashboard has the collector work again
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
        help="gwtui-dark (usual), gwtui-light, gwtui-contrast, or gwtui-terminal: its own colours",
    ),
    Argument(
        "--no-mouse", action="store_true", group="display", help="leave the mouse to the terminal"
    ),
)
"""How a full-screen dashboard looks."""

_LISTED = "\n".join(f"  {name:<12} {help}" for name, help in COMMANDS.items())
_RESOURCES = textwrap.fill(", ".join(RESOURCES), initial_indent="  ", subsequent_indent="  ")
DASHBOARD = Command(
    help="a dashboard for an AI-model gateway",
    about="A full-screen dashboard for administering and watching an AI-model gateway.",
    run=_open_dashboard,
    arguments=(
        Argument(
            "route",
            nargs="?",
            metavar="RESOURCE[/ID]",
            offers=PLACES,
            help="open the dashboard there, such as keys or models/author/slug",
        ),
        Argument(
            "--version",
            action="version",
            version=f"gwtui {__version__}",
            help="show program's version number and exit",
        ),
        DEMO,
        Argument("--fresh", action="store_true", help="with --demo: start over"),
        FAULT,
        ALLOW_TRIES,
        *DISPLAY,
    ),
    notes=f"commands:\n{_LISTED}\n\n"
    "without the dashboard, 'gwtui RESOURCE VERB', such as 'gwtui keys list' for:\n"
    f"{_RESOURCES}\n\n"
    "'gwtui COMMAND --help' and 'gwtui RESOURCE --help' explain one.",
)
"""What runs where no command is named."""
