"""Command lines as parsers see them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gwtui.cli import exits
from gwtui.cli.options import add_connection_options, add_log_option

VALUE_OPTIONS = frozenset(
    {"--profile", "--base-url", "--dialect", "--theme", "--fault", "--log-level"}
)
"""Options that may stand before a command and take the next word with them."""


class CommandParser(argparse.ArgumentParser):
    """The parser of a command.

    ``refuse`` is what a command does with a wrong command line where other programs expect an
    answer of its own; it gets the message and gives the exit code.
    """

    refuse: Callable[[str], int] | None = None

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and leave."""
        self.print_usage(sys.stderr)
        code = exits.USAGE if self.refuse is None else self.refuse(message)
        self.exit(code, f"{self.prog}: error: {message}\n")

    def add_subparsers(self, **options: Any) -> Any:
        """Commands of the command, each of which takes the option of the log as well."""
        return super().add_subparsers(parser_class=_SubParser, **options)


class _SubParser(argparse.ArgumentParser):
    """The parser of a command of a command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        add_log_option(self, argparse.SUPPRESS)


def command_parser(prog: str, description: str, **more: Any) -> CommandParser:
    """A parser with the options that every command takes."""
    parser = CommandParser(prog=prog, description=description, allow_abbrev=False, **more)
    add_connection_options(parser)
    return parser


def positionals(words: Sequence[str]) -> list[int]:
    """Where the words are that are neither options nor what a leading option takes."""
    found: list[int] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in VALUE_OPTIONS:
            skip = True
        elif not word.startswith("-"):
            found.append(index)
    return found
