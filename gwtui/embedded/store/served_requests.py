"""Requests to models that were really served here, and what each of them moves.

Inference contract section 7. One transaction books a request: its usage, and the generation to be
looked up later. Of requests to free variants an account has so many, section 9.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded.simulator.usage import UsageSlice
from gwtui.embedded.store import keys, usage
from gwtui.embedded.store.usage import Actor, to_day, to_micros

FREE_PER_MINUTE = 20
_A_DAY = 50
_A_DAY_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)
_VARIANT = "free"


@dataclass(frozen=True, kw_only=True)
class ServedRequest:
    """A request that reached a model. Moments are microseconds since 1970, texts are JSON."""

    id: str
    """Identifier of the generation."""
    key_hash: str
    workspace_id: str
    user_id: str | None
    endpoint_key: str
    is_byok: bool
    created_at: int
    shown_from: int
    """When it can be looked up: it is written a moment after its end."""
    details: str
    """The answer of GET /generation."""
    content: str | None = None
    """The answer of GET /generation/content; None where nothing is logged."""

    @property
    def actor(self) -> Actor:
        """Whose request it was."""
        return Actor(self.key_hash, self.workspace_id, self.user_id)

    @property
    def generation(self) -> dict[str, Any]:
        """The metadata."""
        found: dict[str, Any] = json.loads(self.details)
        return found


def book(db: sqlite3.Connection, request: ServedRequest, used: UsageSlice) -> None:
    """Enter a request with what it used."""
    usage.book(db, request.actor, [used])
    keys.use(db, request.key_hash, used.moment)
    marks = ", ".join("?" * len(vars(request)))
    db.execute(f"INSERT INTO served_requests VALUES (NULL, {marks})", astuple(request))
    # Nothing is kept for longer than the activity that it is part of.
    oldest = used.moment - timedelta(days=ACTIVITY_DAYS)
    db.execute("DELETE FROM served_requests WHERE created_at < ?", (to_micros(oldest),))


def find(db: sqlite3.Connection, generation_id: str, now: datetime) -> ServedRequest | None:
    """The request of an identifier; None when there is none, or it is not written yet."""
    found = _select(db, "id = ? AND shown_from <= ?", (generation_id, to_micros(now)))
    return found[0] if found else None


def latest(db: sqlite3.Connection, now: datetime, count: int) -> list[ServedRequest]:
    """The last requests that can be looked up, newest first."""
    order = "shown_from <= ? ORDER BY created_at DESC, number DESC LIMIT ?"
    return _select(db, order, (to_micros(now), count))


def _select(
    db: sqlite3.Connection, where: str, values: tuple[str | int, ...]
) -> list[ServedRequest]:
    names = list(ServedRequest.__dataclass_fields__)
    rows = db.execute(f"SELECT {', '.join(names)} FROM served_requests WHERE {where}", values)
    return [ServedRequest(**dict(zip(names, row, strict=True))) for row in rows]


def free_daily_limit(total_credits: Decimal) -> int:
    """How many requests to free variants an account has on a UTC day.

    ``total_credits`` is all that it ever bought, in USD.
    """
    return _A_DAY_OF_A_BUYER if total_credits >= _BUYER_CREDITS else _A_DAY


def free_used_today(db: sqlite3.Connection, now: datetime) -> int:
    """How many requests to free variants were used this UTC day. Own provider keys do not count."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    used = usage.requests_to_variant(db, to_day(now), _VARIANT)
    return used - _count_free(db, midnight, byok=True)


def free_used_last_minute(db: sqlite3.Connection, now: datetime) -> int:
    """The same of the last minute."""
    return _count_free(db, now - timedelta(minutes=1), byok=False)


def _count_free(db: sqlite3.Connection, since: datetime, *, byok: bool) -> int:
    (count,) = db.execute(
        "SELECT count(*) FROM served_requests "
        "WHERE created_at >= ? AND is_byok = ? AND instr(endpoint_key, ?)",
        (to_micros(since), byok, f":{_VARIANT}|"),
    ).fetchone()
    return int(count)
