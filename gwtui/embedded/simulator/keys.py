"""The API keys of the first day with their history, and what the work that they do costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.contract.dialects import GENERIC
from gwtui.contract.values import LimitReset
from gwtui.domain.resets import window_start
from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint
from gwtui.embedded.simulator.seed_data import KeyEntry, Work, WorkKind
from gwtui.embedded.simulator.seeded_random import between, hex_text
from gwtui.embedded.simulator.usage import (
    PICO,
    UsageProfile,
    UsageStream,
    UsageTotals,
    accrued,
)
from gwtui.embedded.simulator.world import SeedKey, SeedUser, SeedWorkspace, UsageCounters
from gwtui.lazy_dataclass import dataclass

_LEAST_DAYS = {"daily": 1.0, "weekly": 5.0, "monthly": 18.0}
"""A limit counts as used over at least so many days: early in a window nobody has spent it yet,
and pretending so would make the key absurdly busy for ever after."""
_DELIBERATE = 3.0
"""Days from which on an expiry was chosen as a date, not as a duration."""
_LIMIT_REACHED = timedelta(hours=5)
"""How long ago a key without reset ran into its limit."""


@dataclass(frozen=True, slots=True)
class KeyBuilder:
    """Makes keys with a history from those of the data file."""

    seed: int
    now: datetime
    catalog: Catalog
    users: Mapping[str, SeedUser]
    """By handle."""
    workspaces: Mapping[str, SeedWorkspace]
    """By slug."""

    def build(self, row: KeyEntry) -> SeedKey:
        """The key with what it used until now."""
        profile = self._profile(row)
        usage = self._counters(profile)
        prefix, digits = GENERIC.key_prefix, hex_text(6, self.seed, "label", row.name)
        return SeedKey(
            hash=profile.identity,
            name=row.name,
            label=f"{prefix}{digits[:3]}...{digits[3:]}",
            workspace_id=self.workspaces[row.workspace].id,
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

    def _created_at(self, row: KeyEntry) -> datetime:
        # Nobody makes keys at the same second of the day.
        return self._days_ago(row.age - 0.3 * between(0, 1, self.seed, "age", row.name))

    def _changed_at(self, row: KeyEntry) -> datetime | None:
        days = row.disabled if row.disabled is not None else row.changed
        return None if days is None else self._days_ago(days)

    def _expires_at(self, row: KeyEntry) -> datetime | None:
        if row.expires is None:
            return None
        moment = self._days_ago(-row.expires)
        return moment if abs(row.expires) < _DELIBERATE else _since("daily", moment)

    def _profile(self, row: KeyEntry) -> UsageProfile:
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

    def _stopped_at(self, row: KeyEntry) -> datetime | None:
        ends = []
        expires_at = self._expires_at(row)
        if expires_at is not None and expires_at <= self.now:
            ends.append(expires_at)
        if row.disabled is not None:
            ends.append(self._days_ago(row.disabled))
        if row.used is not None and row.used >= 1 and row.reset is None:
            ends.append(self.now - _LIMIT_REACHED)
        return min(ends, default=None)

    def _streams(self, row: KeyEntry) -> tuple[UsageStream, ...]:
        streams = []
        for entry in row.work:
            work = Work(**entry)
            one = _stream(self.catalog.endpoint(work.endpoint), work)
            # A row that only names its share of a limit starts from a dollar a day.
            wanted = (row.usd_per_day or 1.0) * work.share
            price = float(_cost(one))
            streams.append(replace(one, requests_per_day=wanted / price if price else wanted))
        return tuple(streams)

    def _scaled(self, profile: UsageProfile, row: KeyEntry, used: float) -> UsageProfile:
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


def _counted(totals: UsageTotals, row: KeyEntry) -> Decimal:
    return totals.usd + (totals.byok_usd if row.counts_byok else Decimal(0))


def _since(reset: LimitReset, now: datetime) -> datetime:
    """Start of the current UTC day, week or month."""
    start = window_start(reset, now)
    assert start is not None  # noqa: S101 - every known schedule has one
    return start


@dataclass(frozen=True, slots=True)
class _Shape:
    """An average request."""

    prompt: int = 0
    completion: int = 0
    extras: Mapping[str, int] | None = None
    """Quantity of what other price keys charge for."""


_SHAPES: Mapping[WorkKind, _Shape] = {
    "chat": _Shape(1_700, 380),
    "agent": _Shape(9_400, 720),
    "documents": _Shape(21_000, 640),
    "code": _Shape(6_200, 540),
    "batch": _Shape(12_500, 740),
    "embed": _Shape(36_000),
    "rank": _Shape(extras={"request": 1}),
    "judge": _Shape(800, 12),
    "picture": _Shape(120, extras={"image_output": 1}),
    "film": _Shape(90, extras={"request": 1}),
    "speak": _Shape(260, extras={"audio_output": 1_500}),
    "listen": _Shape(0, 900, extras={"audio": 14_000}),
}


def _stream(endpoint: CatalogEndpoint, work: Work) -> UsageStream:
    """One kind of work at one endpoint, once a day."""
    shape = _SHAPES[work.kind]
    extras = (shape.extras or {}).items()
    return UsageStream(
        model=work.endpoint.partition("|")[0],
        model_permaslug=str(endpoint.wire["model_id"]),
        provider=str(endpoint.wire["provider_name"]),
        endpoint_key=endpoint.key,
        requests_per_day=1.0,
        prompt_tokens=shape.prompt,
        completion_tokens=shape.completion,
        prompt_price=_pico(endpoint, "prompt"),
        completion_price=_pico(endpoint, "completion"),
        request_price=sum(quantity * _pico(endpoint, key) for key, quantity in extras),
        byok=work.byok,
    )


def _cost(work: UsageStream) -> Decimal:
    """USD of an average request."""
    return PICO * (
        work.prompt_tokens * work.prompt_price
        + work.completion_tokens * work.completion_price
        + work.request_price
    )


def _pico(endpoint: CatalogEndpoint, key: str) -> int:
    """An endpoint's discounted price in pico-USD; 0 for what it does not charge."""
    pricing = endpoint.wire["pricing"]
    price = Decimal(pricing.get(key, "0")) * (1 - Decimal(str(pricing["discount"])))
    return int(price / PICO)
