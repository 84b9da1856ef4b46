"""Putting the first day together: people, workspaces, keys with their history, credits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal

from gwtui.contract.dialects import GENERIC
from gwtui.contract.values import LimitReset
from gwtui.domain.resets import window_start
from gwtui.embedded.simulator.catalog import Catalog, build_catalog
from gwtui.embedded.simulator.chance import between, hex_text
from gwtui.embedded.simulator.key_rows import KeyRow
from gwtui.embedded.simulator.keys_default import DEFAULT_KEYS
from gwtui.embedded.simulator.keys_pipelines import PIPELINE_KEYS
from gwtui.embedded.simulator.keys_production import PRODUCTION_KEYS
from gwtui.embedded.simulator.keys_research import RESEARCH_KEYS
from gwtui.embedded.simulator.people import (
    build_budgets,
    build_members,
    build_users,
    build_workspaces,
)
from gwtui.embedded.simulator.provider_keys import build_credentials
from gwtui.embedded.simulator.rails import build_guardrails
from gwtui.embedded.simulator.usage import UsageProfile, UsageStream, UsageTotals, accrued
from gwtui.embedded.simulator.workloads import cost, stream
from gwtui.embedded.simulator.world import (
    Purchase,
    SeedKey,
    SeedUser,
    SeedWorkspace,
    UsageCounters,
    World,
)

KEY_ROWS = (*DEFAULT_KEYS, *PRODUCTION_KEYS, *RESEARCH_KEYS, *PIPELINE_KEYS)

_LEAST_DAYS = {"daily": 1.0, "weekly": 5.0, "monthly": 18.0}
"""A limit counts as used over at least so many days: early in a window nobody has spent it yet,
and pretending so would make the key absurdly busy for ever after."""
_DELIBERATE = 3.0
"""Days from which on an expiry was chosen as a date, not as a duration."""
_LIMIT_REACHED = timedelta(hours=5)
"""How long ago a key without reset ran into its limit."""
_TOP_UP = Decimal(500)
_BALANCE = (430.0, 690.0)
_CENT = Decimal("0.01")


def build_world(seed: int, now: datetime) -> World:
    """The world of a seed as it stands at ``now`` (aware, UTC).

    Timestamps lie relative to ``now``, so that each state (near its limit, expiring soon, unused
    for long) is there whenever the gateway is born. The same arguments give the same world: a
    gateway that keeps (seed, birth) can rebuild every key's profile later.
    """
    users = build_users(seed)
    workspaces = build_workspaces(seed, now, users)
    catalog = build_catalog(seed)
    maker = _KeyMaker(seed, now, catalog, users, workspaces)
    keys = sorted((maker.make(row) for row in KEY_ROWS), key=lambda key: key.created_at)
    spent = sum((key.usage.all_time.usd for key in keys), Decimal(0))
    purchases, retired = _account(seed, now, spent)
    return World(
        seed=seed,
        moment=now,
        users=users,
        workspaces=workspaces,
        members=build_members(seed, now, users, workspaces),
        budgets=build_budgets(seed, now, workspaces),
        guardrails=build_guardrails(seed, now, users, workspaces, catalog),
        credentials=build_credentials(seed, now, users, workspaces),
        keys=tuple(keys),
        purchases=purchases,
        retired_usage=retired,
    )


def _account(seed: int, now: datetime, spent: Decimal) -> tuple[tuple[Purchase, ...], Decimal]:
    """Purchases that leave a plausible balance, and what earlier, deleted keys used."""
    balance = Decimal(between(*_BALANCE, seed, "balance")).quantize(_CENT)
    tops = int(((spent + balance) / _TOP_UP).to_integral_value(ROUND_CEILING)) + 1
    purchases = tuple(
        Purchase(now - timedelta(days=6 + 370 * (tops - 1 - index) // tops, hours=3), _TOP_UP)
        for index in range(tops)
    )
    return purchases, tops * _TOP_UP - balance - spent


@dataclass(frozen=True, slots=True)
class _KeyMaker:
    """Turns rows of the tables into keys with a history."""

    seed: int
    now: datetime
    catalog: Catalog
    users: Sequence[SeedUser]
    workspaces: Sequence[SeedWorkspace]

    def make(self, row: KeyRow) -> SeedKey:
        profile = self._profile(row)
        usage = self._counters(profile)
        prefix, digits = GENERIC.key_prefix, hex_text(6, self.seed, "label", row.name)
        return SeedKey(
            hash=profile.identity,
            name=row.name,
            label=f"{prefix}{digits[:3]}...{digits[3:]}",
            workspace_id=next(item.id for item in self.workspaces if item.slug == row.workspace),
            creator_user_id=None if row.creator is None else self.users[row.creator].id,
            created_at=self._created_at(row),
            updated_at=self._changed_at(row),
            expires_at=self._expires_at(row),
            last_used_at=usage.all_time.last_request,
            disabled=row.disabled is not None,
            limit=None if row.limit is None else Decimal(row.limit),
            limit_reset=row.reset,
            include_byok_in_limit=row.counts_byok,
            external_user=row.external_user,
            usage=usage,
            profile=profile,
        )

    def _days_ago(self, days: float) -> datetime:
        return (self.now - timedelta(days=days)).replace(microsecond=0)

    def _created_at(self, row: KeyRow) -> datetime:
        # Nobody makes keys at the same second of the day.
        return self._days_ago(row.age - 0.3 * between(0, 1, self.seed, "age", row.name))

    def _changed_at(self, row: KeyRow) -> datetime | None:
        days = row.disabled if row.disabled is not None else row.changed
        return None if days is None else self._days_ago(days)

    def _expires_at(self, row: KeyRow) -> datetime | None:
        if row.expires is None:
            return None
        moment = self._days_ago(-row.expires)
        return moment if abs(row.expires) < _DELIBERATE else _since("daily", moment)

    def _profile(self, row: KeyRow) -> UsageProfile:
        profile = UsageProfile(
            seed=self.seed,
            identity=hex_text(64, self.seed, "key", row.name),
            rhythm=row.rhythm,
            active_from=self._created_at(row),
            abandoned_at=None if row.abandoned is None else self._days_ago(row.abandoned),
            stopped_at=self._stopped_at(row),
            streams=self._streams(row),
        )
        return profile if row.used is None else self._scaled(profile, row, row.used)

    def _stopped_at(self, row: KeyRow) -> datetime | None:
        ends = []
        expires_at = self._expires_at(row)
        if expires_at is not None and expires_at <= self.now:
            ends.append(expires_at)
        if row.disabled is not None:
            ends.append(self._days_ago(row.disabled))
        if row.used is not None and row.used >= 1 and row.reset is None:
            ends.append(self.now - _LIMIT_REACHED)
        return min(ends, default=None)

    def _streams(self, row: KeyRow) -> tuple[UsageStream, ...]:
        streams = []
        for work in row.work:
            endpoint = self.catalog.endpoint(work.endpoint)
            model = work.endpoint.partition("|")[0]
            one = stream(endpoint, model, work.kind, requests_per_day=1.0, byok=work.byok)
            # A row that only names its share of a limit starts from a dollar a day.
            wanted = (row.usd_per_day or 1.0) * work.share
            price = float(cost(one))
            streams.append(replace(one, requests_per_day=wanted / price if price else wanted))
        return tuple(streams)

    def _scaled(self, profile: UsageProfile, row: KeyRow, used: float) -> UsageProfile:
        """The profile, as busy as it takes to have used that share of the limit by now."""
        target = float(Decimal(row.limit or "0")) * used
        start = profile.active_from
        if row.reset is not None:
            start = min(
                _since(row.reset, self.now), self.now - timedelta(days=_LEAST_DAYS[row.reset])
            )
        for _ in range(_SCALING_STEPS):
            measured = float(_counted(accrued(profile, start, self.now), row))
            factor = target / measured if measured else 1.0
            profile = replace(
                profile,
                streams=tuple(
                    replace(item, requests_per_day=item.requests_per_day * factor)
                    for item in profile.streams
                ),
            )
        return profile

    def _counters(self, profile: UsageProfile) -> UsageCounters:
        return UsageCounters(
            all_time=accrued(profile, profile.active_from, self.now),
            daily=accrued(profile, _since("daily", self.now), self.now),
            weekly=accrued(profile, _since("weekly", self.now), self.now),
            monthly=accrued(profile, _since("monthly", self.now), self.now),
        )


_SCALING_STEPS = 2
"""The second step takes out what rounding to whole requests left of the first."""


def _counted(totals: UsageTotals, row: KeyRow) -> Decimal:
    return totals.usd + (totals.byok_usd if row.counts_byok else Decimal(0))


def _since(reset: LimitReset, now: datetime) -> datetime:
    """Start of the current UTC day, week or month."""
    start = window_start(reset, now)
    assert start is not None  # noqa: S101 - every known schedule has one
    return start
