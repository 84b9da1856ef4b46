"""Account findings in one list: the finding, its severity, the reason and the remedy.

A remedy is an existing action of the dashboard and a command. Both read fresh data, plan and ask
for confirmation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gwtui.crud import cells
from gwtui.crud.cells import text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, Tone
from gwtui.domain.findings import SEVERITIES, AccountFinding, FindingSeverity, Remedy
from gwtui.watch.feeds.findings import findings_feed

_PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,127}")
"""Matches identities that need no quoting in a shell; no command is offered for others."""


@dataclass(frozen=True, slots=True)
class RemedyWay:
    """How the user applies a remedy: in the dashboard, or with a command.

    ``title`` describes the remedy. ``action`` is the id of the dashboard action, ``field`` the form
    field that gets the focus, if any. ``command`` holds the arguments of ``gwtui``; ID in it stands
    for the identity of the affected resource.
    """

    title: str
    action: str
    command: str
    field: str = ""


REMEDIES: Mapping[Remedy, RemedyWay] = {
    "limit": RemedyWay("set its limit", "keys.edit", "keys update ID --set limit=USD", "limit"),
    "rename": RemedyWay("rename it", "keys.edit", "keys update ID --set name=NAME", "name"),
    "guardrail": RemedyWay(
        "assign a guardrail", "keys.assign", "guardrails assign GUARDRAIL --key ID"
    ),
    "disable": RemedyWay("disable it", "keys.toggle", "keys disable ID"),
    "rotate": RemedyWay("rotate it", "keys.rotate", "keys rotate ID"),
    "delete": RemedyWay("delete it", "guardrails.delete", "guardrails delete ID"),
    "budget": RemedyWay("set a budget", "budgets.edit", "budgets set ID --set monthly=USD"),
}


def remedy_of(finding: AccountFinding) -> RemedyWay | None:
    """Return the remedy of a finding; None if there is none, or its subject has no id."""
    return REMEDIES.get(finding.remedy) if finding.subject.identity else None


def command_of(finding: AccountFinding) -> str | None:
    """Return the shell command that plans the remedy, None if there is none.

    Capitalized words such as USD are placeholders for the user to fill in.
    """
    way, identity = remedy_of(finding), finding.subject.identity
    if way is None or _PLAIN.fullmatch(identity) is None:
        return None
    return f"gwtui {way.command.replace('ID', identity, 1)} --plan"


_TONES: Mapping[FindingSeverity, Tone] = {
    "critical": "bad",
    "warning": "warn",
    "unknown": "accent",
    "notice": "plain",
}


def _severity(finding: AccountFinding) -> Cell:
    return Cell(finding.severity, _TONES[finding.severity])


def _name(finding: AccountFinding) -> str:
    return finding.subject.name or "the account"


COLUMNS: tuple[Column[AccountFinding], ...] = (
    text_column("name", "About", _name, 18, help="key, guardrail, workspace or model", grow=True),
    Column(
        "severity",
        "Severity",
        lambda finding, _now: _severity(finding),
        lambda finding, _now: SEVERITIES.index(finding.severity),
        9,
        help="critical, warning, unknown or notice; most severe first when sorted",
        export=lambda finding, _now: finding.severity,
        kind="number",
    ),
    text_column("finding", "Finding", lambda finding: finding.title, 19, help="which rule"),
    text_column(
        "message", "Message", lambda finding: finding.message, 24, help="the problem", most=72
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda finding: finding.subject.workspace or None,
        14,
        help="workspace it is in",
        most=32,
        missing=lambda _finding: Cell("all", "muted"),
    ),
    text_column(
        "kind",
        "Kind",
        lambda finding: finding.subject.resource or None,
        10,
        help="list that contains it",
    ),
    text_column("rule", "Rule", lambda finding: finding.rule, 19, help="id of the rule"),
    text_column("fix", "Fix", command_of, 40, help="command that plans the fix, if there is one"),
    text_column(
        "id", "Id", lambda finding: finding.subject.identity or None, 20, help="its identifier"
    ),
)


def _what(finding: AccountFinding, _now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow("severity", _severity(finding)),
        DetailRow("message", cells.prose(finding.message)),
    ]
    if finding.about:
        rows.append(DetailRow("why", Cell(finding.about)))
    if finding.advice:
        rows.append(DetailRow("advice", cells.prose(finding.advice)))
    return rows


def _fix(finding: AccountFinding, _now: datetime) -> Sequence[DetailRow]:
    way, command = remedy_of(finding), command_of(finding)
    if way is None:
        return [DetailRow("fix", Cell("no fix is available now", "muted"))]
    rows = [
        DetailRow("fix", Cell(way.title), "shown as a plan before it is sent"),
        cells.hint("{findings.fix} plans it, {findings.go} goes there"),
    ]
    if command is not None:
        rows.append(DetailRow("command", Cell(command)))
    return rows


def _about(finding: AccountFinding, _now: datetime) -> Sequence[DetailRow]:
    subject = finding.subject
    return [
        DetailRow("name", cells.text(subject.name)),
        DetailRow("kind", cells.text(subject.resource)),
        DetailRow("workspace", cells.text(subject.workspace)),
        DetailRow("identity", cells.text(subject.identity)),
        DetailRow("rule", Cell(finding.rule)),
    ]


def _raw(finding: AccountFinding) -> dict[str, Any]:
    subject = finding.subject
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "title": finding.title,
        "resource": subject.resource or None,
        "identity": subject.identity or None,
        "name": subject.name or None,
        "workspace_id": subject.workspace_id,
        "workspace": subject.workspace or None,
        "message": finding.message,
        "advice": finding.advice or None,
        "fix": command_of(finding),
    }


FINDINGS: ResourceSpec[AccountFinding] = ResourceSpec(
    id="findings",
    title="Findings",
    singular="finding",
    identity=lambda finding: finding.identity,
    name=lambda finding: f"{finding.title}: {cells.text(_name(finding)).text}",
    columns=COLUMNS,
    sections=(Section("Finding", _what), Section("Fix", _fix), Section("About", _about)),
    feed=findings_feed,
    raw=_raw,
    empty="No findings: every rule was checked.",
    scoped=True,
    default_sort=("severity", False),
    facets={
        "severity": lambda finding, _now: finding.severity,
        "resource": lambda finding, _now: finding.subject.resource,
        "identity": lambda finding, _now: finding.subject.identity,
    },
)
