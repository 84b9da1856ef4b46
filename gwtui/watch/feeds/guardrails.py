"""Guardrails of one workspace or of all, and their assignments.

Contract "Guardrail", extended contract section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from gwtui.client.answers import LARGE_LIST, run_by_size
from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.organization import OrganizationMember
from gwtui.contract.workspaces import Workspace
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.base_reads import (
    PEOPLE,
    BaseRead,
    guardrails_of,
    key_assignments,
    member_assignments,
)
from gwtui.watch.feeds.concurrent_reads import (
    GrowingList,
    Parts,
    fetch_each,
    open_workspaces,
)
from gwtui.watch.feeds.workspaces import shown_person
from gwtui.watch.hub import (
    FeedReader,
    FeedSpec,
    Scope,
    of_parent_or_workspace,
    of_workspace,
)

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

A = TypeVar("A", KeyAssignment, MemberAssignment)

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
        """The assignments of a guardrail."""
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
        return held_by(self.keys or ())

    @cached_property
    def by_member(self) -> Mapping[str, str]:
        """Guardrail ids by user id."""
        return held_by(self.members or ())

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
            if row.is_default and row.workspace is not None:
                defaults.setdefault(row.workspace.id, row)
        return defaults


def held_by(assignments: Iterable[KeyAssignment | MemberAssignment]) -> Mapping[str, str]:
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
    known = await open_workspaces(reader, every=workspace is None)
    builder = _Rows(
        {one: space for one, space in known.items() if workspace in (None, one)},
        reader.client.connection.dialect,
    )
    growing = (
        GrowingList(reader, "guardrails", builder.of, parts=len(builder.spaces)) if shown else None
    )

    async def of_workspace(identity: str) -> Sequence[GuardrailRow]:
        what = guardrails_of(identity)
        try:
            if growing is not None:
                found = await growing.read(identity, reader.fresh, what)
            else:
                found = await reader.get(what)
        except NotFoundError:
            return ()  # deleted meanwhile
        rows = builder.of({identity: found})
        default = builder.lacking(identity)
        if default is None:
            return rows
        changed = await _default(reader.client, default) if ask else None
        return [builder.default(identity, default, changed), *rows]

    rows: dict[str, GuardrailRow] = {}
    for found in await fetch_each(tuple(builder.spaces), of_workspace):
        for row in found:
            rows.setdefault(row.identity, row)
    return tuple(rows.values())


class _Rows:
    """Creates the rows of some workspaces, and notes which lists contain the default guardrail."""

    def __init__(self, spaces: Mapping[str, Workspace], dialect: Dialect) -> None:
        self.spaces = spaces
        self._dialect = dialect
        self._with_default: set[str] = set()

    def of(self, listed: Mapping[str, Sequence[Guardrail]]) -> Sequence[GuardrailRow]:
        """The guardrails of each workspace, by its id; each once."""
        rows: dict[str, GuardrailRow] = {}
        for identity, guardrails in listed.items():
            for guardrail in guardrails:
                row = GuardrailRow(guardrail, self.spaces[identity], dialect=self._dialect)
                rows.setdefault(row.identity, row)
                if row.is_default:
                    self._with_default.add(identity)
        return tuple(rows.values())

    def lacking(self, identity: str) -> str | None:
        """The id of a workspace's default guardrail if its list lacks it, else None."""
        return (
            None if identity in self._with_default else self.spaces[identity].default_guardrail_id
        )

    def default(self, identity: str, default: str, changed: Guardrail | None) -> GuardrailRow:
        """The row of a default guardrail; ``changed`` is None before its first edit."""
        space = self.spaces[identity]
        guardrail = changed or _unmade(space, default)
        return GuardrailRow(guardrail, space, exists=changed is not None, dialect=self._dialect)


async def _default(client: GatewayClient, identity: str) -> Guardrail | None:
    try:
        return await client.guardrails.get(identity)
    except NotFoundError:
        return None


def _unmade(space: Workspace, identity: str) -> Guardrail:
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
    names = reader.relaxed(NAMES_LAST)
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
    of_workspace,
)
"""The guardrails of a scope: "guardrails" for all workspaces, "guardrails:ID" for one."""


Assignment = KeyAssignment | MemberAssignment


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """An assignment, its guardrail if known, and the person if the holder is a member."""

    assignment: Assignment
    guardrail: GuardrailRow | None = None
    person: OrganizationMember | None = None

    @property
    def identity(self) -> str:
        """The id, or other fields if there is none."""
        one = self.assignment
        holder = one.key_hash if isinstance(one, KeyAssignment) else one.user_id
        return one.id or f"?{self.kind}|{one.guardrail_id}|{holder}"

    @property
    def kind(self) -> str:
        """The kind of the holder: "key" or "member"."""
        return "key" if isinstance(self.assignment, KeyAssignment) else "member"

    @property
    def holder(self) -> str | None:
        """The name of the key or the member."""
        one = self.assignment
        if isinstance(one, KeyAssignment):
            return one.key_name or one.key_label or one.key_hash
        return shown_person(self.person, one.user_id)


async def read_people(reader: FeedReader) -> Mapping[str, OrganizationMember]:
    """The people of the organization by user id; empty if they cannot be read."""
    try:
        people = await reader.get(PEOPLE)
    except GatewayError:
        return {}
    return {person.id: person for person in people if person.id}


async def read_assignments(reader: FeedReader, scope: Scope) -> Sequence[AssignmentRow]:
    """The assignments of one guardrail, of a workspace, or of the account.

    Raises GatewayError.
    """
    known = await _guardrails(reader, scope)
    # Streamed rows cannot wait for the names of the members.
    people = {} if reader.take is None else await read_people(reader)

    def rows_of(listed: Mapping[str, Sequence[Assignment]]) -> Sequence[AssignmentRow]:
        rows: list[AssignmentRow] = []
        for one in chain.from_iterable(listed.values()):
            guardrail = known.get(one.guardrail_id or "")
            if scope.parent is None and scope.workspace is not None and guardrail is None:
                continue  # of another workspace
            person = people.get(one.user_id or "") if isinstance(one, MemberAssignment) else None
            rows.append(AssignmentRow(one, guardrail, person))
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
    f"{FEEDS}:assignments", read_assignments, cadence.GUARDRAILS, of_parent_or_workspace
)
"""The assignments of the scope's parent, a guardrail, else of all guardrails."""
