"""Usage per key and UTC day, summed into the windows of the contract."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache

from gwtui.domain.resets import window_start
from gwtui.embedded.store.table import from_pico, to_day, to_pico
from gwtui.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Spend:
    """USD used: credits, and what ran on the customer's own provider keys."""

    usd: Decimal = Decimal(0)
    byok_usd: Decimal = Decimal(0)

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.usd + other.usd, self.byok_usd + other.byok_usd)

    def counted(self, *, include_byok: bool) -> Decimal:
        """What counts against a limit."""
        return self.usd + self.byok_usd if include_byok else self.usd


@dataclass(frozen=True, slots=True)
class UsageWindows:
    """A key's usage, all time and in the UTC periods that contain one moment."""

    all_time: Spend = Spend()
    daily: Spend = Spend()
    weekly: Spend = Spend()
    monthly: Spend = Spend()

    def of(self, reset: str | None) -> Spend:
        """The window that a reset schedule counts; all time for a limit that never resets."""
        windows = {"daily": self.daily, "weekly": self.weekly, "monthly": self.monthly}
        return windows[reset] if reset is not None else self.all_time


def window_days(now: datetime) -> Mapping[str, int]:
    """The first day of each period that contains ``now``."""
    return _window_days(to_day(now))


@lru_cache(maxsize=1)
def _window_days(day: int) -> Mapping[str, int]:
    noon = datetime.combine(date.fromordinal(day), time(12), UTC)
    starts = {reset: window_start(reset, noon) for reset in ("daily", "weekly", "monthly")}
    return {reset: to_day(start) for reset, start in starts.items() if start is not None}


PeriodSums = tuple[int, int, int, int, int, int]
"""Pico-USD of credits used today, this week and this month, then the same of BYOK usage."""

NOTHING_USED: PeriodSums = (0, 0, 0, 0, 0, 0)

_SUMS = """
    SELECT key_id,
        sum(CASE WHEN day >= :daily THEN usage_pico ELSE 0 END),
        sum(CASE WHEN day >= :weekly THEN usage_pico ELSE 0 END),
        sum(CASE WHEN day >= :monthly THEN usage_pico ELSE 0 END),
        sum(CASE WHEN day >= :daily THEN byok_usage_pico ELSE 0 END),
        sum(CASE WHEN day >= :weekly THEN byok_usage_pico ELSE 0 END),
        sum(CASE WHEN day >= :monthly THEN byok_usage_pico ELSE 0 END)
    FROM usage_days
    WHERE key_id IN (SELECT value FROM json_each(:keys)) AND day BETWEEN :earliest AND :daily
    GROUP BY key_id
"""


def period_sums(
    db: sqlite3.Connection, key_ids: Iterable[int], now: datetime
) -> dict[int, PeriodSums]:
    """What keys used in the periods that contain ``now``, by key id; without those that did not."""
    days = window_days(now)
    parameters = {**days, "earliest": min(days.values()), "keys": _json_list(key_ids)}
    cursor = db.cursor()
    cursor.row_factory = None
    return {key_id: tuple(sums) for key_id, *sums in cursor.execute(_SUMS, parameters)}


def windows_of(
    db: sqlite3.Connection, totals: Mapping[int, tuple[int, int]], now: datetime
) -> dict[int, UsageWindows]:
    """Usage windows by key id, for keys given with their all-time pico-USD (credits, BYOK)."""
    periods = period_sums(db, totals, now)
    return {
        key_id: _windows(*total, *periods.get(key_id, NOTHING_USED))
        for key_id, total in totals.items()
    }


def _windows(*pico: int) -> UsageWindows:
    usage, byok, daily, weekly, monthly, byok_daily, byok_weekly, byok_monthly = map(
        from_pico, pico
    )
    return UsageWindows(
        Spend(usage, byok),
        Spend(daily, byok_daily),
        Spend(weekly, byok_weekly),
        Spend(monthly, byok_monthly),
    )


def of_member(
    db: sqlite3.Connection, user_id: str, now: datetime, *, workspace_id: str | None = None
) -> UsageWindows:
    """What a member's keys used together, in one workspace or in all of them."""
    rows = db.execute(
        "SELECT id, usage_pico, byok_usage_pico FROM api_keys "
        "WHERE creator_user_id = ?1 AND (?2 IS NULL OR workspace_id = ?2)",
        (user_id, workspace_id),
    )
    totals = {row["id"]: (row["usage_pico"], row["byok_usage_pico"]) for row in rows}
    found = windows_of(db, totals, now).values()
    return UsageWindows(
        **{
            name: sum((getattr(windows, name) for windows in found), Spend())
            for name in ("all_time", "daily", "weekly", "monthly")
        }
    )


