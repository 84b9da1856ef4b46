"""API keys, ordinary and management. Extended contract section 1."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.values import KEYS_PAGE
from gwtui.embedded.store.columns import (
    from_decimal_text,
    from_micros,
    from_micros_or_none,
    to_decimal_text,
    to_micros,
    to_micros_or_none,
)
from gwtui.embedded.store.usage import UsageWindows, windows_of


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A stored key with its usage as of the moment it was read. Amounts are USD."""

    id: int
    hash: str
    label: str
    name: str
    is_management: bool
    workspace_id: str | None
    creator_user_id: str | None
    external_user: str | None
    disabled: bool
    limit: Decimal | None
    limit_reset: str | None
    include_byok_in_limit: bool
    created_at: datetime
    updated_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None
    usage: UsageWindows

    @property
    def limit_spend(self) -> Decimal:
        """What counts against the limit in its current window."""
        return self.usage.of(self.limit_reset).counted(include_byok=self.include_byok_in_limit)

    @property
    def limit_remaining(self) -> Decimal | None:
        """What is left of the limit, negative when overdrawn; None without a limit."""
        return None if self.limit is None else self.limit - self.limit_spend


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is born with."""

    hash: str
    label: str
    name: str
    created_at: datetime
    workspace_id: str | None
    """None for a management key, which belongs to the whole account."""
    creator_user_id: str | None = None
    external_user: str | None = None
    external_key_hash: str | None = None
    """Of the user's own key in the other system. Nothing looks it up: it is no credential here."""
    disabled: bool = False
    limit: Decimal | None = None
    limit_reset: str | None = None
    include_byok_in_limit: bool = False
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


