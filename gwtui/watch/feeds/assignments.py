"""What guardrails are assigned to: extended contract section 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError
from gwtui.contract.guardrails import KeyAssignment, MemberAssignment
from gwtui.contract.organization import OrganizationMember
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.fetching import Growing, beside, together
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow, read_guardrails
from gwtui.watch.feeds.organization import shown_person
from gwtui.watch.feeds.reads import PEOPLE, key_assignments, member_assignments
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.shared import FeedKey, PoolReader, unshared

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


async def _people(reader: PoolReader) -> Mapping[str, OrganizationMember]:
    """The people of the organization by user id; empty where they cannot be read."""
    try:
        people = await reader.get(PEOPLE)
    except GatewayError:
        return {}
    return {person.id: person for person in people if person.id}


async def fetch_people(client: GatewayClient) -> Mapping[str, OrganizationMember]:
    """The people of the organization, for who reads once and is no feed."""
    return await _people(unshared(client))


async def read_assignments(reader: PoolReader, scope: Scope) -> Sequence[AssignmentRow]:
    """The assignments of a guardrail, or of every guardrail in a workspace or the account.

    Raises GatewayError: a list that lacks keys or members is never given out as whole.
    """
    known = await _guardrails(reader, scope)
    # Rows that are handed on as they come cannot wait for who the members are.
    people = {} if reader.take is None else await _people(reader)

    def rows_of(listed: Mapping[str, Sequence[Assignment]]) -> Sequence[AssignmentRow]:
        rows: list[AssignmentRow] = []
        for one in chain.from_iterable(listed.values()):
            guardrail = known.get(one.guardrail_id or "")
            if scope.parent is None and scope.workspace is not None and guardrail is None:
                continue  # of another workspace
            person = people.get(one.user_id or "") if isinstance(one, MemberAssignment) else None
            rows.append(AssignmentRow(one, guardrail, person))
        return tuple(rows)

    growing: Growing[AssignmentRow] = Growing(reader, "assignments", rows_of, parts=2)
    keys, members = await together(
        growing.read("keys", reader.fresh, key_assignments(scope.parent)),
        growing.read("members", reader.fresh, member_assignments(scope.parent)),
    )
    people = await _people(reader) if members else people
    return await beside(
        len(keys) + len(members), partial(rows_of, {"keys": keys, "members": members})
    )


async def _guardrails(reader: PoolReader, scope: Scope) -> Mapping[str, GuardrailRow]:
    if scope.parent is None:
        return {row.identity: row for row in await read_guardrails(reader, scope.workspace)}
    guardrail = await reader.client.guardrails.get(scope.parent)
    return {scope.parent: GuardrailRow(guardrail, dialect=reader.client.connection.dialect)}


def assignments_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[AssignmentRow]]:
    """The assignments of the guardrail that the scope names as parent, else of all."""
    if scope.parent is not None:
        scope = Scope(parent=scope.parent)
    return hub.derive(
        FeedKey(FEEDS, ("assignments", scope.parent or "", scope.workspace or "")),
        lambda reader: read_assignments(reader, scope),
        cadence.GUARDRAILS,
    )
