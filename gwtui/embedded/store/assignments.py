"""Which guardrail binds which key and which member, at most one each. Extended section 5.

A guardrail of None means every guardrail of the account.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gwtui.embedded.store import guardrails, workspaces
from gwtui.embedded.store.columns import from_micros, to_micros
from gwtui.embedded.store.guardrails import GuardrailRecord
from gwtui.embedded.store.keys import KeyRecord


@dataclass(frozen=True, slots=True)
class KeyAssignmentRecord:
    """A guardrail on a key."""

    id: str
    guardrail_id: str
    key_hash: str
    key_name: str
    key_label: str
    assigned_by: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MemberAssignmentRecord:
    """A guardrail on a member of the organization."""

    id: str
    guardrail_id: str
    user_id: str
    assigned_by: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Assigner:
    """Who assigns, and when."""

    user_id: str | None
    moment: datetime


_KEYS = """
    SELECT a.id, a.guardrail_id, k.hash, k.name, k.label, a.assigned_by, a.created_at
    FROM guardrail_keys AS a JOIN api_keys AS k ON k.id = a.key_id
    WHERE ?1 IS NULL OR a.guardrail_id = ?1
    ORDER BY a.number LIMIT ?2 OFFSET ?3
"""
_MEMBERS = """
    SELECT id, guardrail_id, user_id, assigned_by, created_at FROM guardrail_members
    WHERE ?1 IS NULL OR guardrail_id = ?1
    ORDER BY number LIMIT ?2 OFFSET ?3
"""


def keys_listed(
    db: sqlite3.Connection, guardrail_id: str | None, *, offset: int, limit: int
) -> list[KeyAssignmentRecord]:
    """One page of key assignments, oldest first."""
    rows = db.execute(_KEYS, (guardrail_id, limit, offset))
    return [
        KeyAssignmentRecord(
            id=row["id"],
            guardrail_id=row["guardrail_id"],
            key_hash=row["hash"],
            key_name=row["name"],
            key_label=row["label"],
            assigned_by=row["assigned_by"],
            created_at=from_micros(row["created_at"]),
        )
        for row in rows
    ]


def members_listed(
    db: sqlite3.Connection, guardrail_id: str | None, *, offset: int, limit: int
) -> list[MemberAssignmentRecord]:
    """One page of member assignments, oldest first."""
    rows = db.execute(_MEMBERS, (guardrail_id, limit, offset))
    return [
        MemberAssignmentRecord(
            id=row["id"],
            guardrail_id=row["guardrail_id"],
            user_id=row["user_id"],
            assigned_by=row["assigned_by"],
            created_at=from_micros(row["created_at"]),
        )
        for row in rows
    ]


def count_keys(db: sqlite3.Connection, guardrail_id: str | None) -> int:
    """How many key assignments there are."""
    (total,) = db.execute(
        "SELECT count(*) FROM guardrail_keys WHERE ?1 IS NULL OR guardrail_id = ?1",
        (guardrail_id,),
    ).fetchone()
    return int(total)


def count_members(db: sqlite3.Connection, guardrail_id: str | None) -> int:
    """How many member assignments there are."""
    (total,) = db.execute(
        "SELECT count(*) FROM guardrail_members WHERE ?1 IS NULL OR guardrail_id = ?1",
        (guardrail_id,),
    ).fetchone()
    return int(total)


def assign_keys(
    db: sqlite3.Connection, guardrail_id: str, key_ids: Sequence[int], by: Assigner
) -> None:
    """Bind keys, by row id. What bound them before is replaced; the same guardrail stays as is."""
    db.executemany(
        "DELETE FROM guardrail_keys WHERE key_id = ? AND guardrail_id != ?",
        [(key_id, guardrail_id) for key_id in key_ids],
    )
    db.executemany(
        "INSERT INTO guardrail_keys (id, guardrail_id, key_id, assigned_by, created_at) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key_id) DO NOTHING",
        [
            (str(uuid.uuid4()), guardrail_id, key_id, by.user_id, to_micros(by.moment))
            for key_id in key_ids
        ],
    )


def assign_members(
    db: sqlite3.Connection, guardrail_id: str, user_ids: Sequence[str], by: Assigner
) -> None:
    """Bind members, as ``assign_keys`` does keys."""
    db.executemany(
        "DELETE FROM guardrail_members WHERE user_id = ? AND guardrail_id != ?",
        [(user_id, guardrail_id) for user_id in user_ids],
    )
    db.executemany(
        "INSERT INTO guardrail_members (id, guardrail_id, user_id, assigned_by, created_at) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (user_id) DO NOTHING",
        [
            (str(uuid.uuid4()), guardrail_id, user_id, by.user_id, to_micros(by.moment))
            for user_id in user_ids
        ],
    )


def unassign_keys(db: sqlite3.Connection, guardrail_id: str, key_ids: Sequence[int]) -> int:
    """Free keys of a guardrail; how many of them it bound."""
    return db.execute(
        "DELETE FROM guardrail_keys WHERE guardrail_id = ? "
        "AND key_id IN (SELECT value FROM json_each(?))",
        (guardrail_id, json.dumps(list(key_ids))),
    ).rowcount


def unassign_members(db: sqlite3.Connection, guardrail_id: str, user_ids: Sequence[str]) -> int:
    """Free members of a guardrail; how many of them it bound."""
    return db.execute(
        "DELETE FROM guardrail_members WHERE guardrail_id = ? "
        "AND user_id IN (SELECT value FROM json_each(?))",
        (guardrail_id, json.dumps(list(user_ids))),
    ).rowcount


@dataclass(frozen=True, slots=True)
class Binding:
    """The guardrails that bind a key; None where there is none."""

    of_workspace: GuardrailRecord | None = None
    of_member: GuardrailRecord | None = None
    of_key: GuardrailRecord | None = None

    @property
    def all(self) -> tuple[GuardrailRecord, ...]:
        """Every one of them."""
        found = (self.of_workspace, self.of_member, self.of_key)
        return tuple(guardrail for guardrail in found if guardrail is not None)


@dataclass(frozen=True, slots=True)
class BoundKey:
    """What must be known of a key to say what binds it."""

    id: int
    workspace_id: str | None
    creator_user_id: str | None


def of_key(db: sqlite3.Connection, key: KeyRecord | BoundKey) -> Binding:
    """What binds a key. A management key cannot use models, so nothing binds it."""
    workspace = workspaces.get(db, key.workspace_id) if key.workspace_id else None
    if workspace is None:
        return Binding()
    return Binding(
        of_workspace=guardrails.find(db, workspace.default_guardrail_id),
        of_member=_assigned(
            db, "SELECT guardrail_id FROM guardrail_members WHERE user_id = ?", key.creator_user_id
        ),
        of_key=_assigned(db, "SELECT guardrail_id FROM guardrail_keys WHERE key_id = ?", key.id),
    )


def _assigned(
    db: sqlite3.Connection, query: str, holder: str | int | None
) -> GuardrailRecord | None:
    row = db.execute(query, (holder,)).fetchone()
    return None if row is None else guardrails.find(db, row["guardrail_id"])
