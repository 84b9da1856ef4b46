"""Entry point: picks a command, or opens the dashboard. Imports nothing heavy by itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gwtui import __version__
from gwtui.cli import exits
from gwtui.cli.commands import COMMANDS, Command
from gwtui.cli.faults import add_fault_option
from gwtui.cli.options import add_connection_options

_VALUE_OPTIONS = frozenset({"--profile", "--base-url", "--dialect", "--theme", "--fault"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``gwtui``; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    position = _first_positional(words)
    command = COMMANDS.get(words[position]) if position is not None else None
    try:
        if command is None or position is None:
            return _dashboard(words)
        return _command(command, words[:position] + words[position + 1 :])
    except KeyboardInterrupt:
        return exits.INTERRUPTED


def _dashboard(words: Sequence[str]) -> int:
    arguments = _dashboard_parser().parse_args(words)
    from gwtui.cli import dashboard  # noqa: PLC0415 - heavier than --version needs

    return dashboard.run(arguments)


def _command(command: Command, words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog=f"gwtui {command.name}", description=command.help, allow_abbrev=False
    )
    add_connection_options(parser)
    command.configure(parser)
    return command.run(parser.parse_args(words))


def _first_positional(words: Sequence[str]) -> int | None:
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in _VALUE_OPTIONS:
            skip = True
        elif not word.startswith("-"):
            return index
    return None


def _dashboard_parser() -> argparse.ArgumentParser:
    commands = "\n".join(f"  {command.name:<12} {command.help}" for command in COMMANDS.values())
    parser = argparse.ArgumentParser(
        prog="gwtui",
        description="A full-screen dashboard for administering and watching an AI-model gateway.",
        epilog=f"commands:\n{commands}\n\n'gwtui COMMAND --help' explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
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
    looks = parser.add_argument_group("display")
    looks.add_argument("--theme", metavar="NAME", help="colour theme, see t in the dashboard")
    looks.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    add_connection_options(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
