"""Requests to models that were really served here, and what each of them moves.

Inference contract section 7. One transaction books a request: usage of the key, its workspace and
the account, the day's activity, and the generation to be looked up later. Of requests to free
variants an account has so many, section 9.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded.simulator.usage import UsageSlice
from gwtui.embedded.store import account, activity
from gwtui.embedded.store.activity import Actor
from gwtui.embedded.store.table import Table, to_day, to_micros, to_pico
from gwtui.embedded.store.usage import DayUsage, add_usage
from gwtui.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRequest:
    """A request that reached a model. Its texts are JSON."""

    id: str
    """Identifier of the generation."""
    key_hash: str
    workspace_id: str
    user_id: str | None
    endpoint_key: str
    is_byok: bool
    created_at: datetime
    shown_from: datetime
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


SERVED = Table("served_requests", ServedRequest)


def book(db: sqlite3.Connection, request: ServedRequest, used: UsageSlice) -> None:
    """Enter a request with what it used, everywhere."""
    cost, byok, day = to_pico(used.usd), to_pico(used.byok_usd), to_day(used.moment)
    key = db.execute("SELECT id FROM api_keys WHERE hash = ?", (request.key_hash,)).fetchone()
    if key is not None:  # else it was deleted while it was being served
        add_usage(db, [DayUsage(key["id"], day, cost, byok, used.requests)])
        db.execute(
            "UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?",
            (to_micros(used.moment), key["id"]),
        )
    account.spend(db, cost)
    activity.book(db, request.actor, [used])
    SERVED.insert(db, request)
    _forget_old(db, used.moment)


def _forget_old(db: sqlite3.Connection, now: datetime) -> None:
    """Drop what is further back than the activity that it is part of."""
    until = now - timedelta(days=ACTIVITY_DAYS)
    db.execute("DELETE FROM served_requests WHERE created_at < ?", (to_micros(until),))


def find(db: sqlite3.Connection, generation_id: str, now: datetime) -> ServedRequest | None:
    """The request of an identifier; None when there is none, or it is not written yet."""
    return SERVED.find(db, "id = ? AND shown_from <= ?", (generation_id, to_micros(now)))


def latest(db: sqlite3.Connection, now: datetime, count: int) -> list[ServedRequest]:
    """The last requests that can be looked up, newest first."""
    return SERVED.select(
        db, "shown_from <= ? ORDER BY created_at DESC, number DESC LIMIT ?", (to_micros(now), count)
    )


def count_of_variant(db: sqlite3.Connection, variant: str, since: datetime, *, byok: bool) -> int:
    """How many requests to models of a variant, such as ``free``, were made since a moment."""
    return SERVED.count(
        db,
        "created_at >= ? AND is_byok = ? AND instr(endpoint_key, ?)",
        (to_micros(since), byok, f":{variant}|"),
    )


FREE_PER_MINUTE = 20
_A_DAY = 50
_A_DAY_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)
_VARIANT = "free"


def free_daily_limit(total_credits: Decimal) -> int:
    """How many requests to free variants an account has on a UTC day.

    ``total_credits`` is all that it ever bought, in USD.
    """
    return _A_DAY_OF_A_BUYER if total_credits >= _BUYER_CREDITS else _A_DAY


def free_used_today(db: sqlite3.Connection, now: datetime) -> int:
    """How many requests to free variants were used this UTC day. Own provider keys do not count."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    own = count_of_variant(db, _VARIANT, midnight, byok=True)
    return activity.requests_to_variant(db, to_day(now), _VARIANT) - own


def free_used_last_minute(db: sqlite3.Connection, now: datetime) -> int:
    """The same of the last minute."""
    return count_of_variant(db, _VARIANT, now - timedelta(minutes=1), byok=False)
