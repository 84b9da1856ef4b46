"""Members of one workspace: extended contract section 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.members import OrganizationMember, WorkspaceMember
from gwtui.domain.safe_text import safe_line
from gwtui.ui.resources import cells
from gwtui.ui.resources.columns import moment_column, text_column
from gwtui.ui.resources.gaps import honesty_sections
from gwtui.ui.resources.people import full_name, role_cell, shown_person
from gwtui.ui.resources.spec import (
    Cell,
    Column,
    DetailRow,
    ResourceSpec,
    Scope,
    Section,
    SortValue,
)
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.fetching import Parts
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

T = TypeVar("T")

_KEYS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A membership, the person it is of, and the keys that this person made in the workspace.

    ``person`` is None when the organization does not say who it is, ``keys`` when the workspace's
    keys could not be read; ``faults`` says why.
    """

    member: WorkspaceMember
    person: OrganizationMember | None = None
    keys: tuple[ApiKey, ...] | None = None
    faults: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The user id; for a membership that came without one, its own id."""
        return self.member.user_id or f"?{self.member.id}"

    @property
    def called(self) -> str:
        """The person in a sentence."""
        return shown_person(self.person, self.member.user_id)

    def active_keys(self, now: datetime) -> tuple[ApiKey, ...]:
        """Keys of this person that stand in the way of a removal, as far as they are known."""
        return tuple(key for key in self.keys or () if is_active(key, now))


async def fetch_members(client: GatewayClient, workspace_id: str) -> Sequence[MemberRow]:
    """The members of a workspace, with what the organization says of them. Raises GatewayError.

    Who they are and what keys they have is joined where it can be read: a list without names is
    still a list of members.
    """
    members = (await client.workspaces.members(workspace_id)).items
    parts = Parts()
    people: tuple[OrganizationMember, ...] | None = await parts.read(
        "organization", client.organization.members
    )
    keys: tuple[ApiKey, ...] | None = await parts.read(
        "keys", lambda: client.keys.list(workspace_id=workspace_id)
    )
    by_id = {person.id: person for person in people or ()}
    return tuple(
        MemberRow(
            member,
            by_id.get(member.user_id),
            None if keys is None else keys_of(keys, member.user_id),
            tuple(parts.faults),
        )
        for member in members
    )


def keys_of(keys: Sequence[ApiKey], user_id: str | None) -> tuple[ApiKey, ...]:
    """The keys that a person made."""
    return tuple(key for key in keys if user_id is not None and key.creator_user_id == user_id)


def members_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[MemberRow]]:
    """The members of the workspace that the scope names as parent. Raises ValueError without."""
    workspace_id = scope.parent
    if workspace_id is None:
        raise ValueError("members are listed for one workspace: open them from the workspaces")
    return hub.feed(
        f"members:{workspace_id}",
        lambda client: fetch_members(client, workspace_id),
        cadence.WORKSPACES,
    )


def _active(row: MemberRow, now: datetime) -> SortValue:
    return None if row.keys is None else len(row.active_keys(now))


def _active_cell(row: MemberRow, now: datetime) -> Cell:
    if row.keys is None:
        return cells.NOTHING
    active = len(row.active_keys(now))
    return Cell(str(active), "plain" if active else "muted")


COLUMNS: tuple[Column[MemberRow], ...] = (
    text_column(
        "name",
        "Name",
        lambda row: full_name(row.person),
        18,
        0,
        help="first and last name",
        missing=lambda row: Cell(row.called, "muted"),
    ),
    text_column(
        "mail",
        "Mail",
        lambda row: None if row.person is None else row.person.email,
        20,
        3,
        help="mail address",
    ),
    Column(
        "role",
        "Role",
        lambda row, _now: role_cell(row.member.role),
        lambda row, _now: row.member.role,
        7,
        2,
        help="role in the workspace; it follows the one in the organization",
    ),
    Column(
        "keys",
        "Active keys",
        _active_cell,
        _active,
        11,
        1,
        right=True,
        help="keys of this person in the workspace; while one is active, no removal",
        kind="number",
    ),
    moment_column(
        "joined", "Joined", lambda row: row.member.created_at, 13, 4, help="when the person joined"
    ),
    text_column("user", "User id", lambda row: row.member.user_id, 29, 5, help="user id"),
)


def _person_rows(row: MemberRow, _now: datetime) -> Sequence[DetailRow]:
    person = row.person
    return [
        DetailRow("name", cells.text(full_name(person))),
        DetailRow("mail", cells.text(None if person is None else person.email)),
        DetailRow("user id", cells.text(row.member.user_id)),
        DetailRow(
            "organization",
            role_cell(None if person is None else person.role),
            "role there" if person is not None else "the organization does not list this person",
        ),
        *(DetailRow("unreadable", Cell(safe_line(fault, 200), "warn")) for fault in row.faults),
    ]


def _membership_rows(row: MemberRow, now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("role", role_cell(row.member.role)),
        cells.moment_row("joined", row.member.created_at, now),
        DetailRow("membership", cells.text(row.member.id)),
    ]


def _key_rows(row: MemberRow, now: datetime) -> Sequence[DetailRow]:
    if row.keys is None:
        return [DetailRow("", cells.NOTHING)]
    if not row.keys:
        return [DetailRow("", Cell("none in this workspace", "muted"))]
    active = row.active_keys(now)
    rows = [
        DetailRow(
            "" if number else "active",
            cells.text(key.name or key.label),
            cells.text(key.label).text if key.name else "",
        )
        for number, key in enumerate(active[:_KEYS_SHOWN])
    ]
    if len(active) > _KEYS_SHOWN:
        rows.append(DetailRow("", Cell(f"and {len(active) - _KEYS_SHOWN} more", "muted")))
    idle = len(row.keys) - len(active)
    if idle:
        rows.append(DetailRow("others", Cell(f"{idle} disabled or expired", "muted")))
    if active:
        rows.append(DetailRow("", Cell("while one is active, no removal", "warn")))
    return rows


MEMBERS: ResourceSpec[MemberRow] = ResourceSpec(
    id="members",
    title="Members",
    singular="member",
    identity=lambda row: row.identity,
    name=lambda row: row.called,
    columns=COLUMNS,
    sections=(
        Section("Person", _person_rows),
        Section("Membership", _membership_rows),
        Section("Keys here", _key_rows),
        *honesty_sections(lambda row: row.member),
    ),
    feed=members_feed,
    raw=lambda row: row.member.raw,
    empty="Nobody is a member yet: n adds people of the organization.",
    default_sort=("name", False),
)
