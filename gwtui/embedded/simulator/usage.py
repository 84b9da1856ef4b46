"""The usage of a key as an exact function of time.

A stream is one model used by one key in whole requests. Each UTC day has a number of requests and a
cost per request; the requests are spread over the day by the stream's rhythm. The number of
requests before a moment is computed in integers, so intervals add up exactly, and a week of 40 keys
takes a few thousand computations.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import accumulate
from typing import Literal

from gwtui.domain.history_source import KeyUsage
from gwtui.embedded.simulator.seeded_random import between, number

PICO = Decimal("1e-12")
"""Prices are whole pico-USD; every catalog price is a multiple."""

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)
_SATURDAY = 5


RhythmName = Literal["steady", "office", "evening", "nightly"]

HOUR_MICROSECONDS = 3_600_000_000
DAY_MICROSECONDS = 24 * HOUR_MICROSECONDS
HOURS = 24

DAY_SHARES = 1 << 16
"""Total weight of the hours of a day; integers keep every sum exact."""
TOTAL_WEIGHT = DAY_SHARES * HOUR_MICROSECONDS

VARIANTS = 16
"""Number of variants of one rhythm, each with different random variations."""


RHYTHMS: Mapping[RhythmName, tuple[tuple[int, ...], float]] = {
    "steady": (
        (8, 8, 7, 7, 7, 8, 8, 9, 10, 11, 11, 12, 12, 12, 12, 12, 12, 12, 11, 11, 10, 10, 9, 9),
        0.9,
    ),
    "office": (
        (3, 3, 3, 3, 3, 4, 6, 10, 16, 19, 20, 19, 16, 18, 21, 21, 19, 16, 12, 8, 6, 5, 4, 3),
        0.3,
    ),
    "evening": (
        (9, 7, 5, 4, 3, 3, 3, 4, 5, 6, 7, 8, 9, 9, 9, 10, 12, 14, 17, 19, 20, 19, 16, 12),
        1.2,
    ),
    "nightly": ((6, 26, 34, 32, 24, 9, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3), 1.0),
}
"""Relative traffic by UTC hour, and the factor for Saturday and Sunday."""


def rate_now(rhythm: RhythmName, hour: float) -> float:
    """Return the traffic at an hour of the day (0..24, fractional); 1 is the average of the day."""
    hours, _ = RHYTHMS[rhythm]
    # Hourly rates apply at the middle of the hour; in between, interpolate.
    left = int(hour - 0.5) if hour >= 0.5 else -1  # noqa: PLR2004 - half an hour
    part = hour - 0.5 - left
    value = hours[left % HOURS] * (1 - part) + hours[(left + 1) % HOURS] * part
    return value * HOURS / sum(hours)


@cache
def day_weights(rhythm: RhythmName, variant: int) -> tuple[int, ...]:
    """Return 25 cumulative weights of the hours, from 0 to DAY_SHARES; no hour has weight 0."""
    shares = [
        hour * between(0.6, 1.4, variant, rhythm, index)
        for index, hour in enumerate(RHYTHMS[rhythm][0])
    ]
    scale = (DAY_SHARES - HOURS) / sum(shares)
    sums = [0, *accumulate(1 + int(share * scale) for share in shares)]
    sums[-1] = DAY_SHARES
    return tuple(sums)


@dataclass(frozen=True, slots=True)
class UsageStream:
    """The use of one endpoint by one key on an average day."""

    endpoint_key: str
    """Key of the endpoint in the catalog."""
    requests_per_day: float
    prompt_tokens: int
    """Average prompt tokens per request."""
    completion_tokens: int
    """Average completion tokens per request."""
    prompt_price: int
    """Pico-USD per prompt token."""
    completion_price: int
    """Pico-USD per completion token."""
    request_price: int
    """Pico-USD per request, for everything that is not priced by token."""
    byok: bool = False
    """Whether the requests use the customer's provider key and cost no credits."""


@dataclass(frozen=True, slots=True)
class UsageProfile:
    """The requests that the clients of one key send.

    They start at ``active_from`` and end before ``abandoned_at``. The gateway decides whether the
    key may spend: a key that is enabled again is used again.
    """

    seed: int
    identity: str
    """A hash of the key, so that two keys with the same streams differ from hour to hour."""
    rhythm: RhythmName
    active_from: datetime
    abandoned_at: datetime | None = None
    """When the last client stopped; None if there are clients."""
    streams: tuple[UsageStream, ...] = ()


@dataclass(slots=True)
class UsageSlice:
    """Requests of one key to one endpoint within one clock hour, or within one UTC day.

    Not frozen for the same reason as ``DayPlan``.
    """

    moment: datetime
    """Time of the last request, within the requested interval."""
    endpoint_key: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: Decimal
    """Credits spent."""
    byok_usd: Decimal
    """The cost of BYOK requests at the customer's provider."""


def accrual(profile: UsageProfile, since: datetime, until: datetime) -> list[UsageSlice]:
    """Return the usage of a key in [since, until), by endpoint and clock hour, in time order.

    Hours without requests have no slice. Adjacent intervals add up exactly.
    """
    slices = [
        piece
        for plan, start, end in day_plans(profile, since, until)
        for piece in _hourly(plan, start, end)
    ]
    slices.sort(key=lambda piece: piece.moment)
    return slices


def accrued_by_day(profile: UsageProfile, since: datetime, until: datetime) -> list[UsageSlice]:
    """Return the usage of a key in [since, until), by endpoint and UTC day."""
    return [
        _slice(plan, first, past)
        for plan, start, end in day_plans(profile, since, until)
        if (past := plan.count(end)) > (first := plan.count(start))
    ]


