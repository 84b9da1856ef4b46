"""Members of one workspace: extended contract section 2."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ReadBy, ResourceSpec, Section, SortValue
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain.safe_text import safe_line
from gwtui.resources.organization import role_cell
from gwtui.watch.feeds.workspaces import MemberRow, full_name, members_feed

_KEYS_SHOWN = 20


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
        *drift_sections(lambda row: row.member),
    ),
    feed=members_feed,
    raw=lambda row: row.member.raw,
    read_by=lambda row: (
        ReadBy("workspaces.members", (row.member.workspace_id,))
        if row.member.workspace_id
        else None
    ),
    empty="Nobody is a member yet: {members.add} adds people of the organization.",
    default_sort=("name", False),
)
