"""The account: its settings, credits, and the usage of each key at each endpoint on each UTC day.

Amounts are whole pico-USD, so the database adds them up exactly. Usage remains when its key or
workspace is deleted: it is the account's history. See sections 1, 3 and 8 of the extended contract.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

from gwtui.domain.times import window_start
from gwtui.embedded.simulator.usage import UsageSlice

DAYS_KEPT = 40
"""Number of days whose usage is kept day by day, for the activity and monthly limits."""
EARLIER = 0
"""The day under which all usage before these days is stored, added up."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PICO_DIGITS = 12
_RESETS = (None, "daily", "weekly", "monthly")


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970, UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """Return the moment at these microseconds since 1970."""
    return _EPOCH + value * _MICROSECOND


def to_day(moment: datetime) -> int:
    """Return the UTC day of a moment as an ordinal."""
    return moment.astimezone(UTC).toordinal()


def to_pico(usd: Decimal) -> int:
    """Return an amount of USD in pico-USD, rounded down."""
    return int(usd.scaleb(_PICO_DIGITS))


def from_pico(value: int) -> Decimal:
    """Return an amount of pico-USD in USD, exactly."""
    return Decimal(value).scaleb(-_PICO_DIGITS)


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
    """Return the moment up to which simulated usage is booked."""
    return from_micros(setting(db, "booked_until"))


def get(db: sqlite3.Connection) -> Account:
    """Read the account of the database."""
    return Account(
        setting(db, "organization_id"),
        setting(db, "owner_user_id"),
        tuple((from_micros(at), from_pico(pico)) for at, pico in setting(db, "purchases")),
        from_pico(setting(db, "usage_pico")),
        booked_until(db),
    )


def buy(db: sqlite3.Connection, moment: datetime, usd: Decimal) -> None:
    """Record a purchase of credits."""
    bought = [to_micros(moment), to_pico(usd)]
    change(db, purchases=[*setting(db, "purchases"), bought])


def top_up(db: sqlite3.Connection, moment: datetime, *, below: Decimal, by: Decimal) -> None:
    """Buy credits in steps of ``by`` USD until at least ``below`` USD are left."""
    present = get(db)
    missing = below - (present.total_credits - present.total_usage)
    if missing > 0:
        buy(db, moment, (missing / by).to_integral_value(ROUND_CEILING) * by)


# Usage ------------------------------------------------------------------------------------------


class Actor(NamedTuple):
    """The key, workspace and user that requests are charged to."""

    key_hash: str
    workspace_id: str
    user_id: str | None


Whose = tuple[str, tuple[str | None, ...]]
"""An SQL condition that selects usage rows, with its values."""


def of_member(user_id: str, workspace_id: str | None) -> Whose:
    """Select the usage of a member's existing keys; None selects all workspaces."""
    keys = "SELECT id FROM keys WHERE creator_user_id = ?1 AND (?2 IS NULL OR workspace_id = ?2)"
    return f"key_hash IN ({keys})", (user_id, workspace_id)


def first_day(reset: str | None, moment: datetime) -> int:
    """Return the first day of a limit's window at a moment; ``EARLIER`` if it never resets."""
    start = window_start(reset, moment)
    return EARLIER if start is None else to_day(start)


def spent_since(db: sqlite3.Connection, whose: Whose, day: int, *, include_byok: bool) -> int:
    """Return the credits spent from a day on, in pico-USD, optionally with BYOK usage."""
    amount = "usage_pico + byok_usage_pico" if include_byok else "usage_pico"
    condition, values = whose
    (total,) = db.execute(
        f"SELECT coalesce(sum({amount}), 0) FROM usage WHERE {condition} AND day >= {day:d}",
        values,
    ).fetchone()
    return int(total)


def byok_since(db: sqlite3.Connection, day: int) -> int:
    """Return the list price of the account's BYOK usage from a day on, in pico-USD."""
    (total,) = db.execute(
        "SELECT coalesce(sum(byok_usage_pico), 0) FROM usage WHERE day >= ?", (day,)
    ).fetchone()
    return int(total)


Sums = Sequence[int]
"""Usage in pico-USD: in total, today, this week and this month; then the same four for BYOK."""


