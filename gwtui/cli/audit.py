"""``gwtui audit``: what was changed from this machine, for people and for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.lists.show import print_detail
from gwtui.cli.output import narrate, print_json, print_ndjson, print_table
from gwtui.cli.rows import add_row_options, past_moment, print_rows
from gwtui.cli.target import add_demo_option
from gwtui.domain.times import utc
from gwtui.local.ledger import EXPORTED, FILE_NAME, Ledger, LedgerEntry, one_line, summary_text
from gwtui.local.paths import Paths
from gwtui.local.targets import DEMO
from gwtui.resources.audit import AUDIT

_OUTCOMES = ("applied", "refused", "unknown", "resolved")


def configure(parser: argparse.ArgumentParser) -> None:
    """Which part of the log, and in which form."""
    parser.add_argument(
        "verb", nargs="?", choices=("list", "get"), default="list", help="all of it, or one change"
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="with get: how its id begins")
    parser.add_argument(
        "--since", metavar="WHEN", help="only from then on: 7d, 12h, 2026-11-01, 2026-11-01T08:00Z"
    )
    parser.add_argument("--until", metavar="WHEN", help="only before then")
    parser.add_argument(
        "--outcome", choices=_OUTCOMES, action="append", help="only this outcome; may be repeated"
    )
    parser.add_argument(
        "--action", metavar="ID", help="only this action, or those of a resource (keys)"
    )
    add_demo_option(parser, "only changes in the demo")
    parser.add_argument("--file", type=Path, metavar="FILE", help="another log than your own")
    add_row_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the changes, the oldest first; returns an exit code."""
    if arguments.verb == "get" and arguments.columns is not None:
        raise exits.CommandError("--columns goes with list", exits.USAGE)
    if arguments.demo and arguments.profile:
        raise exits.CommandError("--demo and --profile name different gateways", exits.USAGE)
    if (arguments.verb == "get") != (arguments.id is not None):
        raise exits.CommandError("say which change with: gwtui audit get ID", exits.USAGE)
    now = datetime.now(UTC)
    try:
        since, until = past_moment(arguments.since, now), past_moment(arguments.until, now)
    except ValueError as error:
        narrate(str(error))
        return exits.USAGE
    path = arguments.file or Paths.of_user().state / FILE_NAME
    try:
        if arguments.file:
            path.stat()
        found = [
            entry
            for entry in Ledger(path).audit()
            if _matches(entry, arguments) and _within(entry, since, until)
        ]
    except OSError as error:
        narrate(f"{path}: {error.strerror or 'cannot be read'}")
        return exits.FAILED
    found.reverse()
    if arguments.id is not None:
        return _one(found, arguments.output)
    narrate(f"{len(found)} {'change' if len(found) == 1 else 'changes'} in {path}")
    if arguments.columns is not None:
        _rows(found, arguments.output, arguments.columns)
    else:
        _WRITERS[arguments.output](found)
    return exits.OK


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
        and (arguments.id is None or entry.id.startswith(arguments.id))
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
