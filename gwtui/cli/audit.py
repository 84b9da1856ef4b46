"""``gwtui audit``: what was changed from this machine, for people and for other programs."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.command import FILES, ROWS_OUTPUT, Argument, Command
from gwtui.cli.lists.command import columns_help, print_local_rows, query_arguments
from gwtui.cli.lists.query import PAST, past_moments, query_of
from gwtui.cli.lists.show import print_detail, show_list
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.ledger import FILE_NAME, Ledger, LedgerEntry
from gwtui.local.paths import Paths
from gwtui.local.targets import DEMO
from gwtui.resources.audit import AUDIT

_OUTCOMES = ("applied", "refused", "unknown", "resolved")


def _list(arguments: argparse.Namespace) -> int:
    """Print the changes; returns an exit code."""
    print_local_rows(AUDIT, _read(arguments), arguments)
    return exits.OK


def _get(arguments: argparse.Namespace) -> int:
    """Print one change; a write in doubt may have two lines. Returns an exit code."""
    found = [one for one in _read(arguments) if one.id.startswith(arguments.id)]
    if not found:
        raise exits.CommandError("there is no such change in the log")
    if arguments.output == "table":
        for entry in found:
            print_detail(AUDIT, entry, SYSTEM_CLOCK.now())
    else:
        show_list(found, query_of(AUDIT), arguments.output, SYSTEM_CLOCK.now())
    return exits.OK


def _read(arguments: argparse.Namespace) -> list[LedgerEntry]:
    """The entries that the arguments select. Raises CommandError."""
    if arguments.demo and arguments.profile:
        raise exits.CommandError("--demo and --profile name different gateways", exits.USAGE)
    since, until = past_moments(arguments)
    path = arguments.file or Paths.of_user().state / FILE_NAME
    try:
        if arguments.file:
            path.stat()
        entries = Ledger(path).audit()
    except OSError as error:
        raise exits.CommandError(f"{path}: {error.strerror or 'cannot be read'}") from None
    return [one for one in entries if _matches(one, arguments) and _within(one, since, until)]


def _matches(entry: LedgerEntry, arguments: argparse.Namespace) -> bool:
    action = arguments.action
    profile = DEMO if arguments.demo else arguments.profile
    return (
        (not arguments.outcome or entry.outcome in arguments.outcome)
        and (not profile or entry.profile == profile)
        and (not action or entry.action == action or entry.action.startswith(f"{action}."))
    )


def _within(entry: LedgerEntry, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or entry.at >= since) and (until is None or entry.at < until)


_CHOICE = (
    *PAST,
    Argument(
        "--outcome",
        values=_OUTCOMES,
        action="append",
        help=f"only this outcome; may be repeated: {', '.join(_OUTCOMES)}",
    ),
    Argument("--action", metavar="ID", help="only this action, or those of a resource (keys)"),
    Argument("--demo", action="store_true", help="only changes in the demo"),
    Argument("--file", type=Path, metavar="FILE", kind=FILES, help="another log than your own"),
)
COMMAND = Command(
    verbs=(
        Command(
            "list",
            "all of it",
            _list,
            (*_CHOICE, *query_arguments(AUDIT)),
            notes=columns_help(AUDIT),
        ),
        Command(
            "get",
            "one change",
            _get,
            (Argument("id", metavar="ID", help="how its id begins"), *_CHOICE, ROWS_OUTPUT),
        ),
    ),
    verb="list",
)
