"""Accrual: books what the keys used since the last time somebody looked.

Nothing runs in the background. Usage is an exact function of time, so it is booked when it is
asked for, and only for keys that may spend: enabled, not expired, limit not exhausted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.embedded.simulator import UsageProfile, UsageSlice, accrual
from gwtui.embedded.store import account, activity
from gwtui.embedded.store.columns import (
    from_decimal_text,
    from_micros_or_none,
    to_day,
    to_micros,
    to_pico,
)
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.usage import DayUsage, add_usage, window_days

_INTERVAL = timedelta(seconds=1)
"""Reads that follow each other faster than this share one booking."""

_TOP_UP_BELOW = Decimal(25)
_TOP_UP = Decimal(500)
"""The simulated account buys credits in USD when few are left, so that an old database lives on."""


class Ledger:
    """Books usage into a database up to a moment."""

    def __init__(
        self, database: Database, profiles: Mapping[str, UsageProfile], booked_until: datetime
    ) -> None:
        self._database = database
        self._profiles = profiles
        self._booked_until = booked_until

    def catch_up(self, now: datetime, *, exactly: bool = False) -> None:
        """Book everything up to ``now``, or to within a second of it when that is enough.

        A clock that went back books nothing until it has caught up.
        """
        if now <= self._booked_until or not (exactly or now - self._booked_until >= _INTERVAL):
            return
        with self._database.write(durable=False) as db:
            since = account.get(db).accrued_until
            usage = [day for meter in self._meters(db, since) for day in meter.run(now)]
            add_usage(db, usage)
            account.book(db, sum(day.usage_pico for day in usage), now)
            activity.forget(db, to_day(now))
            if usage:
                account.top_up(db, below=_TOP_UP_BELOW, by=_TOP_UP)
        self._booked_until = now

    def _meters(self, db: sqlite3.Connection, since: datetime) -> Iterator[_Meter]:
        rows = db.execute(
            "SELECT * FROM api_keys WHERE NOT is_management AND NOT disabled "
            "AND (expires_at IS NULL OR expires_at > ?)",
            (to_micros(since),),
        ).fetchall()
        for row in rows:
            profile = self._profiles.get(row["hash"])
            if profile is not None:
                yield _Meter(db, row, profile, since)


@dataclass
class _Meter:
    """One key while its usage is booked."""

    db: sqlite3.Connection
    row: sqlite3.Row
    profile: UsageProfile
    since: datetime

    def run(self, now: datetime) -> list[DayUsage]:
        """What the key used by day, up to its expiry or the exhaustion of its limit."""
        expires_at = from_micros_or_none(self.row["expires_at"])
        until = now if expires_at is None else min(now, expires_at)
        slices = accrual(self.profile, self.since, until)
        admitted = list(self._admitted(slices)) if slices else []
        if admitted:
            self.db.execute(
                "UPDATE api_keys SET last_used_at = ? WHERE id = ?",
                (to_micros(admitted[-1].moment), self.row["id"]),
            )
            activity.book(self.db, self._actor, admitted)
        return _by_day(self.row["id"], admitted)

    @property
    def _actor(self) -> activity.Actor:
        row = self.row
        return activity.Actor(row["hash"], row["workspace_id"], row["creator_user_id"])

    def _admitted(self, slices: list[UsageSlice]) -> Iterator[UsageSlice]:
        limit = from_decimal_text(self.row["limit_usd"])
        if limit is None:
            yield from slices
            return
        reset, with_byok = self.row["limit_reset"], bool(self.row["include_byok_in_limit"])
        window, spent = -1, 0
        for piece in slices:
            start = 0 if reset is None else window_days(piece.moment)[reset]
            if start != window:
                window, spent = start, self._booked(start, reset, with_byok=with_byok)
            if spent >= to_pico(limit):
                continue
            spent += to_pico(piece.usd) + (to_pico(piece.byok_usd) if with_byok else 0)
            yield piece

    def _booked(self, start: int, reset: str | None, *, with_byok: bool) -> int:
        """Pico-USD already booked in the window that starts on a day."""
        if reset is None:
            usage, byok = self.row["usage_pico"], self.row["byok_usage_pico"]
        else:
            usage, byok = self.db.execute(
                "SELECT coalesce(sum(usage_pico), 0), coalesce(sum(byok_usage_pico), 0) "
                "FROM usage_days WHERE key_id = ? AND day >= ?",
                (self.row["id"], start),
            ).fetchone()
        return int(usage) + (int(byok) if with_byok else 0)


def _by_day(key_id: int, slices: list[UsageSlice]) -> list[DayUsage]:
    days: dict[int, list[int]] = {}
    for piece in slices:
        sums = days.setdefault(to_day(piece.moment), [0, 0, 0])
        sums[0] += to_pico(piece.usd)
        sums[1] += to_pico(piece.byok_usd)
        sums[2] += piece.requests
    return [DayUsage(key_id, day, *sums) for day, sums in days.items()]
