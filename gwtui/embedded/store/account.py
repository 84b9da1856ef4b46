"""The account and the settings of the gateway: names with JSON values."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

from gwtui.embedded.store import usage
from gwtui.embedded.store.usage import from_micros, from_pico, to_micros


class Account(NamedTuple):
    """The only account of this gateway. Amounts are USD."""

    organization_id: str | None
    owner_user_id: str
    purchases: tuple[tuple[datetime, Decimal], ...]
    """Time and amount of each purchase of credits, oldest first."""
    total_usage: Decimal
    booked_until: datetime

    @property
    def total_credits(self) -> Decimal:
        """Total purchased credits."""
        return sum((amount for _, amount in self.purchases), Decimal(0))


def setting(db: sqlite3.Connection, name: str) -> Any:
    """Return a setting; None if it was never written."""
    row = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else json.loads(row[0])


def change(db: sqlite3.Connection, **settings: Any) -> None:
    """Write settings. ``purchases`` are pairs of microseconds since 1970 and pico-USD."""
    rows = [(name, json.dumps(value)) for name, value in settings.items()]
    db.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows)


def is_founded(db: sqlite3.Connection) -> bool:
    """Return whether the database has an account yet."""
    return setting(db, "owner_user_id") is not None


def booked_until(db: sqlite3.Connection) -> datetime:
    """Return the moment up to which simulated usage is recorded."""
    return from_micros(setting(db, "booked_until"))


def get(db: sqlite3.Connection) -> Account:
    """Return the account in the database."""
    return Account(
        setting(db, "organization_id"),
        setting(db, "owner_user_id"),
        tuple((from_micros(at), from_pico(pico)) for at, pico in setting(db, "purchases")),
        from_pico(setting(db, "usage_pico")),
        booked_until(db),
    )


def buy(db: sqlite3.Connection, moment: datetime, usd: Decimal) -> None:
    """Record a purchase of credits."""
    bought = [to_micros(moment), usage.to_pico(usd)]
    change(db, purchases=[*setting(db, "purchases"), bought])


def top_up(db: sqlite3.Connection, moment: datetime, *, below: Decimal, by: Decimal) -> None:
    """Buy credits in steps of ``by`` USD until at least ``below`` USD are left."""
    present = get(db)
    missing = below - (present.total_credits - present.total_usage)
    if missing > 0:
        buy(db, moment, (missing / by).to_integral_value(ROUND_CEILING) * by)
