"""Run the command that a command line names, or open the dashboard."""

from __future__ import annotations

from collections.abc import Sequence

from gwtui.cli import exits
from gwtui.cli.command import HELP, positionals, without
from gwtui.cli.commands import COMMANDS, DASHBOARD, load
from gwtui.cli.output import OutputLostError, data_on_stdout, narrate
from gwtui.cli.process import report_caught_errors
from gwtui.cli.resources import RESOURCES
from gwtui.domain.lookup import closest
from gwtui.resources.registry import ALIASES, PLACES


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
    is_resource = first in RESOURCES and bool(verb or HELP.intersection(words))
    if first in COMMANDS or is_resource:
        return load(first, verb).call(without(words, places[:1]))
    if first:
        _refuse_mistyped(first)
    return DASHBOARD.call(words)


def _refuse_mistyped(first: str) -> None:
    # Suggest the closest command before the dashboard's parser rejects the other words.
    place = first.partition("/")[0]
    known = [*COMMANDS, *RESOURCES, *PLACES, *ALIASES]
    if place not in known and (meant := closest(place, known)) is not None:
        raise exits.CommandError(
            f"there is no command or resource {place!r}; did you mean {meant!r}?", exits.USAGE
        )
