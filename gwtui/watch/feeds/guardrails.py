"""Guardrails of one workspace or of all, and their assignments.

See "Guardrail" in the contract and section 5 of the extended contract.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from gwtui.client.answers import LARGE_LIST, run_by_size
from gwtui.client.errors import NotFoundError
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.organization import OrganizationMember
from gwtui.contract.workspaces import Workspace
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.feeds.workspaces import read_people, shown_person
from gwtui.watch.hub import (
    FeedReader,
    FeedSpec,
    Scope,
)
from gwtui.watch.reads import (
    BaseRead,
    GrowingList,
    Parts,
    fetch_each,
    guardrails_of,
    key_assignments,
    member_assignments,
    read_workspaces,
)

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

A = TypeVar("A", KeyAssignment, MemberAssignment)
Assignment = KeyAssignment | MemberAssignment

FEEDS = "guardrails"
"""Prefix of the feeds to refresh after a write to guardrails or assignments."""
_NAME = 60
NAMES_LAST = 300.0
"""Seconds for which the guardrails in ``bindings_feed`` are reused."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The assignments of a guardrail; None if they could not be read."""

    keys: tuple[KeyAssignment, ...] | None = None
    members: tuple[MemberAssignment, ...] | None = None


@dataclass(frozen=True, slots=True)
class GuardrailRow:
    """A guardrail with its workspace, and its assignments once they are read.

    ``exists`` is False for a workspace default before its first edit, which already has an id.
    """

    guardrail: Guardrail
    workspace: Workspace | None = None
    bound: Bound | None = None
    exists: bool = True
    dialect: Dialect = GENERIC

    @property
    def identity(self) -> str:
        """The id, or other fields if there is none."""
        guardrail = self.guardrail
        return guardrail.id or f"?{guardrail.name}|{guardrail.created_at}"

    @property
    def is_default(self) -> bool:
        """Whether it applies to all traffic of its workspace."""
        default = None if self.workspace is None else self.workspace.default_guardrail_id
        return default is not None and default.lower() == (self.guardrail.id or "").lower()

    @property
    def workspace_id(self) -> str | None:
        """The id of the workspace, None if unknown."""
        return None if self.workspace is None else self.workspace.id

    @property
    def workspace_name(self) -> str | None:
        """The name of the workspace, else its id."""
        space = self.workspace
        return self.guardrail.workspace_id if space is None else space.shown_name

    @property
    def display_name(self) -> str:
        """The name to show; a default guardrail is named after its workspace."""
        if self.is_default:
            return f"{safe_line(self.workspace_name or UNKNOWN)} default"
        return safe_line(self.guardrail.name or self.guardrail.id or UNKNOWN)

    @property
    def quoted_name(self) -> str:
        """The name in quotation marks, for sentences."""
        return f"“{self.display_name[:_NAME]}”"


@dataclass(frozen=True)
class Bindings:
    """All guardrails and assignments; unread parts are None, with the reasons in ``faults``.

    Lookups are indexed, because accounts can have 100,000 assignments.
    """

    guardrails: Mapping[str, GuardrailRow] | None = None
    """The guardrails by id, including workspace defaults."""
    keys: tuple[KeyAssignment, ...] | None = None
    members: tuple[MemberAssignment, ...] | None = None
    faults: tuple[str, ...] = field(default=())

    def of(self, guardrail_id: str | None) -> Bound:
        """The assignments of a guardrail, empty if it has none."""
        return Bound(
            None if self._keys_of is None else self._keys_of.get(guardrail_id, ()),
            None if self._members_of is None else self._members_of.get(guardrail_id, ()),
        )

    def default_of(self, workspace_id: str | None) -> GuardrailRow | None:
        """The default guardrail of a workspace, None if unknown."""
        return self._defaults.get(workspace_id)

    @cached_property
    def by_key(self) -> Mapping[str, str]:
        """Guardrail ids by key hash."""
        return guardrail_by_holder(self.keys or ())

    @cached_property
    def by_member(self) -> Mapping[str, str]:
        """Guardrail ids by user id."""
        return guardrail_by_holder(self.members or ())

    @cached_property
    def _keys_of(self) -> Mapping[str | None, tuple[KeyAssignment, ...]] | None:
        return None if self.keys is None else _by_guardrail(self.keys)

    @cached_property
    def _members_of(self) -> Mapping[str | None, tuple[MemberAssignment, ...]] | None:
        return None if self.members is None else _by_guardrail(self.members)

    @cached_property
    def _defaults(self) -> Mapping[str | None, GuardrailRow]:
        defaults: dict[str | None, GuardrailRow] = {}
        for row in (self.guardrails or {}).values():
            if row.is_default:
                defaults.setdefault(row.workspace_id, row)
        return defaults


