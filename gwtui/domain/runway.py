"""How fast credits were used over several windows, when they will be gone, and how certain that is.

Everything is computed from readings of the total that was used. What is bought shows up in another
total, so that a top-up is never negative use. A total that falls (a refund, a correction) starts
over from there. Amounts are USD.

The date of the end is a range. Use per day is not even: days differ, and so do the present hour and
the past week. So the range spans the rates of all windows that look back far enough for the way
ahead, and what the spread of whole days (or hours) lets expect: n of them together use n times the
mean, give or take the spread times the root of n. ``SURENESS`` says how many of those spreads, 1.64
for nine cases in ten if days were independent of each other.
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
"""How much of a UTC day must be over before it stands for the whole."""
FARTHEST = timedelta(days=3650)
"""Beyond ten years a runway is a number without a meaning."""


@dataclass(frozen=True, slots=True)
class Rate:
    """USD per hour, and the time it was seen over."""

    usd_per_hour: Decimal
    over: timedelta


def since_midnight(used: Decimal | None, now: datetime) -> Rate | None:
    """The average of the UTC day so far; None when unknown or the day is too young."""
    over = now - now.replace(hour=0, minute=0, second=0, microsecond=0)
    if used is None or over < EARLIEST:
        return None
    return Rate(used / Decimal(over / _HOUR), over)


WINDOWS = (timedelta(hours=1), timedelta(hours=24), timedelta(days=7))
"""The windows that rates are shown for."""
SURENESS = 1.64
ENOUGH = 0.5
"""Share of a window that must have been seen for its rate to count."""
LOOK_AHEAD = 24
"""A window says something about this many times its own length."""

Source = Literal["recorded", "today"]
"""What an outlook was worked out from: the history, or the keys' use of the UTC day."""

_FEWEST_BLOCKS = 3


class UsedTotal(NamedTuple):
    """The total used at a moment."""

    at: datetime
    total: Decimal


@dataclass(frozen=True, slots=True)
class Burn:
    """The rate over one window; None while too little of it was seen."""

    window: timedelta
    rate: Rate | None

    @property
    def share(self) -> float:
        """How much of the window was seen, 0..1."""
        return 0.0 if self.rate is None else min(1.0, self.rate.over / self.window)


@dataclass(frozen=True, slots=True)
class Outlook:
    """When the balance will be gone: between ``soonest`` and ``latest``, most likely at ``likely``.

    None is later than ``FARTHEST`` from now, where a date has no meaning.
    """

    soonest: datetime | None
    likely: datetime | None
    latest: datetime | None
    window: timedelta
    """The window whose rate ``likely`` follows."""
    source: Source = "recorded"


def credit_outlook(
    balance: Decimal | None, recorded: Outlook | None, used_today: Decimal | None, now: datetime
) -> Outlook | None:
    """When the balance will be gone: the one answer that every screen and command gives.

    What is ``recorded`` tells (see ``outlook``). Before enough is, it is what the keys used since
    00:00 UTC, without a range. None when unknown, already gone, or nothing is used.
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
    """The rate over each of ``WINDOWS``, up to ``now``. ``readings`` are in order of time."""
    return tuple(Burn(window, burn_rate(readings, now, window)) for window in WINDOWS)


def burn_rate(readings: Sequence[UsedTotal], now: datetime, window: timedelta) -> Rate | None:
    """The rate over a window: what was used between its first and last reading.

    The reading just before the window counts with the part of its step that lies inside. None
    without two readings, or when they span less than a sixtieth of the window.
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
    """What was used in each of the last whole blocks that were seen throughout, oldest first."""
    found = []
    for place in range(count, 0, -1):
        since = now - block * place
        steps = list(_steps(readings, since, since + block))
        if sum((step.over for step in steps), timedelta()) == block:
            found.append(sum((step.used for step in steps), Decimal(0)))
    return found


def outlook(
    balance: Decimal | None, readings: Sequence[UsedTotal], now: datetime
) -> Outlook | None:
    """When the balance will be gone. None when unknown, already gone, or nothing is being used."""
    if balance is None or balance <= 0:
        return None
    rated = [burn for burn in burns(readings, now) if burn.share >= ENOUGH and _uses(burn)]
    if not rated:
        return None
    chosen = _decisive(balance, rated)
    ends = [_hours(balance, burn) for burn in rated if _reaches(balance, burn) or burn is chosen]
    soonest, likely, latest = min(ends), _hours(balance, chosen), max(ends)
    band = _band(balance, readings, now)
    if band is not None:
        soonest, latest = min(soonest, band[0]), max(latest, band[1])
    return Outlook(_date(now, soonest), _date(now, likely), _date(now, latest), chosen.window)


def days_left(balance: Decimal | None, found: Sequence[Burn]) -> Decimal | None:
    """Days until the balance is gone, as ``outlook`` takes to be most likely.

    Those of ``FARTHEST`` when nothing is used or it lasts so long. None when the balance is
    unknown, or too little was seen to tell.
    """
    if balance is None or balance <= 0:
        return balance if balance is None else Decimal(0)
    rated = [burn for burn in found if burn.share >= ENOUGH and _uses(burn)]
    if rated:
        days = _hours(balance, _decisive(balance, rated)) / (_DAY / _HOUR)
        return Decimal(min(days, float(FARTHEST.days)))
    return Decimal(FARTHEST.days) if any(burn.share >= ENOUGH for burn in found) else None


class _Step(NamedTuple):
    used: Decimal
    over: timedelta


def _steps(readings: Sequence[UsedTotal], since: datetime, until: datetime) -> Iterator[_Step]:
    """What was used between every two readings, as far as that lies in the span."""
    for before, after in pairwise(readings):
        if after.at <= since or before.at >= until or after.at <= before.at:
            continue
        used = max(after.total - before.total, Decimal(0))
        over = min(after.at, until) - max(before.at, since)
        whole = after.at - before.at
        if over != whole:
            used = used * Decimal(over / whole)
        yield _Step(used, over)


def _uses(burn: Burn) -> bool:
    return burn.rate is not None and burn.rate.usd_per_hour > 0


def _hours(balance: Decimal, burn: Burn) -> float:
    assert burn.rate is not None  # noqa: S101 - only rated windows come here
    return float(balance / burn.rate.usd_per_hour)


def _reaches(balance: Decimal, burn: Burn) -> bool:
    """Whether a window is long enough to say something about the way ahead."""
    return _hours(balance, burn) <= burn.window / _HOUR * LOOK_AHEAD


def _decisive(balance: Decimal, rated: Sequence[Burn]) -> Burn:
    """The shortest window that reaches, though not the last hour where a whole day was seen."""
    days = [burn for burn in rated if burn.window >= _DAY] or rated
    return next((burn for burn in days if _reaches(balance, burn)), days[-1])


def _band(
    balance: Decimal, readings: Sequence[UsedTotal], now: datetime
) -> tuple[float, float] | None:
    """Hours to the soonest and the latest end by the spread of days, else of hours."""
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
