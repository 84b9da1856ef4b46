"""How fast credits go and how long they last. Amounts are USD.

Two rates answer two questions: ``Meter`` measures what the account used while somebody watched,
``since_midnight`` spreads what keys report for the UTC day over its hours.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

WINDOW = timedelta(hours=1)
"""A measured rate tells of the last hour at most."""
SHORTEST = timedelta(minutes=1)
"""Less than this says nothing about an hour."""
EARLIEST = timedelta(minutes=10)
"""How much of a UTC day must be over before it stands for the whole."""
FARTHEST = timedelta(days=3650)
"""Beyond ten years a runway is a number without a meaning."""

_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Rate:
    """USD per hour, and the time it was seen over."""

    usd_per_hour: Decimal
    over: timedelta


@dataclass(frozen=True, slots=True)
class Runway:
    """How long a balance lasts at a rate; both None when it lasts longer than ``FARTHEST``."""

    left: timedelta | None
    until: datetime | None


class Meter:
    """Measures a rate from readings of a total that only grows."""

    def __init__(self) -> None:
        self._readings: deque[tuple[datetime, Decimal]] = deque()

    def add(self, at: datetime, total: Decimal) -> None:
        """Take a reading. One that is not newer is ignored, one that is lower starts over."""
        if self._readings:
            last_at, last_total = self._readings[-1]
            if at <= last_at:
                return
            if total < last_total:
                self._readings.clear()
        self._readings.append((at, total))
        while len(self._readings) > 1 and at - self._readings[1][0] >= WINDOW:
            self._readings.popleft()

    def rate(self) -> Rate | None:
        """The rate between the first and the last reading, None while they are too close."""
        if not self._readings:
            return None
        (first_at, first), (last_at, last) = self._readings[0], self._readings[-1]
        return _rate(last - first, last_at - first_at, SHORTEST)


def since_midnight(used: Decimal | None, now: datetime) -> Rate | None:
    """The average of the UTC day so far; None when unknown or the day is too young."""
    if used is None:
        return None
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return _rate(used, now - midnight, EARLIEST)


def runway(balance: Decimal | None, rate: Rate | None, now: datetime) -> Runway | None:
    """How long the balance lasts. None when unknown, already gone, or nothing is being used."""
    if balance is None or rate is None or balance <= 0 or rate.usd_per_hour <= 0:
        return None
    hours = balance / rate.usd_per_hour
    if hours > Decimal(FARTHEST / timedelta(hours=1)):
        return Runway(None, None)
    left = timedelta(hours=float(hours))
    return Runway(left, now + left)


def _rate(used: Decimal, over: timedelta, shortest: timedelta) -> Rate | None:
    if over < shortest:
        return None
    seconds = Decimal(over / timedelta(seconds=1))
    return Rate(used * _SECONDS_PER_HOUR / seconds, over)
