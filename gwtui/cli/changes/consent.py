"""Consent of the command line: ``--yes``, or a person on the terminal who is asked.

On a critical profile ``--yes`` agrees to nothing without the profile's name in ``--confirm``.

The one place of the command line where a :class:`Consent` is made.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from gwtui.cli.asking import await_line
from gwtui.cli.changes.telling import plan_lines
from gwtui.cli.exits import USAGE, CommandError
from gwtui.cli.output import narrate_lines
from gwtui.crud.plan import Consent, ConsentKind, Plan

if TYPE_CHECKING:
    from gwtui.client.connection import Connection

T = TypeVar("T")

NO_TERMINAL = "there is no terminal to ask on: look at it with --plan, then give --yes"


async def consent(
    plan: Plan[T], connection: Connection, *, yes: bool, confirm: str | None
) -> Consent[T] | None:
    """The plan as agreed to; None when the person does not want it. Raises CommandError."""
    if yes:
        return Consent(plan, _way_of_yes(connection, confirm))
    narrate_lines(plan_lines(plan))
    wanted, kind = _question(plan, connection)
    answer = await await_line(f"{wanted}: ")
    if answer != kind:
        return None
    return Consent(plan, "typed" if connection.critical else "command line")


def refuse_without_terminal(*, yes: bool) -> None:
    """Nothing is read of a gateway for a change that nobody can agree to. Raises CommandError."""
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandError(NO_TERMINAL, USAGE)


def _way_of_yes(connection: Connection, confirm: str | None) -> ConsentKind:
    """How ``--yes`` agrees. Raises CommandError where it alone is not enough."""
    name = connection.critical_name
    if not name:
        return "command line"
    if confirm is None:
        raise CommandError(f"this profile is critical: with --yes give --confirm {name}", USAGE)
    if confirm != name:
        raise CommandError(f"--confirm does not name this profile, which is {name}", USAGE)
    return "typed"


def _question(plan: Plan[Any], connection: Connection) -> tuple[str, str]:
    """What is asked, and the only answer that agrees."""
    if name := connection.critical_name:
        return f"This profile is CRITICAL. Type {name} to carry it out", name
    if plan.danger == "high":
        return "This cannot be undone. Type yes to carry it out", "yes"
    return "Carry it out? Type y", "y"
