"""A command as data: what it takes, what it does, and the verbs below it.

argparse reads the words. Help, completion and manual pages are made from the same data.
No token is ever an argument: other users can read those.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from gwtui.cli import exits
from gwtui.cli.output import FORMS, data_on_stdout, narrate
from gwtui.cli.process import DEFAULT_LOG_LEVEL, LOG_LEVELS, LOG_OPTION
from gwtui.contract.dialects import DIALECTS
from gwtui.domain.lookup import among, did_you_mean

HELP = frozenset({"-h", "--help"})
FILES = "files"
"""The kind of an argument that names a file."""
Run = Callable[[argparse.Namespace], int]
"""Runs a command with its parsed arguments; returns an exit code."""
_FLAGS = frozenset({"store_true", "version"})


class Argument:
    """An option, or an operand where its name has no dashes.

    ``values`` are all that it takes; ``offers`` are completed, among others. ``kind`` says whose
    names it takes, such as "keys". ``group`` is the heading above it in the help. Of those with the
    same ``either`` only one may be given. ``settings`` go to ``add_argument`` of argparse.
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
        """Whether it is given by its name."""
        return self.names[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        """Whether a value follows its name."""
        return self.is_option and self.settings.get("action") not in _FLAGS

    @property
    def joined(self) -> bool:
        """Whether it takes several values with commas between them."""
        return "," in self.settings.get("metavar", "")

    @property
    def several(self) -> bool:
        """Whether an operand may be repeated."""
        return self.settings.get("nargs") in {"*", "+"}

    @property
    def title(self) -> str:
        """How its value is called in the help."""
        known = f"{{{','.join(self.values)}}}" if self.values else ""
        return self.settings.get("metavar") or known or self.names[-1].lstrip("-").upper()

    def add_to(self, parser: Any) -> None:
        """Let a parser, or a group of one, read it."""
        settings = {**self.settings}
        if self.values or not self.is_option:
            settings["metavar"] = self.title
        if self.values:
            settings["type"] = self._one_of_its_values
        parser.add_argument(*self.names, help=self.help, **settings)

    def _one_of_its_values(self, text: str) -> str:
        if text in self.values:
            return text
        known = ", ".join(self.values)
        meant = did_you_mean(text, self.values)
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {known}){meant}")


@dataclass(frozen=True, slots=True)
class Command:
    """A word of the command line: it does something, or has verbs, each a command as well.

    ``run`` gets the arguments and returns an exit code. ``verb`` is the verb that runs where none
    is named. ``about`` describes it at greater length than ``help``; ``notes`` stand below the
    options. ``refuse`` is what a command does with a wrong command line where other programs
    expect an answer of its own; it gets the message and returns the exit code.
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
        """Do what the words behind its name say; returns an exit code."""
        if self.run is not None:
            return self.run(self.parse(words, above))
        verbs = {verb.name: verb for verb in self.verbs}
        places = positionals(words, (one for verb in self.verbs for one in verb.arguments))
        name = words[places[0]] if places else self.verb
        if not places and HELP.intersection(words):
            with data_on_stdout():
                print(self._help(above))
            return exits.OK
        if name not in verbs:
            wrong = f"has no verb {name!r}{among(name, verbs)}"
            narrate(f"{self.name} {wrong if name else 'needs a verb: ' + ', '.join(verbs)}")
            return exits.USAGE
        return verbs[name].call(without(words, places[:1]), f"{above} {self.name}")

    def parse(self, words: Sequence[str], above: str = "gwtui") -> argparse.Namespace:
        """The arguments that the words mean; leaves the program where they mean none."""
        return _Parser(self, f"{above} {self.name}".strip()).read(words)

    def _help(self, above: str) -> str:
        """Its verbs, a line each."""
        width = max(len(verb.name) for verb in self.verbs)
        command = f"{above} {self.name}"
        return "\n".join(
            [
                f"usage: {command} {'[VERB]' if self.verb else 'VERB'} ...",
                "",
                self.about or self.help,
                "",
                "verbs:",
                *(f"  {verb.name:<{width}}  {verb.help}" for verb in self.verbs),
                "",
                *([f"'{command}' alone is '{command} {self.verb}'."] if self.verb else []),
                f"'{command} VERB --help' explains one.",
            ]
        )


class _Parser(argparse.ArgumentParser):
    """Reads the arguments of one command, and suggests the closest word for an unknown one."""

    def __init__(self, command: Command, prog: str) -> None:
        super().__init__(
            prog=prog,
            description=command.about or command.help,
            epilog=command.notes or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.command = command
        places: dict[str, Any] = {"": self}
        for one in (*command.arguments, *CONNECTION):
            place = places.get(one.group) or self.add_argument_group(one.group)
            places[one.group] = place
            if one.either:
                place = places.get(one.either) or place.add_mutually_exclusive_group()
                places[one.either] = place
            one.add_to(place)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Read the whole command line; a word that means nothing is refused."""
        found, rest = self.parse_known_args(words)
        if rest:
            known = [name for one in (*self.command.arguments, *CONNECTION) for name in one.names]
            options = [word.partition("=")[0] for word in rest if word.startswith("-")]
            close = filter(None, (did_you_mean(option, known) for option in options))
            self.error(f"unrecognized arguments: {' '.join(rest)}{next(close, '')}")
        return found

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and leave."""
        self.print_usage(sys.stderr)
        code = exits.USAGE if self.command.refuse is None else self.command.refuse(message)
        self.exit(code, f"{self.prog}: error: {message}\n")


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Reads a number in these bounds."""

    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}")

    return read