def add(db: sqlite3.Connection, key: NewKey) -> int:
    """Store a key and give its row id."""
    cursor = db.execute(
        """
        INSERT INTO api_keys (
            hash, label, name, is_management, workspace_id, creator_user_id, external_user,
            external_key_hash, disabled, limit_usd, limit_reset, include_byok_in_limit,
            created_at, updated_at, expires_at, last_used_at
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            key.hash,
            key.label,
            key.name,
            key.workspace_id is None,
            key.workspace_id,
            key.creator_user_id,
            key.external_user,
            key.external_key_hash,
            key.disabled,
            to_decimal_text(key.limit),
            key.limit_reset,
            key.include_byok_in_limit,
            to_micros(key.created_at),
            to_micros_or_none(key.updated_at),
            to_micros_or_none(key.expires_at),
            to_micros_or_none(key.last_used_at),
        ),
    )
    assert cursor.lastrowid is not None  # noqa: S101 - an INSERT always has one
    return cursor.lastrowid


@dataclass(frozen=True, slots=True)
class Credential:
    """What authentication needs to know of a key."""

    hash: str
    is_management: bool
    creator_user_id: str | None
    disabled: bool
    expires_at: datetime | None


def find_credential(db: sqlite3.Connection, key_hash: str) -> Credential | None:
    """The key of a hash, None when it opens nothing."""
    row = db.execute(
        "SELECT hash, is_management, creator_user_id, disabled, expires_at "
        "FROM api_keys WHERE hash = ?",
        (key_hash,),
    ).fetchone()
    if row is None:
        return None
    return Credential(
        hash=row["hash"],
        is_management=bool(row["is_management"]),
        creator_user_id=row["creator_user_id"],
        disabled=bool(row["disabled"]),
        expires_at=from_micros_or_none(row["expires_at"]),
    )


def listed(
    db: sqlite3.Connection,
    workspace_id: str,
    now: datetime,
    *,
    offset: int,
    include_disabled: bool,
    include_expired: bool,
) -> list[KeyRecord]:
    """One page of a workspace's ordinary keys, newest first."""
    rows = db.execute(
        """
        SELECT * FROM api_keys
        WHERE workspace_id = ? AND (? OR NOT disabled)
            AND (? OR expires_at IS NULL OR expires_at > ?)
        ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?
        """,
        (workspace_id, include_disabled, include_expired, to_micros(now), KEYS_PAGE, offset),
    ).fetchall()
    return _records(db, rows, now)


def find(db: sqlite3.Connection, key_hash: str, now: datetime) -> KeyRecord | None:
    """The key of a hash, management keys included; None when there is none."""
    row = db.execute("SELECT * FROM api_keys WHERE hash = ?", (key_hash,)).fetchone()
    return None if row is None else _records(db, [row], now)[0]


def count_active(db: sqlite3.Connection, workspace_id: str, now: datetime) -> int:
    """How many keys of a workspace work: neither disabled nor expired."""
    (count,) = db.execute(
        f"SELECT count(*) FROM api_keys WHERE workspace_id = ? AND {_ACTIVE}",  # noqa: S608 - a constant
        (workspace_id, to_micros(now)),
    ).fetchone()
    return int(count)


def active_creators(db: sqlite3.Connection, workspace_id: str, now: datetime) -> set[str]:
    """The users who made a key of a workspace that still works."""
    rows = db.execute(
        "SELECT DISTINCT creator_user_id FROM api_keys "  # noqa: S608 - a constant
        f"WHERE workspace_id = ? AND {_ACTIVE} AND creator_user_id IS NOT NULL",
        (workspace_id, to_micros(now)),
    )
    return {row["creator_user_id"] for row in rows}


_ACTIVE = "NOT disabled AND (expires_at IS NULL OR expires_at > ?)"


def ids_of(db: sqlite3.Connection, hashes: Sequence[str]) -> dict[str, int]:
    """Row ids of those hashes that are ordinary keys of the account."""
    rows = db.execute(
        "SELECT hash, id FROM api_keys "
        "WHERE NOT is_management AND hash IN (SELECT value FROM json_each(?))",
        (json.dumps(list(hashes)),),
    )
    return {row["hash"]: row["id"] for row in rows}


_CHANGEABLE: Mapping[str, str] = {
    "name": "name",
    "disabled": "disabled",
    "limit": "limit_usd",
    "limit_reset": "limit_reset",
    "include_byok_in_limit": "include_byok_in_limit",
    "workspace_id": "workspace_id",
}
"""Field of the contract -> column."""


def change(
    db: sqlite3.Connection, key: KeyRecord, changes: Mapping[str, Any], at: datetime
) -> None:
    """Set fields of a key, and its ``updated_at`` when any of them really differs."""
    new = {name: value for name, value in changes.items() if getattr(key, name) != value}
    if not new:
        return
    if "limit" in new:
        new["limit"] = to_decimal_text(new["limit"])
    assignments = ", ".join(f"{_CHANGEABLE[name]} = ?" for name in new)
    db.execute(
        f"UPDATE api_keys SET {assignments}, updated_at = ? WHERE id = ?",  # noqa: S608 - columns come from the table above
        (*new.values(), to_micros(at), key.id),
    )


_MASKED_LENGTH = len("000...000")


def relabel(db: sqlite3.Connection, hashes: Sequence[str], prefix: str) -> None:
    """Make the labels of some keys begin with another prefix; their ends stay."""
    db.execute(
        "UPDATE api_keys SET label = ? || substr(label, ?) "
        "WHERE hash IN (SELECT value FROM json_each(?))",
        (prefix, -_MASKED_LENGTH, json.dumps(list(hashes))),
    )


def remove(db: sqlite3.Connection, key_id: int) -> None:
    """Delete a key with its usage; what it used stays in the account's total."""
    db.execute("DELETE FROM api_keys WHERE id = ?", (key_id,))


def remove_management(db: sqlite3.Connection, name: str) -> None:
    """Delete every management key of this name."""
    db.execute("DELETE FROM api_keys WHERE is_management AND name = ?", (name,))


def _records(db: sqlite3.Connection, rows: Sequence[sqlite3.Row], now: datetime) -> list[KeyRecord]:
    totals = {row["id"]: (row["usage_pico"], row["byok_usage_pico"]) for row in rows}
    usage = windows_of(db, totals, now)
    return [
        KeyRecord(
            id=row["id"],
            hash=row["hash"],
            label=row["label"],
            name=row["name"],
            is_management=bool(row["is_management"]),
            workspace_id=row["workspace_id"],
            creator_user_id=row["creator_user_id"],
            external_user=row["external_user"],
            disabled=bool(row["disabled"]),
            limit=from_decimal_text(row["limit_usd"]),
            limit_reset=row["limit_reset"],
            include_byok_in_limit=bool(row["include_byok_in_limit"]),
            created_at=from_micros(row["created_at"]),
            updated_at=from_micros_or_none(row["updated_at"]),
            expires_at=from_micros_or_none(row["expires_at"]),
            last_used_at=from_micros_or_none(row["last_used_at"]),
            usage=usage[row["id"]],
        )
        for row in rows
    ]
