"""Evidence on an unresolved change: the current state, compared with before and with the request.

It never claims that the write happened: the user decides. Only reads are sent. The declaration of
the resource defines how it is read and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.request import MASK
from gwtui.contract.response import ResponseModel
from gwtui.crud import cells
from gwtui.crud.cells import text_column
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan_text import count
from gwtui.crud.resource import Cell, Column, DetailRow, Section
from gwtui.crud.writes import Writes
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import ABSENT, same
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import age, duration
from gwtui.local.ledger import DIED, LedgerEntry, changes_text

Verdict = Literal[
    "as requested", "as before", "unchanged", "different", "not as before", "not known"
]
"""How the present value compares with the value before the write and the requested value.

"unchanged" if all three are equal; "not as before" if it differs from before and the requested
value is unknown, such as a stored key.
"""


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """The texts of one field: before the write (None for a creation), as requested and now."""

    label: str
    before: str | None
    requested: str
    present: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Candidate:
    """A resource that the unresolved creation may have made.

    ``offset`` is its creation time minus the time of the write, by the gateway's clock; None if
    unknown. ``compared`` compares its fields with the request. ``route`` is the dashboard path to
    the resource, ``item`` its data.
    """

    identity: str
    name: str
    made_at: datetime | None
    offset: timedelta | None
    compared: tuple[FieldComparison, ...]
    route: str
    item: Any = None

    @property
    def as_requested(self) -> int:
        """Number of fields that match the request."""
        return sum(comparison.verdict == "as requested" for comparison in self.compared)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence on one unresolved change.

    A creation has ``candidates``, nearest in time first. Any other write has ``compared``, the
    present values of the resource. ``notes`` are sentences on what was searched and what is
    missing. ``route`` is the dashboard path to the resource.
    """

    intent: LedgerEntry
    notes: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()
    compared: tuple[FieldComparison, ...] = ()
    route: str = ""


def verdict(before: Any, requested: Any, present: Any) -> Verdict:
    """Return how the present value of a field compares with the two others.

    These are the value before the write and the requested value. Unknown values are ABSENT.
    """
    if present is ABSENT:
        return "not known"
    as_before = before is not ABSENT and alike(before, present)
    if requested is ABSENT:
        if before is ABSENT:
            return "not known"
        return "as before" if as_before else "not as before"
    if alike(requested, present):
        return "unchanged" if as_before else "as requested"
    return "as before" if as_before else "different"


def compare_values(
    label: str,
    format: Callable[[Any], str],
    before: Any,
    requested: Any,
    present: Any,
    note: str = "",
) -> FieldComparison:
    """Compare the values of a field: before the write, as requested by it, and present.

    Unknown values are ABSENT. ``label`` names the field, ``format`` converts a value to text, and
    ``note`` is appended to the text of the present value.
    """
    was, goal, now = (
        UNKNOWN if value is ABSENT else format(value) for value in (before, requested, present)
    )
    return FieldComparison(label, was, goal, now + note, verdict(before, requested, present))


def alike(value: Any, other: Any) -> bool:
    """Return whether two values are equal; lists of strings are compared regardless of order."""
    return same(_in_order(value), _in_order(other))


def _in_order(value: Any) -> Any:
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return sorted(value)
    return value


UNSTORED = "nobody has confirmed that the value of the new key is stored"


def unknown_reason(intent: LedgerEntry) -> str:
    """Return why a write is unresolved, as text."""
    return UNSTORED if intent.is_unacknowledged else intent.message or DIED


T = TypeVar("T")

_LONG = 300


def title_of(evidence: Evidence) -> str:
    """Return the title of the unresolved change, such as "Edit key ci", safe to display."""
    return cells.text(evidence.intent.title).text


def offset_text(offset: timedelta | None) -> str:
    """Format the time between sending a write and a creation: "+1 min 12 s", "-4 s", "0 s".

    A negative time means that the resource was created before; None is unknown.
    """
    if offset is None:
        return cells.DASH
    if abs(offset) < timedelta(seconds=1):
        return "0 s"
    return f"{'+' if offset > timedelta() else '-'}{duration(abs(offset))}"


def _agreement(candidate: Candidate) -> str:
    known = [line for line in candidate.compared if line.verdict != "not known"]
    return f"{candidate.as_requested} of {len(known)}" if known else cells.DASH


