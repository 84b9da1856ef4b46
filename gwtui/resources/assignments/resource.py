"""What guardrails are assigned to: extended contract section 5.

Of one guardrail when opened from it, of the whole account otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.organization import OrganizationMember
from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.resource import Column, DetailRow, ResourceSpec, Scope, Section
from gwtui.crud.schema_gaps import honesty_sections
from gwtui.resources.guardrails.view import display_name
from gwtui.resources.organization.resource import shown_person
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow, fetch_guardrails
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

Assignment = KeyAssignment | MemberAssignment


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """One assignment, the guardrail where it is known, the person where it is a member's."""

    assignment: Assignment
    guardrail: GuardrailRow | None = None
    person: OrganizationMember | None = None

    @property
    def identity(self) -> str:
        """The id; for an assignment that came without one, what else tells it from others."""
        one = self.assignment
        holder = one.key_hash if isinstance(one, KeyAssignment) else one.user_id
        return one.id or f"?{self.kind}|{one.guardrail_id}|{holder}"

    @property
    def kind(self) -> str:
        """What it is assigned to: a key or a member."""
        return "key" if isinstance(self.assignment, KeyAssignment) else "member"

    @property
    def holder(self) -> str | None:
        """The key or the member, by the best name there is."""
        one = self.assignment
        if isinstance(one, KeyAssignment):
            return one.key_name or one.key_label or one.key_hash
        return shown_person(self.person, one.user_id)

    @property
    def guardrail_name(self) -> str | None:
        """The guardrail by name, else by its identifier."""
        if self.guardrail is None:
            return self.assignment.guardrail_id
        return display_name(self.guardrail)


async def fetch_people(client: GatewayClient) -> Mapping[str, OrganizationMember]:
    """The people of the organization by user id; empty where they cannot be read."""
    try:
        people = (await client.organization.members()).items
    except GatewayError:
        return {}
    return {person.id: person for person in people if person.id}


async def fetch_assignments(client: GatewayClient, scope: Scope) -> Sequence[AssignmentRow]:
    """The assignments of a guardrail, or of every guardrail in a workspace or the account.

    Raises GatewayError: a list that lacks keys or members is never given out as whole.
    """
    known = await _guardrails(client, scope)
    keys = (await client.guardrails.key_assignments(scope.parent)).items
    members = (await client.guardrails.member_assignments(scope.parent)).items
    people = await fetch_people(client) if members else {}
    every: tuple[Assignment, ...] = (*keys, *members)
    rows: list[AssignmentRow] = []
    for one in every:
        guardrail = known.get(one.guardrail_id or "")
        if scope.parent is None and scope.workspace is not None and guardrail is None:
            continue  # of another workspace
        person = people.get(one.user_id or "") if isinstance(one, MemberAssignment) else None
        rows.append(AssignmentRow(one, guardrail, person))
    return tuple(rows)


async def _guardrails(client: GatewayClient, scope: Scope) -> Mapping[str, GuardrailRow]:
    if scope.parent is None:
        return {row.identity: row for row in await fetch_guardrails(client, scope.workspace)}
    guardrail: Guardrail = await client.guardrails.get(scope.parent)
    return {scope.parent: GuardrailRow(guardrail, dialect=client.connection.dialect)}


def assignments_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[AssignmentRow]]:
    """The assignments of the guardrail that the scope names as parent, else of all."""
    if scope.parent is not None:
        scope = Scope(parent=scope.parent)
    name = f"{FEEDS}:assignments:{scope.parent or ''}:{scope.workspace or ''}"
    return hub.feed(name, lambda client: fetch_assignments(client, scope), cadence.GUARDRAILS)


COLUMNS: tuple[Column[AssignmentRow], ...] = (
    text_column("holder", "Key or member", lambda row: row.holder, 22, 0, help="what holds it"),
    text_column("kind", "Kind", lambda row: row.kind, 6, 1, help="key or member"),
    text_column(
        "guardrail",
        "Guardrail",
        lambda row: row.guardrail_name,
        22,
        2,
        help="the one guardrail that is assigned to it",
    ),
    moment_column(
        "created", "Assigned", lambda row: row.assignment.created_at, 12, 3, "when it was assigned"
    ),
    text_column(
        "by",
        "Assigned by",
        lambda row: row.assignment.assigned_by,
        16,
        4,
        help="user id of who assigned it",
    ),
    text_column(
        "label",
        "Label",
        lambda row: row.assignment.key_label if isinstance(row.assignment, KeyAssignment) else None,
        18,
        5,
        help="masked form of the key",
    ),
)


def _rows(row: AssignmentRow, now: datetime) -> Sequence[DetailRow]:
    one = row.assignment
    return [
        *(_key_rows(one) if isinstance(one, KeyAssignment) else _member_rows(one, row.person)),
        DetailRow("guardrail", cells.text(row.guardrail_name)),
        DetailRow("guardrail id", cells.text(one.guardrail_id)),
        cells.moment_row("assigned", one.created_at, now),
        DetailRow("assigned by", cells.text(one.assigned_by)),
        DetailRow("id", cells.text(one.id)),
        cells.hint("D takes it away; the workspace's default one still binds"),
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


ASSIGNMENTS: ResourceSpec[AssignmentRow] = ResourceSpec(
    id="assignments",
    title="Assignments",
    singular="assignment",
    identity=lambda row: row.identity,
    name=lambda row: cells.text(row.holder).text,
    columns=COLUMNS,
    sections=(
        Section("Assignment", _rows),
        *honesty_sections(lambda row: row.assignment),
    ),
    feed=assignments_feed,
    raw=lambda row: row.assignment.raw,
    empty="No guardrail is assigned here: press a on a guardrail to assign it to keys.",
    scoped=True,
    default_sort=("holder", False),
    facets={"kind": lambda row, _now: row.kind},
)
