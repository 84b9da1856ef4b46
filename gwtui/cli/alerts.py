"""``gwtui alerts`` and ``gwtui findings``: what needs attention, and the rules that say so."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gwtui.cli import exits
from gwtui.cli.command import DEMO, Argument, Command, Run
from gwtui.cli.lists.command import (
    columns_help,
    list_command,
    print_local_rows,
    query_arguments,
    run_list,
)
from gwtui.cli.lists.selection import PAST, past_moments
from gwtui.cli.output import narrate
from gwtui.cli.target import find_profile
from gwtui.crud.resource import ResourceSpec
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.findings import AccountFinding
from gwtui.domain.times import relative
from gwtui.embedded.demo import BASE_URL
from gwtui.local.alerts import FILE_NAME, AlertFileError, load_alerts, run_alert_command
from gwtui.local.paths import Paths
from gwtui.local.programs import ProgramError
from gwtui.local.targets import DEMO as DEMO_PROFILE
from gwtui.resources.alerts import ALERT_HISTORY, ALERT_RULES, ALERTS
from gwtui.resources.entries import ENTRIES
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.alerts.store import alerts_at, read_events
from gwtui.watch.feeds.alerts import RuleRow, rule_rows
from gwtui.watch.history.archive import ask
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import HistoryError, HistoryMissingError, Subject


def _listing(
    spec: ResourceSpec[Any], rows_of: Callable[[argparse.Namespace, Paths], Sequence[Any]]
) -> Run:
    @exits.reporting(AlertFileError)
    @exits.reporting(HistoryError, code=exits.FAILED)
    def run(arguments: argparse.Namespace) -> int:
        try:
            rows = rows_of(arguments, Paths.of_user())
        except HistoryMissingError as error:
            narrate(f"{error} The dashboard records history while it is open.")
            return exits.OK
        print_local_rows(spec, rows, arguments)
        return exits.OK

    return run


def _alerts(arguments: argparse.Namespace, paths: Paths) -> Sequence[Alert]:
    now = SYSTEM_CLOCK.now()
    present = ask(_history(arguments, paths), lambda reader: alerts_at(reader, now))
    as_of = "never" if present.as_of is None else relative(present.as_of, now)
    narrate(f"last reading {as_of}{'' if present.watching else '; no dashboard is watching now'}")
    return present.firing


def _rules(arguments: argparse.Namespace, paths: Paths) -> Sequence[RuleRow]:
    book = load_alerts(_file(paths))
    return rule_rows(book, DEMO_PROFILE if arguments.demo else arguments.profile or "")


def _events(arguments: argparse.Namespace, paths: Paths) -> Sequence[AlertEvent]:
    since, until = past_moments(arguments)
    return ask(
        _history(arguments, paths),
        lambda reader: read_events(reader.connection, since=since, until=until),
    )


@exits.reporting(AlertFileError)
@exits.reporting(ProgramError, code=exits.FAILED)
def _test(_arguments: argparse.Namespace) -> int:
    paths = Paths.of_user()
    command = load_alerts(_file(paths)).effects.command
    if command is None:
        raise exits.CommandError(f"{_file(paths)} has no command under [effects]", exits.USAGE)
    key = AlertKey("test", Subject("gateway", "test"))
    event = AlertEvent(
        datetime.now(UTC),
        "fired",
        key,
        "warning",
        "Test",
        "gwtui",
        "this is a test of the alert command",
    )
    asyncio.run(run_alert_command(command, event.line({"profile": "test", "gateway": ""})))
    narrate(f"{command[0]} accepted the test alert")
    return exits.OK


def _file(paths: Paths) -> Path:
    return paths.config / FILE_NAME


def _history(arguments: argparse.Namespace, paths: Paths) -> Path:
    if arguments.demo:
        return history_path(paths.data, "demo", BASE_URL)
    profile = find_profile(arguments, paths)
    return history_path(paths.data, profile.label, profile.base_url)


def _verb(name: str, help: str, run: Run, spec: ResourceSpec[Any], *extra: Argument) -> Command:
    arguments = (*extra, *query_arguments(spec), DEMO)
    return Command(name, help, run, arguments, notes=columns_help(spec))


COMMAND = Command(
    verbs=(
        _verb("list", "list current alerts", _listing(ALERTS, _alerts), ALERTS),
        _verb("rules", "list the alert rules", _listing(ALERT_RULES, _rules), ALERT_RULES),
        _verb(
            "history",
            "list when alerts fired and cleared",
            _listing(ALERT_HISTORY, _events),
            ALERT_HISTORY,
            *PAST,
        ),
        Command("test", "run the alert command of alerts.toml once, with a sample alert", _test),
    ),
    verb="list",
)


# Findings -----------------------------------------------------------------------------------------


_FINDINGS_ENTRY = next(entry for entry in ENTRIES if entry.id == "findings")
_SEVERITIES = ("critical", "warning", "notice")
_UNREAD = "unread-"


def findings_exit_code(
    rows: Sequence[AccountFinding],
    shown: Sequence[AccountFinding],
    code: int,
    fail_on: str | None,
) -> int:
    """Return the exit code for the findings ``rows``, of which ``shown`` pass the user's filter.

    ``code`` is the exit code of reading the findings. The first that applies: FOUND if a shown
    finding has the severity ``fail_on`` or a worse one; INCOMPLETE if ``fail_on`` is given and the
    severity of a shown finding is unknown; INCOMPLETE if ``code`` is OK and some data could not be
    read; ``code``.
    """
    if fail_on is not None:
        severities = _SEVERITIES[: _SEVERITIES.index(fail_on) + 1]
        if any(finding.severity in severities for finding in shown):
            return exits.FOUND
        if any(finding.severity == "unknown" for finding in shown):
            return exits.INCOMPLETE
    if code == exits.OK and any(row.rule.startswith(_UNREAD) for row in rows):
        return exits.INCOMPLETE
    return code


def _run_findings(arguments: argparse.Namespace) -> int:
    return run_list(
        _FINDINGS_ENTRY,
        arguments,
        exit_code=lambda rows, shown, code: findings_exit_code(
            rows, shown, code, arguments.fail_on
        ),
    )


_FINDINGS_LIST = list_command(_FINDINGS_ENTRY)
FINDINGS = Command(
    verbs=(
        replace(
            _FINDINGS_LIST,
            run=_run_findings,
            arguments=(
                Argument(
                    "--fail-on",
                    values=_SEVERITIES,
                    metavar="SEVERITY",
                    help=f"exit with {exits.FOUND} if a finding has this severity or a worse one: "
                    f"{', '.join(_SEVERITIES)}",
                ),
                *_FINDINGS_LIST.arguments,
            ),
        ),
    ),
    verb="list",
)