def accrued(profile: UsageProfile, since: datetime, until: datetime) -> KeyUsage:
    """Return the total usage of a key in [since, until)."""
    return total(accrued_by_day(profile, since, until))


def total(pieces: Sequence[UsageSlice]) -> KeyUsage:
    """Return the total cost of the slices."""
    return KeyUsage(
        sum((piece.usd for piece in pieces), Decimal(0)),
        sum((piece.byok_usd for piece in pieces), Decimal(0)),
    )


@dataclass(slots=True)
class DayPlan:
    """The requests of one stream on one UTC day, numbered from 0, and the tokens of each.

    Not frozen because frozen instances take three times as long to create, and an account has ten
    thousand of them.
    """

    stream: UsageStream
    position: int
    """Index of the stream in the profile."""
    midnight: datetime
    requests: int
    prompt_tokens: int
    completion_tokens: int
    weights: tuple[int, ...]

    @property
    def cost(self) -> int:
        """Pico-USD per request."""
        stream = self.stream
        return (
            self.prompt_tokens * stream.prompt_price
            + self.completion_tokens * stream.completion_price
            + stream.request_price
        )

    def count(self, offset: int) -> int:
        """Return the number of requests before ``offset`` microseconds of the day.

        Request k is sent when (k + 1/2) / requests of the day's weight has passed, so none falls on
        midnight and every request belongs to one day.
        """
        if offset == DAY_MICROSECONDS:
            return self.requests
        hour, rest = divmod(offset, HOUR_MICROSECONDS)
        gone = self.weights[hour] * HOUR_MICROSECONDS
        if rest:
            gone += (self.weights[hour + 1] - self.weights[hour]) * rest
        halves = 2 * self.requests * gone
        return ((halves - 1) // TOTAL_WEIGHT + 1) // 2 if halves else 0

    def moment_of(self, request: int) -> datetime:
        """Return the time of the request with this number, counted from 0."""
        needed = (2 * request + 1) * TOTAL_WEIGHT // (2 * self.requests) + 1
        hour = bisect_left(self.weights, -(-needed // HOUR_MICROSECONDS)) - 1
        hour_weight = self.weights[hour + 1] - self.weights[hour]
        rest = -(-(needed - self.weights[hour] * HOUR_MICROSECONDS) // hour_weight)
        return self.midnight + timedelta(microseconds=hour * HOUR_MICROSECONDS + rest - 1)


def day_plans(
    profile: UsageProfile, since: datetime, until: datetime
) -> Iterator[tuple[DayPlan, int, int]]:
    """Yield the days of each stream that overlap [since, until), while there are clients.

    Each plan comes with the start and end of the overlap, in microseconds of the day.
    """
    since = max(since, profile.active_from).astimezone(UTC)
    until = min(until, profile.abandoned_at or until).astimezone(UTC)
    first = since.replace(hour=0, minute=0, second=0, microsecond=0)
    begin, whole = (since - first) // _MICROSECOND, (until - first) // _MICROSECOND
    for position, stream in enumerate(profile.streams):
        midnight, start, left = first, begin, whole
        while start < left:
            plan = day_plan(profile, position, stream, midnight)
            yield plan, start, min(DAY_MICROSECONDS, left)
            midnight += _DAY
            start, left = 0, left - DAY_MICROSECONDS


def day_plan(
    profile: UsageProfile, position: int, stream: UsageStream, midnight: datetime
) -> DayPlan:
    """Return the requests of a stream on the UTC day of ``midnight``.

    ``position`` is the index of the stream in the profile.
    """
    chances = number(profile.seed, profile.identity, position, midnight.toordinal())
    busy, rest = (chances & 0xFFFF) / 0x10000, (chances >> 16 & 0xFFFF) / 0x10000
    size = (chances >> 32 & 0xFFFF) / 0x10000
    _, weekend = RHYTHMS[profile.rhythm]
    weekday_share = weekend if midnight.weekday() >= _SATURDAY else 1.0
    scale = 0.85 + 0.3 * size
    return DayPlan(
        stream=stream,
        position=position,
        midnight=midnight,
        # Round a fraction of a request at random, so that rare streams keep their average.
        requests=int(stream.requests_per_day * weekday_share * (0.7 + 0.6 * busy) + rest),
        prompt_tokens=round(stream.prompt_tokens * scale),
        completion_tokens=round(stream.completion_tokens * scale),
        weights=day_weights(profile.rhythm, (chances >> 48) % VARIANTS),
    )


def _hourly(plan: DayPlan, start: int, end: int) -> Iterator[UsageSlice]:
    before = plan.count(start)
    while start < end and before < plan.requests:
        stop = min(end, start - start % HOUR_MICROSECONDS + HOUR_MICROSECONDS)
        after = plan.count(stop)
        if after > before:
            yield _slice(plan, before, after)
        start, before = stop, after


def _slice(plan: DayPlan, first: int, end: int) -> UsageSlice:
    stream, requests = plan.stream, end - first
    amount = requests * plan.cost * PICO
    return UsageSlice(
        moment=plan.moment_of(end - 1),
        endpoint_key=stream.endpoint_key,
        requests=requests,
        prompt_tokens=requests * plan.prompt_tokens,
        completion_tokens=requests * plan.completion_tokens,
        usd=Decimal(0) if stream.byok else amount,
        byok_usd=amount if stream.byok else Decimal(0),
    )
