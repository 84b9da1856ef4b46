"""What guardrails are assigned to, and how that is changed: extended contract section 5.

A key, and a member, holds at most one directly assigned guardrail: assigning replaces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
)
from gwtui.contract.keys import ApiKey
from gwtui.contract.organization import OrganizationMember
from gwtui.contract.request import RequestModel
from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.plan import Change, Plan, Undo, bundle_alike
from gwtui.crud.plan_text import NAME_LIMIT, Names, count, identity_of, named, quoted, several
from gwtui.crud.resource import Column, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.crud.undo import CannotUndoError, none_on_error
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line
from gwtui.resources.guardrails.view import display_name
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.watch.feeds.guardrails import Assignment, AssignmentRow, Bindings, assignments_feed
from gwtui.watch.feeds.keys import fetch_keys
from gwtui.watch.feeds.workspaces import shown_person


def _guardrail_name(row: AssignmentRow) -> str | None:
    """The guardrail by name, else by its identifier."""
    if row.guardrail is None:
        return row.assignment.guardrail_id
    return display_name(row.guardrail)


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
        "Label",
        lambda row: row.assignment.key_label if isinstance(row.assignment, KeyAssignment) else None,
        18,
        help="masked form of the key",
    ),
)


def _rows(row: AssignmentRow, now: datetime) -> Sequence[DetailRow]:
    one = row.assignment
    return [
        *(_key_rows(one) if isinstance(one, KeyAssignment) else _member_rows(one, row.person)),
        DetailRow("guardrail", cells.text(_guardrail_name(row))),
        DetailRow("guardrail id", cells.text(one.guardrail_id)),
        cells.moment_row("assigned", one.created_at, now),
        DetailRow("assigned by", cells.text(one.assigned_by)),
        DetailRow("id", cells.text(one.id)),
        cells.hint("{assignments.remove} takes it away; the workspace's default one still binds"),
    ]


def _key_rows(one: KeyAssignment) -> list[DetailRow]:
    return [
        DetailRow("key", cells.text(one.key_name)),
        DetailRow("label", cells.text(one.key_label)),
        DetailRow("hash", cells.text(one.key_hash)),
    ]


def _member_rows(one: MemberAssignment, person: OrganizationMember | None) -> list[DetailRow]:
    return [
        DetailRow("member", cells.text(shown_person(person, one.user_id))),
        DetailRow("mail", cells.text(None if person is None else person.email)),
        DetailRow("user id", cells.text(one.user_id)),
        DetailRow("organization", cells.text(one.organization_id)),
    ]


def _read_by(row: AssignmentRow) -> ReadBy:
    """The list that has it: of its guardrail, where that is known."""
    kind = "keys" if isinstance(row.assignment, KeyAssignment) else "members"
    one = row.assignment.guardrail_id
    if one is None:
        return ReadBy(f"guardrails.{kind}_of_all")
    return ReadBy(f"guardrails.{kind}_of_one", (one,))


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


Held = Mapping[str, str | None]
"""Key hash or user id -> the guardrail that it has; one that is not there has none."""
_MOST_CHANGES = 20
"""Keys or members that a plan lists one by one."""


@dataclass(frozen=True, slots=True)
class Assignable:
    """A key or a member that can get a guardrail. Every text is fit to be shown.

    ``called`` names it in a plan, ``short`` where there is little room; ``note`` tells it from
    others of the same ``title``.
    """

    identity: str
    title: str
    note: str
    called: str
    short: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentKind:
    """Keys or members: how what they hold is read and changed.

    ``field`` is the one of the request that lists them. ``holder`` gives the identity of what has
    an assignment, ``called`` its name from the assignment and the names of people. ``every`` reads
    assignments, of one guardrail or of all. ``current`` are those of a reading, None where they
    could not be read, ``held`` the same as holder -> guardrail. ``candidates`` reads what can get a
    guardrail. What reads or sends raises GatewayError.
    """

    noun: str
    assignment: type[KeyAssignment | MemberAssignment]
    request: type[RequestModel]
    field: str
    holder: Callable[[Any], str | None]
    called: Callable[[Any, Names], str]
    every: Callable[[GatewayClient, str | None], Awaitable[Listing[Any]]]
    current: Callable[[Bindings], Sequence[Any] | None]
    held: Callable[[Bindings], Mapping[str, str]]
    candidates: Callable[[GatewayClient, Guardrail], Awaitable[Sequence[Assignable]]]
    assign: Callable[[GatewayClient, str, Any], Awaitable[int]]
    unassign: Callable[[GatewayClient, str, Any], Awaitable[int]]

    def names(self, assignments: Iterable[Assignment], people: Names) -> Names:
        """Those of this kind: identity -> name. Raises ValueError for one without an identity."""
        return {
            identity_of(self.holder(one), "assignment"): self.called(one, people)
            for one in assignments
            if isinstance(one, self.assignment)
        }


async def _keys(client: GatewayClient, guardrail: Guardrail) -> Sequence[Assignable]:
    """Every key, those of the guardrail's own workspace first."""
    rows = sorted(
        (row for row in await fetch_keys(client, None) if row.key.hash),
        key=lambda row: (
            row.key.workspace_id != guardrail.workspace_id,
            (row.key.name or "").casefold(),
        ),
    )
    found = []
    for row in rows:
        identity = row.key.hash or ""
        name = row.key.name or row.key.label or identity
        found.append(
            Assignable(
                identity,
                safe_line(name, NAME_LIMIT),
                safe_line(row.workspace_name or "", 30),
                quoted(row.key.name, row.key.label, identity),
                safe_line(name, 30),
            )
        )
    return found


