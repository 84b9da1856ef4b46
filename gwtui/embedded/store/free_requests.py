"""Requests to free variants, of which an account has so many. Inference contract section 9."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.embedded.store import activity, served
from gwtui.embedded.store.table import to_day

PER_MINUTE = 20
_A_DAY = 50
_A_DAY_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)
_VARIANT = "free"


def daily_limit(total_credits: Decimal) -> int:
    """How many an account has on a UTC day; ``total_credits`` is all it ever bought, in USD."""
    return _A_DAY_OF_A_BUYER if total_credits >= _BUYER_CREDITS else _A_DAY


def used_today(db: sqlite3.Connection, now: datetime) -> int:
    """How many were used this UTC day. Own provider keys do not count."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    own = served.count_of_variant(db, _VARIANT, midnight, byok=True)
    return activity.requests_to_variant(db, to_day(now), _VARIANT) - own


def used_last_minute(db: sqlite3.Connection, now: datetime) -> int:
    """How many were served in the last minute, own provider keys left out."""
    return served.count_of_variant(db, _VARIANT, now - timedelta(minutes=1), byok=False)
