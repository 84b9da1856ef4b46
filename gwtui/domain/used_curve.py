"""The total used over time, to be asked for its rate at any moment: ``runway`` without its sums.

For whoever asks at every reading of a week, where adding up all readings each time takes too long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.domain.burn import FARTHEST, Rate
from gwtui.domain.runway import ENOUGH, WINDOWS, Burn, UsedTotal, likely_hours

_HOUR = timedelta(hours=1)
_DAY_HOURS = 24
_LEAST = 60
"""A rate needs this part of its window, as in ``runway.burn_rate``."""
_SPARE = 1000


class UsedCurve:
    """What was used up to each reading, falls of the total left out. Amounts are USD."""

    def __init__(self, readings: Iterable[UsedTotal] = ()) -> None:
        self._at: list[datetime] = []
        self._used: list[Decimal] = []
        self._total = Decimal(0)
        for reading in readings:
            self.add(reading)

    def add(self, reading: UsedTotal) -> None:
        """Take a reading; one that is not newer than the last is ignored."""
        if not self._at:
            self._used.append(Decimal(0))
        elif reading.at <= self._at[-1]:
            return
        else:
            self._used.append(self._used[-1] + max(reading.total - self._total, Decimal(0)))
        self._at.append(reading.at)
        self._total = reading.total

    def forget(self, before: datetime) -> None:
        """Let go of what no window reaches back to; the reading just before it stays."""
        first = bisect_right(self._at, before - max(WINDOWS)) - 1
        if first > _SPARE:
            del self._at[:first], self._used[:first]

    def burns(self, now: datetime) -> tuple[Burn, ...]:
        """The rate over each window up to ``now``; what came later is left out."""
        return tuple(Burn(window, self._rate(window, now)) for window in WINDOWS)

    def days_left(self, balance: Decimal | None, now: datetime) -> Decimal | None:
        """Days until the balance is gone; ``burn.FARTHEST`` when nothing is used or it lasts so.

        None when the balance is unknown, or too little was seen to tell.
        """
        if balance is None:
            return None
        if balance <= 0:
            return Decimal(0)
        found = self.burns(now)
        hours = likely_hours(balance, found)
        if hours is None:
            seen = any(burn.share >= ENOUGH for burn in found)
            return Decimal(FARTHEST.days) if seen else None
        return Decimal(min(hours / _DAY_HOURS, float(FARTHEST.days)))

    def _rate(self, window: timedelta, now: datetime) -> Rate | None:
        if not self._at:
            return None
        last = bisect_right(self._at, now) - 1
        if last < 0:
            return None
        since, until = max(now - window, self._at[0]), self._at[last]
        if last + 1 < len(self._at):
            until = now
        seen = until - since
        if seen < window / _LEAST or seen <= timedelta():
            return None
        return Rate((self._until(until) - self._until(since)) / Decimal(seen / _HOUR), seen)

    def _until(self, moment: datetime) -> Decimal:
        """What was used up to a moment, spread evenly between two readings."""
        place = bisect_right(self._at, moment) - 1
        used = self._used[place]
        if place + 1 == len(self._at) or self._at[place] == moment:
            return used
        whole = self._at[place + 1] - self._at[place]
        share = Decimal((moment - self._at[place]) / whole)
        return used + (self._used[place + 1] - used) * share