async def _members(client: GatewayClient, _guardrail: Guardrail) -> Sequence[Assignable]:
    """Everybody in the organization."""
    found = []
    for person in (await client.organization.members()).items:
        if person.id:
            name, mail = shown_person(person, person.id), safe_line(person.email or "", 40)
            found.append(Assignable(person.id, name, mail, quoted(name, person.id), name))
    return found


def key_names(keys: Iterable[ApiKey]) -> Names:
    """Hash -> name in a sentence. Raises ValueError for a key without a hash."""
    return {identity_of(one.hash, "key"): quoted(one.name, one.label, one.hash) for one in keys}


KEYS = AssignmentKind(
    noun="key",
    assignment=KeyAssignment,
    request=AssignKeysRequest,
    field="key_hashes",
    holder=lambda one: one.key_hash,
    called=lambda one, _people: quoted(one.key_name, one.key_label, one.key_hash),
    every=lambda client, guardrail: client.guardrails.key_assignments(guardrail),
    current=lambda bindings: bindings.keys,
    held=lambda bindings: bindings.by_key,
    candidates=_keys,
    assign=lambda client, guardrail, request: client.guardrails.assign_keys(guardrail, request),
    unassign=lambda client, guardrail, request: client.guardrails.unassign_keys(guardrail, request),
)
MEMBERS = AssignmentKind(
    noun="member",
    assignment=MemberAssignment,
    request=AssignMembersRequest,
    field="member_user_ids",
    holder=lambda one: one.user_id,
    called=lambda one, people: named(one.user_id, people),
    every=lambda client, guardrail: client.guardrails.member_assignments(guardrail),
    current=lambda bindings: bindings.members,
    held=lambda bindings: bindings.by_member,
    candidates=_members,
    assign=lambda client, guardrail, request: client.guardrails.assign_members(guardrail, request),
    unassign=lambda client, guardrail, request: client.guardrails.unassign_members(
        guardrail, request
    ),
)


# Plans ------------------------------------------------------------------------------------------


def plan_assign(
    kind: AssignmentKind,
    guardrail: Guardrail,
    called: Names,
    current: Iterable[Assignment] | None,
    guardrails: Names,
) -> Plan[int]:
    """One POST that assigns. ``called`` are the keys or members with their names, at least one.

    ``current`` are the account's assignments of the kind, None where they could not be read;
    ``guardrails`` names guardrails.
    """
    identity = identity_of(guardrail.id, "guardrail")
    held: Held | None = None
    if current is not None:
        held = {kind.holder(one) or "": one.guardrail_id for one in current}
    after = named(identity, guardrails)
    title = f"Assign guardrail {GUARDRAILS.name(guardrail)} to {count(len(called), kind.noun)}"
    return replace(
        _request(kind, title, identity, called),
        changes=_capped([_change(*one, held, after, guardrails) for one in called.items()]),
        effects=_effects(kind.noun, called, held, identity, guardrails),
        before={} if held is None else {one: held.get(one) for one in called},
        undo=None if held is None else _back_to(kind, identity, called, held),
    )


