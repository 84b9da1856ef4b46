"""``gwtui audit``: what was changed from this machine, for people and for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.command import COLUMNS, FILES, ROWS_OUTPUT, Argument, Command
from gwtui.cli.lists.show import print_detail
from gwtui.cli.output import narrate, print_json, print_ndjson, print_table
from gwtui.cli.rows import past_moment, print_rows
from gwtui.domain.times import utc
from gwtui.local.ledger import EXPORTED, FILE_NAME, Ledger, LedgerEntry, one_line, summary_text
from gwtui.local.paths import Paths
from gwtui.local.targets import DEMO
from gwtui.resources.audit import AUDIT

_OUTCOMES = ("applied", "refused", "unknown", "resolved")


def _list(arguments: argparse.Namespace) -> int:
    """Print the changes, the oldest first; returns an exit code."""
    path, found = _read(arguments)
    narrate(f"{len(found)} {'change' if len(found) == 1 else 'changes'} in {path}")
    if arguments.columns is not None:
        _rows(found, arguments.output, arguments.columns)
    else:
        _WRITERS[arguments.output](found)
    return exits.OK


def _get(arguments: argparse.Namespace) -> int:
    """Print one change; returns an exit code."""
    _, found = _read(arguments)
    return _one([one for one in found if one.id.startswith(arguments.id)], arguments.output)


def _read(arguments: argparse.Namespace) -> tuple[Path, list[LedgerEntry]]:
    """The log, and what of it is asked for. Raises CommandError."""
    if arguments.demo and arguments.profile:
        raise exits.CommandError("--demo and --profile name different gateways", exits.USAGE)
    now = datetime.now(UTC)
    try:
        since, until = past_moment(arguments.since, now), past_moment(arguments.until, now)
    except ValueError as error:
        raise exits.CommandError(str(error), exits.USAGE) from None
    path = arguments.file or Paths.of_user().state / FILE_NAME
    try:
        if arguments.file:
            path.stat()
        entries = Ledger(path).audit()
    except OSError as error:
        raise exits.CommandError(f"{path}: {error.strerror or 'cannot be read'}") from None
    found = [one for one in entries if _matches(one, arguments) and _within(one, since, until)]
    return path, found[::-1]


def _one(found: list[LedgerEntry], form: str) -> int:
    """What became of one change: a write in doubt may have two lines."""
    if not found:
        narrate("there is no such change in the log")
        return exits.FAILED
    if form != "table":
        _WRITERS[form](found)
        return exits.OK

    for entry in found:
        print_detail(AUDIT, entry, datetime.now(UTC))
    return exits.OK


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


# Forms ------------------------------------------------------------------------------------------


def _table(found: Iterable[LedgerEntry]) -> None:
    rows = [("when (UTC)", "outcome", "who", "profile", "change")]
    for entry in found:
        why = f" ({entry.message})" if entry.message else ""
        changes = f": {one_line(entry.changes)}" if entry.changes else ""
        when = utc(entry.at, seconds=True).removesuffix(" UTC")
        rows.append((when, entry.outcome, entry.who, entry.profile, f"{entry.title}{why}{changes}"))
    print_table(rows)


def _json(found: Iterable[LedgerEntry]) -> None:
    print_json([entry.as_json() for entry in found])


def _ndjson(found: Iterable[LedgerEntry]) -> None:
    print_ndjson(entry.as_json() for entry in found)


def _csv(found: Iterable[LedgerEntry]) -> None:
    _rows(found, "csv", None)


def _rows(found: Iterable[LedgerEntry], form: str, columns: str | None) -> None:
    """The values of each line, by their names in the log."""
    lines = [
        {
            **entry.as_json(),
            "changes": one_line(entry.changes),
            "summary": summary_text(entry.summary),
        }
        for entry in found
    ]
    known = [*lines[0]] if lines else EXPORTED
    print_rows(lines, form, known=known, usual={}, columns=columns)


_WRITERS = {"table": _table, "json": _json, "ndjson": _ndjson, "csv": _csv}

_CHOICE = (
    Argument(
        "--since", metavar="WHEN", help="only from then on: 7d, 12h, 2026-11-01, 2026-11-01T08:00Z"
    ),
    Argument("--until", metavar="WHEN", help="only before then"),
    Argument(
        "--outcome",
        values=_OUTCOMES,
        action="append",
        help=f"only this outcome; may be repeated: {', '.join(_OUTCOMES)}",
    ),
    Argument("--action", metavar="ID", help="only this action, or those of a resource (keys)"),
    Argument("--demo", action="store_true", help="only changes in the demo"),
    Argument("--file", type=Path, metavar="FILE", kind=FILES, help="another log than your own"),
    ROWS_OUTPUT,
)
COMMAND = Command(
    verbs=(
        Command("list", "all of it", _list, (*_CHOICE, COLUMNS)),
        Command(
            "get",
            "one change",
            _get,
            (Argument("id", metavar="ID", help="how its id begins"), *_CHOICE),
        ),
    ),
    verb="list",
)
