"""How requests spread over a UTC day and a week."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Literal

from gwtui.embedded.simulator.chance import between

RhythmName = Literal["steady", "office", "evening", "nightly"]

HOUR_MICROSECONDS = 3_600_000_000
DAY_MICROSECONDS = 24 * HOUR_MICROSECONDS
HOURS = 24

DAY_SHARES = 1 << 16
"""The hours of a day share this many parts; whole parts keep every sum exact."""
TOTAL_WEIGHT = DAY_SHARES * HOUR_MICROSECONDS

VARIANTS = 16
"""Differently jittered days of one rhythm."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Relative traffic by UTC hour, and the share of it that is left on Saturday and Sunday."""

    hours: tuple[int, ...]
    weekend: float


RHYTHMS: Mapping[RhythmName, Rhythm] = {
    "steady": Rhythm(
        (8, 8, 7, 7, 7, 8, 8, 9, 10, 11, 11, 12, 12, 12, 12, 12, 12, 12, 11, 11, 10, 10, 9, 9), 0.9
    ),
    "office": Rhythm(
        (3, 3, 3, 3, 3, 4, 6, 10, 16, 19, 20, 19, 16, 18, 21, 21, 19, 16, 12, 8, 6, 5, 4, 3), 0.3
    ),
    "evening": Rhythm(
        (9, 7, 5, 4, 3, 3, 3, 4, 5, 6, 7, 8, 9, 9, 9, 10, 12, 14, 17, 19, 20, 19, 16, 12), 1.2
    ),
    "nightly": Rhythm(
        (6, 26, 34, 32, 24, 9, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3), 1.0
    ),
}


def rate_now(rhythm: RhythmName, hour: float) -> float:
    """Traffic at an hour of the day (0..24, with fraction), 1 being the average of the day."""
    hours = RHYTHMS[rhythm].hours
    # Hour figures stand at the middle of their hour; in between they are joined by lines.
    left = int(hour - 0.5) if hour >= 0.5 else -1  # noqa: PLR2004 - half an hour
    part = hour - 0.5 - left
    value = hours[left % HOURS] * (1 - part) + hours[(left + 1) % HOURS] * part
    return value * HOURS / sum(hours)


@cache
def day_weights(rhythm: RhythmName, variant: int) -> tuple[int, ...]:
    """25 running sums of the hours' parts, from 0 to DAY_SHARES; every hour has at least one."""
    wanted = [
        hour * between(0.6, 1.4, variant, rhythm, index)
        for index, hour in enumerate(RHYTHMS[rhythm].hours)
    ]
    scale = (DAY_SHARES - HOURS) / sum(wanted)
    sums = [0, *accumulate(1 + int(share * scale) for share in wanted)]
    sums[-1] = DAY_SHARES
    return tuple(sums)
