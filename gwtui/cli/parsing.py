"""Reading the command line: the parsers of commands, and the options that every command takes.

No token is ever an argument: other users can read those.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gwtui.cli import exits
from gwtui.cli.process import DEFAULT_LOG_LEVEL, LOG_LEVELS, LOG_OPTION
from gwtui.contract.dialects import DIALECTS
from gwtui.domain.lookup import did_you_mean


def add_connection_options(parser: argparse.ArgumentParser) -> None:
    """Which gateway, and how far to trust this run."""
    add_gateway_options(parser)
    add_log_option(parser)


def add_gateway_options(parser: argparse.ArgumentParser, *, again: bool = False) -> None:
    """Which gateway; ``again`` where the command above has them too: here they may be left out."""
    group = parser.add_argument_group("connection")
    group.add_argument("--profile", metavar="NAME", help="profile to use (GWTUI_PROFILE)")
    group.add_argument(
        "--base-url", metavar="URL", help="gateway to use, ending in /api/v1 (GWTUI_BASE_URL)"
    )
    group.add_argument(
        "--dialect", choices=sorted(DIALECTS), help="names that the gateway uses on the wire"
    )
    group.add_argument(
        "--read-only", action="store_true", help="never send anything that changes something"
    )
    if again:
        for action in group._group_actions:
            action.default = argparse.SUPPRESS


def add_log_option(parser: argparse.ArgumentParser, default: str = DEFAULT_LOG_LEVEL) -> None:
    """How much is logged. ``process.prepare_process`` reads it before; here it is checked."""
    parser.add_argument(
        LOG_OPTION,
        choices=LOG_LEVELS,
        default=default,
        help=f"how much goes to the log file in the state directory ({DEFAULT_LOG_LEVEL})",
    )


def add_display_options(parser: argparse.ArgumentParser) -> None:
    """How a full-screen dashboard looks."""
    group = parser.add_argument_group("display")
    group.add_argument(
        "--theme",
        type=_theme,
        metavar="NAME",
        help="gwtui-dark (usual), gwtui-light, gwtui-contrast, or gwtui-terminal: its own colours",
    )
    group.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def _theme(name: str) -> str:
    from gwtui.ui.themes import known_theme  # noqa: PLC0415 - loads Textual

    try:
        return known_theme(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


VALUE_OPTIONS = frozenset(
    {"--profile", "--base-url", "--dialect", "--theme", "--fault", "--log-level"}
)
"""Options that may stand before a command and take the next word with them."""


class SuggestingParser(argparse.ArgumentParser):
    """A parser that suggests the closest known word when it refuses an unknown one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the whole command line; a word that means nothing is refused."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            self.refuse_unrecognized(rest)
        return found

    def refuse_unrecognized(self, rest: Sequence[str]) -> NoReturn:
        """Leave because of words that are neither options nor asked for."""
        options = [word.partition("=")[0] for word in rest if word.startswith("-")]
        close = (did_you_mean(option, self._option_string_actions) for option in options)
        self.error(f"unrecognized arguments: {' '.join(rest)}{next(filter(None, close), '')}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(str(value), map(str, action.choices or ()))
            raise


class CommandParser(SuggestingParser):
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


class _SubParser(SuggestingParser):
    """The parser of a command of a command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        add_log_option(self, argparse.SUPPRESS)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the words behind the command; the parser above knows none of these options."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.refuse_unrecognized(rest)
        return found, rest


def command_parser(prog: str, description: str, **more: Any) -> CommandParser:
    """A parser with the options that every command takes."""
    parser = CommandParser(prog=prog, description=description, **more)
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
