"""The commands of the command line, and the parser of the dashboard's own options.

Imports no command: its module is loaded when it is called.
"""

from __future__ import annotations

import argparse
import importlib
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from gwtui import __version__
from gwtui.cli.faults import add_fault_option
from gwtui.cli.parsing import (
    CommandParser,
    SuggestingParser,
    add_connection_options,
    add_display_options,
    command_parser,
)
from gwtui.cli.resources import RESOURCES


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the command line; its module is imported only when it is called.

    The module offers ``configure(parser)`` and ``run(arguments) -> exit code``.
    """

    name: str
    help: str
    module: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own options."""
        importlib.import_module(self.module).configure(parser)

    def parser(self) -> CommandParser:
        """What reads its command line."""
        parser = command_parser(f"gwtui {self.name}", self.help)
        self.configure(parser)
        return parser

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; returns an exit code."""
        run: Callable[[argparse.Namespace], int] = importlib.import_module(self.module).run
        return run(arguments)


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("login", "check a management key and keep it for a profile", "gwtui.cli.login"),
        Command("logout", "remove a profile's key from this machine", "gwtui.cli.logout"),
        Command("profiles", "list the gateways you know, choose the default", "gwtui.cli.profiles"),
        Command("config", "show and change what is remembered of your choices", "gwtui.cli.config"),
        Command("whoami", "show the profile, its key's rights and limits", "gwtui.cli.whoami"),
        Command(
            "check",
            "tell a monitoring system how things stand, in one line",
            "gwtui.cli.check",
        ),
        Command("try", "send a real request to a model through a key", "gwtui.cli.tries.command"),
        Command("watch", "show the board, or print readings as they come", "gwtui.cli.watch"),
        Command("alerts", "list alerts, their rules and history", "gwtui.cli.alerts"),
        Command(
            "findings", "list what to look at across the account, and its fix", "gwtui.cli.findings"
        ),
        Command("audit", "list and export what was changed from this machine", "gwtui.cli.audit"),
        Command("export", "give what is watched to Prometheus", "gwtui.cli.export"),
        Command(
            "doctor",
            "look at terminal, clipboard, keyring, clock, TLS and rights; say what to do",
            "gwtui.cli.doctor",
        ),
        Command("completion", "complete words in bash, zsh and fish", "gwtui.cli.completion"),
        Command("man", "show the manual pages, or write them to a directory", "gwtui.cli.man"),
        Command("gateway", "run the embedded gateway, issue keys for it", "gwtui.cli.gateway"),
    )
}


def dashboard_parser() -> SuggestingParser:
    """What reads the command line of the dashboard itself."""
    commands = "\n".join(f"  {command.name:<12} {command.help}" for command in COMMANDS.values())
    resources = textwrap.fill(", ".join(RESOURCES), initial_indent="  ", subsequent_indent="  ")
    parser = SuggestingParser(
        prog="gwtui",
        description="A full-screen dashboard for administering and watching an AI-model gateway.",
        epilog=f"commands:\n{commands}\n\n"
        "without the dashboard, 'gwtui RESOURCE VERB', such as 'gwtui keys list' for:\n"
        f"{resources}\n\n"
        "'gwtui COMMAND --help' and 'gwtui RESOURCE --help' explain one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "route",
        nargs="?",
        metavar="RESOURCE[/ID]",
        help="open the dashboard there, such as keys or models/author/slug",
    )
    parser.add_argument("--version", action="version", version=f"gwtui {__version__}")
    demo = parser.add_argument_group("demo")
    demo.add_argument("--demo", action="store_true", help="use a private embedded gateway, offline")
    demo.add_argument("--fresh", action="store_true", help="with --demo: start over")
    add_fault_option(demo, only="with --demo: ")
    add_display_options(parser)
    add_connection_options(parser)
    parser.add_argument(
        "--allow-tries",
        action="store_true",
        help="requests to models may be tried although nothing is changed; they cost money",
    )
    return parser
