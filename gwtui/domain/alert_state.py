"""The state machine of an alert: when a condition fires and when it clears.

A condition has two thresholds (hysteresis): beyond one it is *bad*, beyond the other *good*, and
between them neither, so that a figure near a threshold does not fire repeatedly. It must be bad for
some time before the alert fires, and good for some time before it clears.

Readings without traffic (null) and gaps between readings neither fire nor clear. Their time does
not count: only the time between consecutive readings does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

State = Literal["quiet", "pending", "firing", "clearing"]
"""The states of a condition.

"quiet": no problem. "pending": bad, but not for long enough. "firing": an alert. "clearing": good
again, but not for long enough.
"""
Evidence = Literal["bad", "good", "between"]
"""The verdict of one reading on a condition."""
Direction = Literal["below", "above"]
"""The side of the threshold on which a figure is bad."""

ALERTING = frozenset[State]({"firing", "clearing"})
"""The states in which there is an alert."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The thresholds of a figure.

    "below": bad below ``fires_at``, good at ``clears_at`` or above. "above": bad at ``fires_at`` or
    above, good up to ``clears_at``.
    """

    direction: Direction
    fires_at: Decimal
    clears_at: Decimal

    def evidence(self, value: Decimal) -> Evidence:
        """The verdict on a figure."""
        if self.direction == "below":
            if value < self.fires_at:
                return "bad"
            return "good" if value >= self.clears_at else "between"
        if value >= self.fires_at:
            return "bad"
        return "good" if value <= self.clears_at else "between"


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a condition must be bad to fire, and good to clear."""

    fire_after: timedelta = timedelta()
    clear_after: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class AlertState:
    """The state of a condition.

    ``since`` is when the state began; ``observed`` is the time since then without gaps between
    readings; ``last_reading`` is the time of the last reading with a known value.
    """

    state: State = "quiet"
    since: datetime | None = None
    observed: timedelta = timedelta()
    last_reading: datetime | None = None

    @property
    def is_alerting(self) -> bool:
        """Whether the state is "firing" or "clearing"."""
        return self.state in ALERTING


QUIET = AlertState()

_TRANSITIONS: Mapping[tuple[State, Evidence], State] = {
    ("quiet", "bad"): "pending",
    ("pending", "good"): "quiet",
    ("pending", "between"): "quiet",
    ("firing", "good"): "clearing",
    # The alert never ended.
    ("clearing", "bad"): "firing",
    ("clearing", "between"): "firing",
}
"""(state, evidence) -> next state; any other pair leaves the state unchanged."""


def step(
    before: AlertState, evidence: Evidence | None, at: datetime, timing: Timing, max_gap: timedelta
) -> AlertState:
    """Return the state after a reading at ``at``; ``evidence`` None is a reading without a value.

    The time between two readings only counts up to a distance of ``max_gap``. A reading that is
    not newer than the last one changes nothing, unless the clock was set back by more than
    ``max_gap``.
    """
    late = timedelta() if before.last_reading is None else before.last_reading - at
    if evidence is None or (before.last_reading is not None and timedelta() <= late <= max_gap):
        return before
    state = _TRANSITIONS.get((before.state, evidence))
    after = _observed(before, at, max_gap) if state is None else begin(state, at)
    if after.state == "pending" and after.observed >= timing.fire_after:
        return begin("firing", at)
    if after.state == "clearing" and after.observed >= timing.clear_after:
        return begin("quiet", at)
    return after


def begin(state: State, at: datetime) -> AlertState:
    """Return a state that begins with a reading at ``at``."""
    return AlertState(state, since=at, last_reading=at)


def _observed(before: AlertState, at: datetime, max_gap: timedelta) -> AlertState:
    passed = timedelta() if before.last_reading is None else at - before.last_reading
    observed = before.observed + (passed if timedelta() < passed <= max_gap else timedelta())
    return AlertState(before.state, before.since, observed, at)
