"""``gwtui findings``: what to look at across the account; --fail-on turns it into an exit code."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from gwtui.cli import exits
from gwtui.cli.command import Argument, Command
from gwtui.cli.lists.command import list_command, run_list
from gwtui.domain.findings import AccountFinding
from gwtui.resources.registry import ENTRIES

RESOURCE = next(entry for entry in ENTRIES if entry.id == "findings")
_GRAVE = ("critical", "warning", "notice")
_UNREAD = "unread-"


def verdict(
    rows: Sequence[AccountFinding],
    shown: Sequence[AccountFinding],
    code: int,
    fail_on: str | None,
) -> int:
    """The exit code for these findings; ``code`` is that of their reading.

    ``fail_on`` asks for FOUND where one of those ``shown`` is at least so grave. What is unknown
    never passes for well then.
    """
    if fail_on is not None:
        grave = _GRAVE[: _GRAVE.index(fail_on) + 1]
        if any(one.severity in grave for one in shown):
            return exits.FOUND
        if any(one.severity == "unknown" for one in shown):
            return exits.INCOMPLETE
    if code == exits.OK and any(one.rule.startswith(_UNREAD) for one in rows):
        return exits.INCOMPLETE
    return code


def _run(arguments: argparse.Namespace) -> int:
    """Print them; returns an exit code."""
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
                    values=_GRAVE,
                    metavar="SEVERITY",
                    help=f"exit with {exits.FOUND} if one is at least so grave: "
                    f"{', '.join(_GRAVE)}",
                ),
                *_LIST.arguments,
            ),
        ),
    ),
    verb="list",
)
