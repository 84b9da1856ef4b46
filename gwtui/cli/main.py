"""Entry point: picks a command, or opens the dashboard. Imports nothing heavy by itself."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from gwtui.cli import exits
from gwtui.cli.commands import COMMANDS, Command, dashboard_parser
from gwtui.cli.output import OutputLostError, data_on_stdout, narrate
from gwtui.cli.parsing import (
    positionals,
)
from gwtui.cli.process import prepare_process, tell_of_caught_errors
from gwtui.cli.resources import RESOURCES
from gwtui.domain.lookup import closest

_HELP = frozenset({"-h", "--help"})
COMPLETE = "complete"
"""What a shell asks for the words that may follow; nobody types it."""


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
        status = _run(words)
    except SystemExit:
        with data_on_stdout():
            pass  # help and version have left, too
        raise
    tell_of_caught_errors()
    return status


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


if __name__ == "__main__":
    sys.exit(main())
