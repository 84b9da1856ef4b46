"""A command as data: its arguments, its function, and its verbs.

argparse parses the words; help, completion and manual pages are generated from the same data. No
token is ever an argument, because other users of the machine could read it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from gwtui.cli import exits
from gwtui.cli.output import FORMS, data_on_stdout, narrate
from gwtui.cli.process import DEFAULT_LOG_LEVEL, LOG_LEVELS, LOG_OPTION
from gwtui.contract.dialects import DIALECTS
from gwtui.domain.lookup import among, closest

HELP = frozenset({"-h", "--help"})
FILES = "files"
"""The kind of an argument that takes a file name."""
Run = Callable[[argparse.Namespace], int]
"""Runs a command with its parsed arguments; returns an exit code."""
_FLAGS = frozenset({"store_true", "version"})
_SYNONYMS = {
    "add": "create",
    "new": "create",
    "edit": "update",
    "remove": "delete",
    "rm": "delete",
    "ls": "list",
    "show": "get",
}
"""Common verbs of other programs, and the verb that gwtui suggests instead."""


class Argument:
    """An option; or an operand, if its name has no dashes.

    ``values`` are the only valid values; ``offers`` are completed, but others are valid too.
    ``kind`` selects the names to complete, such as "keys". ``group`` is the heading in the help.
    Arguments with the same ``either`` are mutually exclusive. ``settings`` are passed to
    ``add_argument``.
    """

    def __init__(
        self,
        *names: str,
        help: str,
        values: Iterable[str] = (),
        offers: Iterable[str] = (),
        kind: str = "",
        group: str = "",
        either: str = "",
        **settings: Any,
    ) -> None:
        self.names = names
        self.help = help
        self.values = tuple(values)
        self.offers = tuple(offers)
        self.kind = kind
        self.group = group
        self.either = either
        self.settings = settings

    @property
    def is_option(self) -> bool:
        """Whether this is an option."""
        return self.names[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        """Whether a value follows the option."""
        return self.is_option and self.settings.get("action") not in _FLAGS

    @property
    def joined(self) -> bool:
        """Whether one word holds several values, separated by commas: "A,B"."""
        return "," in self.settings.get("metavar", "")

    @property
    def several(self) -> bool:
        """Whether this is an operand that takes several words."""
        return self.settings.get("nargs") in {"*", "+"}

    @property
    def title(self) -> str:
        """The placeholder for the value in the help, such as "NAME"."""
        known = f"{{{','.join(self.values)}}}" if self.values else ""
        return self.settings.get("metavar") or known or self.names[-1].lstrip("-").upper()

    def add_to(self, parser: Any) -> None:
        """Add the argument to a parser or an argument group."""
        settings = {**self.settings}
        if self.values or not self.is_option:
            settings["metavar"] = self.title
        if self.values:
            settings["type"] = self._valid
        parser.add_argument(*self.names, help=self.help, **settings)

    def _valid(self, text: str) -> str:
        if text in self.values:
            return text
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r}{among(text, self.values)}")


@dataclass(frozen=True, slots=True)
class Command:
    """A command that runs a function, or has verbs, which are commands themselves.

    ``run`` gets the arguments and returns an exit code. ``verb`` is the default verb. ``about`` is
    a longer description than ``help``; ``notes`` are printed below the options. ``refuse`` replaces
    the usage error of a command whose output has a fixed format for other programs; it gets the
    message and returns the exit code.
    """

    name: str = ""
    help: str = ""
    run: Run | None = None
    arguments: tuple[Argument, ...] = ()
    verbs: tuple[Command, ...] = ()
    verb: str = ""
    about: str = ""
    notes: str = ""
    refuse: Callable[[str], int] | None = None

    def call(self, words: Sequence[str], above: str = "gwtui") -> int:
        """Run the command with the words after its name; returns an exit code.

        ``above`` has the words in front of its name: "gwtui keys" for ``gwtui keys list``.
        """
        if self.run is not None:
            return self.run(self.parse(words, above))
        verbs = {verb.name: verb for verb in self.verbs}
        places = positionals(
            words, (argument for verb in self.verbs for argument in verb.arguments)
        )
        name = words[places[0]] if places else self.verb
        if not places and HELP.intersection(words):
            with data_on_stdout():
                print(self.help_text(above))
            return exits.OK
        if name not in verbs:
            known = _names(argument for verb in self.verbs for argument in verb.arguments)
            before = words[: places[0]] if places else ()
            narrate(_unknown_verb(self.name, name, verbs, _unknown_option(before, known)))
            return exits.USAGE
        return verbs[name].call(without(words, places[:1]), f"{above} {self.name}")

    def parse(self, words: Sequence[str], above: str = "gwtui") -> argparse.Namespace:
        """Return the parsed arguments; exits the program with a usage error if they are invalid."""
        return _Parser(self, f"{above} {self.name}".strip()).read(words)

    def help_text(self, above: str = "gwtui", width: int | None = None) -> str:
        """Return the text of ``--help``: its options, or its verbs with one line each."""
        command = f"{above} {self.name}".strip()
        if self.run is not None:
            return _Parser(self, command, width).format_help().rstrip()
        longest = max(len(verb.name) for verb in self.verbs)
        lines = [
            f"usage: {command} {'[VERB]' if self.verb or self.about else 'VERB'} ...",
            "",
            self.about or sentence(self.help),
            "",
            "verbs:",
            *(f"  {verb.name:<{longest}}  {verb.help}" for verb in self.verbs),
            "",
            f"Run '{command} VERB --help' for the options of a verb.",
        ]
        if self.verb:
            lines.append(f"Without a verb, '{command}' runs '{command} {self.verb}'.")
        return "\n".join(lines)


def _names(arguments: Iterable[Argument]) -> set[str]:
    return {name for argument in (*CONNECTION, *arguments) for name in argument.names}


def _unknown_option(words: Iterable[str], known: Container[str]) -> str:
    options = (word.partition("=")[0] for word in words if word.startswith("-"))
    unknown = (option for option in options if option not in known)
    return next(unknown, "")


def _unknown_verb(command: str, verb: str, known: Mapping[str, Command], option: str) -> str:
    if option or not verb:
        place = f" before {option!r}" if option else ""
        return f"{command} needs a verb{place}: {', '.join(known)}"
    synonym = _SYNONYMS.get(verb, verb)
    hint = among(synonym if synonym in known else verb, known)
    return f"unknown verb {verb!r} for {command}{hint}"


def sentence(help: str) -> str:
    """Return a line of help as a sentence: capitalized, with a full stop."""
    return f"{help[:1].upper()}{help[1:]}."


class _Parser(argparse.ArgumentParser):
    """Parses the arguments of one command; suggests the closest option for an unknown one."""

    def __init__(self, command: Command, prog: str, width: int | None = None) -> None:
        super().__init__(
            prog=prog,
            description=command.about or sentence(command.help),
            epilog=command.notes or None,
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=width),
            allow_abbrev=False,
        )
        self.command = command
        places: dict[str, Any] = {"": self}
        for argument in (*command.arguments, *CONNECTION):
            place = places.get(argument.group) or self.add_argument_group(argument.group)
            places[argument.group] = place
            if argument.either:
                place = places.get(argument.either) or place.add_mutually_exclusive_group()
                places[argument.either] = place
            argument.add_to(place)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse all words; unknown words are an error."""
        arguments, unknown = self.parse_known_args(words)
        if unknown:
            options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
            close = filter(None, (self._suggestion(option) for option in options))
            self.error(f"unrecognized arguments: {' '.join(unknown)}{next(close, '')}")
        return arguments

    def _suggestion(self, option: str) -> str:
        field = option.lstrip("-").replace("-", "_")
        if any(f"{field}=" in argument.offers for argument in self.command.arguments):
            return f"; did you mean '--set {field}=VALUE'?"
        names = _names(self.command.arguments)
        # Without the hyphens, which make short names alike.
        meant = closest(option.lstrip("-"), (name[2:] for name in names if name.startswith("--")))
        return f"; did you mean '--{meant}'?" if meant else ""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit."""
        self.print_usage(sys.stderr)
        message = message.replace("ignored explicit argument", "takes no value, but got")
        code = exits.USAGE if self.command.refuse is None else self.command.refuse(message)
        self.exit(code, f"{self.prog}: error: {message}\n")


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return an argparse type for whole numbers from ``least`` to ``most``."""

    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}")

    return read


