"""Inspects an unresolved change: what there is now, compared with the values before and those sent.

Only reads are sent. How a resource is read again and compared comes from its declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.request import MASK
from gwtui.contract.response import ResponseModel
from gwtui.crud.evidence import (
    REACHES,
    Candidate,
    Evidence,
    FieldComparison,
    TimeWindow,
    created_near,
    verdict,
)
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan_text import count
from gwtui.crud.writes import Writes
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.safe_text import safe_line
from gwtui.local.ledger import LedgerEntry

_CREATE, _DELETE = ".create", ".delete"
_THERE, _GONE = "there", "gone"
_MOST_UNDATED = 20
"""Things that are listed although the gateway does not say when they were made."""


@dataclass(frozen=True, slots=True)
class InspectionContext:
    """The input of one inspection of an unresolved change.

    ``search_span`` is the searched time before and after the write; ``makers`` maps the identities
    that other writes of this machine created to the titles of those writes.
    """

    client: GatewayClient
    intent: LedgerEntry
    now: datetime
    search_span: timedelta = REACHES[0]
    makers: Mapping[str, str] = field(default_factory=dict)

    @property
    def window(self) -> TimeWindow:
        """Around the moment of the write, by the gateway's clock."""
        return TimeWindow.around(self.intent.at, self.client.skew, self.search_span)

    def since(self, row: Any | None) -> str:
        """The creation time of a row relative to the write; empty if unknown."""
        created_at = None if row is None else row.created_at
        return "" if created_at is None else f", {self.window.beside(created_at)}"


async def inspect_write(
    inspection: InspectionContext, writes: Writes[Any], context: PlanContext
) -> Evidence:
    """Collect the evidence on a creation, a deletion or a change. Raises GatewayError.

    ``writes`` is the declaration of its resource; ``context`` has the names to show.
    """
    one = _Inspection(inspection, writes.for_row(None, context.dialect), context)
    if inspection.intent.is_unacknowledged:
        return await one.of_unacknowledged()
    if inspection.intent.action.endswith(_CREATE):
        return await one.of_creation()
    if inspection.intent.action.endswith(_DELETE):
        return await one.of_deletion()
    return await one.of_update()


