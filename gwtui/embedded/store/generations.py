"""Generations: records of requests to models. See section 8 of the extended contract.

The API has no list of generations, because clients know the identifiers of their requests.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.store import account
from gwtui.embedded.store.account import from_micros, to_day, to_micros
from gwtui.embedded.store.database import Database

FREE_PER_MINUTE = 20
_FREE_A_DAY = 50
_FREE_A_DAY_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)
_VARIANT = "free"
_LISTED = 100
UNKNOWN_FIELDS = dict.fromkeys(
    (
        *("cache_discount", "moderation_latency", "router", "app_id", "preset_id"),
        *("native_tokens_completion_images", "num_media_completion", "num_search_results"),
        *("num_fetches", "web_search_engine"),
    )
)
"""Metadata fields that are null for every generation of this gateway."""


class RecentGeneration(NamedTuple):
    """A generation as listed by ``recent_generations``."""

    id: str
    made_at: datetime
    model: str
    key_name: str
    """Name of the key; "" if it was deleted."""


def store(db: sqlite3.Connection, **generation: Any) -> None:
    """Store a generation, given by the columns of its table."""
    names = ", ".join(generation)
    values = ", ".join(f":{name}" for name in generation)
    db.execute(f"INSERT INTO generations ({names}) VALUES ({values})", generation)


def find(
    db: sqlite3.Connection, generation_id: str, now: datetime
) -> tuple[dict[str, Any], dict[str, Any] | None] | None:
    """Return the metadata and the content of a generation; None if it does not exist.

    A generation becomes visible one second after it ends; before that, the result is None as well.
    The content is None if it was not logged.
    """
    row = db.execute(
        "SELECT details, content FROM generations WHERE id = ? AND shown_from <= ?",
        (generation_id, to_micros(now)),
    ).fetchone()
    return None if row is None else (json.loads(row[0]), json.loads(row[1] or "null"))


def forget_old(db: sqlite3.Connection, now: datetime) -> None:
    """Delete generations that are older than the activity."""
    oldest = to_micros(now - timedelta(days=ACTIVITY_DAYS))
    db.execute("DELETE FROM generations WHERE created_at < ?", (oldest,))


def recent_generations(database: Path, *, clock: Clock = SYSTEM_CLOCK) -> list[RecentGeneration]:
    """Return the most recent generations, newest first, for the command line.

    Works on an existing database, even while a gateway serves it. Raises DatabaseMissingError and
    DatabaseUnusableError.
    """
    with Database.visit(database) as visited, visited.read() as db:
        rows = db.execute(
            "SELECT generations.id, created_at, json_extract(details, '$.model'), "
            "coalesce(json_extract(document, '$.name'), '') "
            "FROM generations LEFT JOIN keys ON keys.id = key_hash WHERE shown_from <= ? "
            "ORDER BY created_at DESC, generations.number DESC LIMIT ?",
            (to_micros(clock.now()), _LISTED),
        )
        return [RecentGeneration(id, from_micros(at), *names) for id, at, *names in rows]


class FreeUse(NamedTuple):
    """Numbers of requests to free variants, without those on BYOK credentials."""

    limit: int
    """Allowed requests per UTC day. See section 9 of the inference contract."""
    today: int
    """Requests since 00:00 UTC."""
    last_minute: int
    """Requests in the last 60 seconds."""


def free_use(db: sqlite3.Connection, total_credits: Decimal, now: datetime) -> FreeUse:
    """Count the account's requests to free variants.

    ``total_credits``, the account's purchases in USD, decides the daily limit.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    used = account.requests_to_variant(db, to_day(now), _VARIANT)
    return FreeUse(
        limit=_FREE_A_DAY_OF_A_BUYER if total_credits >= _BUYER_CREDITS else _FREE_A_DAY,
        today=used - _count_free(db, midnight, byok=True),
        last_minute=_count_free(db, now - timedelta(minutes=1), byok=False),
    )


def _count_free(db: sqlite3.Connection, since: datetime, *, byok: bool) -> int:
    (count,) = db.execute(
        "SELECT count(*) FROM generations WHERE created_at >= ? AND is_byok = ? "
        "AND instr(endpoint_key, ?)",
        (to_micros(since), byok, f":{_VARIANT}|"),
    ).fetchone()
    return int(count)
