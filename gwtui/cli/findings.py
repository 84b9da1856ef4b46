"""``gwtui findings``: problems across the account; --fail-on turns them into an exit code."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from gwtui.cli import exits
from gwtui.cli.command import Argument, Command
from gwtui.cli.lists.command import list_command, run_list
from gwtui.domain.findings import AccountFinding
from gwtui.resources.entries import ENTRIES

RESOURCE = next(entry for entry in ENTRIES if entry.id == "findings")
_SEVERITIES = ("critical", "warning", "notice")
_UNREAD = "unread-"


def verdict(
    rows: Sequence[AccountFinding],
    shown: Sequence[AccountFinding],
    code: int,
    fail_on: str | None,
) -> int:
    """Return the exit code; ``code`` is the one from reading the findings.

    With ``fail_on``, it is FOUND if a shown finding has at least this severity, and not OK if a
    finding is unknown.
    """
    if fail_on is not None:
        severities = _SEVERITIES[: _SEVERITIES.index(fail_on) + 1]
        if any(one.severity in severities for one in shown):
            return exits.FOUND
        if any(one.severity == "unknown" for one in shown):
            return exits.INCOMPLETE
    if code == exits.OK and any(row.rule.startswith(_UNREAD) for row in rows):
        return exits.INCOMPLETE
    return code


def _run(arguments: argparse.Namespace) -> int:
    return run_list(
        RESOURCE,
        arguments,
        verdict=lambda rows, shown, code: verdict(rows, shown, code, arguments.fail_on),
    )


_LIST = list_command(RESOURCE)
COMMAND = Command(
    verbs=(
        replace(
            _LIST,
            run=_run,
            arguments=(
                Argument(
                    "--fail-on",
                    values=_SEVERITIES,
                    metavar="SEVERITY",
                    help=f"exit with {exits.FOUND} if a finding has this severity or a worse one: "
                    f"{', '.join(_SEVERITIES)}",
                ),
                *_LIST.arguments,
            ),
        ),
    ),
    verb="list",
)
