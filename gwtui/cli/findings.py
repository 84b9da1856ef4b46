"""``gwtui findings``: what to look at across the account; --fail-on turns it into an exit code."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gwtui.cli import exits
from gwtui.cli.lists.command import ListVerb
from gwtui.cli.resources import Resource
from gwtui.domain.findings import AccountFinding

RESOURCE = Resource("findings", "what to look at", "gwtui.resources.findings:FINDINGS")
_GRAVE = ("critical", "warning", "notice")
_UNREAD = "unread-"


@dataclass(frozen=True, slots=True)
class _FindingsVerb(ListVerb):
    """The list, and an exit code of its own."""

    @property
    def in_portions(self) -> bool:
        """No: the exit code depends on all rows."""
        return False

    def exit_code(
        self, rows: Sequence[Any], shown: Sequence[Any], code: int, arguments: argparse.Namespace
    ) -> int:
        """FOUND for what is as grave as asked; INCOMPLETE where a part was not looked at."""
        return verdict(rows, shown, code, arguments.fail_on)


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


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of every list, and ``--fail-on``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("verb", nargs="?", choices=("list",), default="list", help="list them")
    parser.add_argument(
        "--fail-on",
        choices=_GRAVE,
        metavar="SEVERITY",
        help=f"exit with {exits.FOUND} if one is at least so grave: {', '.join(_GRAVE)}",
    )
    _FindingsVerb(RESOURCE).configure(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print them; returns an exit code."""
    return _FindingsVerb(RESOURCE).run(arguments)
