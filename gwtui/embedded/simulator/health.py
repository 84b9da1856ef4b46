"""How often an endpoint fails: a small wandering base, and incidents that come and go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from gwtui.embedded.simulator.chance import between, fraction, smooth
from gwtui.embedded.simulator.seeds import Condition

MINUTE = 60
DAY = 86_400
BAD_MINUTE = 0.2
"""A minute counts as down from this share of failed attempts (contract, uptime_last_1d)."""

_RAMP = 4 * MINUTE
_STRAIN_AT = tuple((index + 0.5) / 12 for index in range(12))


@dataclass(frozen=True, slots=True)
class _Habit:
    """Failure shares of a condition; at most one incident begins and ends within each slot."""

    base: tuple[float, float]
    slot: int
    """Seconds."""
    chance: float
    minutes: tuple[float, float]
    depth: tuple[float, float]


_GOOD = _Habit(base=(0.0, 0.009), slot=8 * 3600, chance=0.07, minutes=(12, 45), depth=(0.08, 0.6))
_HABITS: Mapping[Condition, _Habit] = {
    "healthy": _GOOD,
    "sparse": _GOOD,
    "idle": _GOOD,
    "degraded": _Habit(
        base=(0.05, 0.13), slot=100 * MINUTE, chance=0.65, minutes=(20, 55), depth=(0.2, 0.5)
    ),
    "down": _Habit(base=(0.96, 1.0), slot=DAY, chance=0.0, minutes=(0, 0), depth=(0, 0)),
}


@dataclass(frozen=True, slots=True)
class _Incident:
    start: float
    end: float
    depth: float

    def strength(self, at: float) -> float:
        """0 outside, 1 in the middle, with ramps at both ends."""
        part = min((at - self.start) / _RAMP, (self.end - at) / _RAMP, 1.0)
        return part * part * (3.0 - 2.0 * part) if part > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Health:
    """One endpoint's reliability. Moments are seconds since the epoch."""

    seed: int
    key: str
    condition: Condition

    def strain(self, at: float, window: int) -> float:
        """How much of the last ``window`` seconds was spent in incidents, 0 to 1."""
        return sum(self._trouble(at - share * window) for share in _STRAIN_AT) / len(_STRAIN_AT)

    def failures(self, at: float) -> float:
        """Share of attempts that fail, 0 to 1."""
        low, high = _HABITS[self.condition].base
        # Cubed: a good endpoint is close to its best most of the time.
        share = low + (high - low) * smooth(self.seed, f"fail:{self.key}", at / 600) ** 3
        incident = self._incident_at(at)
        if incident:
            share += incident.depth * incident.strength(at)
        return min(share, 1.0)

    def uptime(self, at: float, window: int, samples: int) -> float:
        """Percentage of attempts that succeeded in the last ``window`` seconds."""
        step = window / samples
        lost = sum(self.failures(at - (index + 0.5) * step) for index in range(samples))
        return round(100 * (1 - lost / samples), 3)

    def good_minutes(self, at: float) -> float:
        """Percentage of the last day's minutes in which at least 80 % of attempts succeeded."""
        last = int(at // MINUTE)
        minutes = range(last - DAY // MINUTE, last)
        if _HABITS[self.condition].base[0] >= BAD_MINUTE:
            return 0.0
        doubtful = (minute for minute in minutes if self._incident_at(minute * MINUTE))
        bad = sum(self.failures(minute * MINUTE) > BAD_MINUTE for minute in doubtful)
        return round(100 * (1 - bad / len(minutes)), 3)

    def _trouble(self, at: float) -> float:
        incident = self._incident_at(at)
        return incident.strength(at) if incident else 0.0

    def _incident_at(self, at: float) -> _Incident | None:
        slot = _HABITS[self.condition].slot
        incident = _incident(self.seed, self.key, self.condition, int(at // slot))
        return incident if incident and incident.start < at < incident.end else None


@lru_cache(maxsize=4096)
def _incident(seed: int, key: str, condition: Condition, slot: int) -> _Incident | None:
    habit = _HABITS[condition]
    name = ("incident", key, slot)
    if fraction(seed, *name) >= habit.chance:
        return None
    length = between(*habit.minutes, seed, *name, "length") * MINUTE
    start = slot * habit.slot + (habit.slot - length) * fraction(seed, *name, "start")
    return _Incident(start, start + length, between(*habit.depth, seed, *name, "depth"))
