"""The account: who owns it, what was bought, what is used, and the gateway's settings."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from gwtui.embedded.store.table import MONEY_USED, Table, to_micros
from gwtui.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The one account of this gateway. Amounts are USD."""

    organization_id: str | None
    owner_user_id: str
    total_credits: Decimal
    total_usage: Decimal
    accrued_until: datetime
    """The moment up to which usage is booked."""


ACCOUNT = Table(
    "account",
    Account,
    renamed={"total_credits": "credits_usd", "total_usage": "usage_pico"},
    codecs={"total_usage": MONEY_USED},
)


def find(db: sqlite3.Connection) -> Account | None:
    """The account, None in a database that is still empty."""
    return ACCOUNT.find(db, "1")


def get(db: sqlite3.Connection) -> Account:
    """The account. Raises LookupError in a database that is still empty."""
    account = find(db)
    if account is None:
        raise LookupError("the database has no account yet")
    return account


def add(db: sqlite3.Connection, account: Account) -> None:
    """Store the account of a new database."""
    ACCOUNT.insert(db, account, id=1)


def book(db: sqlite3.Connection, usage_pico: int, until: datetime) -> None:
    """Add used credits and move the moment up to which usage is booked."""
    db.execute(
        "UPDATE account SET usage_pico = usage_pico + ?, accrued_until = ?",
        (usage_pico, to_micros(until)),
    )


def spend(db: sqlite3.Connection, usage_pico: int) -> None:
    """Add credits that one request used."""
    db.execute("UPDATE account SET usage_pico = usage_pico + ?", (usage_pico,))


def top_up(db: sqlite3.Connection, *, below: Decimal, by: Decimal) -> None:
    """Buy credits in steps of ``by`` USD until at least ``below`` are left."""
    found = get(db)
    missing = below - (found.total_credits - found.total_usage)
    if missing > 0:
        steps = (missing / by).to_integral_value(ROUND_CEILING)
        ACCOUNT.update(db, {"total_credits": found.total_credits + steps * by}, "1")


def setting(db: sqlite3.Connection, name: str) -> str | None:
    """A setting of the gateway itself, None when it was never written."""
    row = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row["value"])


def change_setting(db: sqlite3.Connection, name: str, value: str) -> None:
    """Write a setting."""
    db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
