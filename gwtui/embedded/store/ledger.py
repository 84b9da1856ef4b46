"""The usage of the simulated keys: booked since the last request, and computed for the past.

There is no background task. Usage is an exact function of time, so it is booked when a request
needs it, and only for keys that may spend: enabled, not expired, and without an exhausted budget.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.domain.history_source import AccountTotals, KeyUsage
from gwtui.embedded.simulator.catalog import Catalog, live_figures
from gwtui.embedded.simulator.usage import UsageProfile, UsageSlice, accrual, accrued
from gwtui.embedded.store import account, generations, keys
from gwtui.embedded.store.account import (
    Account,
    Actor,
    from_pico,
    to_day,
    to_micros,
    to_pico,
)
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.documents import KEYS, Document, in_list
from gwtui.embedded.store.founding import Origin
from gwtui.embedded.store.keys import Cap, binding_of, caps_of

_INTERVAL = timedelta(seconds=1)
"""Interval within which usage is booked at most once, unless ``exactly``."""

TOP_UP_BELOW = Decimal(25)
TOP_UP = Decimal(500)
"""The simulated account buys this amount (USD) when its balance is below the threshold."""


class UsageLedger:
    """Books the usage of the simulated keys in a database."""

    def __init__(self, database: Database, profiles: Mapping[str, UsageProfile]) -> None:
        self._database = database
        self._profiles = profiles
        with database.read() as db:
            self._booked_until = account.booked_until(db)

    def catch_up(self, now: datetime, *, exactly: bool = False) -> None:
        """Book all usage up to ``now``; without ``exactly``, the last second may be missing.

        Does nothing if usage is already booked beyond ``now``, because the clock was set back.
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
        # ``now`` is at most the end of the UTC day, so no budget is reset in between. Keys that
        # share a budget spend it in order of time. The last usage may exceed it.
        caps: dict[str, list[Cap]] = {}
        left: dict[Cap, int] = {}
        for piece, key in self._requested(db, since, now):
            key_hash = key["hash"]
            if key_hash not in caps:
                caps[key_hash] = list(caps_of(db, key, binding_of(db, key)))
                for cap in caps[key_hash]:
                    left.setdefault(cap, to_pico(cap.limit) - cap.spent(db, since))
            if all(left[cap] > 0 for cap in caps[key_hash]):
                for cap in caps[key_hash]:
                    counted = piece.usd + (piece.byok_usd if cap.include_byok else 0)
                    left[cap] -= to_pico(counted)
                actor = Actor(key_hash, key["workspace_id"], key["creator_user_id"])
                account.book(db, actor, [piece])
                keys.record_use(db, key_hash, piece.moment)
        if self._profiles:
            account.top_up(db, now, below=TOP_UP_BELOW, by=TOP_UP)
        account.fold_old(db, to_day(now))
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


# The past ---------------------------------------------------------------------------------------
#
# The past is not stored: the total of a key at a moment is its booked days before, plus its part of
# that day, limited by the booked amount. Figures of endpoints are functions of the moment anyway.

_NOTHING = KeyUsage(Decimal(0), Decimal(0))


@dataclass(frozen=True)
class SimulatedHistory:
    """The ``HistorySource`` of the demo. Reads no database, so any thread may use it."""

    origin: Origin
    profiles: Mapping[str, UsageProfile]
    catalog: Catalog
    present: Account
    booked: Mapping[str, Mapping[int, KeyUsage]]
    """Key hash -> UTC day as ordinal -> usage; day 0 holds all earlier usage."""
    founded: Mapping[str, Document]
    """Key hash -> document of the initial keys that still exist."""

    @classmethod
    def of(
        cls,
        db: sqlite3.Connection,
        origin: Origin,
        profiles: Mapping[str, UsageProfile],
        catalog: Catalog,
    ) -> SimulatedHistory:
        """Read from the database what the simulated history is computed from."""
        booked: dict[str, dict[int, KeyUsage]] = {}
        for key_hash, day, usage, byok in db.execute(
            "SELECT key_hash, day, sum(usage_pico), sum(byok_usage_pico) FROM usage "
            "GROUP BY key_hash, day"
        ):
            used = KeyUsage(from_pico(usage), from_pico(byok))
            booked.setdefault(key_hash, {})[day] = used
        founded = {
            key["hash"]: key
            for key in KEYS.documents(db, "workspace_id IS NOT NULL")
            if datetime.fromisoformat(key["created_at"]) < origin.moment
        }
        return cls(origin, profiles, catalog, account.get(db), booked, founded)

    @property
    def until(self) -> datetime:
        """The moment up to which usage is booked."""
        return self.present.booked_until

    def spent(self, key_hash: str, moments: Sequence[datetime]) -> Sequence[KeyUsage] | None:
        """Return a key's total usage at each moment; None for a key that is not simulated."""
        profile, days = self.profiles.get(key_hash), self.booked.get(key_hash, {})
        if profile is not None:
            return [_used_until(profile, days, min(moment, self.until)) for moment in moments]
        return [_NOTHING] * len(moments) if key_hash in self.founded else None

    def account(self, moments: Sequence[datetime]) -> Sequence[AccountTotals]:
        """Return purchases and usage at each moment, including that of deleted keys."""
        asked = [*moments, self.until]
        used = [Decimal(0)] * len(asked)
        for key_hash in self.profiles:
            for place, spending in enumerate(self.spent(key_hash, asked) or ()):
                used[place] += spending.usd
        others = self.present.total_usage - used.pop()
        return [
            AccountTotals(
                sum((amount for at, amount in self.present.purchases if at <= moment), Decimal(0)),
                others + simulated,
            )
            for moment, simulated in zip(moments, used, strict=True)
        ]

    def disabled_at(self, key_hash: str) -> datetime | None:
        """Return when a key was disabled; None unless that was before the account was created."""
        key = self.founded.get(key_hash)
        if key is None or not key["disabled"] or key["updated_at"] is None:
            return None
        changed = datetime.fromisoformat(key["updated_at"])
        return changed if changed < self.origin.moment else None

    def figures(
        self, model_id: str, tag: str, moments: Sequence[datetime]
    ) -> Sequence[Mapping[str, Any]] | None:
        """Return the live figures of an endpoint at each moment; None if it does not exist."""
        key = f"{model_id}|{tag}"
        try:
            return [live_figures(self.catalog, key, moment) for moment in moments]
        except KeyError:
            return None


def _used_until(profile: UsageProfile, days: Mapping[int, KeyUsage], moment: datetime) -> KeyUsage:
    today = to_day(moment)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    part, whole = accrued(profile, midnight, moment), days.get(today, _NOTHING)
    before = [used for day, used in days.items() if day < today]
    return KeyUsage(
        sum((used.usd for used in before), min(part.usd, whole.usd)),
        sum((used.byok_usd for used in before), min(part.byok_usd, whole.byok_usd)),
    )
