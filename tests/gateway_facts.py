"""What tests want to know of the embedded gateway, and nobody else asks it."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

from gwtui.embedded.simulator.world import SeedKey


def used_of_limit(key: SeedKey) -> Decimal:
    """USD that count against the limit in the current window (BYOK only if it counts)."""
    window = {
        "daily": key.usage.daily,
        "weekly": key.usage.weekly,
        "monthly": key.usage.monthly,
        None: key.usage.all_time,
    }[key.limit_reset]
    return window.usd + (window.byok_usd if key.include_byok_in_limit else Decimal(0))


def feedback_on(db: sqlite3.Connection, generation_id: str) -> list[tuple[str, str | None]]:
    """Category and comment of everything said about a generation, oldest first."""
    rows = db.execute(
        "SELECT category, comment FROM generation_feedback WHERE generation_id = ? ORDER BY number",
        (generation_id,),
    )
    return [(row["category"], row["comment"]) for row in rows]
