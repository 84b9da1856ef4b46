"""Writes in doubt: sent from this machine, and nobody knows whether they happened.

Evidence on one is what the gateway has now. Nothing is sent but reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from gwtui.client.errors import NotFoundError
from gwtui.client.paging import Listing
from gwtui.contract.guardrails import KeyAssignment, MemberAssignment
from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.evidence import Evidence, before_of, compared, incomplete, texts, unknown_reason
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan_text import Names, named
from gwtui.crud.recovery import InspectionContext, inspect_write
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section
from gwtui.crud.writes import Writes
from gwtui.domain.diffs import ABSENT
from gwtui.local.ledger import Ledger, LedgerEntry, summary_text
from gwtui.resources import budgets, members
from gwtui.resources.registry import SPECS
from gwtui.resources.uses import items_or_none, people_names, value_or_none
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.ledger import (
    RECOVERY_FEED,
    Inspected,
    UnsettledWrite,
    inspected_feed,
    unsettled_feed,
)
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


_LONG = 2000


COLUMNS: tuple[Column[LedgerEntry], ...] = (
    text_column("what", "Change", lambda one: one.title, 24, help="what was to be done", grow=True),
    moment_column("at", "Sent", lambda one: one.at, 10, "when it was sent"),
    text_column(
        "why", "Why it is in doubt", unknown_reason, 30, help="why its outcome is not known"
    ),
    text_column("action", "Action", lambda one: one.action, 20, help="which action it was"),
    text_column("profile", "Profile", lambda one: one.profile, 12, help="which gateway"),
    text_column("user", "By", lambda one: one.user, 12, help="who sent it"),
)


def _write_rows(intent: LedgerEntry, now: datetime) -> Sequence[DetailRow]:
    return [
        cells.moment_row("sent", intent.at, now),
        DetailRow("in doubt", cells.prose(unknown_reason(intent), _LONG)),
        DetailRow("profile", cells.text(intent.profile)),
        DetailRow("gateway", cells.text(intent.gateway)),
        DetailRow("by", cells.text(intent.user)),
        DetailRow("plan", cells.text(intent.id)),
        cells.hint("{list.open} looks for what became of it; you decide"),
    ]


def _intended(intent: LedgerEntry, _now: datetime) -> Sequence[DetailRow]:
    return [*intended_rows(intent), *_sent(intent)]


def _sent(intent: LedgerEntry) -> Sequence[DetailRow]:
    text = summary_text(intent.summary)
    return [DetailRow("request", cells.prose(text, _LONG))] if text else []


def intended_rows(intent: LedgerEntry) -> Sequence[DetailRow]:
    """What was to be changed, field by field."""
    rows = [
        DetailRow("resource", cells.text(intent.resource)),
        DetailRow("identity", cells.text(intent.identity)),
    ]
    for change in intent.changes:
        after = cells.text(change.after).text
        both = after if change.before is None else f"{cells.text(change.before).text} → {after}"
        rows.append(DetailRow(cells.text(change.field).text, Cell(both)))
    return rows


DOUBTS: ResourceSpec[LedgerEntry] = ResourceSpec(
    id=RECOVERY_FEED,
    title="Writes in doubt",
    singular="write in doubt",
    plural="writes in doubt",
    identity=lambda one: one.id,
    name=lambda one: cells.text(one.title).text,
    columns=COLUMNS,
    sections=(Section("What is in doubt", _write_rows), Section("What was wanted", _intended)),
    feed=unsettled_feed,
    raw=lambda one: one.as_line(),
    empty="Every write from this machine is settled.",
    default_sort=("at", True),
    opens="doubt",
)


_NO_WAY = "The gateway does not tell which feedback it has got: nothing can be read back."
_NOT_THERE = "The workspace that it concerned is not there now."
_STRANGE = "This version does not know how to look into such a change."
_TAKEN = "assignments.remove"
_NO_GUARDRAIL = "no guardrail"
_MOST_NAMES = 10
"""Guardrails whose names are looked up."""


@cache
def declared_writes() -> Mapping[str, Writes[Any]]:
    """What is read again and compared as its declaration says, by the resource that it writes."""
    found = (spec.writes() for spec in SPECS.values() if spec.writes is not None)
    return {writes.resource: writes for writes in found}


async def find_evidence(inspection: InspectionContext) -> Evidence:
    """Everything that can be found now. Raises GatewayError."""
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
    """Names of what the fields mention; without them their identifiers are shown."""
    client, summary = inspection.client, inspection.intent.summary
    names: dict[str, str] = {}
    if "workspace_id" in summary:
        spaces = await items_or_none(client.workspaces.list())
        names |= {one.id or "": one.name or "" for one in spaces or ()}
    if "allowed_user_ids" in summary or "creator_user_id" in summary:
        names |= await people_names(client) or {}
    return PlanContext(inspection.now, names, client.connection.dialect)


# Which guardrail keys and members have ----------------------------------------------------------


async def inspect_assignments(inspection: InspectionContext) -> Evidence:
    """Which guardrail each key or member has now. Raises GatewayError."""
    client, intent = inspection.client, inspection.intent
    hashes = texts(intent.summary.get("key_hashes"))
    wanted = hashes or texts(intent.summary.get("member_user_ids"))
    listed: Listing[KeyAssignment] | Listing[MemberAssignment]
    if hashes:
        keys = listed = await client.guardrails.key_assignments(None)
        found = {one.key_hash: one for one in keys.items}
        called: Names = {one.key_hash or "": one.key_name or "" for one in keys.items}
    else:
        held = listed = await client.guardrails.member_assignments(None)
        found = {one.user_id: one for one in held.items}  # type: ignore[misc]
        called = await people_names(client) or {}
    before = before_of(intent)
    goal = None if intent.action == _TAKEN else intent.identity
    rails = [goal, *(before.get(one) for one in wanted)]
    rails += [found[one].guardrail_id for one in wanted if one in found]
    names = await _guardrail_names(client, rails)

    def rail(identity: str | None) -> str:
        return named(identity, names) if identity else _NO_GUARDRAIL

    lines = []
    for one in wanted:
        row = found.get(one)
        present, was = _held(row, listed), before.get(one, ABSENT)
        who = named(one, called)
        lines.append(compared(who, rail, was, goal, present, inspection.since(row)))
    return Evidence(intent, incomplete(listed), compared=tuple(lines), route="assignments")


def _held(row: KeyAssignment | MemberAssignment | None, listed: Listing[Any]) -> Any:
    """The guardrail that one has now; ABSENT where that is not known."""
    if row is not None:
        return row.guardrail_id or ABSENT
    return None if listed.complete else ABSENT


async def _guardrail_names(client: GatewayClient, rails: Iterable[Any]) -> Names:
    wanted = [one for one in dict.fromkeys(rails) if isinstance(one, str) and one]
    found = await asyncio.gather(
        *(value_or_none(client.guardrails.get(one)) for one in wanted[:_MOST_NAMES])
    )
    return {one.id or "": one.name or "" for one in found if one is not None}


_SPECIAL: Mapping[str, Callable[[InspectionContext], Awaitable[Evidence]]] = {
    "assignments": inspect_assignments,
    "members": members.inspect_members,
    "budgets": budgets.inspect_budget,
}
"""What is no resource by itself."""


# The feed -----------------------------------------------------------------------------------------


Inspection: TypeAlias = Inspected[Evidence]


def evidence_feed(
    hub: FeedHub, ledger: Ledger, plan: str, search_span: timedelta
) -> Feed[Inspection]:
    """The evidence on the write of that plan, as far as ``search_span`` before and after it."""

    async def inspection(client: GatewayClient, doubt: UnsettledWrite) -> Evidence:
        now = hub.clock.now()
        return await find_evidence(
            InspectionContext(client, doubt.intent, now, search_span, doubt.made)
        )

    return inspected_feed(hub, ledger, (plan, f"{search_span.total_seconds():.0f}"), inspection)
