"""BYOK provider credentials. Contract "BYOK provider credential", extended section 6.

What describes a credential and its sealed key are in two tables: deleting one keeps the former,
marked as deleted, and wipes the latter.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from gwtui.embedded.store.columns import (
    from_json_text,
    from_micros,
    to_json_text,
    to_micros,
)

Names = tuple[str, ...] | None
"""A list of names; None is no restriction, an empty one lets nobody through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a credential is used: all that people may change about it. Fields as on the wire."""

    name: str | None = None
    disabled: bool = False
    is_fallback: bool = False
    is_byok_only: bool = False
    is_required: bool = False
    declared_region: str | None = None
    declared_zdr: bool | None = None
    allowed_models: Names = None
    allowed_user_ids: Names = None
    allowed_api_key_hashes: Names = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCredential:
    """What a credential is born with."""

    id: str
    workspace_id: str
    provider: str
    label: str
    terms: Terms
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialRecord(NewCredential):
    """A stored credential, without its key."""

    number: int
    sort_order: int
    """Place in the order of trial inside the provider: fallbacks last, else the oldest first."""


LISTS = frozenset({"allowed_models", "allowed_user_ids", "allowed_api_key_hashes"})
"""Fields of the terms that are lists."""
_FLAGS = frozenset({"disabled", "is_fallback", "is_byok_only", "is_required", "declared_zdr"})
_FIELDS = tuple(field.name for field in fields(Terms))

_IN_ORDER = """
    SELECT *, row_number() OVER (
        PARTITION BY workspace_id, provider ORDER BY is_fallback, number
    ) - 1 AS sort_order
    FROM byok_credentials WHERE deleted_at IS NULL
"""


def material_row(credential_id: str) -> str:
    """What the sealed key of a credential is bound to."""
    return f"byok_material:{credential_id}"


def add(db: sqlite3.Connection, credential: NewCredential, sealed: bytes | None) -> None:
    """Store a credential; ``sealed`` is None for one of the simulated world, which has no key."""
    values = {
        "id": credential.id,
        "workspace_id": credential.workspace_id,
        "provider": credential.provider,
        "label": credential.label,
        "created_at": to_micros(credential.created_at),
        **_columns(credential.terms),
    }
    columns = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    cursor = db.execute(f"INSERT INTO byok_credentials ({columns}) VALUES ({marks})", values)  # noqa: S608 - names stand above
    if sealed is not None:
        db.execute("INSERT INTO byok_material VALUES (?, ?)", (cursor.lastrowid, sealed))


def listed(
    db: sqlite3.Connection, workspace_id: str, provider: str | None, *, offset: int, limit: int
) -> list[CredentialRecord]:
    """One page of a workspace's credentials, by provider and then in the order of trial."""
    rows = db.execute(
        f"SELECT * FROM ({_IN_ORDER} AND workspace_id = ?1 AND (?2 IS NULL OR provider = ?2)) "  # noqa: S608 - a constant
        "ORDER BY provider, sort_order LIMIT ?3 OFFSET ?4",
        (workspace_id, provider, limit, offset),
    )
    return [_record(row) for row in rows]


def count(db: sqlite3.Connection, workspace_id: str, provider: str | None) -> int:
    """How many credentials a workspace has, of one provider or of all."""
    (total,) = db.execute(
        "SELECT count(*) FROM byok_credentials WHERE deleted_at IS NULL "
        "AND workspace_id = ?1 AND (?2 IS NULL OR provider = ?2)",
        (workspace_id, provider),
    ).fetchone()
    return int(total)


def find(db: sqlite3.Connection, credential_id: str) -> CredentialRecord | None:
    """The credential of an id, None when there is none or it was deleted."""
    row = db.execute(f"SELECT * FROM ({_IN_ORDER}) WHERE id = ?", (credential_id,)).fetchone()  # noqa: S608 - a constant
    return None if row is None else _record(row)


def sealed_key(db: sqlite3.Connection, credential: CredentialRecord) -> bytes | None:
    """The sealed key, None where there is none."""
    row = db.execute(
        "SELECT sealed FROM byok_material WHERE credential = ?", (credential.number,)
    ).fetchone()
    return None if row is None else bytes(row["sealed"])


def change(db: sqlite3.Connection, credential: CredentialRecord, terms: Terms) -> None:
    """Give a credential other terms."""
    assignments = ", ".join(f"{name} = :{name}" for name in _FIELDS)
    db.execute(
        f"UPDATE byok_credentials SET {assignments} WHERE number = :number",  # noqa: S608 - names stand above
        {**_columns(terms), "number": credential.number},
    )


def rotate(db: sqlite3.Connection, credential: CredentialRecord, label: str, sealed: bytes) -> None:
    """Overwrite the key and its label."""
    db.execute("DELETE FROM byok_material WHERE credential = ?", (credential.number,))
    db.execute("INSERT INTO byok_material VALUES (?, ?)", (credential.number, sealed))
    db.execute("UPDATE byok_credentials SET label = ? WHERE number = ?", (label, credential.number))


def remove(db: sqlite3.Connection, credential: CredentialRecord, at: datetime) -> None:
    """Mark a credential as deleted; its key is wiped, and the label that shows a part of it."""
    db.execute("DELETE FROM byok_material WHERE credential = ?", (credential.number,))
    db.execute(
        "UPDATE byok_credentials SET deleted_at = ?, label = '' WHERE number = ?",
        (to_micros(at), credential.number),
    )


def _columns(terms: Terms) -> dict[str, Any]:
    values = {name: getattr(terms, name) for name in _FIELDS}
    return {name: to_json_text(value) if name in LISTS else value for name, value in values.items()}


def _record(row: sqlite3.Row) -> CredentialRecord:
    return CredentialRecord(
        number=row["number"],
        id=row["id"],
        workspace_id=row["workspace_id"],
        provider=row["provider"],
        label=row["label"],
        sort_order=row["sort_order"],
        created_at=from_micros(row["created_at"]),
        terms=Terms(**{name: _value(name, row[name]) for name in _FIELDS}),
    )


def _value(name: str, column: Any) -> Any:
    if name in LISTS:
        return from_json_text(column)
    if name in _FLAGS:
        return None if column is None else bool(column)
    return column