def guardrail_by_holder(
    assignments: Iterable[KeyAssignment | MemberAssignment],
) -> Mapping[str, str]:
    """The ids of the assigned guardrails by key hash or user id."""
    holders = (
        (
            assignment.key_hash if isinstance(assignment, KeyAssignment) else assignment.user_id,
            assignment.guardrail_id or "",
        )
        for assignment in assignments
    )
    return {holder: guardrail for holder, guardrail in holders if holder is not None}


def _by_guardrail(rows: Sequence[A]) -> Mapping[str | None, tuple[A, ...]]:
    groups: dict[str | None, list[A]] = {}
    for row in rows:
        groups.setdefault(row.guardrail_id, []).append(row)
    return {guardrail: tuple(group) for guardrail, group in groups.items()}


async def read_guardrails(
    reader: FeedReader, workspace: str | None = None, *, ask: bool = True, shown: bool = False
) -> Sequence[GuardrailRow]:
    """The guardrails of one workspace or of all, including the workspace defaults.

    A default before its first edit has ``exists`` False. If a list lacks the default, it is read
    separately, unless ``ask`` is False. ``shown``: for the list screen, which reads again and shows
    the rows as they arrive. Raises GatewayError.
    """
    known = await read_workspaces(reader, every=workspace is None)
    spaces = {identity: known[identity] for identity in known if workspace in (None, identity)}
    dialect = reader.client.connection.dialect
    with_default: set[str | None] = set()

    def rows_of(listed: Mapping[str, Sequence[Guardrail]]) -> Sequence[GuardrailRow]:
        rows = [
            GuardrailRow(guardrail, spaces[identity], dialect=dialect)
            for identity, guardrails in listed.items()
            for guardrail in guardrails
        ]
        with_default.update(row.workspace_id for row in rows if row.is_default)
        return rows

    growing = GrowingList(reader, "guardrails", rows_of, parts=len(spaces))

    async def of_workspace(identity: str) -> Sequence[GuardrailRow]:
        what, space = guardrails_of(identity), spaces[identity]
        try:
            listed = await (
                growing.read(identity, reader.fresh, what) if shown else reader.get(what)
            )
        except NotFoundError:
            return ()  # deleted meanwhile
        rows = rows_of({identity: listed})
        if space.default_guardrail_id is None or identity in with_default:
            return rows
        return [
            await _default_row(reader.client, space, space.default_guardrail_id, ask=ask),
            *rows,
        ]

    unique: dict[str, GuardrailRow] = {}
    for rows in await fetch_each(tuple(spaces), of_workspace):
        for row in rows:
            unique.setdefault(row.identity, row)
    return tuple(unique.values())


async def _default_row(
    client: GatewayClient, space: Workspace, identity: str, *, ask: bool
) -> GuardrailRow:
    guardrail = None
    if ask:
        with suppress(NotFoundError):
            guardrail = await client.guardrails.get(identity)
    return GuardrailRow(
        guardrail or _unedited_default(space, identity),
        space,
        exists=guardrail is not None,
        dialect=client.connection.dialect,
    )


def _unedited_default(space: Workspace, identity: str) -> Guardrail:
    return Guardrail.model_validate(
        {
            **dict.fromkeys(Guardrail.model_fields),
            "id": identity,
            "name": f"Workspace {space.id} Default",
            "workspace_id": space.id,
            "include_byok_in_budgets": False,
        }
    )


