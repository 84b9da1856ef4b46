"""Members of workspaces. Extended contract section 2.

The default workspace has no list of its own: everybody in the organization is a member.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gwtui.embedded.store.columns import from_micros, to_micros
from gwtui.embedded.store.workspaces import WorkspaceRecord

_ROLE = "CASE p.role WHEN 'org:admin' THEN 'admin' ELSE 'member' END AS role"
_EXPLICIT = (
    f"SELECT m.id, m.user_id, {_ROLE}, m.created_at FROM workspace_members m "  # noqa: S608 - no value in it
    "JOIN organization_members p ON p.id = m.user_id WHERE m.workspace_id = :workspace "
)
_IMPLICIT = (
    f"SELECT NULL AS id, p.id AS user_id, {_ROLE}, NULL AS created_at "  # noqa: S608 - no value in it
    "FROM organization_members p WHERE TRUE "
)


@dataclass(frozen=True, slots=True)
class Member:
    """A user's place in a workspace; the role follows the one in the organization."""

    id: str
    workspace_id: str
    user_id: str
    role: str
    """``admin`` or ``member``."""
    created_at: datetime


def listed(
    db: sqlite3.Connection, workspace: WorkspaceRecord, *, offset: int, limit: int
) -> list[Member]:
    """One page of the members, in the order they joined."""
    query, order = (_IMPLICIT, "p") if workspace.is_default else (_EXPLICIT, "m")
    rows = db.execute(
        f"{query} ORDER BY {order}.number LIMIT :limit OFFSET :offset",
        {"workspace": workspace.id, "limit": limit, "offset": offset},
    )
    return [_member(row, workspace) for row in rows]


def count(db: sqlite3.Connection, workspace: WorkspaceRecord) -> int:
    """How many members there are."""
    query = _IMPLICIT if workspace.is_default else _EXPLICIT
    (total,) = db.execute(
        f"SELECT count(*) FROM ({query})",  # noqa: S608 - one of two constants
        {"workspace": workspace.id},
    ).fetchone()
    return int(total)


def some(
    db: sqlite3.Connection, workspace: WorkspaceRecord, user_ids: Iterable[str]
) -> list[Member]:
    """The memberships that these users have, in the order given."""
    given = list(dict.fromkeys(user_ids))
    query, column = (_IMPLICIT, "p.id") if workspace.is_default else (_EXPLICIT, "m.user_id")
    rows = db.execute(
        f"{query} AND {column} IN (SELECT value FROM json_each(:users))",  # noqa: S608 - one of two constants
        {"workspace": workspace.id, "users": json.dumps(given)},
    )
    found = {row["user_id"]: _member(row, workspace) for row in rows}
    return [found[user_id] for user_id in given if user_id in found]


def add(db: sqlite3.Connection, workspace_id: str, user_ids: Sequence[str], now: datetime) -> None:
    """Make organization members members of a workspace; who is one already stays one."""
    db.executemany(
        "INSERT INTO workspace_members (id, workspace_id, user_id, created_at) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (workspace_id, user_id) DO NOTHING",
        [(str(uuid.uuid4()), workspace_id, user_id, to_micros(now)) for user_id in user_ids],
    )


def found(
    db: sqlite3.Connection, member_id: str, workspace_id: str, user_id: str, since: datetime
) -> None:
    """Store a membership of the simulated world under the id that it has there."""
    db.execute(
        "INSERT INTO workspace_members (id, workspace_id, user_id, created_at) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (workspace_id, user_id) DO NOTHING",
        (member_id, workspace_id, user_id, to_micros(since)),
    )


def remove(db: sqlite3.Connection, workspace_id: str, user_ids: Sequence[str]) -> int:
    """Take members out of a workspace; how many there were among these users."""
    cursor = db.execute(
        "DELETE FROM workspace_members WHERE workspace_id = ? "
        "AND user_id IN (SELECT value FROM json_each(?))",
        (workspace_id, json.dumps(list(user_ids))),
    )
    return cursor.rowcount


def _member(row: sqlite3.Row, workspace: WorkspaceRecord) -> Member:
    """An implicit membership is as old as the workspace and keeps one id."""
    member_id = row["id"] or str(uuid.uuid5(uuid.UUID(workspace.id), row["user_id"]))
    joined = row["created_at"]
    return Member(
        id=member_id,
        workspace_id=workspace.id,
        user_id=row["user_id"],
        role=row["role"],
        created_at=workspace.created_at if joined is None else from_micros(joined),
    )
