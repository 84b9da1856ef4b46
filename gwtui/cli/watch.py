"""``gwtui watch``: the board; with --ndjson a line of JSON for each new reading, for programs."""

from __future__ import annotations

import argparse

from gwtui.cli.command import ALLOW_TRIES, DEMO, Argument, Command
from gwtui.cli.commands import DISPLAY
from gwtui.cli.exits import USAGE, CommandError

_NEAREST = 5
_LONGEST = 86_400
_INTERVAL = 60
_OF_LINES = (
    ("model", None),
    ("nearest", _NEAREST),
    ("interval", _INTERVAL),
    ("count", 0),
)
"""What has no meaning for the board, and its default."""


def run(arguments: argparse.Namespace) -> int:
    """Watch until the end is asked for; returns an exit code."""
    if not arguments.ndjson:
        return _board(arguments)
    from gwtui.cli.watch_lines import print_readings  # noqa: PLC0415 - not for the board

    return print_readings(arguments)


def _board(arguments: argparse.Namespace) -> int:
    """The dashboard on its board, read-only."""
    unfit = [name for name, default in _OF_LINES if getattr(arguments, name) != default]
    if unfit:
        raise CommandError(f"--{unfit[0]} goes with --ndjson", USAGE)
    from gwtui.cli.dashboard import run_board  # noqa: PLC0415 - not for lines

    return run_board(arguments)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError("must be a whole number, 0 or more")
    return int(text)


def _seconds(text: str) -> int:
    seconds = _count(text)
    if not 1 <= seconds <= _LONGEST:
        raise argparse.ArgumentTypeError(f"must be from 1 to {_LONGEST}")
    return seconds


COMMAND = Command(
    run=run,
    arguments=(
        Argument(
            "--ndjson", action="store_true", help="print each reading as a line of JSON on stdout"
        ),
        Argument(
            "--model",
            action="append",
            metavar="AUTHOR/SLUG",
            kind="models",
            help="watch the endpoints of this model; may be repeated (those that the dashboard "
            "watches, else the most used ones)",
        ),
        Argument(
            "--nearest",
            type=_count,
            default=_NEAREST,
            metavar="N",
            help=f"keys and workspaces nearest to their limits; 0 for none ({_NEAREST})",
        ),
        Argument(
            "--interval",
            type=_seconds,
            default=_INTERVAL,
            metavar="SECONDS",
            help="between two readings; five times as long for workspaces (60)",
        ),
        Argument(
            "--count",
            type=_count,
            default=0,
            metavar="N",
            help="end after so many readings of each",
        ),
        ALLOW_TRIES,
        DEMO,
        *DISPLAY,
    ),
)