async def _bindings(reader: FeedReader, _scope: Scope) -> Bindings:
    # The guardrails take a request per workspace and rarely change, so they may be older.
    parts: Parts[str] = Parts()
    names = reader.reusing(NAMES_LAST)
    rows = await parts.read("guardrails", read_guardrails(names, ask=False))
    keys = await parts.read("assigned keys", reader.get(key_assignments(None)))
    members = await parts.read("assigned members", reader.get(member_assignments(None)))
    return Bindings(
        guardrails=None if rows is None else {row.identity: row for row in rows},
        keys=keys,
        members=members,
        faults=parts.faults,
    )


bindings_feed = FeedSpec(f"{FEEDS}:bindings", _bindings, cadence.WORKSPACES)
"""All guardrails of the account with their assignments."""


guardrails_feed = FeedSpec(
    FEEDS,
    lambda reader, scope: read_guardrails(reader, scope.workspace, shown=True),
    cadence.GUARDRAILS,
    workspace=True,
)
"""The guardrails of a scope: "guardrails" for all workspaces, "guardrails:ID" for one."""


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """An assignment, its guardrail if known, and the person if the holder is a member."""

    assignment: Assignment
    guardrail: GuardrailRow | None = None
    person: OrganizationMember | None = None

    @property
    def identity(self) -> str:
        """The id, or other fields if there is none."""
        assignment = self.assignment
        holder = (
            assignment.key_hash if isinstance(assignment, KeyAssignment) else assignment.user_id
        )
        return assignment.id or f"?{self.kind}|{assignment.guardrail_id}|{holder}"

    @property
    def kind(self) -> str:
        """The kind of the holder: "key" or "member"."""
        return "key" if isinstance(self.assignment, KeyAssignment) else "member"

    @property
    def holder(self) -> str | None:
        """The name of the key or the member."""
        assignment = self.assignment
        if isinstance(assignment, KeyAssignment):
            return assignment.key_name or assignment.key_label or assignment.key_hash
        return shown_person(self.person, assignment.user_id)


async def read_assignments(reader: FeedReader, scope: Scope) -> Sequence[AssignmentRow]:
    """The assignments of one guardrail, of a workspace, or of the account.

    Raises GatewayError.
    """
    known = await _guardrails(reader, scope)
    # Streamed rows cannot wait for the names of the members.
    people = {} if reader.take is None else await read_people(reader)

    def rows_of(listed: Mapping[str, Sequence[Assignment]]) -> Sequence[AssignmentRow]:
        rows: list[AssignmentRow] = []
        for assignment in chain.from_iterable(listed.values()):
            guardrail = known.get(assignment.guardrail_id or "")
            if scope.parent is None and scope.workspace is not None and guardrail is None:
                continue  # of another workspace
            person = (
                people.get(assignment.user_id or "")
                if isinstance(assignment, MemberAssignment)
                else None
            )
            rows.append(AssignmentRow(assignment, guardrail, person))
        return tuple(rows)

    growing: GrowingList[AssignmentRow] = GrowingList(reader, "assignments", rows_of, parts=2)
    parts: dict[str, BaseRead[Any]] = {
        "keys": key_assignments(scope.parent),
        "members": member_assignments(scope.parent),
    }
    keys, members = await fetch_each(
        tuple(parts), lambda part: growing.read(part, reader.fresh, parts[part])
    )
    people = await read_people(reader) if members else people
    work = partial(rows_of, {"keys": keys, "members": members})
    return await run_by_size(work, len(keys) + len(members), LARGE_LIST)


async def _guardrails(reader: FeedReader, scope: Scope) -> Mapping[str, GuardrailRow]:
    if scope.parent is None:
        return {row.identity: row for row in await read_guardrails(reader, scope.workspace)}
    guardrail = await reader.client.guardrails.get(scope.parent)
    return {scope.parent: GuardrailRow(guardrail, dialect=reader.client.connection.dialect)}


assignments_feed = FeedSpec(
    f"{FEEDS}:assignments", read_assignments, cadence.GUARDRAILS, workspace=True, parent=True
)
"""The assignments of the scope's parent, a guardrail, else of all guardrails."""
