"""Entry point: picks a command, or opens the dashboard. Imports nothing heavy by itself."""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gwtui import __version__
from gwtui.cli import exits
from gwtui.cli.faults import add_fault_option
from gwtui.cli.output import OutputLostError, data_on_stdout, narrate
from gwtui.cli.parsing import (
    CommandParser,
    SuggestingParser,
    add_connection_options,
    add_display_options,
    command_parser,
    positionals,
)
from gwtui.cli.process import prepare_process
from gwtui.cli.resources import RESOURCES
from gwtui.domain.lookup import closest

_HELP = frozenset({"-h", "--help"})
COMPLETE = "complete"
"""What a shell asks for the words that may follow; nobody types it."""


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
        Command(
            "recover-key", "print a new key that was never acknowledged", "gwtui.cli.recover_key"
        ),
        Command("export", "give what is watched to Prometheus", "gwtui.cli.export"),
        Command(
            "doctor",
            "look at terminal, clipboard, keyring, clock, TLS and rights; say what to do",
            "gwtui.cli.doctor",
        ),
        Command("completion", "complete words in bash, zsh and fish", "gwtui.cli.completion"),
        Command("man", "print the manual pages, or write them to a directory", "gwtui.cli.man"),
        Command("gateway", "run the embedded gateway, issue keys for it", "gwtui.cli.gateway"),
    )
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``gwtui``; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == [COMPLETE]:
        from gwtui.cli.complete import answer_shell  # noqa: PLC0415 - a shell waits for it

        return answer_shell(words[1:])
    if argv is None:
        prepare_process(words)
    try:
        return _answered(words)
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


def _answered(words: Sequence[str]) -> int:
    try:
        return _run(words)
    except SystemExit:
        with data_on_stdout():
            pass  # help and version have left, too
        raise


def _run(words: Sequence[str]) -> int:
    places = positionals(words)
    first = words[places[0]] if places else ""
    command = COMMANDS.get(first)
    if command is not None:
        return _command(command, _without(words, places[:1]))
    resource = RESOURCES.get(first)
    if resource is not None and (len(places) > 1 or _HELP & set(words)):
        from gwtui.cli.verbs import run_verb  # noqa: PLC0415 - heavier than --version needs

        verb = words[places[1]] if len(places) > 1 else None
        return run_verb(resource, verb, _without(words, places[:2]))
    return _dashboard(words, first)


def _without(words: Sequence[str], places: Sequence[int]) -> list[str]:
    return [word for index, word in enumerate(words) if index not in places]


def _dashboard(words: Sequence[str], first: str) -> int:
    if first:
        _refuse_mistyped(first)
    arguments = dashboard_parser().parse_args(words)
    gc.disable()  # what is loaded now stays; the dashboard has the collector work again
    try:
        from gwtui.cli import dashboard  # noqa: PLC0415 - heavier than --version needs

        return dashboard.run(arguments)
    finally:
        gc.enable()


def _refuse_mistyped(first: str) -> None:
    """A first word much like a known one: what follows belongs to that, and is not looked at.

    Raises CommandError.
    """
    from gwtui.resources.registry import ALIASES, PLACES  # noqa: PLC0415 - only for a word

    place = first.partition("/")[0]
    known = [*COMMANDS, *RESOURCES, *PLACES, *ALIASES]
    if place not in known and (meant := closest(place, known)) is not None:
        raise exits.CommandError(
            f"there is no command or resource {place!r}; did you mean {meant!r}?", exits.USAGE
        )


def _command(command: Command, words: Sequence[str]) -> int:
    return command.run(command.parser().parse_args(words))


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


if __name__ == "__main__":
    sys.exit(main())
