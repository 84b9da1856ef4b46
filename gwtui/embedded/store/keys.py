"""API keys, ordinary and management. Extended contract section 1."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from gwtui.contract.values import KEYS_PAGE
from gwtui.embedded.store import usage
from gwtui.embedded.store.database import DatabaseConnection
from gwtui.embedded.store.list_index import STEP, Place, Validity
from gwtui.embedded.store.table import Table, to_micros
from gwtui.embedded.store.usage import PeriodSums, UsageWindows, windows_of
from gwtui.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """The fields that a key is created with. Amounts are USD."""

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


class KeyColumns(NamedTuple):
    """A key as the database has it: moments in microseconds, used amounts in pico-USD."""

    id: int
    hash: str
    name: str
    label: str
    disabled: int
    limit_usd: str | None
    limit_reset: str | None
    include_byok_in_limit: int
    usage_pico: int
    byok_usage_pico: int
    created_at: int
    updated_at: int | None
    expires_at: int | None
    last_used_at: int | None
    creator_user_id: str | None
    workspace_id: str | None
    external_user: str | None


_PERIODS = ("daily", "weekly", "monthly")


def limit_spend_pico(row: KeyColumns, used: PeriodSums) -> int:
    """Pico-USD that count against the limit of a key in its current window."""
    if row.limit_reset is None:
        usage, byok = row.usage_pico, row.byok_usage_pico
    else:
        period = _PERIODS.index(row.limit_reset)
        usage, byok = used[period], used[period + len(_PERIODS)]
    return usage + byok if row.include_byok_in_limit else usage


ListedKeys = Sequence[tuple[KeyColumns, PeriodSums]]
"""Keys, each with what it used in the present periods."""

_ROW = ", ".join(KeyColumns._fields)


def listed(
    db: DatabaseConnection,
    workspace_id: str,
    now: datetime,
    *,
    offset: int,
    include_disabled: bool,
    include_expired: bool,
) -> ListedKeys:
    """One page of a workspace's ordinary keys, newest first."""
    # What is skipped is skipped in the index, which has all that the conditions need.
    conditions = ["workspace_id = :workspace"]
    if not include_disabled:
        conditions.append("NOT disabled")
    if not include_expired:
        conditions.append("(expires_at IS NULL OR expires_at > :now)")
    values: dict[str, Any] = {"workspace": workspace_id, "now": to_micros(now)}

    def after(place: Place | None, columns: str, count: int, skipped: int) -> str:
        values.update(count=count, skipped=skipped)
        behind = []
        if place is not None:
            values["created_at"], values["id"] = place
            behind.append("(created_at, id) < (:created_at, :id)")
        return (
            f"SELECT {columns} FROM api_keys WHERE {' AND '.join(conditions + behind)} "  # noqa: S608 - constants
            "ORDER BY created_at DESC, id DESC LIMIT :count OFFSET :skipped"
        )

    def step(place: Place | None) -> Place | None:
        found = db.execute(after(place, "created_at, id", 1, STEP - 1), values).fetchone()
        return None if found is None else (found["created_at"], found["id"])

    index = db.lists.at(
        ("keys", workspace_id, include_disabled, include_expired),
        values["now"],
        lambda: Validity(values["now"], None if include_expired else _next_expiry(db, now)),
    )
    start = index.seek(offset, step)
    if start is None:
        return []
    place, skipped = start
    # A cross join takes the rows in the order of what stands first.
    ids = after(place, "id AS listed", KEYS_PAGE, skipped)
    return _rows(db, f"({ids}) CROSS JOIN api_keys ON id = listed", values, now)


def _next_expiry(db: sqlite3.Connection, now: datetime) -> int | None:
    """When the next key expires, in microseconds; None when none does."""
    (moment,) = db.execute(
        "SELECT min(expires_at) FROM api_keys WHERE expires_at > ?", (to_micros(now),)
    ).fetchone()
    return None if moment is None else int(moment)


def find_row(db: sqlite3.Connection, key_hash: str, now: datetime) -> ListedKeys:
    """The key of a hash as ``listed`` gives it; empty when there is none."""
    return _rows(db, "api_keys WHERE hash = :hash", {"hash": key_hash}, now)


def _rows(
    db: sqlite3.Connection, source: str, values: Mapping[str, Any], now: datetime
) -> ListedKeys:
    cursor = db.cursor()
    cursor.row_factory = None
    found = cursor.execute(f"SELECT {_ROW} FROM {source}", values).fetchall()  # noqa: S608 - words of the callers above
    rows = [KeyColumns._make(row) for row in found]
    used = usage.period_sums(db, [row.id for row in rows], now)
    return [(row, used.get(row.id, usage.NOTHING_USED)) for row in rows]


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
