"""``gwtui audit``: the log of changes made from this machine."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.command import FILES, ROWS_OUTPUT, Argument, Command
from gwtui.cli.lists.command import columns_help, print_local_rows, query_arguments
from gwtui.cli.lists.selection import PAST, parse_query, past_moments
from gwtui.cli.lists.show import print_detail, show_list
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.ledger import FILE_NAME, Ledger, LedgerEntry
from gwtui.local.paths import Paths
from gwtui.local.targets import DEMO
from gwtui.resources.audit import AUDIT


def _list(arguments: argparse.Namespace) -> int:
    print_local_rows(AUDIT, _read(arguments), arguments)
    return exits.OK


def _get(arguments: argparse.Namespace) -> int:
    entries = [entry for entry in _read(arguments) if entry.id.startswith(arguments.id)]
    if not entries:
        raise exits.CommandError(f"the audit log has no change {arguments.id!r}")
    if arguments.output == "table":
        for entry in entries:
            print_detail(AUDIT, entry, SYSTEM_CLOCK.now())
    else:
        show_list(entries, parse_query(AUDIT), arguments.output, SYSTEM_CLOCK.now())
    return exits.OK


def _read(arguments: argparse.Namespace) -> list[LedgerEntry]:
    if arguments.demo and arguments.profile:
        raise exits.CommandError("give either --demo or --profile, not both", exits.USAGE)
    since, until = past_moments(arguments)
    path = arguments.file or Paths.of_user().state / FILE_NAME
    try:
        if arguments.file:
            path.stat()
        entries = Ledger(path).audit()
    except OSError as error:
        raise exits.CommandError(f"{path}: {error.strerror or 'cannot be read'}") from None
    profile = DEMO if arguments.demo else arguments.profile
    return [
        entry
        for entry in entries
        if (not profile or entry.profile == profile) and _within(entry, since, until)
    ]


def _within(entry: LedgerEntry, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or entry.at >= since) and (until is None or entry.at < until)


_CHOICE = (
    *PAST,
    Argument("--demo", action="store_true", help="only changes in the demo"),
    Argument(
        "--file", type=Path, metavar="FILE", kind=FILES, help="read this log instead of your own"
    ),
)
COMMAND = Command(
    verbs=(
        Command(
            "list",
            "list changes, newest first",
            _list,
            (*_CHOICE, *query_arguments(AUDIT)),
            notes=columns_help(AUDIT),
        ),
        Command(
            "get",
            "print one change",
            _get,
            (
                Argument("id", metavar="ID", help="id of the change, or the beginning of it"),
                *_CHOICE,
                ROWS_OUTPUT,
            ),
        ),
    ),
    verb="list",
)
