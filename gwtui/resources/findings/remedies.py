"""What mends a finding: the action of the dashboard and the command of the command line.

Both are the ones that anybody may call without a finding: they read afresh, plan and ask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gwtui.domain.findings import AccountFinding, Remedy

_PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,127}")
"""An identity that a shell takes as it is; any other is not put into a command."""


@dataclass(frozen=True, slots=True)
class RemedyWay:
    """``title`` for people, the ``action`` on the row, the ``command`` with ID for the identity."""

    title: str
    action: str
    command: str


REMEDIES: Mapping[Remedy, RemedyWay] = {
    "limit": RemedyWay("set its limit", "keys.edit", "keys update ID --set limit=USD"),
    "rename": RemedyWay("rename it", "keys.edit", "keys update ID --set name=NAME"),
    "guardrail": RemedyWay(
        "assign a guardrail", "keys.assign", "guardrails assign GUARDRAIL --key ID"
    ),
    "disable": RemedyWay("disable it", "keys.toggle", "keys disable ID"),
    "rotate": RemedyWay("rotate it", "keys.rotate", "keys rotate ID"),
    "delete": RemedyWay("delete it", "guardrails.delete", "guardrails delete ID"),
    "budget": RemedyWay("set a budget", "budgets.edit", "budgets set ID --set monthly=USD"),
}


def remedy_of(finding: AccountFinding) -> RemedyWay | None:
    """What mends it; None where nothing does, or where what it is about has no identifier."""
    return REMEDIES.get(finding.remedy) if finding.subject.identity else None


def command_of(finding: AccountFinding) -> str | None:
    """The command that plans the mending; capitals stand for what a person has to choose."""
    way, identity = remedy_of(finding), finding.subject.identity
    if way is None or _PLAIN.fullmatch(identity) is None:
        return None
    return f"gwtui {way.command.replace('ID', identity, 1)} --plan"