def sums_sql(now: datetime) -> str:
    """Return the SQL expressions for ``Sums``, for a SELECT that groups rows of ``usage``."""
    today, end = to_day(now), date.max.toordinal()
    windows = [(first_day(reset, now), today if reset else end) for reset in _RESETS]
    return ", ".join(
        f"coalesce(sum({amount}) FILTER (WHERE day BETWEEN {first} AND {last}), 0)"
        for amount in ("usage_pico", "byok_usage_pico")
        for first, last in windows
    )


_ADD = """
    INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key_hash, day, workspace_id, endpoint_key) DO UPDATE SET
        user_id = excluded.user_id,
        requests = requests + excluded.requests,
        usage_pico = usage_pico + excluded.usage_pico,
        byok_usage_pico = byok_usage_pico + excluded.byok_usage_pico,
        prompt_tokens = prompt_tokens + excluded.prompt_tokens,
        completion_tokens = completion_tokens + excluded.completion_tokens
"""


def book(db: sqlite3.Connection, actor: Actor, slices: Sequence[UsageSlice]) -> None:
    """Add usage to that of a key, and to the account's total."""
    rows = [
        (
            actor.key_hash,
            to_day(piece.moment),
            actor.workspace_id,
            piece.endpoint_key,
            actor.user_id,
            piece.requests,
            to_pico(piece.usd),
            to_pico(piece.byok_usd),
            piece.prompt_tokens,
            piece.completion_tokens,
        )
        for piece in slices
    ]
    db.executemany(_ADD, rows)
    credits = sum(to_pico(piece.usd) for piece in slices)
    db.execute("UPDATE settings SET value = value + ? WHERE name = 'usage_pico'", (credits,))


def fold_old(db: sqlite3.Connection, today: int) -> None:
    """Move usage older than ``DAYS_KEPT`` to the day ``EARLIER``, added up."""
    oldest = today - DAYS_KEPT
    old = db.execute(
        "SELECT key_hash, ?, workspace_id, '', max(user_id), sum(requests), sum(usage_pico), "
        "sum(byok_usage_pico), 0, 0 FROM usage WHERE day > ? AND day < ? "
        "GROUP BY key_hash, workspace_id",
        (EARLIER, EARLIER, oldest),
    ).fetchall()
    db.executemany(_ADD, [tuple(row) for row in old])
    db.execute("DELETE FROM usage WHERE day > ? AND day < ?", (EARLIER, oldest))


def activity(
    db: sqlite3.Connection,
    days: tuple[int, int],
    *,
    key_hash: str | None,
    user_id: str | None,
    workspace_id: str | None,
    by_workspace: bool,
) -> list[dict[str, Any]]:
    """Return requests by endpoint and day, from the first to the last of two days.

    The newest day comes first, then the most expensive endpoint. None selects any key, user or
    workspace; ``by_workspace`` splits each row by workspace.
    """
    names = (
        *("day", "endpoint_key", "workspace_id", "requests", "usage_pico", "byok_usage_pico"),
        *("prompt_tokens", "completion_tokens"),
    )
    rows = db.execute(
        f"""
        SELECT day, endpoint_key, {"workspace_id" if by_workspace else "NULL"} AS workspace,
            sum(requests), sum(usage_pico) AS credits, sum(byok_usage_pico) AS byok,
            sum(prompt_tokens), sum(completion_tokens)
        FROM usage
        WHERE day BETWEEN ? AND ? AND (?3 IS NULL OR key_hash = ?3)
            AND (?4 IS NULL OR user_id = ?4) AND (?5 IS NULL OR workspace_id = ?5)
        GROUP BY day, endpoint_key, workspace
        ORDER BY day DESC, credits + byok DESC, endpoint_key, workspace
        """,
        (*days, key_hash, user_id, workspace_id),
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def has_used(db: sqlite3.Connection, key_hash: str, day: int) -> bool:
    """Return whether a key was used on this day or later."""
    row = db.execute("SELECT 1 FROM usage WHERE key_hash = ? AND day >= ?", (key_hash, day))
    return row.fetchone() is not None


def requests_to_variant(db: sqlite3.Connection, day: int, variant: str) -> int:
    """Return the number of requests on a day to models of a variant, such as ``free``."""
    (total,) = db.execute(
        "SELECT coalesce(sum(requests), 0) FROM usage WHERE day = ? AND instr(endpoint_key, ?)",
        (day, f":{variant}|"),
    ).fetchone()
    return int(total)
