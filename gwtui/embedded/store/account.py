"""The account: who owns it, what was bought, what is used, and the gateway's settings."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from gwtui.embedded.store.columns import (
    from_micros,
    from_pico,
    to_decimal_text,
    to_micros,
    to_pico,
)


@dataclass(frozen=True, slots=True)
class Account:
    """The one account of this gateway. Amounts are USD."""

    organization_id: str | None
    owner_user_id: str
    total_credits: Decimal
    total_usage: Decimal
    accrued_until: datetime
    """The moment up to which usage is booked."""


def find(db: sqlite3.Connection) -> Account | None:
    """The account, None in a database that was not founded yet."""
    row = db.execute("SELECT * FROM account").fetchone()
    if row is None:
        return None
    return Account(
        organization_id=row["organization_id"],
        owner_user_id=row["owner_user_id"],
        total_credits=Decimal(row["credits_usd"]),
        total_usage=from_pico(row["usage_pico"]),
        accrued_until=from_micros(row["accrued_until"]),
    )


def get(db: sqlite3.Connection) -> Account:
    """The account of a founded database. Raises LookupError before that."""
    account = find(db)
    if account is None:
        raise LookupError("the database has no account yet")
    return account


def add(db: sqlite3.Connection, account: Account) -> None:
    """Found the account."""
    db.execute(
        "INSERT INTO account VALUES (1, ?, ?, ?, ?, ?)",
        (
            account.organization_id,
            account.owner_user_id,
            to_decimal_text(account.total_credits),
            to_pico(account.total_usage),
            to_micros(account.accrued_until),
        ),
    )


def book(db: sqlite3.Connection, usage_pico: int, until: datetime) -> None:
    """Add used credits and move the moment up to which usage is booked."""
    db.execute(
        "UPDATE account SET usage_pico = usage_pico + ?, accrued_until = ?",
        (usage_pico, to_micros(until)),
    )


def top_up(db: sqlite3.Connection, *, below: Decimal, by: Decimal) -> None:
    """Buy credits in steps of ``by`` USD until at least ``below`` are left."""
    found = get(db)
    missing = below - (found.total_credits - found.total_usage)
    if missing > 0:
        steps = (missing / by).to_integral_value(ROUND_CEILING)
        db.execute(
            "UPDATE account SET credits_usd = ?",
            (to_decimal_text(found.total_credits + steps * by),),
        )


def setting(db: sqlite3.Connection, name: str) -> str | None:
    """A setting of the gateway itself, None when it was never written."""
    row = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row["value"])


def remember(db: sqlite3.Connection, name: str, value: str) -> None:
    """Write a setting."""
    db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
