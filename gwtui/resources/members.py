"""Members of one workspace. See section 2 of the extended contract.

One request adds or removes up to ``MAX_MEMBERS`` people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.organization import (
    MAX_MEMBERS,
    ChangeMembersRequest,
    MembersAdded,
    MembersRemoved,
    OrganizationMember,
    WorkspaceMember,
)
from gwtui.contract.workspaces import Workspace
from gwtui.crud import cells
from gwtui.crud.cells import moment_column, text_column
from gwtui.crud.plan import Change, Plan, Undo
from gwtui.crud.plan_text import MOST_NAMED, Names, count, identity_of, named, quoted, several
from gwtui.crud.resource import Cell, Column, DetailRow, ReadBy, ResourceSpec, Section, SortValue
from gwtui.crud.schema_drift import drift_sections
from gwtui.crud.undo import CannotUndoError
from gwtui.domain.safe_text import safe_line
from gwtui.resources.attachments import Attachment
from gwtui.resources.organization import role_cell
from gwtui.resources.uses import items_or_none, people_names
from gwtui.resources.workspaces import WRITES as WORKSPACES
from gwtui.watch.feeds.workspaces import MemberRow, members_feed


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
        lambda row: None if row.person is None else row.person.full_name,
        18,
        help="first and last name",
        missing=lambda row: Cell(row.called, "muted"),
        grow=True,
    ),
    Column(
        "keys",
        "Active keys",
        _active_cell,
        _active,
        11,
        right=True,
        help="keys that are neither disabled nor expired; they prevent removal",
        kind="number",
    ),
    Column(
        "role",
        "Role",
        lambda row, _now: role_cell(row.member.role),
        lambda row, _now: row.member.role,
        7,
        help="role in the workspace; it follows the one in the organization",
    ),
    text_column(
        "mail",
        "Email",
        lambda row: None if row.person is None else row.person.email,
        20,
        help="email address",
    ),
    moment_column(
        "joined", "Joined", lambda row: row.member.created_at, 13, help="when the person joined"
    ),
    text_column("user", "User id", lambda row: row.member.user_id, 29, help="user id"),
)


def _person_rows(row: MemberRow, _now: datetime) -> Sequence[DetailRow]:
    person = row.person
    return [
        DetailRow("name", cells.text(person and person.full_name)),
        DetailRow("email", cells.text(None if person is None else person.email)),
        DetailRow("user id", cells.text(row.member.user_id)),
        DetailRow(
            "organization role",
            role_cell(None if person is None else person.role),
            "" if person is not None else "the organization does not list this person",
        ),
        *(DetailRow("unreadable", Cell(safe_line(fault, 200), "warn")) for fault in row.faults),
    ]


def _key_rows(row: MemberRow, now: datetime) -> Sequence[DetailRow]:
    if row.keys is None:
        return [DetailRow("", cells.NOTHING)]
    if not row.keys:
        return [DetailRow("", Cell("none in this workspace", "muted"))]
    active = [cells.text(key.name or key.label).text for key in row.active_keys(now)]
    idle = len(row.keys) - len(active)
    note = "this member cannot be removed while a key is active" if active else ""
    return [
        DetailRow("active", Cell(several(active, MOST_NAMED) or "none"), note),
        DetailRow("others", Cell(f"{idle} disabled or expired" if idle else "none", "muted")),
    ]


MEMBERS: ResourceSpec[MemberRow] = ResourceSpec(
    id="members",
    title="Members",
    singular="member",
    identity=lambda row: row.identity,
    name=lambda row: row.called,
    columns=COLUMNS,
    sections=(
        Section("Person", _person_rows),
        Section(
            "Membership",
            lambda row, now: [
                DetailRow("role", role_cell(row.member.role)),
                cells.moment_row("joined", row.member.created_at, now),
                DetailRow("membership", cells.text(row.member.id)),
            ],
        ),
        Section("Keys here", _key_rows),
        *drift_sections(lambda row: row.member),
    ),
    feed=members_feed,
    raw=lambda row: row.member.raw,
    read_by=lambda row: (
        ReadBy("workspaces.members", (row.member.workspace_id,))
        if row.member.workspace_id
        else None
    ),
    empty="Nobody is a member yet: {members.add} adds organization members.",
    default_sort=("name", False),
)


async def _membership(_client: GatewayClient, _parents: object) -> Callable[[Any], str]:
    return lambda workspace: "member" if workspace else "no member"


MEMBERSHIP = Attachment(
    noun="member",
    resource="members",
    attach_action="members.add",
    detach_action="members.remove",
    request=ChangeMembersRequest,
    field="user_ids",
    rows=lambda client, workspace: client.workspaces.members(workspace),
    across_parents=False,
    holder=lambda row: row.user_id,
    parent=lambda row: row.workspace_id,
    names=people_names,
    wording=_membership,
    attach=lambda client, workspace, body: client.workspaces.add_members(workspace, body),
    detach=lambda client, workspace, body: client.workspaces.remove_members(workspace, body),
)


def _person(member: OrganizationMember) -> str:
    return quoted(member.full_name or member.email, member.id)


def roles(members: Iterable[WorkspaceMember]) -> dict[str, str | None]:
    """Return the roles of members in their workspace, by user id."""
    return {member.user_id: member.role for member in members if member.user_id}


# Adding -----------------------------------------------------------------------------------------


def plan_add(
    workspace: Workspace,
    people: Sequence[OrganizationMember],
    present: Mapping[str, str | None] = MappingProxyType({}),
) -> Plan[MembersAdded]:
    """Plan one POST .../members/add for all of ``people``.

    ``people`` is not empty and each has an id; ``present`` are the roles of present members.
    """
    identity = identity_of(workspace.id, "workspace")
    users = [identity_of(person.id, "member") for person in people]
    again = [person for person in people if person.id in present]
    new = [person for person in people if person.id not in present]
    effects = ["New members get the role that they have in the organization."] if new else []
    effects += [
        f"{_person(person)} is already in this workspace. "
        "Their role here will be reset to their organization role."
        for person in again
    ]
    title = f"Add {count(len(new), 'member')} to" if new else f"Reset {_their_roles(len(again))} in"
    return MEMBERSHIP.plan(
        identity,
        f"{title} workspace {WORKSPACES.name(workspace)}",
        users,
        [
            *(Change("Add", None, _person(person)) for person in new),
            *(_role_change(person, present[person.id or ""]) for person in again),
        ],
        effects=tuple(effects),
        obstacles=_too_many(users, "added"),
        before={user: identity if user in present else None for user in users},
        undo=_remove_again(workspace, new) if new else None,
    )


def _their_roles(members: int) -> str:
    return "the role of 1 member" if members == 1 else f"the roles of {members} members"


def _role_change(person: OrganizationMember, role: str | None) -> Change:
    before, after = role_cell(role).text, role_cell(person.role).text
    return Change(f"Role of {_person(person)}", before, after)


def _remove_again(workspace: Workspace, people: Sequence[OrganizationMember]) -> Undo[MembersAdded]:
    identity = identity_of(workspace.id, "workspace")
    names = {person.id or "": person.full_name or person.email or "" for person in people}

    async def way(client: GatewayClient, now: datetime) -> Plan[Any]:
        members = (await client.workspaces.members(identity)).items
        left = [member for member in members if member.user_id in names]
        if not left:
            raise CannotUndoError("They are no longer members of the workspace.")
        keys = await items_or_none(client.keys.list(workspace_id=identity))
        return plan_remove(workspace, left, keys, names, now)

    return lambda _answer: way


# Removing ---------------------------------------------------------------------------------------


def plan_remove(
    workspace: Workspace,
    members: Sequence[WorkspaceMember],
    keys: Iterable[ApiKey] | None,
    people: Names,
    now: datetime,
) -> Plan[MembersRemoved]:
    """Plan one POST .../members/remove for the members without an active key in the workspace.

    ``keys`` are those of the workspace, None if they could not be read; ``people`` has the names of
    users. Members with active keys are skipped and named. It is an obstacle if no member remains.
    """
    identity = identity_of(workspace.id, "workspace")
    held = _active_keys(keys or (), now)
    users = [identity_of(member.user_id, "member") for member in members]
    going = [user for user in users if user not in held]
    staying = [
        f"{named(user, people)} {'will not be removed' if going else 'cannot be removed'}: "
        f"{_owns(held[user])}."
        for user in users
        if user in held
    ]
    who = several([named(user, people) for user in going])
    effects = [f"{who} will lose access to this workspace."]
    if keys is None:
        effects.append(
            "The keys of the workspace could not be read. The gateway will refuse the removal of "
            "anyone who has an active key."
        )
    return MEMBERSHIP.plan(
        identity,
        f"Remove {count(len(going or users), 'member')} "
        f"from workspace {WORKSPACES.name(workspace)}",
        going,
        [Change("Remove", None, named(user, people)) for user in going],
        detach=True,
        effects=(*staying, *effects) if going else (),
        obstacles=_too_many(going, "removed") if going else staying,
        before=dict.fromkeys(going, identity),
        undo=_add_again(workspace, going) if going else None,
    )


def _add_again(workspace: Workspace, users: Sequence[str]) -> Undo[MembersRemoved]:
    identity = identity_of(workspace.id, "workspace")

    async def way(client: GatewayClient, _now: datetime) -> Plan[Any]:
        people = (await client.organization.members()).items
        members = (await client.workspaces.members(identity)).items
        present = roles(members)
        removed = [person for person in people if person.id in users and person.id not in present]
        if not removed:
            raise CannotUndoError("They are members again, or no longer in the organization.")
        return plan_add(workspace, removed)

    return lambda _answer: way


def _active_keys(keys: Iterable[ApiKey], now: datetime) -> dict[str, list[str]]:
    held: dict[str, list[str]] = {}
    for key in keys:
        if key.creator_user_id and is_active(key, now):
            held.setdefault(key.creator_user_id, []).append(quoted(key.name, key.label, key.hash))
    return held


def _owns(keys: list[str]) -> str:
    noun, verb, them = ("key", "is", "it") if len(keys) == 1 else ("keys", "are", "them")
    return (
        f"their {noun} {several(keys, 3)} in this workspace {verb} still active. "
        f"Move, disable or delete {them} first"
    )


def _too_many(users: list[str], done: str) -> tuple[str, ...]:
    if len(users) <= MAX_MEMBERS:
        return ()
    return (
        f"Too many members: {len(users)} selected, "
        f"but at most {MAX_MEMBERS} can be {done} at a time.",
    )