CANDIDATE_COLUMNS: tuple[Column[Candidate], ...] = (
    text_column(
        "name",
        "Created around that time",
        lambda candidate: candidate.name,
        20,
        help="name of the resource",
        grow=True,
    ),
    Column(
        "apart",
        "After sent",
        lambda candidate, _now: Cell(offset_text(candidate.offset)),
        lambda candidate, _now: (
            None if candidate.offset is None else abs(candidate.offset.total_seconds())
        ),
        13,
        right=True,
        help="time between sending the change and its creation (gateway time)",
        kind="number",
    ),
    Column(
        "agreement",
        "Matching",
        lambda candidate, _now: Cell(_agreement(candidate)),
        lambda candidate, _now: candidate.as_requested,
        9,
        right=True,
        help="fields that match the request, of those that are known",
        kind="number",
    ),
    text_column("identity", "Id", lambda candidate: candidate.identity, 14, help="its identity"),
)


def about(evidence: Evidence, now: datetime) -> Sequence[DetailRow]:
    """Return detail rows about the write, and notes on what was searched for its outcome."""
    intent = evidence.intent
    rows = [
        cells.moment_row("sent", intent.at, now, seconds=True),
        DetailRow("unresolved", cells.prose(unknown_reason(intent), _LONG)),
    ]
    if evidence.notes:
        rows.append(DetailRow("found", cells.prose(" ".join(evidence.notes), 2 * _LONG)))
    if not (evidence.compared or evidence.candidates):
        rows.append(DetailRow("requested", cells.prose(changes_text(intent.changes), _LONG)))
    return rows


def compared_rows(lines: Sequence[FieldComparison]) -> Sequence[DetailRow]:
    """Return a detail row for each field: the present value, the verdict, and the other values."""
    return [DetailRow(line.label, cells.text(line.present), _verdict(line)) for line in lines]


def _verdict(comparison: FieldComparison) -> str:
    is_neither = comparison.verdict == "different" and comparison.before is not None
    parts: list[str] = ["neither as requested nor as before" if is_neither else comparison.verdict]
    if comparison.verdict not in {"as requested", "unchanged"}:
        parts.append(f"requested: {comparison.requested}")
    if comparison.before is not None and comparison.verdict not in {"as before", "unchanged"}:
        parts.append(f"before: {comparison.before}")
    return f"({' · '.join(parts)})"


def of_candidate(candidate: Candidate, now: datetime) -> Sequence[DetailRow]:
    """Return detail rows that compare one candidate with the request."""
    return [
        cells.moment_row("created", candidate.made_at, now, seconds=True),
        *compared_rows(candidate.compared),
        DetailRow("id", cells.text(candidate.identity)),
    ]


EVIDENCE_SECTIONS: tuple[Section[Evidence], ...] = (
    Section("What is known", about),
    Section("Current state", lambda evidence, _now: compared_rows(evidence.compared)),
)
CANDIDATE_SECTIONS: tuple[Section[Candidate], ...] = (
    Section("Compared with the request", of_candidate),
)


# Inspection ---------------------------------------------------------------------------------------

_CREATE, _DELETE = ".create", ".delete"
_THERE, _GONE = "there", "gone"
_SEARCH_SPAN = timedelta(hours=1)
"""A resource created at most this long before or after a creation may be its result."""


@dataclass(frozen=True, slots=True)
class InspectionContext:
    """The input for inspecting an unresolved change.

    ``intent`` is the ledger entry of the change. ``created_by_others`` are the identities of
    resources that other writes of this machine created.
    """

    client: GatewayClient
    intent: LedgerEntry
    now: datetime
    created_by_others: Set[str] = frozenset()

    def offset_of(self, moment: datetime) -> timedelta:
        """Return the time from the write to a moment of the gateway's clock; negative if before."""
        return moment - self.intent.at - timedelta(seconds=self.client.skew.seconds)

    def beside(self, moment: datetime) -> str:
        """Describe a moment relative to the write: "12 s after this change was sent"."""
        seconds = self.offset_of(moment).total_seconds()
        return f"{age(abs(seconds))} {'after' if seconds >= 0 else 'before'} this change was sent"

    def since(self, row: Any | None) -> str:
        """Describe the creation time of a row relative to the write; "" if it is unknown."""
        created_at = None if row is None else row.created_at
        return "" if created_at is None else f", {self.beside(created_at)}"


