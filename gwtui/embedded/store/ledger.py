"""Books the usage of the simulated keys since the last request.

There is no background task. Usage is an exact function of time, so it is booked when a request
needs it, and only for keys that may spend: enabled, not expired, and without an exhausted budget.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.embedded.simulator.usage import UsageProfile, UsageSlice, accrual
from gwtui.embedded.store import account, generations, keys, usage
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.documents import KEYS, Document, in_list
from gwtui.embedded.store.keys import Cap, binding_of, caps_of
from gwtui.embedded.store.usage import Actor, first_day, to_day, to_micros, to_pico

_INTERVAL = timedelta(seconds=1)
"""Reads within this interval share one update."""

TOP_UP_BELOW = Decimal(25)
TOP_UP = Decimal(500)
"""The simulated account buys this amount (USD) when its balance is below the threshold."""


class UsageLedger:
    """Books usage in a database up to a moment."""

    def __init__(
        self, database: Database, profiles: Mapping[str, UsageProfile], booked_until: datetime
    ) -> None:
        self._database = database
        self._profiles = profiles
        self._booked_until = booked_until

    def catch_up(self, now: datetime, *, exactly: bool = False) -> None:
        """Book all usage up to ``now``; without ``exactly``, a second may be missing.

        If the clock was set back, nothing is booked until it catches up.
        """
        if now <= self._booked_until or not (exactly or now - self._booked_until >= _INTERVAL):
            return
        with self._database.write() as db:
            # Day by day, so that credits are bought when few are left.
            while (since := account.booked_until(db)) < now:
                midnight = since.replace(hour=0, minute=0, second=0, microsecond=0)
                self._book(db, since, min(now, midnight + timedelta(days=1)))
        self._booked_until = now

    def _book(self, db: sqlite3.Connection, since: datetime, now: datetime) -> None:
        requested = self._requested(db, since, now)
        if requested:
            for key, admitted in _admitted(db, requested):
                key_hash = key["hash"]
                usage.book(
                    db, Actor(key_hash, key["workspace_id"], key["creator_user_id"]), admitted
                )
                seed = self._profiles[key_hash].seed
                generations.store_simulated(db, seed, key, admitted)
                keys.use(db, key_hash, admitted[-1].moment)
            account.top_up(db, now, below=TOP_UP_BELOW, by=TOP_UP)
        usage.fold_old(db, to_day(now))
        generations.forget_old(db, now)
        account.change(db, booked_until=to_micros(now))

    def _requested(
        self, db: sqlite3.Connection, since: datetime, now: datetime
    ) -> list[tuple[UsageSlice, Document]]:
        # In a large account, simulated clients use very few of the keys.
        rows = KEYS.documents(
            db,
            f"{in_list('id')} AND workspace_id IS NOT NULL AND NOT disabled "
            "AND (expires IS NULL OR expires > ?) ORDER BY number",
            (json.dumps(list(self._profiles)), keys.sortable(since)),
        )
        requested = [
            (piece, key)
            for key in rows
            for piece in accrual(
                self._profiles[key["hash"]],
                since,
                min(now, datetime.fromisoformat(key["expires_at"]) if key["expires_at"] else now),
            )
        ]
        return sorted(requested, key=lambda pair: pair[0].moment)


class _Meter:
    """A budget during an update. The last admitted usage may exceed it."""

    def __init__(self, db: sqlite3.Connection, cap: Cap) -> None:
        self._db = db
        self._cap = cap
        self._limit = to_pico(cap.limit)
        self._window = -1
        self._spent = 0

    def admits(self, moment: datetime) -> bool:
        """Return whether anything is left at a moment; moments never decrease."""
        window = first_day(self._cap.reset_interval, moment)
        if window != self._window:
            self._window = window
            self._spent = self._cap.spent(self._db, moment)
        return self._spent < self._limit

    def count(self, piece: UsageSlice) -> None:
        """Count admitted usage."""
        self._spent += to_pico(piece.usd) + (
            to_pico(piece.byok_usd) if self._cap.include_byok else 0
        )


def _admitted(
    db: sqlite3.Connection, requested: list[tuple[UsageSlice, Document]]
) -> Iterable[tuple[Document, list[UsageSlice]]]:
    # Keys that share a budget spend it in order of time.
    meters: dict[Cap, _Meter] = {}
    of_key: dict[str, list[_Meter]] = {}
    admitted: dict[str, tuple[Document, list[UsageSlice]]] = {}
    for piece, key in requested:
        key_hash = key["hash"]
        if key_hash not in of_key:
            caps = caps_of(db, key, binding_of(db, key))
            of_key[key_hash] = [meters.setdefault(cap, _Meter(db, cap)) for cap in caps]
        if all(meter.admits(piece.moment) for meter in of_key[key_hash]):
            for meter in of_key[key_hash]:
                meter.count(piece)
            admitted.setdefault(key_hash, (key, []))[1].append(piece)
    return admitted.values()
