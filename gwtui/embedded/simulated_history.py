"""The past of the simulated world: what this gateway would have answered before it was asked.

Nothing of it is stored. Use is an exact function of time, so the sum of a key at a moment is its
sum now less what it used since; of a day that is booked, no more counts than was booked. Figures of
endpoints are functions of the moment anyway.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from itertools import accumulate
from typing import Any

from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.domain.history_source import AccountTotals, KeyUsage
from gwtui.embedded.simulator.catalog import Catalog
from gwtui.embedded.simulator.endpoint_figures import live_figures
from gwtui.embedded.simulator.usage import DayPlan, UsageProfile, accrued, day_plans
from gwtui.embedded.simulator.world import World
from gwtui.embedded.store import account
from gwtui.embedded.store.account import Account
from gwtui.embedded.store.ledger import TOP_UP, TOP_UP_BELOW
from gwtui.embedded.store.seed import Origin
from gwtui.embedded.store.table import from_pico, to_day, to_pico
from gwtui.lazy_dataclass import dataclass

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)

Booked = Mapping[int, tuple[int, int]]
"""Pico-USD (credits, BYOK) by UTC day."""


@dataclass(frozen=True)
class SimulatedHistory:
    """A ``HistorySource`` (``gwtui/domain``). Computes only: safe to use in another thread."""

    origin: Origin
    catalog: Catalog
    present: Account
    totals: Mapping[str, tuple[int, int]]
    """Pico-USD (credits, BYOK) of each key that is there, by hash."""
    booked: Mapping[str, Booked]
    """Of each key that did something in the days that the activity is kept for."""

    @classmethod
    def of(cls, db: sqlite3.Connection, origin: Origin, catalog: Catalog) -> SimulatedHistory:
        """The past as of what is booked in the database."""
        booked: dict[str, dict[int, tuple[int, int]]] = {}
        for key_hash, day, usage, byok in db.execute(
            "SELECT key_hash, day, sum(usage_pico), sum(byok_usage_pico) FROM activity_days "
            "GROUP BY key_hash, day"
        ):
            booked.setdefault(key_hash, {})[day] = (int(usage), int(byok))
        totals = {
            key_hash: (int(usage), int(byok))
            for key_hash, usage, byok in db.execute(
                "SELECT hash, usage_pico, byok_usage_pico FROM api_keys WHERE NOT is_management"
            )
        }
        return cls(origin, catalog, account.get(db), totals, booked)

    @cached_property
    def world(self) -> World:
        """The world on its first moment; it may have to be built."""
        return self.origin.world()

    @property
    def until(self) -> datetime:
        """What is booked reaches so far."""
        return self.present.accrued_until

    def spent(self, key_hash: str, moments: Sequence[datetime]) -> Sequence[KeyUsage] | None:
        """What a key had used at each moment; None for a key that did not begin with the world."""
        total = self.totals.get(key_hash)
        if total is None or key_hash not in self._profiles or not moments:
            return None
        return [
            KeyUsage(from_pico(total[0] - usage), from_pico(total[1] - byok))
            for usage, byok in self._since(key_hash, moments)
        ]

    def account(self, moments: Sequence[datetime]) -> Sequence[AccountTotals]:
        """The credits at each moment: keys that were deleted meanwhile count, too."""
        used = [0] * len(moments)
        for key_hash in self._profiles if moments else ():
            for place, (usage, _byok) in enumerate(self._since(key_hash, moments)):
                used[place] += usage
        usages = [self.present.total_usage - from_pico(since) for since in used]
        return [
            AccountTotals(self._credits(moment, usage), usage)
            for moment, usage in zip(moments, usages, strict=True)
        ]

    def purchases(self, since: datetime) -> Sequence[datetime]:
        """What was bought before the world's first day; when it was later is not noted."""
        return [bought.moment for bought in self.world.purchases if bought.moment > since]

    def disabled_at(self, key_hash: str) -> datetime | None:
        """When a key was disabled before the world's first day."""
        for key in self.world.keys:
            if key.hash == key_hash and key.disabled:
                return key.updated_at
        return None

    def figures(
        self, model_id: str, tag: str, moments: Sequence[datetime]
    ) -> Sequence[Mapping[str, Any]] | None:
        """The live figures of an endpoint at each moment; None for one that is not in the world."""
        key = f"{model_id}|{tag}"
        try:
            self.catalog.endpoint(key)
        except KeyError:
            return None
        return [live_figures(self.catalog, key, moment) for moment in moments]

    # Credits ----------------------------------------------------------------------------------

    def _credits(self, moment: datetime, usage: Decimal) -> Decimal:
        """Bought until a moment. The account buys by itself when few credits are left."""
        before = sum((one.usd for one in self.world.purchases if one.moment <= moment), Decimal(0))
        if moment < self.world.moment:
            return before
        steps = ((usage + TOP_UP_BELOW - before) / TOP_UP).to_integral_value(ROUND_CEILING)
        return min(self.present.total_credits, before + max(Decimal(0), steps) * TOP_UP)

    # Use --------------------------------------------------------------------------------------

    @cached_property
    def _profiles(self) -> Mapping[str, UsageProfile]:
        return {key.hash: key.profile for key in self.world.keys}

    def _since(self, key_hash: str, moments: Sequence[datetime]) -> list[tuple[int, int]]:
        """Pico-USD (credits, BYOK) that a key used after each moment, up to ``until``.

        Kept for the moments that were asked for last: key and account are asked for the same ones.
        """
        asked = tuple(moments)
        if asked not in self._told:
            self._told.clear()
        told = self._told.setdefault(asked, {})
        if key_hash not in told:
            told[key_hash] = self._used_since(key_hash, asked)
        return told[key_hash]

    @cached_property
    def _told(self) -> dict[tuple[datetime, ...], dict[str, list[tuple[int, int]]]]:
        return {}

    def _used_since(self, key_hash: str, moments: Sequence[datetime]) -> list[tuple[int, int]]:
        midnight = moments[0].replace(hour=0, minute=0, second=0, microsecond=0)
        count = max((self.until - midnight).days, (moments[-1] - midnight).days) + 1
        days = [self._day(key_hash, midnight + _DAY * place) for place in range(count)]
        usage = [0, *accumulate(day.usage for day in days)]
        byok = [0, *accumulate(day.byok for day in days)]
        found = []
        for moment in moments:
            place = (moment - midnight).days
            day = days[place]
            of_day = day.until((moment - midnight) % _DAY // _MICROSECOND) if day.plans else (0, 0)
            found.append((usage[-1] - usage[place] - of_day[0], byok[-1] - byok[place] - of_day[1]))
        return found

    def _day(self, key_hash: str, midnight: datetime) -> _KeyDay:
        """One UTC day of a key. Of days older than the activity, what its clients asked for."""
        profile = self._profiles[key_hash]
        day = to_day(midnight)
        if day >= to_day(self.until) - ACTIVITY_DAYS:
            told = self.booked.get(key_hash, {}).get(day, (0, 0))
            # Whether the key might spend is what was booked; see Origin.profiles.
            profile = profile.without_end()
        else:
            asked = accrued(profile, midnight, midnight + _DAY)
            told = (to_pico(asked.usd), to_pico(asked.byok_usd))
        plans = tuple(day_plans(profile, midnight, min(midnight + _DAY, self.until)))
        return _KeyDay(*told, plans if any(told) else ())


@dataclass(frozen=True, slots=True)
class _KeyDay:
    """What a key used on a day in pico-USD, and the plans that say when."""

    usage: int
    byok: int
    plans: tuple[tuple[DayPlan, int, int], ...]

    def until(self, offset: int) -> tuple[int, int]:
        """The part that was used before an offset, in microseconds of the day."""
        usage = byok = 0
        for plan, start, end in self.plans:
            made = plan.count(max(start, min(offset, end))) - plan.count(start)
            if plan.stream.byok:
                byok += made * plan.cost
            else:
                usage += made * plan.cost
        return min(usage, self.usage), min(byok, self.byok)