def of_key_since(db: sqlite3.Connection, key_id: int, first_day: int) -> tuple[int, int]:
    """Pico-USD (credits, BYOK) that a key used from a day on; day 0 is all time."""
    return _since(db, first_day, "id = ?", (key_id,))


def of_member_since(
    db: sqlite3.Connection, user_id: str, workspace_id: str | None, first_day: int
) -> tuple[int, int]:
    """As ``of_key_since`` for all keys of a member together, in one workspace or everywhere."""
    whose = "creator_user_id = ?1 AND (?2 IS NULL OR workspace_id = ?2)"
    return _since(db, first_day, whose, (user_id, workspace_id))


def _since(
    db: sqlite3.Connection, first_day: int, whose: str, values: tuple[int | str | None, ...]
) -> tuple[int, int]:
    found = f"SELECT id, usage_pico, byok_usage_pico FROM api_keys WHERE {whose}"  # noqa: S608 - words of the callers above
    if first_day != _EARLIER:
        found = (
            f"SELECT d.usage_pico, d.byok_usage_pico FROM ({found}) k "  # noqa: S608 - as above
            f"JOIN usage_days d ON d.key_id = k.id WHERE d.day >= {first_day:d}"
        )
    usage, byok = db.execute(
        f"SELECT coalesce(sum(usage_pico), 0), coalesce(sum(byok_usage_pico), 0) FROM ({found})",  # noqa: S608 - as above
        values,
    ).fetchone()
    return int(usage), int(byok)


def byok_since(db: sqlite3.Connection, first_day: int) -> int:
    """Pico-USD of list price that all keys used on own provider keys from a day on."""
    (total,) = db.execute(
        "SELECT coalesce(sum(byok_usage_pico), 0) FROM usage_days WHERE day >= ?", (first_day,)
    ).fetchone()
    return int(total)


def _json_list(numbers: Iterable[int]) -> str:
    return "[" + ",".join(map(str, numbers)) + "]"


@dataclass(frozen=True, slots=True)
class DayUsage:
    """What one key used on one UTC day, in pico-USD."""

    key_id: int
    day: int
    usage_pico: int
    byok_usage_pico: int
    requests: int


_EARLIER = 0
"""The day that stands for all those before the ones that are counted one by one."""


def add_usage(db: sqlite3.Connection, usage: Sequence[DayUsage]) -> None:
    """Add to the days, to the keys' totals and to what their workspaces spent."""
    db.executemany(
        """
        INSERT INTO usage_days (key_id, day, usage_pico, byok_usage_pico, requests)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (key_id, day) DO UPDATE SET
            usage_pico = usage_pico + excluded.usage_pico,
            byok_usage_pico = byok_usage_pico + excluded.byok_usage_pico,
            requests = requests + excluded.requests
        """,
        [(u.key_id, u.day, u.usage_pico, u.byok_usage_pico, u.requests) for u in usage],
    )
    for used in usage:
        _add_totals(db, used.key_id, used.day, used.usage_pico, used.byok_usage_pico)


def add_earlier_usage(db: sqlite3.Connection, key_id: int, usage: Spend) -> None:
    """Add what a key used before the days that are counted one by one."""
    _add_totals(db, key_id, _EARLIER, to_pico(usage.usd), to_pico(usage.byok_usd))


def _add_totals(db: sqlite3.Connection, key_id: int, day: int, usage: int, byok: int) -> None:
    db.execute(
        "UPDATE api_keys SET usage_pico = usage_pico + ?, byok_usage_pico = byok_usage_pico + ? "
        "WHERE id = ?",
        (usage, byok, key_id),
    )
    db.execute(
        """
        INSERT INTO workspace_usage_days
        SELECT workspace_id, ?, ?, ? FROM api_keys WHERE id = ? AND workspace_id IS NOT NULL
        ON CONFLICT (workspace_id, day) DO UPDATE SET
            usage_pico = usage_pico + excluded.usage_pico,
            byok_usage_pico = byok_usage_pico + excluded.byok_usage_pico
        """,
        (day, usage, byok, key_id),
    )
