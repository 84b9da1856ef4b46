"""``gwtui alerts``: the alerts of now, their rules and their history; try the command out."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gwtui.cli import exits
from gwtui.cli.command import COLUMNS, DEMO, ROWS_OUTPUT, Argument, Command, Run
from gwtui.cli.output import narrate
from gwtui.cli.rows import past_moment, print_rows
from gwtui.cli.running import reading_hub, run_async
from gwtui.cli.target import find_profile, resolve_connection
from gwtui.domain.times import relative
from gwtui.embedded.running_demo import BASE_URL
from gwtui.local.alerts import (
    FILE_NAME,
    AlertCommandError,
    AlertFileError,
    load_alerts,
    run_alert_command,
)
from gwtui.local.paths import Paths
from gwtui.watch.alerts.model import AlertEvent, AlertKey
from gwtui.watch.alerts.store import alerts_at, read_events
from gwtui.watch.history.archive import ask
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import HistoryError, HistoryMissingError, Subject

Row = dict[str, Any]


def _listing(
    rows_of: Callable[[argparse.Namespace, Paths], list[Row]], known: Sequence[str]
) -> Run:
    """What a verb prints: rows with the values that are ``known``."""

    def run(arguments: argparse.Namespace) -> int:
        try:
            rows = rows_of(arguments, Paths.of_user())
        except AlertFileError as error:
            raise exits.CommandError(str(error), exits.USAGE) from None
        except HistoryMissingError as error:
            narrate(f"{error} The dashboard records while it is open.")
            rows = []
        except HistoryError as error:
            raise exits.CommandError(str(error)) from None
        columns, form = arguments.columns, arguments.output
        print_rows(rows, form, known=known, usual=_COLUMNS, columns=columns)
        return exits.OK

    return run


def _list(arguments: argparse.Namespace, paths: Paths) -> list[Row]:
    now = datetime.now(UTC)
    present = ask(_history(arguments, paths), lambda reader: alerts_at(reader, now))
    as_of = "never" if present.as_of is None else relative(present.as_of, now)
    watching = "" if present.watching else "; nobody watches now"
    count = len(present.firing)
    narrate(f"{count} {'alert' if count == 1 else 'alerts'}, last reading {as_of}{watching}")
    return [
        {
            "severity": alert.severity,
            "state": alert.status.state,
            "since": alert.fired_at,
            "rule": alert.key.rule,
            "title": alert.title,
            "resource": alert.key.subject.resource,
            "identity": alert.key.subject.identity,
            "name": alert.name,
            "said": alert.said,
            "value": alert.value,
            "acknowledged_by": alert.acknowledged_by or None,
            "silenced_until": alert.silenced_until,
        }
        for alert in present.firing
    ]


def _rules(_arguments: argparse.Namespace, paths: Paths) -> list[Row]:
    book = load_alerts(_file(paths))
    narrate(f"{len(book.rules)} rules by {_file(paths)}")
    for note in book.ignored:
        narrate(note)
    return [
        {
            "rule": identity,
            "state": "on" if rule.enabled else "off",
            "severity": rule.severity,
            "kind": rule.kind.id,
            "name": rule.name,
            "scope": rule.scope,
            "only": rule.only,
            "profile": rule.profile,
            "demand": rule.demand,
        }
        for identity, rule in book.rules.items()
    ]


def _events(arguments: argparse.Namespace, paths: Paths) -> list[Row]:
    now = datetime.now(UTC)
    try:
        since, until = past_moment(arguments.since, now), past_moment(arguments.until, now)
    except ValueError as error:
        raise exits.CommandError(str(error), exits.USAGE) from None
    events = ask(
        _history(arguments, paths),
        lambda reader: read_events(reader.connection, since=since, until=until),
    )
    narrate(f"{len(events)} {'event' if len(events) == 1 else 'events'}")
    return [{**event.as_json(), "value": event.value} for event in reversed(events)]


_COLUMNS = {
    "severity": "severity",
    "state": "state",
    "event": "event",
    "at": "when (UTC)",
    "since": "since (UTC)",
    "rule": "rule",
    "name": "name",
    "said": "what",
    "demand": "fires",
    "only": "only",
    "who": "who",
    "acknowledged_by": "known to",
}
"""What a person is shown of a row, and how it is called."""


def _list_or_try(arguments: argparse.Namespace) -> int:
    return _try_command(Paths.of_user()) if arguments.test_command else _print_alerts(arguments)


def _try_command(paths: Paths) -> int:
    """Run the person's command once, as an alert would."""
    try:
        command = load_alerts(_file(paths)).effects.command
    except AlertFileError as error:
        raise exits.CommandError(str(error), exits.USAGE) from None
    if command is None:
        raise exits.CommandError(f"there is no command in [effects] of {_file(paths)}", exits.USAGE)
    key = AlertKey("test", Subject("gateway", "test"))
    event = AlertEvent(
        datetime.now(UTC), "fired", key, "warning", "Test", "gwtui", "only a test of the command"
    )
    try:
        asyncio.run(run_alert_command(command, event.line({"profile": "test", "gateway": ""})))
    except AlertCommandError as error:
        raise exits.CommandError(str(error)) from None
    narrate(f"{command[0]} took the test alert")
    return exits.OK


def _file(paths: Paths) -> Path:
    return paths.config / FILE_NAME


def _history(arguments: argparse.Namespace, paths: Paths) -> Path:
    """The path of the recorded history of the chosen gateway; no key is read."""
    if arguments.demo:
        path = history_path(paths.data, "demo", BASE_URL)
        if not path.exists():
            _tell_past(arguments, paths)
        return path

    profile = find_profile(arguments, paths)
    return history_path(paths.data, profile.label, profile.base_url)


def _tell_past(arguments: argparse.Namespace, paths: Paths) -> None:
    """Write the demo's past into its history file, where no demo has recorded yet."""
    connect = resolve_connection(arguments, paths, may_ask=False)

    async def work() -> int:
        async with reading_hub(connect) as hub:
            await hub.fill_past()
        return exits.OK

    run_async(work)


_print_alerts = _listing(
    _list,
    (
        *("severity", "state", "since", "rule", "title", "resource", "identity", "name", "said"),
        *("value", "acknowledged_by", "silenced_until"),
    ),
)
_print_rules = _listing(
    _rules,
    ("rule", "state", "severity", "kind", "name", "scope", "only", "profile", "demand"),
)
_print_events = _listing(
    _events,
    (
        *("id", "at", "event", "severity", "rule", "title", "resource", "identity", "name"),
        *("said", "value", "who", "until", "silenced"),
    ),
)
_ROWS = (ROWS_OUTPUT, COLUMNS, DEMO)
COMMAND = Command(
    verbs=(
        Command(
            "list",
            "what is wrong now",
            _list_or_try,
            (
                Argument(
                    "--test-command",
                    action="store_true",
                    help="run the command of alerts.toml once with a made-up alert",
                ),
                *_ROWS,
            ),
        ),
        Command("rules", "the rules in force", _print_rules, _ROWS),
        Command(
            "history",
            "what happened to alerts",
            _print_events,
            (
                Argument("--since", metavar="WHEN", help="from then on: 7d, 12h, 2026-11-01"),
                Argument("--until", metavar="WHEN", help="only before then"),
                *_ROWS,
            ),
        ),
    ),
    verb="list",
)
