"""Accrual: books what the keys used since the last time somebody looked.

Nothing runs in the background. Usage is an exact function of time, so it is booked when it is
asked for, and only for keys that may spend: enabled, not expired, and no cap that binds them
exhausted: their own limit, a budget of their workspace, or the cap of a guardrail.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.embedded.errors import DatabaseBusyError
from gwtui.embedded.simulator import UsageProfile, UsageSlice, accrual
from gwtui.embedded.store import account, activity
from gwtui.embedded.store.allowances import Allowance
from gwtui.embedded.store.caps import Caps
from gwtui.embedded.store.columns import (
    from_micros_or_none,
    to_day,
    to_micros,
    to_pico,
)
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.usage import DayUsage, add_usage

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

        A clock that went back books nothing until it has caught up. Raises DatabaseBusyError when
        ``exactly`` is not possible now.
        """
        if now <= self._booked_until or not (exactly or now - self._booked_until >= _INTERVAL):
            return
        try:
            self._book(now)
        except DatabaseBusyError:
            # Another process is writing. Who only reads sees what is booked so far.
            if exactly:
                raise

    def _book(self, now: datetime) -> None:
        with self._database.write(durable=False, patience=0) as db:
            usage = self._used(db, account.get(db).accrued_until, now)
            add_usage(db, usage)
            account.book(db, sum(day.usage_pico for day in usage), now)
            activity.forget(db, to_day(now))
            if usage:
                account.top_up(db, below=_TOP_UP_BELOW, by=_TOP_UP)
        self._booked_until = now

    def _used(self, db: sqlite3.Connection, since: datetime, now: datetime) -> list[DayUsage]:
        """What was used by key and day. Keys that share a cap use it up in order of time."""
        meters = list(self._meters(db, since))
        asked = [(used, meter) for meter in meters for used in meter.asked(since, now)]
        for used, meter in sorted(asked, key=lambda pair: pair[0].moment):
            meter.offer(used)
        return [day for meter in meters for day in meter.close(db)]

    def _meters(self, db: sqlite3.Connection, since: datetime) -> Iterator[_Meter]:
        rows = db.execute(
            "SELECT * FROM api_keys WHERE NOT is_management AND NOT disabled "
            "AND (expires_at IS NULL OR expires_at > ?)",
            (to_micros(since),),
        ).fetchall()
        caps = Caps(db)
        for row in rows:
            profile = self._profiles.get(row["hash"])
            if profile is not None:
                yield _Meter(row, profile, caps.of(row))


@dataclass
class _Meter:
    """One key while its usage is booked."""

    row: sqlite3.Row
    profile: UsageProfile
    allowances: Sequence[Allowance]
    admitted: list[UsageSlice] = field(default_factory=list)

    def asked(self, since: datetime, now: datetime) -> list[UsageSlice]:
        """What the key's clients asked for, up to its expiry."""
        expires_at = from_micros_or_none(self.row["expires_at"])
        return accrual(self.profile, since, now if expires_at is None else min(now, expires_at))

    def offer(self, used: UsageSlice) -> None:
        """Let a request through unless a cap is exhausted."""
        if all(allowance.admits(used.moment) for allowance in self.allowances):
            for allowance in self.allowances:
                allowance.count(used)
            self.admitted.append(used)

    def close(self, db: sqlite3.Connection) -> list[DayUsage]:
        """Note what was let through; the sums by day are for the caller to book."""
        if not self.admitted:
            return []
        row = self.row
        db.execute(
            "UPDATE api_keys SET last_used_at = ? WHERE id = ?",
            (to_micros(self.admitted[-1].moment), row["id"]),
        )
        actor = activity.Actor(row["hash"], row["workspace_id"], row["creator_user_id"])
        activity.book(db, actor, self.admitted)
        return _by_day(row["id"], self.admitted)


def _by_day(key_id: int, slices: list[UsageSlice]) -> list[DayUsage]:
    days: dict[int, list[int]] = {}
    for piece in slices:
        sums = days.setdefault(to_day(piece.moment), [0, 0, 0])
        sums[0] += to_pico(piece.usd)
        sums[1] += to_pico(piece.byok_usd)
        sums[2] += piece.requests
    return [DayUsage(key_id, day, *sums) for day, sums in days.items()]
