"""Guardrail assignments and their changes. See section 5 of the extended contract.

A key or member has at most one directly assigned guardrail: assigning replaces the previous one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
)
from gwtui.contract.keys import ApiKey
from gwtui.contract.organization import OrganizationMember
from gwtui.crud import cells
from gwtui.crud.cells import moment_column, text_column
from gwtui.crud.evidence import Evidence, InspectionContext
from gwtui.crud.plan import Change, Plan, Undo
from gwtui.crud.plan_text import NAME_LIMIT, Names, count, identity_of, named, quoted, several
from gwtui.crud.resource import Column, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.crud.undo import CannotUndoError, as_one
from gwtui.domain.safe_text import safe_line
from gwtui.resources.attachments import Attachment, Parents
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.resources.uses import people_names, value_or_none
from gwtui.watch.feeds.guardrails import Assignment, AssignmentRow, Bindings, assignments_feed
from gwtui.watch.feeds.keys import fetch_keys
from gwtui.watch.feeds.workspaces import shown_person


def _guardrail_name(row: AssignmentRow) -> str | None:
    if row.guardrail is None:
        return row.assignment.guardrail_id
    return row.guardrail.display_name


COLUMNS: tuple[Column[AssignmentRow], ...] = (
    text_column(
        "holder", "Key or member", lambda row: row.holder, 22, help="what holds it", grow=True
    ),
    text_column("kind", "Kind", lambda row: row.kind, 6, help="key or member"),
    text_column(
        "guardrail",
        "Guardrail",
        _guardrail_name,
        22,
        help="the one guardrail that is assigned to it",
    ),
    moment_column(
        "created", "Assigned", lambda row: row.assignment.created_at, 12, "when it was assigned"
    ),
    text_column(
        "by",
        "Assigned by",
        lambda row: row.assignment.assigned_by,
        16,
        help="user id of who assigned it",
    ),
    text_column(
        "label",
        "Masked key",
        lambda row: row.assignment.key_label if isinstance(row.assignment, KeyAssignment) else None,
        18,
        help="first and last characters of the key",
    ),
)


def _rows(row: AssignmentRow, now: datetime) -> Sequence[DetailRow]:
    assignment = row.assignment
    return [
        *(
            _key_rows(assignment)
            if isinstance(assignment, KeyAssignment)
            else _member_rows(assignment, row.person)
        ),
        DetailRow("guardrail", cells.text(_guardrail_name(row))),
        DetailRow("guardrail id", cells.text(assignment.guardrail_id)),
        cells.moment_row("assigned", assignment.created_at, now),
        DetailRow("assigned by", cells.text(assignment.assigned_by)),
        DetailRow("id", cells.text(assignment.id)),
        cells.hint(
            "{assignments.remove} unassigns this guardrail; the workspace default still applies"
        ),
    ]


def _key_rows(assignment: KeyAssignment) -> list[DetailRow]:
    return [
        DetailRow("key", cells.text(assignment.key_name)),
        DetailRow("masked key", cells.text(assignment.key_label)),
        DetailRow("key id", cells.text(assignment.key_hash), "its hash"),
    ]


def _member_rows(
    assignment: MemberAssignment, person: OrganizationMember | None
) -> list[DetailRow]:
    return [
        DetailRow("member", cells.text(shown_person(person, assignment.user_id))),
        DetailRow("email", cells.text(None if person is None else person.email)),
        DetailRow("user id", cells.text(assignment.user_id)),
        DetailRow("organization", cells.text(assignment.organization_id)),
    ]


def _read_by(row: AssignmentRow) -> ReadBy:
    kind = "keys" if isinstance(row.assignment, KeyAssignment) else "members"
    guardrail_id = row.assignment.guardrail_id
    if guardrail_id is None:
        return ReadBy(f"guardrails.{kind}_of_all")
    return ReadBy(f"guardrails.{kind}_of_one", (guardrail_id,))


ASSIGNMENTS: ResourceSpec[AssignmentRow] = ResourceSpec(
    id="assignments",
    title="Assignments",
    singular="assignment",
    identity=lambda row: row.identity,
    name=lambda row: cells.text(row.holder).text,
    columns=COLUMNS,
    sections=(
        Section("Assignment", _rows),
        *drift_sections(lambda row: row.assignment),
    ),
    feed=assignments_feed,
    raw=lambda row: row.assignment.raw,
    read_by=_read_by,
    empty="No guardrail is assigned here: press {guardrails.assign_keys} on a guardrail "
    "to assign it to keys.",
    scoped=True,
    default_sort=("holder", False),
    facets={"kind": lambda row, _now: row.kind},
)


NO_GUARDRAIL = "no guardrail"
_MOST_NAMES = 10
"""Maximum number of guardrails whose names are read."""


@dataclass(frozen=True, slots=True)
class Assignable:
    """A key or member that can get a guardrail. All texts are safe to display.

    ``called`` is its name in a plan; ``note`` distinguishes entries with the same ``title``.
    """

    identity: str
    title: str
    note: str
    called: str


async def _guardrail_wording(
    client: GatewayClient, guardrails: Iterable[Any]
) -> Callable[[Any], str]:
    known = [
        guardrail
        for guardrail in dict.fromkeys(guardrails)
        if isinstance(guardrail, str) and guardrail
    ]
    read = await asyncio.gather(
        *(value_or_none(client.guardrails.get(guardrail)) for guardrail in known[:_MOST_NAMES])
    )
    names = {
        guardrail.id or "": guardrail.name or "" for guardrail in read if guardrail is not None
    }
    return lambda guardrail: named(guardrail, names) if guardrail else NO_GUARDRAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentKind(Attachment):
    """Reads and changes the guardrail assignments of keys, or those of members.

    The holder of an assignment is its key or member. ``called`` returns the holder's name, given
    the names of people. ``current`` returns the assignments of a reading, or None if they could not
    be read; ``held`` returns them as holder -> guardrail. ``candidates`` reads the possible
    holders. Functions that read raise GatewayError.
    """

    assignment: type[KeyAssignment | MemberAssignment]
    called: Callable[[Any, Names], str]
    current: Callable[[Bindings], Sequence[Any] | None]
    held: Callable[[Bindings], Mapping[str, str]]
    candidates: Callable[[GatewayClient, Guardrail], Awaitable[Sequence[Assignable]]]
    remaining: str
    """A sentence on the guardrails that apply after an unassignment."""
    resource: str = "assignments"
    detach_action: str = "assignments.remove"
    across_parents: bool = True
    parent: Callable[[Any], str | None] = lambda row: row.guardrail_id
    wording: Callable[[GatewayClient, Iterable[Any]], Awaitable[Callable[[Any], str]]] = (
        _guardrail_wording
    )

    def names_of(self, assignments: Iterable[Assignment], people: Names) -> Names:
        """Return holder -> name. Raises ValueError for an assignment without a holder."""
        return {
            identity_of(self.holder(assignment), "assignment"): self.called(assignment, people)
            for assignment in assignments
            if isinstance(assignment, self.assignment)
        }


async def _keys(client: GatewayClient, guardrail: Guardrail) -> Sequence[Assignable]:
    rows = sorted(
        (row for row in await fetch_keys(client, None) if row.key.hash),
        key=lambda row: (
            row.key.workspace_id != guardrail.workspace_id,
            (row.key.name or "").casefold(),
        ),
    )
    assignable = []
    for row in rows:
        identity = row.key.hash or ""
        name = row.key.name or row.key.label or identity
        assignable.append(
            Assignable(
                identity,
                safe_line(name, NAME_LIMIT),
                safe_line(row.workspace_name or "", 30),
                quoted(row.key.name, row.key.label, identity),
            )
        )
    return assignable


async def _members(client: GatewayClient, _guardrail: Guardrail) -> Sequence[Assignable]:
    assignable = []
    for person in (await client.organization.members()).items:
        if person.id:
            name, mail = shown_person(person, person.id), safe_line(person.email or "", 40)
            assignable.append(Assignable(person.id, name, mail, quoted(name, person.id)))
    return assignable


def key_names(keys: Iterable[ApiKey]) -> Names:
    """Return the name of each API key by its hash, as quoted in a sentence.

    Raises ValueError for a key without a hash.
    """
    return {identity_of(key.hash, "key"): quoted(key.name, key.label, key.hash) for key in keys}


async def _names_of_keys(_client: GatewayClient, rows: Iterable[KeyAssignment]) -> Names:
    return {row.key_hash or "": row.key_name or "" for row in rows}


KEYS = AssignmentKind(
    noun="key",
    attach_action="guardrails.assign_keys",
    assignment=KeyAssignment,
    request=AssignKeysRequest,
    field="key_hashes",
    holder=lambda assignment: assignment.key_hash,
    called=lambda assignment, _people: quoted(
        assignment.key_name, assignment.key_label, assignment.key_hash
    ),
    names=_names_of_keys,
    rows=lambda client, guardrail: client.guardrails.key_assignments(guardrail),
    current=lambda bindings: bindings.keys,
    held=lambda bindings: bindings.by_key,
    candidates=_keys,
    remaining="The default guardrail of a key's workspace still applies, if it is set up, and so "
    "does a guardrail that is assigned to the key's creator.",
    attach=lambda client, guardrail, body: client.guardrails.assign_keys(guardrail, body),
    detach=lambda client, guardrail, body: client.guardrails.unassign_keys(guardrail, body),
)
MEMBERS = AssignmentKind(
    noun="member",
    attach_action="guardrails.assign_members",
    assignment=MemberAssignment,
    request=AssignMembersRequest,
    field="member_user_ids",
    holder=lambda assignment: assignment.user_id,
    called=lambda assignment, people: named(assignment.user_id, people),
    names=people_names,
    rows=lambda client, guardrail: client.guardrails.member_assignments(guardrail),
    current=lambda bindings: bindings.members,
    held=lambda bindings: bindings.by_member,
    candidates=_members,
    remaining="Guardrails assigned to the member's keys still apply, and so does the default "
    "guardrail of each key's workspace, if it is set up.",
    attach=lambda client, guardrail, body: client.guardrails.assign_members(guardrail, body),
    detach=lambda client, guardrail, body: client.guardrails.unassign_members(guardrail, body),
)


async def inspect_assignments(inspection: InspectionContext) -> Evidence:
    """Compare who holds which guardrail now with an assignment whose outcome is unknown.

    Each key or member gets a line with its guardrail before the write, the requested one and the
    present one. Raises GatewayError.
    """
    kind = KEYS if KEYS.field in inspection.intent.summary else MEMBERS
    return await kind.inspect(inspection)


# Plans ------------------------------------------------------------------------------------------


def plan_assign(
    kind: AssignmentKind,
    guardrail: Guardrail,
    called: Names,
    current: Iterable[Assignment] | None,
    guardrails: Names,
) -> Plan[int]:
    """Plan one POST that assigns a guardrail to the holders in ``called``.

    ``called`` maps these holders, keys or members, to names and is not empty. ``current`` has the
    present assignments of all holders, or is None if they could not be read; ``guardrails`` has the
    names of guardrails.
    """
    identity = identity_of(guardrail.id, "guardrail")
    held: Parents | None = None
    if current is not None:
        held = {kind.holder(assignment) or "": assignment.guardrail_id for assignment in current}
    after = named(identity, guardrails)
    return kind.plan(
        identity,
        f"Assign guardrail {GUARDRAILS.name(guardrail)} to {count(len(called), kind.noun)}",
        called,
        [
            _change(*item, held, after, guardrails)
            for item in called.items()
            if held is None or held.get(item[0]) != identity
        ],
        effects=_effects(kind.noun, called, held, identity, guardrails),
        before={} if held is None else {holder: held.get(holder) for holder in called},
        undo=None if held is None else _back_to(kind, identity, called, held),
    )


def plan_unassign(
    kind: AssignmentKind, guardrail: Guardrail, assignments: Iterable[Assignment], people: Names
) -> Plan[int]:
    """Plan one POST that unassigns this guardrail from the holders of ``assignments``.

    Their holders are the keys or members. ``assignments`` is not empty; ``people`` has the names of
    users.
    """
    identity, name = identity_of(guardrail.id, "guardrail"), GUARDRAILS.name(guardrail)
    called = kind.names_of(assignments, people)
    held = dict.fromkeys(called, identity)
    return kind.plan(
        identity,
        f"Unassign guardrail {name} from {count(len(called), kind.noun)}",
        called,
        [Change(holder, name, NO_GUARDRAIL) for holder in called.values()],
        detach=True,
        effects=(kind.remaining,),
        before=held,
        undo=_back_to(kind, None, called, held),
    )


def _change(
    identity: str, name: str, held: Parents | None, after: str, guardrails: Names
) -> Change:
    if held is None:
        return Change(name, "unknown", after)
    before = named(held[identity], guardrails) if identity in held else NO_GUARDRAIL
    return Change(name, before, after)


def _effects(
    noun: str, called: Names, held: Parents | None, guardrail: str, guardrails: Names
) -> tuple[str, ...]:
    if held is None:
        return (
            f"The current guardrail of {several([*called.values()])} could not be read. "
            f"If there is one, {named(guardrail, guardrails)} will replace it.",
        )
    lines = [
        f"Guardrail {named(held[identity], guardrails)} on {noun} {name} will be replaced."
        for identity, name in called.items()
        if identity in held and held[identity] != guardrail
    ]
    same = [name for identity, name in called.items() if held.get(identity) == guardrail]
    if same:
        lines.append(f"{named(guardrail, guardrails)} is already assigned to {several(same)}.")
    return tuple(lines)


# Undo -------------------------------------------------------------------------------------------


def _back_to(kind: AssignmentKind, given: str | None, called: Names, before: Parents) -> Undo[int]:
    # ``given`` is the guardrail that the change assigned, None if it unassigned. Nothing is undone
    # if a holder has another guardrail by now.
    async def way(client: GatewayClient, _now: datetime) -> Plan[Any]:
        rows = (await kind.rows(client, None)).items
        present = {kind.holder(row): kind.parent(row) for row in rows}
        moved = [called[holder] for holder in called if present.get(holder) != given]
        if moved:
            what = several(moved)
            raise CannotUndoError(f"Somebody else changed since what {what} holds.")
        groups: dict[str | None, list[str]] = {}
        for identity in called:
            groups.setdefault(before.get(identity), []).append(identity)
        groups.pop(given, None)
        if not groups:
            raise CannotUndoError("It already has its previous value.")
        plans = [
            await _give_back(
                client, kind, given, back, {identity: called[identity] for identity in identities}
            )
            for back, identities in groups.items()
        ]
        return as_one("", plans)

    return lambda _answer: way


async def _give_back(
    client: GatewayClient,
    kind: AssignmentKind,
    given: str | None,
    back: str | None,
    called: Names,
) -> Plan[int]:
    now_held = (await _guardrail_wording(client, [given]))(given)
    name = NO_GUARDRAIL
    if back is not None:
        name = GUARDRAILS.name(await _still_there(client, back, called))
    return kind.plan(
        back or given or "",
        f"Give {count(len(called), kind.noun)} back {name}",
        called,
        [Change(holder_name, now_held, name) for holder_name in called.values()],
        detach=back is None,
        before=dict.fromkeys(called, given),
    )


async def _still_there(client: GatewayClient, back: str, called: Names) -> Guardrail:
    try:
        return await client.guardrails.get(back)
    except NotFoundError:
        what = several(list(called.values()))
    raise CannotUndoError(f"The guardrail that {what} held before no longer exists.")
