"""Burn rates over several windows, and the runway. Amounts are USD.

Rates are computed from readings of the total usage. Purchases are part of another total, so a
top-up never looks like negative usage. A total that falls (a refund, a correction) counts as no
usage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
WINDOWS = (timedelta(hours=1), timedelta(hours=24), timedelta(days=7))
"""The time spans over which burn rates are computed."""
EARLIEST = timedelta(minutes=10)
"""How much of a UTC day must have passed for its average to count."""
MAX_DAYS = Decimal(3650)
"""The longest runway that is computed; longer ones have this value."""
_ENOUGH = 0.5
_LOOK_AHEAD = 24


class UsedTotal(NamedTuple):
    """The total usage of the account in USD, as read at a moment."""

    at: datetime
    total: Decimal


@dataclass(frozen=True, slots=True)
class Rate:
    """A burn rate; ``over`` is how much of the ``window`` was observed."""

    usd_per_hour: Decimal
    over: timedelta
    window: timedelta

    @property
    def share(self) -> float:
        """The observed share of the window, 0 to 1."""
        return min(1.0, self.over / self.window)


@dataclass(frozen=True, slots=True)
class Runway:
    """The days that the credits last: 0 if none are left, at most ``MAX_DAYS``."""

    days: Decimal
    window: timedelta | None = None
    """The window of the burn rate; None if it is the average since 00:00 UTC."""

    @property
    def is_endless(self) -> bool:
        """Whether the credits last longer than ``MAX_DAYS``."""
        return self.days >= MAX_DAYS

    def end(self, now: datetime) -> datetime:
        """The moment when the credits run out."""
        return now + timedelta(days=float(self.days))


def since_midnight(used: Decimal | None, now: datetime) -> Rate | None:
    """The burn rate of the UTC day so far; None if ``used`` is or before ``EARLIEST``."""
    over = now - now.replace(hour=0, minute=0, second=0, microsecond=0)
    if used is None or over < EARLIEST:
        return None
    return Rate(used / Decimal(over / _HOUR), over, over)


def recorded_rates(readings: Sequence[UsedTotal], now: datetime) -> tuple[Rate | None, ...]:
    """The burn rate over each of ``WINDOWS``; None for a window with too few readings."""
    return tuple(burn_rate(readings, now, window) for window in WINDOWS)


def burn_rate(readings: Sequence[UsedTotal], now: datetime, window: timedelta) -> Rate | None:
    """The average burn rate over the ``window`` that ends at ``now``.

    ``readings`` are in chronological order. If only a part of the time between two of them lies in
    the window, the same part of the usage between them counts. None if the readings cover less than
    a sixtieth of the window.
    """
    used, observed = Decimal(0), timedelta()
    for before, after in pairwise(readings):
        over = min(after.at, now) - max(before.at, now - window)
        if over > timedelta():
            part = Decimal(over / (after.at - before.at))
            used += max(after.total - before.total, Decimal(0)) * part
            observed += over
    if observed < window / 60:
        return None
    return Rate(used / Decimal(observed / _HOUR), observed, window)


def runway(
    balance: Decimal | None, recorded: Sequence[Rate | None], today: Rate | None = None
) -> Runway | None:
    """Estimate how long the balance lasts. None if the balance or all rates are unknown.

    ``recorded`` are from ``recorded_rates``, and used if half of their window was observed: the
    24 h rate if the credits last at most 24 days at that rate, else the 7 d rate, and the 1 h rate
    if neither is usable. ``today`` is used if none of them is.
    """
    if balance is None:
        return None
    if balance <= 0:
        return Runway(Decimal(0))
    rates = [rate for rate in recorded if rate is not None and rate.share >= _ENOUGH]
    rates = [rate for rate in rates if rate.window >= _DAY] or rates
    if rates:
        rate = next((rate for rate in rates if _is_near(balance, rate)), rates[-1])
        return Runway(_days(balance, rate), rate.window)
    if today is None or today.usd_per_hour <= 0:
        return None
    return Runway(_days(balance, today))


def _is_near(balance: Decimal, rate: Rate) -> bool:
    return _days(balance, rate) <= Decimal(rate.window / _DAY) * _LOOK_AHEAD


def _days(balance: Decimal, rate: Rate) -> Decimal:
    if rate.usd_per_hour <= 0:
        return MAX_DAYS
    return min(balance / rate.usd_per_hour / 24, MAX_DAYS)
