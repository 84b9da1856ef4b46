"""Burn rates over several windows, and the date when the credits run out, as a range.

Rates are computed from readings of the total usage. Purchases are part of another total, so a
top-up never looks like negative usage. A total that falls (a refund, a correction) counts as no
usage. Amounts are USD.

The range spans the dates by the rates of all windows that are long enough for the time ahead, and
the 90 % interval by the standard deviation of whole days (or hours): n days use n times the mean,
plus or minus ``SURENESS`` times the standard deviation times the square root of n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from math import sqrt
from statistics import fmean, stdev
from typing import Literal, NamedTuple

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
EARLIEST = timedelta(minutes=10)
"""How much of a UTC day must have passed for its average to count."""
FARTHEST = timedelta(days=3650)
"""Later dates are not shown."""


@dataclass(frozen=True, slots=True)
class Rate:
    """USD per hour, and the observed time."""

    usd_per_hour: Decimal
    over: timedelta


def since_midnight(used: Decimal | None, now: datetime) -> Rate | None:
    """The average of the UTC day so far; None if unknown or before ``EARLIEST``."""
    over = now - now.replace(hour=0, minute=0, second=0, microsecond=0)
    if used is None or over < EARLIEST:
        return None
    return Rate(used / Decimal(over / _HOUR), over)


WINDOWS = (timedelta(hours=1), timedelta(hours=24), timedelta(days=7))
"""The windows of the rates."""
SURENESS = 1.64
ENOUGH = 0.5
"""The observed share of a window from which its rate counts."""
LOOK_AHEAD = 24
"""A window is long enough for a runway of up to this many times its length."""

Source = Literal["recorded", "today"]
"""The basis of an outlook: the recorded history, or the usage of the keys today."""

_FEWEST_BLOCKS = 3


class UsedTotal(NamedTuple):
    """The total usage at a moment."""

    at: datetime
    total: Decimal


@dataclass(frozen=True, slots=True)
class Burn:
    """The rate over a window; None if too little of it was observed."""

    window: timedelta
    rate: Rate | None

    @property
    def share(self) -> float:
        """The observed share of the window, 0 to 1."""
        return 0.0 if self.rate is None else min(1.0, self.rate.over / self.window)


@dataclass(frozen=True, slots=True)
class Outlook:
    """When the credits run out: between ``soonest`` and ``latest``, most likely at ``likely``.

    None means later than ``FARTHEST`` from now.
    """

    soonest: datetime | None
    likely: datetime | None
    latest: datetime | None
    window: timedelta
    """The window of the rate behind ``likely``."""
    source: Source = "recorded"


def credit_outlook(
    balance: Decimal | None, recorded: Outlook | None, used_today: Decimal | None, now: datetime
) -> Outlook | None:
    """When the credits run out, for every screen and command.

    By the recorded history (see ``outlook``), else by the usage of the keys since 00:00 UTC, which
    gives no range. None if unknown, already spent, or without usage.
    """
    if balance is None or balance <= 0:
        return None
    if recorded is not None:
        return recorded
    rate = since_midnight(used_today, now)
    if rate is None or rate.usd_per_hour <= 0:
        return None
    end = _date(now, float(balance / rate.usd_per_hour))
    return Outlook(end, end, end, rate.over, "today")


def burns(readings: Sequence[UsedTotal], now: datetime) -> tuple[Burn, ...]:
    """The rate over each of ``WINDOWS`` up to ``now``, from ``readings`` in chronological order."""
    return tuple(Burn(window, burn_rate(readings, now, window)) for window in WINDOWS)


def burn_rate(readings: Sequence[UsedTotal], now: datetime, window: timedelta) -> Rate | None:
    """The rate over a window, from its first to its last reading.

    A step that begins before the window counts in proportion. None without two readings, or if they
    span less than a sixtieth of the window.
    """
    used = Decimal(0)
    seen = timedelta()
    for step in _steps(readings, now - window, now):
        used += step.used
        seen += step.over
    if seen < window / 60 or not seen:
        return None
    hours = Decimal(seen / _HOUR)
    return Rate(used / hours, seen)


def used_per_block(
    readings: Sequence[UsedTotal], now: datetime, block: timedelta, count: int
) -> list[Decimal]:
    """The usage in each of the last fully observed blocks, oldest first."""
    blocks = []
    for place in range(count, 0, -1):
        since = now - block * place
        steps = list(_steps(readings, since, since + block))
        if sum((step.over for step in steps), timedelta()) == block:
            blocks.append(sum((step.used for step in steps), Decimal(0)))
    return blocks


def outlook(
    balance: Decimal | None, readings: Sequence[UsedTotal], now: datetime
) -> Outlook | None:
    """When the balance runs out. None if unknown, already spent, or without usage."""
    if balance is None or balance <= 0:
        return None
    usable = [burn for burn in burns(readings, now) if burn.share >= ENOUGH and _has_usage(burn)]
    if not usable:
        return None
    chosen = _decisive(balance, usable)
    ends = [_hours(balance, burn) for burn in usable if _reaches(balance, burn) or burn is chosen]
    soonest, likely, latest = min(ends), _hours(balance, chosen), max(ends)
    band = _band(balance, readings, now)
    if band is not None:
        soonest, latest = min(soonest, band[0]), max(latest, band[1])
    return Outlook(_date(now, soonest), _date(now, likely), _date(now, latest), chosen.window)


def days_left(balance: Decimal | None, rates: Sequence[Burn]) -> Decimal | None:
    """The most likely number of days until the balance runs out, at most those of ``FARTHEST``.

    None if the balance is unknown or too little was observed.
    """
    if balance is None or balance <= 0:
        return balance if balance is None else Decimal(0)
    usable = [burn for burn in rates if burn.share >= ENOUGH and _has_usage(burn)]
    if usable:
        days = _hours(balance, _decisive(balance, usable)) / (_DAY / _HOUR)
        return Decimal(min(days, float(FARTHEST.days)))
    return Decimal(FARTHEST.days) if any(burn.share >= ENOUGH for burn in rates) else None


class _Step(NamedTuple):
    used: Decimal
    over: timedelta


def _steps(readings: Sequence[UsedTotal], since: datetime, until: datetime) -> Iterator[_Step]:
    """The usage between consecutive readings, within the span."""
    for before, after in pairwise(readings):
        if after.at <= since or before.at >= until or after.at <= before.at:
            continue
        used = max(after.total - before.total, Decimal(0))
        over = min(after.at, until) - max(before.at, since)
        whole = after.at - before.at
        if over != whole:
            used = used * Decimal(over / whole)
        yield _Step(used, over)


def _has_usage(burn: Burn) -> bool:
    return burn.rate is not None and burn.rate.usd_per_hour > 0


def _hours(balance: Decimal, burn: Burn) -> float:
    assert burn.rate is not None  # noqa: S101 - only usable windows come here
    return float(balance / burn.rate.usd_per_hour)


def _reaches(balance: Decimal, burn: Burn) -> bool:
    """Whether a window is long enough for the runway by its rate."""
    return _hours(balance, burn) <= burn.window / _HOUR * LOOK_AHEAD


def _decisive(balance: Decimal, usable: Sequence[Burn]) -> Burn:
    """The shortest window that is long enough; a day is preferred to an hour."""
    days = [burn for burn in usable if burn.window >= _DAY] or usable
    return next((burn for burn in days if _reaches(balance, burn)), days[-1])


def _band(
    balance: Decimal, readings: Sequence[UsedTotal], now: datetime
) -> tuple[float, float] | None:
    """Hours until the soonest and the latest date by the deviation of days, else of hours."""
    for block, count in ((_DAY, 7), (_HOUR, 24)):
        used = [float(amount) for amount in used_per_block(readings, now, block, count)]
        if len(used) >= _FEWEST_BLOCKS and fmean(used) > 0:
            length = block / _HOUR
            return tuple(  # type: ignore[return-value]
                _blocks_until(float(balance), fmean(used), sign * SURENESS * stdev(used)) * length
                for sign in (1, -1)
            )
    return None


def _blocks_until(balance: float, mean: float, spread: float) -> float:
    """The n for which n * mean + sqrt(n) * spread is the balance."""
    root = (-spread + sqrt(spread * spread + 4 * mean * balance)) / (2 * mean)
    return root * root


def _date(now: datetime, hours: float) -> datetime | None:
    return now + timedelta(hours=hours) if hours <= FARTHEST / _HOUR else None