def plan_unassign(
    kind: AssignmentKind, guardrail: Guardrail, assignments: Iterable[Assignment], people: Names
) -> Plan[int]:
    """One POST that takes this guardrail from what has the assignments of the kind.

    There is at least one; ``people`` names users.
    """
    identity, name = identity_of(guardrail.id, "guardrail"), GUARDRAILS.name(guardrail)
    called = kind.names(assignments, people)
    held = dict.fromkeys(called, identity)
    title = f"Take guardrail {name} from {count(len(called), kind.noun)}"
    return replace(
        _request(kind, title, identity, called, remove=True),
        changes=_capped([Change(one, name, "none") for one in called.values()]),
        effects=(
            "They have no guardrail of their own then; the workspace's default one still binds.",
        ),
        before=held,
        undo=_back_to(kind, None, called, held),
    )


def _request(
    kind: AssignmentKind, title: str, guardrail: str, called: Names, *, remove: bool = False
) -> Plan[int]:
    """What every plan of an assignment shares."""
    request = kind.request.model_validate({kind.field: [*called]})
    change = kind.unassign if remove else kind.assign
    return Plan(
        action="assignments.remove" if remove else f"guardrails.assign_{kind.noun}s",
        title=title,
        resource="assignments",
        identity=guardrail,
        send=lambda client: change(client, guardrail, request),
        summary=request.body(),
    )


def _change(identity: str, name: str, held: Held | None, after: str, guardrails: Names) -> Change:
    """What one has now, and what it will have."""
    if held is None:
        return Change(name, UNKNOWN, after)
    before = named(held[identity], guardrails) if identity in held else "no guardrail"
    return Change(name, before, after)


def _effects(
    noun: str, called: Names, held: Held | None, guardrail: str, guardrails: Names
) -> tuple[str, ...]:
    if held is None:
        return (
            "What they have now could not be read: whatever guardrail one of them has is replaced.",
        )
    lines = [
        f"It replaces guardrail {named(held[identity], guardrails)} on {noun} {name}."
        for identity, name in called.items()
        if identity in held and held[identity] != guardrail
    ]
    same = [name for identity, name in called.items() if held.get(identity) == guardrail]
    if same:
        lines.append(f"It is assigned already to {several(same)}.")
    return tuple(lines)


def _capped(lines: list[Change]) -> tuple[Change, ...]:
    if len(lines) <= _MOST_CHANGES:
        return tuple(lines)
    rest = Change("…", None, f"and {len(lines) - _MOST_CHANGES} more")
    return (*lines[:_MOST_CHANGES], rest)


# Undo -------------------------------------------------------------------------------------------


def _back_to(kind: AssignmentKind, given: str | None, called: Names, before: Held) -> Undo[int]:
    """Gives the keys or members of ``called`` what they held ``before``.

    ``given`` is the guardrail that the change gave them, None for none: whoever holds another one
    by now was changed by somebody else, and nothing is undone.
    """

    async def way(client: GatewayClient, _now: datetime) -> Plan[Any]:
        every = (await kind.every(client, None)).items
        present = {kind.holder(one): one.guardrail_id for one in every if kind.holder(one)}
        moved = [called[one] for one in called if present.get(one) != given]
        if moved:
            what = several(moved)
            raise CannotUndoError(f"Somebody else changed since what {what} holds.")
        groups: dict[str | None, list[str]] = {}
        for identity in called:
            groups.setdefault(before.get(identity), []).append(identity)
        groups.pop(given, None)
        if not groups:
            raise CannotUndoError("It is as it was before already.")
        plans = [
            await _give_back(client, kind, given, back, {one: called[one] for one in identities})
            for back, identities in groups.items()
        ]
        return plans[0] if len(plans) == 1 else bundle_alike("", plans)

    return lambda _answer: way


async def _give_back(
    client: GatewayClient,
    kind: AssignmentKind,
    given: str | None,
    back: str | None,
    called: Names,
) -> Plan[int]:
    """One request for those that go back to the same guardrail, or to none."""
    now_held = await _name(client, given) if given else "no guardrail"
    name = "no guardrail"
    if back is not None:
        name = GUARDRAILS.name(await _still_there(client, back, called))
    title = f"Give {count(len(called), kind.noun)} back {name}"
    return replace(
        _request(kind, title, back or given or "", called, remove=back is None),
        changes=tuple(Change(one, now_held, name) for one in called.values()),
        before=dict.fromkeys(called, given),
    )


async def _still_there(client: GatewayClient, back: str, called: Names) -> Guardrail:
    try:
        return await client.guardrails.get(back)
    except NotFoundError:
        what = several(list(called.values()))
    raise CannotUndoError(f"The guardrail that {what} held before no longer exists.")


async def _name(client: GatewayClient, identity: str) -> str:
    guardrail = await none_on_error(client.guardrails.get(identity))
    return GUARDRAILS.name(guardrail or Guardrail.model_validate({"id": identity}))
