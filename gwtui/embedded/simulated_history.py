"""The simulated past: what this gateway would have answered before its first request.

The past is not stored. Usage is an exact function of time: the total of a key at a moment is its
booked days before, plus its part of that day, limited by the booked amount. Figures of endpoints
are functions of the moment anyway.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.domain.history_source import AccountTotals, KeyUsage
from gwtui.embedded.simulator.catalog import Catalog
from gwtui.embedded.simulator.endpoint_figures import live_figures
from gwtui.embedded.simulator.usage import UsageProfile, accrued
from gwtui.embedded.store import account
from gwtui.embedded.store.account import Account
from gwtui.embedded.store.documents import KEYS, Document
from gwtui.embedded.store.founding import Origin
from gwtui.embedded.store.usage import from_pico, to_day

_NOTHING = KeyUsage(Decimal(0), Decimal(0))


@dataclass(frozen=True)
class SimulatedHistory:
    """A ``HistorySource`` (``gwtui/domain``). It only computes, so any thread may use it."""

    origin: Origin
    profiles: Mapping[str, UsageProfile]
    catalog: Catalog
    present: Account
    booked: Mapping[str, Mapping[int, KeyUsage]]
    """Usage by key hash and UTC day; day 0 is everything earlier."""
    founded: Mapping[str, Document]
    """The existing keys that were created with the simulated account, by hash."""

    @classmethod
    def of(
        cls,
        db: sqlite3.Connection,
        origin: Origin,
        profiles: Mapping[str, UsageProfile],
        catalog: Catalog,
    ) -> SimulatedHistory:
        """Return the past according to the usage booked in the database."""
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
        """Return the credit totals at each moment, including keys that are deleted by now."""
        asked = [*moments, self.until]
        used = [Decimal(0)] * len(asked)
        for key_hash in self.profiles:
            for place, each in enumerate(self.spent(key_hash, asked) or ()):
                used[place] += each.usd
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
