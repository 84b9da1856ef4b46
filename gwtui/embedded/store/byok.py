"""BYOK provider credentials. Contract "BYOK provider credential", extended section 6.

What describes a credential and its sealed key are in two tables: deleting one keeps the former,
marked as deleted, and wipes the latter.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime

from gwtui.embedded.store.table import Table, shallow, to_micros
from gwtui.lazy_dataclass import dataclass

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
    """The fields that a credential is created with."""

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


CREDENTIALS = Table("byok_credentials", NewCredential)
_IN_ORDER = Table(
    "(SELECT *, row_number() OVER ("
    "PARTITION BY workspace_id, provider ORDER BY is_fallback, number) - 1 AS sort_order "
    "FROM byok_credentials WHERE deleted_at IS NULL)",
    CredentialRecord,
)
"""What was not deleted, in the order of trial; to be read only."""


def material_row(credential_id: str) -> str:
    """What the sealed key of a credential is bound to."""
    return f"byok_material:{credential_id}"


def add(db: sqlite3.Connection, credential: NewCredential, sealed: bytes | None) -> None:
    """Store a credential; ``sealed`` is None for one of the simulated world, which has no key."""
    number = CREDENTIALS.insert(db, credential)
    if sealed is not None:
        db.execute("INSERT INTO byok_material VALUES (?, ?)", (number, sealed))


def listed(
    db: sqlite3.Connection, workspace_id: str, provider: str | None, *, offset: int, limit: int
) -> list[CredentialRecord]:
    """One page of a workspace's credentials, by provider and then in the order of trial."""
    return _IN_ORDER.select(
        db,
        f"{_OF_WORKSPACE} ORDER BY provider, sort_order LIMIT ?3 OFFSET ?4",
        (workspace_id, provider, limit, offset),
    )


def count(db: sqlite3.Connection, workspace_id: str, provider: str | None) -> int:
    """How many credentials a workspace has, of one provider or of all."""
    return CREDENTIALS.count(
        db, f"deleted_at IS NULL AND {_OF_WORKSPACE}", (workspace_id, provider)
    )


_OF_WORKSPACE = "workspace_id = ?1 AND (?2 IS NULL OR provider = ?2)"


def find(db: sqlite3.Connection, credential_id: str) -> CredentialRecord | None:
    """The credential of an id, None when there is none or it was deleted."""
    return _IN_ORDER.find(db, "id = ?", (credential_id,))


def change(db: sqlite3.Connection, credential: CredentialRecord, terms: Terms) -> None:
    """Give a credential other terms."""
    CREDENTIALS.update(db, shallow(terms), "number = ?", credential.number)


def rotate(db: sqlite3.Connection, credential: CredentialRecord, label: str, sealed: bytes) -> None:
    """Overwrite the key and its label."""
    db.execute("DELETE FROM byok_material WHERE credential = ?", (credential.number,))
    db.execute("INSERT INTO byok_material VALUES (?, ?)", (credential.number, sealed))
    CREDENTIALS.update(db, {"label": label}, "number = ?", credential.number)


def remove(db: sqlite3.Connection, credential: CredentialRecord, at: datetime) -> None:
    """Mark a credential as deleted; its key is wiped, and the label that shows a part of it."""
    db.execute("DELETE FROM byok_material WHERE credential = ?", (credential.number,))
    db.execute(
        "UPDATE byok_credentials SET deleted_at = ?, label = '' WHERE number = ?",
        (to_micros(at), credential.number),
    )