DAY = 86_400
"""Maximum interval between two readings, in seconds."""


# Shared arguments -------------------------------------------------------------------------------

CONNECTION = (
    Argument(
        "--profile",
        metavar="NAME",
        kind="profiles",
        group="connection",
        help="use this profile (default: $GWTUI_PROFILE, else the default profile)",
    ),
    Argument(
        "--base-url",
        metavar="URL",
        group="connection",
        help="use the gateway at this URL, ending in /api/v1 (default: $GWTUI_BASE_URL, else the "
        "profile's)",
    ),
    Argument(
        "--dialect",
        values=sorted(DIALECTS),
        group="connection",
        help="API dialect of the gateway (default: the profile's)",
    ),
    Argument(
        "--read-only",
        action="store_true",
        group="connection",
        help="never send a request that changes anything",
    ),
    # ``process.prepare_process`` has read it already; here it is validated.
    Argument(
        LOG_OPTION,
        values=LOG_LEVELS,
        default=DEFAULT_LOG_LEVEL,
        help=f"level of the log, a file in the state directory (default: {DEFAULT_LOG_LEVEL})",
    ),
)
"""The options that every command takes."""

DEMO = Argument("--demo", action="store_true", help="use the private, offline demo gateway")
OUTPUT = Argument(
    "--output", values=("table", "json"), default="table", help="output format (default: table)"
)
ROWS_OUTPUT = Argument(
    "--output", values=FORMS, default="table", help="output format (default: table)"
)
COLUMNS = Argument(
    "--columns", metavar="A,B", help="columns of a table or CSV; 'all' for all columns"
)
ALLOW_TRIES = Argument(
    "--allow-tries",
    action="store_true",
    help="allow test requests to models (they cost money) even if the profile is read-only",
)
FAULT = Argument(
    "--fault",
    action="append",
    default=[],
    metavar="FAULT",
    help="inject a fault, such as 'reset-after:POST /keys x1'; may be repeated; "
    "'list' prints all faults",
)


def positionals(words: Sequence[str], arguments: Iterable[Argument]) -> list[int]:
    """Return the positions of the operands: words that are neither options nor option values.

    Known options are those of ``arguments`` and those that every command takes.
    """
    options = (*CONNECTION, *arguments)
    with_value = {name for option in options if option.takes_value for name in option.names}
    places: list[int] = []
    is_value = False
    for index, word in enumerate(words):
        if is_value:
            is_value = False
        elif word in with_value:
            is_value = True
        elif not word.startswith("-"):
            places.append(index)
    return places


def without(words: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return the words without those at ``places``."""
    return [word for index, word in enumerate(words) if index not in places]
