"""The usage of a key as an exact function of time.

A usage stream is one key that sends requests to one endpoint. Each UTC day has a random number of
requests, spread over the day by the key's rhythm. The number of requests before a moment depends on
nothing else, so the usage of adjacent intervals adds up exactly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import accumulate
from typing import Literal, NamedTuple

from gwtui.domain.history_source import KeyUsage
from gwtui.embedded.simulator.seeded_random import between, fraction

PICO = Decimal("1e-12")
"""A pico-USD in USD, the unit of prices here; every price of the catalog is a multiple."""

_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_SATURDAY = 5
_VARIANTS = 16
"""Number of randomly varied versions of each rhythm; a day has one of them."""

RhythmName = Literal["steady", "office", "evening", "nightly"]
_RHYTHMS: Mapping[RhythmName, tuple[tuple[int, ...], float]] = {
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
"""Rhythm -> relative traffic by UTC hour, and the factor for Saturday and Sunday."""


@dataclass(frozen=True, slots=True)
class UsageStream:
    """The use of one endpoint by one key on an average day."""

    endpoint_key: str
    """Key of the endpoint in the catalog."""
    requests_per_day: float
    prompt_tokens: int
    """Prompt tokens per request."""
    completion_tokens: int
    """Completion tokens per request."""
    price: int
    """Pico-USD per request."""
    byok: bool = False
    """Whether the requests use the customer's provider key and cost no credits."""


@dataclass(frozen=True, slots=True)
class UsageProfile:
    """The requests that the clients of one key send.

    The clients start at ``active_from`` and stop before ``abandoned_at``. They also send while the
    key is disabled; whether the requests are accepted is up to the gateway.
    """

    seed: int
    identity: str
    """A hash of the key, so that two keys with the same streams differ from hour to hour."""
    rhythm: RhythmName
    active_from: datetime
    abandoned_at: datetime | None = None
    """When the last client stopped; None if the key is still in use."""
    streams: tuple[UsageStream, ...] = ()


class UsageSlice(NamedTuple):
    """Requests of one key to one endpoint within one clock hour, or within one UTC day."""

    moment: datetime
    """Time of the last of these requests."""
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
    return sorted(_slices(profile, since, until, _HOUR), key=lambda piece: piece.moment)


def accrued_by_day(profile: UsageProfile, since: datetime, until: datetime) -> list[UsageSlice]:
    """Return the usage of a key in [since, until), by endpoint and UTC day."""
    return list(_slices(profile, since, until, _DAY))


def accrued(profile: UsageProfile, since: datetime, until: datetime) -> KeyUsage:
    """Return the total usage of a key in [since, until)."""
    return total(accrued_by_day(profile, since, until))


def total(pieces: Sequence[UsageSlice]) -> KeyUsage:
    """Return the total cost of the slices."""
    return KeyUsage(
        sum((piece.usd for piece in pieces), Decimal(0)),
        sum((piece.byok_usd for piece in pieces), Decimal(0)),
    )


def _slices(
    profile: UsageProfile, since: datetime, until: datetime, length: timedelta
) -> Iterator[UsageSlice]:
    until = min(until, profile.abandoned_at or until).astimezone(UTC)
    for position, stream in enumerate(profile.streams):
        start = max(since, profile.active_from).astimezone(UTC)
        while start < until:
            midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
            stop = min(until, midnight + ((start - midnight) // length + 1) * length)
            day = _day(profile, position, midnight)
            before, after = day.count(start), day.count(stop)
            if after > before:
                requests, last = after - before, day.moment_of(after - 1)
                amount = requests * stream.price * PICO
                yield UsageSlice(
                    moment=max(start, min(last, stop - _MICROSECOND)),
                    endpoint_key=stream.endpoint_key,
                    requests=requests,
                    prompt_tokens=requests * stream.prompt_tokens,
                    completion_tokens=requests * stream.completion_tokens,
                    usd=Decimal(0) if stream.byok else amount,
                    byok_usd=amount if stream.byok else Decimal(0),
                )
            start = stop


class _Day(NamedTuple):
    """The requests of one stream on one UTC day.

    Request k, from 0, is sent when (k + 1/2) / requests of the day's traffic has passed.
    """

    midnight: datetime
    requests: int
    shares: tuple[float, ...]
    """The share of the day's traffic before each hour 0 to 23, then 1.0 for hours 24 and 25."""

    def count(self, moment: datetime) -> int:
        """Return the number of requests from midnight to a moment of the day."""
        hours = (moment - self.midnight) / _HOUR
        hour = int(hours)
        before, after = self.shares[hour], self.shares[hour + 1]
        return int(self.requests * (before + (after - before) * (hours - hour)) + 0.5)

    def moment_of(self, request: int) -> datetime:
        """Return the time of the request with this number."""
        passed = (request + 0.5) / self.requests
        hour = bisect_right(self.shares, passed) - 1
        before, after = self.shares[hour], self.shares[hour + 1]
        return self.midnight + (hour + (passed - before) / (after - before)) * _HOUR


def _day(profile: UsageProfile, position: int, midnight: datetime) -> _Day:
    chance = fraction(profile.seed, profile.identity, position, midnight.toordinal())
    _, weekend = _RHYTHMS[profile.rhythm]
    weekday_share = weekend if midnight.weekday() >= _SATURDAY else 1.0
    usual = profile.streams[position].requests_per_day * weekday_share
    # Round a fraction of a request at random, so that rare streams keep their average.
    requests = int(usual * (0.7 + 0.6 * chance) + chance * 1000 % 1)
    return _Day(midnight, requests, _shares(profile.rhythm, int(chance * 1e6) % _VARIANTS))


@cache
def _shares(rhythm: RhythmName, variant: int) -> tuple[float, ...]:
    traffic = [
        hour * between(0.6, 1.4, variant, rhythm, index)
        for index, hour in enumerate(_RHYTHMS[rhythm][0])
    ]
    *before, whole = accumulate(traffic, initial=0.0)
    return (*(part / whole for part in before), 1.0, 1.0)
