"""The organization: its people, its settings, and who is in which workspace.

Extended contract sections 2 and 4. The default workspace has no list of its own: everybody in the
organization is a member.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from gwtui.embedded.store import account
from gwtui.embedded.store.database import DatabaseConnection
from gwtui.embedded.store.table import Table, from_micros, to_micros
from gwtui.embedded.store.workspaces import WorkspaceRecord
from gwtui.lazy_dataclass import dataclass

_FILTERED_CATALOG = "is_filtered_model_catalog_enabled"


@dataclass(frozen=True, slots=True)
class Person:
    """A member of the organization."""

    id: str
    email: str
    first_name: str | None
    last_name: str | None
    role: str
    """``org:admin`` or ``org:member``."""


_PEOPLE = Table("organization_members", Person)


def add(db: sqlite3.Connection, person: Person) -> None:
    """Take somebody into the organization; whoever is in it already stays as they are."""
    _PEOPLE.insert(db, person, conflict="ON CONFLICT (id) DO NOTHING")


def listed(db: DatabaseConnection, *, offset: int, limit: int) -> list[Person]:
    """One page of the members, in the order they joined."""
    return _PEOPLE.page(db, offset=offset, limit=limit)


def count(db: DatabaseConnection) -> int:
    """How many members there are."""
    return _PEOPLE.length(db)


def not_members(db: sqlite3.Connection, user_ids: Iterable[str]) -> list[str]:
    """Those of the ids that are not members, each once, in the order given."""
    given = list(dict.fromkeys(user_ids))
    rows = db.execute(
        "SELECT id FROM organization_members WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(given),),
    )
    known = {row["id"] for row in rows}
    return [user_id for user_id in given if user_id not in known]


def filtered_catalog(db: sqlite3.Connection) -> bool:
    """Whether members see only the models that their guardrails allow; false at first."""
    return account.setting(db, _FILTERED_CATALOG) == "true"


def filter_catalog(db: sqlite3.Connection, *, enabled: bool) -> None:
    """Change what ``filtered_catalog`` says."""
    account.change_setting(db, _FILTERED_CATALOG, "true" if enabled else "false")


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


def members_of(
    db: sqlite3.Connection, workspace: WorkspaceRecord, *, offset: int, limit: int
) -> list[Member]:
    """One page of the members, in the order they joined."""
    query, order = (_IMPLICIT, "p") if workspace.is_default else (_EXPLICIT, "m")
    rows = db.execute(
        f"{query} ORDER BY {order}.number LIMIT :limit OFFSET :offset",
        {"workspace": workspace.id, "limit": limit, "offset": offset},
    )
    return [_member(row, workspace) for row in rows]


def count_members(db: sqlite3.Connection, workspace: WorkspaceRecord) -> int:
    """How many members there are."""
    query = _IMPLICIT if workspace.is_default else _EXPLICIT
    (total,) = db.execute(
        f"SELECT count(*) FROM ({query})",  # noqa: S608 - one of two constants
        {"workspace": workspace.id},
    ).fetchone()
    return int(total)


def memberships(
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


def join(
    db: sqlite3.Connection, workspace_id: str, members: Mapping[str, str], since: datetime
) -> None:
    """Make people members of a workspace, given as user id by id of the membership.

    Who is a member already stays one.
    """
    db.executemany(
        "INSERT INTO workspace_members (id, workspace_id, user_id, created_at) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (workspace_id, user_id) DO NOTHING",
        [
            (member_id, workspace_id, user_id, to_micros(since))
            for member_id, user_id in members.items()
        ],
    )


def leave(db: sqlite3.Connection, workspace_id: str, user_ids: Sequence[str]) -> int:
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