@dataclass(frozen=True, slots=True)
class _Inspection:
    """The inspection of one write, based on the declaration of its resource."""

    inspection: InspectionContext
    writes: Writes[Any]
    context: PlanContext

    @property
    def _intent(self) -> LedgerEntry:
        return self.inspection.intent

    def _route(self, identity: str) -> str:
        return f"{self.writes.resource}/{identity}"

    # A creation: what was made near its time ----------------------------------------------------

    async def of_creation(self) -> Evidence:
        """Find resources created near the time of the write. Raises GatewayError."""
        noun, create = self.writes.noun, self.writes.create
        if create is None:
            return Evidence(self._intent, (f"This version of gwtui cannot create {noun}.",))
        scoped = "workspace_id" in create.request.model_fields
        try:
            listed = await self._list(scoped=scoped)
        except NotFoundError:
            gone = "The workspace of this change no longer exists."
            return Evidence(self._intent, (gone,), search_span=self.inspection.search_span)
        found = created_near(self.inspection.window, listed.items, _made_at)
        candidates = tuple(map(self._candidate, found.inside))
        undated = [self._candidate(item) for item in listed.items if _made_at(item) is None]
        where = "in that workspace" if scoped else "in the account"
        window = self.inspection.window
        notes = [
            f"{_number(len(candidates), noun)} created {window.text} (gateway time); "
            f"{count(len(listed.items), noun)} {where} checked."
        ]
        if found.nearest_outside is not None and not candidates:
            nearest = window.beside(found.nearest_outside)
            notes.append(f"The nearest other one was created {nearest}.")
        if found.undated:
            notes.append(
                f"The gateway does not report when {count(found.undated, noun)} were created."
            )
        if not listed.complete or listed.unreadable:
            notes.append("The list is incomplete: there may be others.")
        if any(one.made_by for one in candidates):
            notes.append("Candidates made by another write of this machine are marked.")
        return Evidence(
            self._intent,
            tuple(notes),
            (*candidates, *undated[:_MOST_UNDATED]),
            route=self.writes.resource,
            search_span=self.inspection.search_span,
        )

    async def _list(self, *, scoped: bool) -> Listing[Any]:
        """List the resources; of a ``scoped`` kind those of the creation's workspace."""
        space = self._intent.summary.get("workspace_id")
        named = space if isinstance(space, str) and space else None
        narrowed = {"workspace_id": named} if scoped else {}
        listed: Listing[Any] = await self.writes.service(self.inspection.client).list(**narrowed)
        return listed

    def _candidate(self, item: Any) -> Candidate:
        identity, created_at = self.writes.identity(item) or "", _made_at(item)
        return Candidate(
            identity,
            self.writes.name(item),
            created_at,
            None if created_at is None else self.inspection.window.offset_of(created_at),
            self._compare(item, self._requested(), None),
            self._route(identity),
            self.inspection.makers.get(identity, ""),
            item,
        )

    async def of_unacknowledged(self) -> Evidence:
        """Read the created resource whose value is not stored. Raises GatewayError."""
        present = await self._present()
        if present is None:
            gone = f"This {self.writes.noun} is gone: nothing is left to do."
            return Evidence(self._intent, (gone,), route=self.writes.resource)
        return Evidence(
            self._intent,
            ("The gateway cannot show its value again: without it, it is of no use.",),
            compared=self._compare(present, self._requested(), None),
            route=self._route(self._intent.identity or ""),
        )

    def _requested(self) -> Mapping[str, Any]:
        """The fields that the creation sent, and the implied values of those it left out."""
        return {**dict.fromkeys(self.writes.implied), **self._intent.summary}

    # A change: how the thing is now -------------------------------------------------------------

    async def of_update(self) -> Evidence:
        """Compare each field with its present value. Raises GatewayError."""
        intent = self._intent
        present = await self._present()
        if present is None:
            why = (
                f"This {self.writes.noun} no longer exists: it was deleted since, or never created."
            )
            return Evidence(intent, (why,), route=self.writes.resource)
        return Evidence(
            intent,
            self._changed(present),
            compared=self._compare(present, intent.summary, intent.before),
            route=self._route(intent.identity or ""),
        )

    async def of_deletion(self) -> Evidence:
        """Check whether the resource still exists. Raises GatewayError."""
        present = await self._present()
        state = _GONE if present is None else _THERE
        line = FieldComparison(
            f"The {self.writes.noun}", _THERE, _GONE, state, verdict(_THERE, _GONE, state)
        )
        if present is None:
            return Evidence(self._intent, (), compared=(line,), route=self.writes.resource)
        route = self._route(self._intent.identity or "")
        return Evidence(self._intent, self._changed(present), compared=(line,), route=route)

    async def _present(self) -> ResponseModel | None:
        try:
            found: ResponseModel = await self.writes.read(
                self.inspection.client, self._intent.identity or ""
            )
        except NotFoundError:
            return None
        return found

    def _changed(self, present: Any) -> tuple[str, ...]:
        """The time of the last change, if the gateway reports it."""
        updated_at = getattr(present, "updated_at", None)
        if updated_at is None:
            return ()
        when = self.inspection.window.beside(updated_at)
        return (f"The {self.writes.noun} was last changed {when} (gateway time).",)

    # Field by field -----------------------------------------------------------------------------

    def _compare(
        self, present: ResponseModel, requested: Mapping[str, Any], before: Mapping[str, Any] | None
    ) -> tuple[FieldComparison, ...]:
        """Compare every requested field; ``before`` is None for a creation."""
        labels, now = self.writes.fields.labels, self.writes.sent_by_gateway(present)
        goal, then = self._read(requested), None if before is None else self._read(before)
        found = []
        for name in (
            *(one for one in labels if one in requested),
            *(one for one in requested if one not in labels),
        ):
            was = ABSENT if then is None else then.get(name, ABSENT)
            found.append(
                FieldComparison(
                    labels.get(name, safe_line(name, 30)),
                    None if then is None else self._format(name, was),
                    self._wish(name, requested[name], goal),
                    self._format(name, now.get(name, ABSENT)),
                    verdict(was, goal.get(name, ABSENT), now.get(name, ABSENT)),
                )
            )
        return tuple(found)

    def _read(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fields from the ledger, under the names that answers have."""
        return self.writes.sent_by_gateway(self.writes.model.model_validate(dict(raw)))

    def _format(self, name: str, value: Any) -> str:
        return UNKNOWN if value is ABSENT else self.writes.fields.format(name, value, self.context)

    def _wish(self, name: str, raw: Any, goal: Mapping[str, Any]) -> str:
        if raw == MASK:
            return "as typed, not kept"
        return self._format(name, goal[name]) if name in goal else safe_line(raw, 60)


def _made_at(item: Any) -> datetime | None:
    """The creation time, by the gateway's clock."""
    created_at: datetime | None = item.created_at
    return created_at


def _number(number: int, noun: str) -> str:
    if not number:
        return f"No {noun} was"
    return f"1 {noun} was" if number == 1 else f"{number} {noun}s were"