async def inspect_write(
    inspection: InspectionContext, writes: Writes[Any], context: PlanContext
) -> Evidence:
    """Read what shows whether an unresolved write happened. Raises GatewayError.

    ``writes`` is the declaration of the resource; ``context`` has the names to display.
    """
    inspector = _Inspection(inspection, writes.for_row(None, context.dialect), context)
    if inspection.intent.is_unacknowledged:
        return await inspector.of_unacknowledged()
    if inspection.intent.action.endswith(_CREATE):
        return await inspector.of_creation()
    if inspection.intent.action.endswith(_DELETE):
        return await inspector.of_deletion()
    return await inspector.of_update()


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

    # Creations ------------------------------------------------------------------------------------

    async def of_creation(self) -> Evidence:
        """Find resources created near the time of the write. Raises GatewayError."""
        noun, create = self.writes.noun, self.writes.create
        if create is None:
            return Evidence(self._intent, (f"This version of gwtui cannot create {noun}.",))
        scoped = "workspace_id" in create.request.model_fields
        try:
            listed = await self._list(scoped=scoped)
        except NotFoundError:
            return Evidence(self._intent, ("The workspace of this change no longer exists.",))
        candidates = sorted(
            (
                candidate
                for candidate in map(self._candidate, listed.items)
                if self._may_be_made(candidate)
            ),
            key=lambda candidate: (candidate.offset is None, abs(candidate.offset or timedelta())),
        )
        where = "in the workspace" if scoped else "in the account"
        undated = sum(candidate.offset is None for candidate in candidates)
        notes = [
            f"{count(len(candidates) - undated, noun)} created within an hour of this change "
            f"(gateway time), among {count(len(listed.items), noun)} {where}."
        ]
        if undated:
            notes.append(f"The gateway does not report when {count(undated, noun)} were created.")
        if not listed.complete or listed.unreadable:
            notes.append("The list is incomplete: there may be others.")
        return Evidence(self._intent, tuple(notes), tuple(candidates), route=self.writes.resource)

    async def _list(self, *, scoped: bool) -> Listing[Any]:
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
            None if created_at is None else self.inspection.offset_of(created_at),
            self._compare(item, self._requested(), None),
            self._route(identity),
            item,
        )

    def _may_be_made(self, candidate: Candidate) -> bool:
        near = candidate.offset is None or abs(candidate.offset) <= _SEARCH_SPAN
        return near and candidate.identity not in self.inspection.created_by_others

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
        return {**dict.fromkeys(self.writes.implied), **self._intent.summary}

    # Updates and deletions ------------------------------------------------------------------------

    async def of_update(self) -> Evidence:
        """Compare each field with its present value. Raises GatewayError."""
        intent = self._intent
        present = await self._present()
        if present is None:
            why = (
                f"This {self.writes.noun} no longer exists: it was deleted since, or never created."
            )
            return Evidence(intent, (why,), route=self.writes.resource)
        compared = self._compare(present, intent.summary, intent.before)
        verdicts = {comparison.verdict for comparison in compared}
        notes = self._changed(present)
        if "as requested" in verdicts and verdicts & {"as before", "different"}:
            notes += ("Some fields are as requested, others are not.",)
        return Evidence(intent, notes, compared=compared, route=self._route(intent.identity or ""))

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
            resource: ResponseModel = await self.writes.read(
                self.inspection.client, self._intent.identity or ""
            )
        except NotFoundError:
            return None
        return resource

    def _changed(self, present: Any) -> tuple[str, ...]:
        updated_at = getattr(present, "updated_at", None)
        if updated_at is None:
            return ()
        when = self.inspection.beside(updated_at)
        is_later = self.inspection.offset_of(updated_at).total_seconds() >= 0
        by = ", perhaps by this request" if is_later else ""
        return (f"The {self.writes.noun} was last edited {when}, by the gateway's clock{by}.",)

    # Field comparison -----------------------------------------------------------------------------

    def _compare(
        self, present: ResponseModel, requested: Mapping[str, Any], before: Mapping[str, Any] | None
    ) -> tuple[FieldComparison, ...]:
        labels, now = self.writes.fields.labels, self.writes.sent_by_gateway(present)
        goal, then = self._read(requested), None if before is None else self._read(before)
        comparisons = []
        for name in (
            *(label for label in labels if label in requested),
            *(field for field in requested if field not in labels),
        ):
            was = ABSENT if then is None else then.get(name, ABSENT)
            comparisons.append(
                FieldComparison(
                    labels.get(name, safe_line(name, 30)),
                    None if then is None else self._format(name, was),
                    self._wish(name, requested[name], goal),
                    self._format(name, now.get(name, ABSENT)),
                    verdict(was, goal.get(name, ABSENT), now.get(name, ABSENT)),
                )
            )
        return tuple(comparisons)

    def _read(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.writes.sent_by_gateway(self.writes.model.model_validate(dict(raw)))

    def _format(self, name: str, value: Any) -> str:
        return UNKNOWN if value is ABSENT else self.writes.fields.format(name, value, self.context)

    def _wish(self, name: str, raw: Any, goal: Mapping[str, Any]) -> str:
        if raw == MASK:
            return "as typed, not kept"
        return self._format(name, goal[name]) if name in goal else safe_line(raw, 60)


def _made_at(item: Any) -> datetime | None:
    created_at: datetime | None = item.created_at
    return created_at
