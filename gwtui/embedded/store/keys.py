"""API keys, ordinary and management. Extended contract section 1."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.values import KEYS_PAGE
from gwtui.embedded.store.table import Table, to_micros
from gwtui.embedded.store.usage import UsageWindows, windows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """What a key is born with. Amounts are USD."""

    hash: str
    label: str
    name: str
    created_at: datetime
    workspace_id: str | None
    """None for a management key, which belongs to the whole account."""
    creator_user_id: str | None = None
    external_user: str | None = None
    external_key_hash: str | None = field(default=None, repr=False)
    """Of the user's own key in the other system. Nothing looks it up: it is no credential here."""
    disabled: bool = False
    limit: Decimal | None = None
    limit_reset: str | None = None
    include_byok_in_limit: bool = False
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None

    @property
    def is_management(self) -> bool:
        """Whether the key manages the account instead of using models."""
        return self.workspace_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord(NewKey):
    """A stored key with its usage as of the moment it was read."""

    id: int
    usage: UsageWindows

    @property
    def limit_spend(self) -> Decimal:
        """What counts against the limit in its current window."""
        return self.usage.of(self.limit_reset).counted(include_byok=self.include_byok_in_limit)

    @property
    def limit_remaining(self) -> Decimal | None:
        """What is left of the limit, negative when overdrawn; None without a limit."""
        return None if self.limit is None else self.limit - self.limit_spend


KEYS = Table("api_keys", NewKey, renamed={"limit": "limit_usd"})


def add(db: sqlite3.Connection, key: NewKey) -> int:
    """Store a key and give its row id."""
    return KEYS.insert(db, key, is_management=key.is_management)


@dataclass(frozen=True, slots=True)
class Credential:
    """What authentication needs to know of a key."""

    hash: str
    is_management: bool
    creator_user_id: str | None
    disabled: bool
    expires_at: datetime | None


_CREDENTIALS = Table("api_keys", Credential)


def find_credential(db: sqlite3.Connection, key_hash: str) -> Credential | None:
    """The key of a hash, None when it opens nothing."""
    row = db.execute(
        "SELECT hash, is_management, creator_user_id, disabled, expires_at "
        "FROM api_keys WHERE hash = ?",
        (key_hash,),
    ).fetchone()
    return None if row is None else _CREDENTIALS.record(row)


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
    # The rows before the page are not read: the index has their order, and most often all of it.
    conditions = ["workspace_id = :workspace"]
    if not include_disabled:
        conditions.append("NOT disabled")
    if not include_expired:
        conditions.append("(expires_at IS NULL OR expires_at > :now)")
    ids = (
        f"SELECT id FROM api_keys WHERE {' AND '.join(conditions)} "  # noqa: S608 - constants
        "ORDER BY created_at DESC, id DESC LIMIT :page OFFSET :offset"
    )
    rows = db.execute(
        f"SELECT * FROM api_keys WHERE id IN ({ids}) "  # noqa: S608 - constants
        "ORDER BY created_at DESC, id DESC",
        {"workspace": workspace_id, "now": to_micros(now), "page": KEYS_PAGE, "offset": offset},
    ).fetchall()
    return _records(db, rows, now)


def find(db: sqlite3.Connection, key_hash: str, now: datetime) -> KeyRecord | None:
    """The key of a hash, management keys included; None when there is none."""
    row = db.execute("SELECT * FROM api_keys WHERE hash = ?", (key_hash,)).fetchone()
    return None if row is None else _records(db, [row], now)[0]


def count_active(db: sqlite3.Connection, workspace_id: str, now: datetime) -> int:
    """How many keys of a workspace work: neither disabled nor expired."""
    return KEYS.count(db, f"workspace_id = ? AND {_ACTIVE}", (workspace_id, to_micros(now)))


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


def change(
    db: sqlite3.Connection, key: KeyRecord, changes: Mapping[str, Any], at: datetime
) -> None:
    """Set fields of a key, and its ``updated_at`` when any of them really differs."""
    new = {name: value for name, value in changes.items() if getattr(key, name) != value}
    if new:
        KEYS.update(db, {**new, "updated_at": at}, "id = ?", key.id)


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
    return [KeyRecord(**KEYS.fields_of(row), id=row["id"], usage=usage[row["id"]]) for row in rows]
