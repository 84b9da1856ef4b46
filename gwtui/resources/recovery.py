"""Unresolved changes: sent from this machine, with an unknown outcome.

The evidence compares them with the current state. Only reads are sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.crud import cells
from gwtui.crud.cells import moment_column, text_column
from gwtui.crud.evidence import Evidence, InspectionContext, inspect_write, unknown_reason
from gwtui.crud.fields import PlanContext
from gwtui.crud.resource import Column, DetailRow, ResourceSpec, Section
from gwtui.crud.writes import Writes
from gwtui.local.ledger import LedgerEntry, summary_text
from gwtui.resources import assignments, budgets, members
from gwtui.resources.audit import change_rows
from gwtui.resources.registry import SPECS
from gwtui.resources.uses import items_or_none, people_names
from gwtui.watch import cadence
from gwtui.watch.feeds.ledger import (
    RECOVERY_FEED,
    ask_ledger,
    created_identities,
    read_unresolved,
    unresolved_feed,
)
from gwtui.watch.hub import FeedReader, FeedSpec, Scope

_LONG = 2000


COLUMNS: tuple[Column[LedgerEntry], ...] = (
    text_column(
        "what", "Change", lambda entry: entry.title, 24, help="the planned change", grow=True
    ),
    moment_column("at", "Sent", lambda entry: entry.at, 10, "when it was sent"),
    text_column("why", "Reason", unknown_reason, 30, help="why the outcome is unknown"),
    text_column("action", "Action", lambda entry: entry.action, 20, help="name of the action"),
    text_column("profile", "Profile", lambda entry: entry.profile, 12, help="which gateway"),
    text_column("user", "By", lambda entry: entry.user, 12, help="who sent it"),
)


def _request(intent: LedgerEntry, _now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow("resource", cells.text(intent.resource)),
        DetailRow("identity", cells.text(intent.identity)),
        *change_rows(intent),
    ]
    if text := summary_text(intent.summary):
        rows.append(DetailRow("request", cells.prose(text, _LONG)))
    return rows


UNRESOLVED: ResourceSpec[LedgerEntry] = ResourceSpec(
    id=RECOVERY_FEED,
    title="Unresolved changes",
    singular="unresolved change",
    plural="unresolved changes",
    identity=lambda entry: entry.id,
    name=lambda entry: cells.text(entry.title).text,
    columns=COLUMNS,
    sections=(
        Section(
            "Unresolved change",
            lambda intent, now: [
                cells.moment_row("sent", intent.at, now),
                DetailRow("reason", cells.prose(unknown_reason(intent), _LONG)),
                DetailRow("profile", cells.text(intent.profile)),
                DetailRow("gateway", cells.text(intent.gateway)),
                DetailRow("by", cells.text(intent.user)),
                DetailRow("plan", cells.text(intent.id)),
                cells.hint("{list.open} shows the evidence, so that you can decide what happened"),
            ],
        ),
        Section("Request", _request),
    ),
    feed=unresolved_feed,
    raw=lambda entry: entry.as_line(),
    empty="No unresolved changes.",
    default_sort=("at", True),
    opens="evidence",
)


_NO_WAY = "The gateway does not return the feedback it received, so there is nothing to compare."
_NOT_THERE = "The workspace of this change no longer exists."
_STRANGE = "This version of gwtui cannot find evidence for this kind of change."


@cache
def declared_writes() -> Mapping[str, Writes[Any]]:
    """Return the declarations of all writes that ``inspect_write`` can inspect, by resource."""
    declared = (spec.writes() for spec in SPECS.values() if spec.writes is not None)
    return {writes.resource: writes for writes in declared}


async def find_evidence(inspection: InspectionContext) -> Evidence:
    """Collect what shows whether an unresolved change was applied. Raises GatewayError."""
    intent = inspection.intent
    if intent.resource == "generation":
        return Evidence(intent, (_NO_WAY,))
    if special := _SPECIAL.get(intent.resource):
        try:
            return await special(inspection)
        except NotFoundError:
            return Evidence(intent, (_NOT_THERE,))
    writes = declared_writes().get(intent.resource)
    if writes is None:
        return Evidence(intent, (_STRANGE,))
    return await inspect_write(inspection, writes, await _context(inspection))


async def _context(inspection: InspectionContext) -> PlanContext:
    client, summary = inspection.client, inspection.intent.summary
    names: dict[str, str] = {}
    if "workspace_id" in summary:
        spaces = await items_or_none(client.workspaces.list())
        names |= {space.id or "": space.name or "" for space in spaces or ()}
    if "allowed_user_ids" in summary or "creator_user_id" in summary:
        names |= await people_names(client)
    return PlanContext(inspection.now, names, client.connection.dialect)


_SPECIAL: Mapping[str, Callable[[InspectionContext], Awaitable[Evidence]]] = {
    "assignments": assignments.inspect_assignments,
    "members": members.MEMBERSHIP.inspect,
    "budgets": budgets.inspect_budget,
}
"""Inspectors for writes without a Writes declaration."""


# The feed -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inspection:
    """The evidence on an unresolved change; None once it is resolved."""

    evidence: Evidence | None


async def _inspect(reader: FeedReader, scope: Scope) -> Inspection:
    writes = await read_unresolved(reader, scope)
    intent = next((write for write in writes if write.id == scope.parent), None)
    if intent is None:
        return Inspection(None)
    others = await ask_ledger(reader, created_identities)
    now = reader.clock.now()
    return Inspection(await find_evidence(InspectionContext(reader.client, intent, now, others)))


evidence_feed = FeedSpec(f"{RECOVERY_FEED}:evidence", _inspect, cadence.KEYS, parent=True)
"""The evidence on one unresolved change; the scope's parent is the id of its plan."""