DAY = 86_400
"""Seconds that may lie between two readings at the most."""


# Arguments that several commands take -----------------------------------------------------------

CONNECTION = (
    Argument(
        "--profile",
        metavar="NAME",
        kind="profiles",
        group="connection",
        help="profile to use (GWTUI_PROFILE)",
    ),
    Argument(
        "--base-url",
        metavar="URL",
        group="connection",
        help="gateway to use, ending in /api/v1 (GWTUI_BASE_URL)",
    ),
    Argument(
        "--dialect",
        values=sorted(DIALECTS),
        group="connection",
        help="names that the gateway uses on the wire",
    ),
    Argument(
        "--read-only",
        action="store_true",
        group="connection",
        help="never send anything that changes something",
    ),
    # Read before by ``process.prepare_process``; here it is checked.
    Argument(
        LOG_OPTION,
        values=LOG_LEVELS,
        default=DEFAULT_LOG_LEVEL,
        help=f"how much goes to the log file in the state directory ({DEFAULT_LOG_LEVEL})",
    ),
)
"""Which gateway, and how far to trust this run: every command takes them."""

DEMO = Argument("--demo", action="store_true", help="use a private embedded gateway, offline")
OUTPUT = Argument(
    "--output", values=("table", "json"), default="table", help="form of the answer (table)"
)
ROWS_OUTPUT = Argument("--output", values=FORMS, default="table", help="form of the answer (table)")
COLUMNS = Argument(
    "--columns", metavar="A,B", help="columns of a table or of CSV; 'all' for every one"
)
ALLOW_TRIES = Argument(
    "--allow-tries",
    action="store_true",
    help="requests to models may be tried although nothing is changed; they cost money",
)
FAULT = Argument(
    "--fault",
    action="append",
    default=[],
    metavar="FAULT",
    help="let things go wrong, such as 'reset-after:POST /keys x1'; may be repeated; "
    "'list' lists what there is",
)


def positionals(words: Sequence[str], arguments: Iterable[Argument]) -> list[int]:
    """Where the words are that are neither options nor the value of one of ``arguments``.

    Those that every command takes are known besides.
    """
    every = (*CONNECTION, *arguments)
    taking = {name for one in every if one.takes_value for name in one.names}
    found: list[int] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in taking:
            skip = True
        elif not word.startswith("-"):
            found.append(index)
    return found


def without(words: Sequence[str], places: Sequence[int]) -> list[str]:
    """The words but for those at these places."""
    return [word for index, word in enumerate(words) if index not in places]
