"""API keys, ordinary and management, with their usage. Extended contract section 1.

A management key belongs to no workspace.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from gwtui.contract.keys import ApiKey
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.values import KEYS_PAGE
from gwtui.embedded.store import usage
from gwtui.embedded.store.documents import KEYS, USAGE_FIELDS, DatabaseConnection, Document, in_list
from gwtui.embedded.store.usage import Sums, from_pico

_RESETS = (None, "daily", "weekly", "monthly")
_PICO = 10**12
_ACTIVE = "workspace_id = ? AND NOT disabled AND (expires IS NULL OR expires > ?)"


def new_document(
    *,
    hash: str,
    label: str,
    name: str,
    created_at: datetime,
    workspace_id: str | None,
) -> Document:
    """The document of a new key, with the defaults of what is not given."""
    return {
        "hash": hash,
        "name": name,
        "label": label,
        "disabled": False,
        "limit": None,
        "limit_reset": None,
        "include_byok_in_limit": False,
        "created_at": timestamp_text(created_at),
        "updated_at": None,
        "expires_at": None,
        "last_used_at": None,
        "creator_user_id": None,
        "workspace_id": workspace_id,
        "external_user": None,
    }


class KeyRecord(NamedTuple):
    """A key with its usage as of the moment it was read."""

    number: int
    key: ApiKey
    sums: Sums

    @property
    def is_management(self) -> bool:
        """Whether the key manages the account instead of using models."""
        return self.key.workspace_id is None

    @property
    def limit_remaining(self) -> Decimal | None:
        """The remaining limit, exactly; negative when overdrawn, None without a limit."""
        key = self.key
        if key.limit is None:
            return None
        return key.limit - from_pico(
            _counted(self.sums, key.limit_reset, key.include_byok_in_limit)
        )


def _counted(sums: Sums, reset: str | None, with_byok: int | None) -> int:
    """Pico-USD that count against a limit in its current window."""
    place = _RESETS.index(reset)
    return sums[place] + (sums[place + len(_RESETS)] if with_byok else 0)


def find(db: sqlite3.Connection, key_hash: str, now: datetime) -> KeyRecord | None:
    """The key of a hash, management keys included; None when there is none."""
    for number, document, _limit, _reset, _byok, *sums in _rows(db, "id = ?", (key_hash,), now):
        return KeyRecord(number, ApiKey.model_validate(json.loads(document)), sums)
    return None


def texts(db: sqlite3.Connection, where: str, values: Sequence[str], now: datetime) -> list[str]:
    """The keys for which a condition holds as JSON texts with their usage, newest first.

    The text of a document is not taken apart: pages of keys are asked for often.
    """
    return [_text(row[1], row[2], row[3], row[4], row[5:]) for row in _rows(db, where, values, now)]


def _rows(
    db: sqlite3.Connection, where: str, values: Sequence[str], now: datetime
) -> list[tuple[Any, ...]]:
    """Number, document, limit, its reset, whether BYOK usage counts, and the sums of keys."""
    return db.execute(
        "SELECT number, document, limit_usd, limit_reset, include_byok_in_limit, "
        f"{usage.sums_sql(now)} FROM keys LEFT JOIN usage ON key_hash = id "
        f"WHERE {where} GROUP BY number ORDER BY number DESC",
        values,
    ).fetchall()


_COMPUTED = ",".join(f'"{name}":%r' for name in USAGE_FIELDS)


def _text(document: str, limit: float | None, reset: str | None, with_byok: int, sums: Sums) -> str:
    remaining = "null"
    if limit is not None:
        left = Decimal(str(limit)) - from_pico(_counted(sums, reset, with_byok))
        remaining = repr(float(left))
    figures = _COMPUTED % tuple([pico / _PICO for pico in sums])
    return f'{document[:-1]},"limit_remaining":{remaining},{figures}}}'


def listed(
    db: DatabaseConnection,
    workspace_id: str,
    now: datetime,
    *,
    offset: int,
    include_disabled: bool,
    include_expired: bool,
) -> list[str]:
    """One page of a workspace's ordinary keys, newest first."""
    moment = sortable(now)
    where, values, expired = "workspace_id = ?", [workspace_id], 0
    if not include_disabled:
        where += " AND NOT disabled"
    if not include_expired:
        where += " AND (expires IS NULL OR expires > ?)"
        values.append(moment)
        # The list stays the same until one more of the keys has expired.
        (expired,) = db.execute(
            "SELECT count(*) FROM keys WHERE expires <= ?", (moment,)
        ).fetchone()
    numbers = KEYS.page(
        db,
        where,
        values,
        offset=offset,
        limit=KEYS_PAGE,
        newest_first=True,
        same=(workspace_id, expired),
    )
    return texts(db, in_list("number"), (json.dumps(numbers),), now)


def sortable(moment: datetime) -> str:
    """A moment as the column ``expires`` has it."""
    return timestamp_text(moment).rstrip("Z")


def count_active(db: DatabaseConnection, workspace_id: str, now: datetime) -> int:
    """The number of active keys of a workspace: neither disabled nor expired."""
    return KEYS.count(db, _ACTIVE, (workspace_id, sortable(now)))


def active_creators(db: sqlite3.Connection, workspace_id: str, now: datetime) -> set[str]:
    """The users who made a key of a workspace that still works."""
    rows = db.execute(
        f"SELECT DISTINCT creator_user_id FROM keys WHERE {_ACTIVE}",
        (workspace_id, sortable(now)),
    )
    return {user for (user,) in rows if user is not None}


def unknown(db: sqlite3.Connection, hashes: Sequence[str]) -> list[str]:
    """Those of the hashes that are no ordinary keys of the account, each once."""
    known = db.execute(
        f"SELECT id FROM keys WHERE workspace_id IS NOT NULL AND {in_list('id')}",
        (json.dumps(list(hashes)),),
    )
    found = {key_hash for (key_hash,) in known}
    return [key_hash for key_hash in dict.fromkeys(hashes) if key_hash not in found]


def use(db: sqlite3.Connection, key_hash: str, moment: datetime) -> None:
    """Note that a key was used, unless it was used later already."""
    at = timestamp_text(moment)
    db.execute(
        "UPDATE keys SET document = json_set(document, '$.last_used_at', ?1) WHERE id = ?2 AND "
        "rtrim(coalesce(json_extract(document, '$.last_used_at'), ''), 'Z') < rtrim(?1, 'Z')",
        (at, key_hash),
    )
