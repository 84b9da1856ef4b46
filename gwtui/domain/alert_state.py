"""The state of one alert: when a condition fires and when it clears. Pure; times are arguments.

A condition has two bounds: it is *bad* beyond the one, *good* beyond the other and neither between
them (hysteresis), so that a figure close to a bound does not fire again and again. Bad must last
for a while before the alert fires, good before it clears.

A reading without traffic (null) and a gap between readings neither fire nor clear, and their time
does not count: only the time between readings that follow each other closely does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

State = Literal["quiet", "pending", "firing", "clearing"]
"""Nothing wrong; bad, but not for long enough; an alert; good again, but not for long enough."""
Evidence = Literal["bad", "good", "between"]
"""What one reading says about a condition."""
Direction = Literal["below", "above"]
"""On which side of its bound a figure is bad."""
Transition = Literal["fired", "cleared"]

ALERTING = frozenset[State]({"firing", "clearing"})
"""The states in which there is an alert."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a figure is bad and where it is good again.

    "below": bad under ``fires_at``, good from ``clears_at`` on. "above": bad from ``fires_at`` on,
    good up to ``clears_at``.
    """

    direction: Direction
    fires_at: Decimal
    clears_at: Decimal

    def evidence(self, value: Decimal) -> Evidence:
        """What a figure says."""
        if self.direction == "below":
            if value < self.fires_at:
                return "bad"
            return "good" if value >= self.clears_at else "between"
        if value >= self.fires_at:
            return "bad"
        return "good" if value <= self.clears_at else "between"


@dataclass(frozen=True, slots=True)
class Timing:
    """How long bad must last before an alert fires, and good before it clears."""

    fire_after: timedelta = timedelta()
    clear_after: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class AlertState:
    """How one condition stands.

    ``since`` is when this state began. ``held`` is how much of the time since then was seen;
    ``seen`` is the last reading with evidence.
    """

    state: State = "quiet"
    since: datetime | None = None
    held: timedelta = timedelta()
    seen: datetime | None = None

    @property
    def alerting(self) -> bool:
        """Whether there is an alert."""
        return self.state in ALERTING


QUIET = AlertState()

_TURNS: Mapping[tuple[State, Evidence], State] = {
    ("quiet", "bad"): "pending",
    ("pending", "good"): "quiet",
    ("pending", "between"): "quiet",
    ("firing", "good"): "clearing",
    # It never stopped: the alert is the one that fired before.
    ("clearing", "bad"): "firing",
    ("clearing", "between"): "firing",
}
"""What a reading turns a state into at once; in all other cases it lasts."""


class AlertStep(NamedTuple):
    """A condition after a reading, and what happened with it, if anything."""

    status: AlertState
    transition: Transition | None = None


def step(
    before: AlertState, evidence: Evidence | None, at: datetime, timing: Timing, patience: timedelta
) -> AlertStep:
    """Take one reading into account; None is a reading without evidence.

    Readings that are further apart than ``patience`` leave a gap between them. One that is not
    newer than the last changes nothing, unless the clock was put back by more than that.
    """
    late = timedelta() if before.seen is None else before.seen - at
    if evidence is None or (before.seen is not None and timedelta() <= late <= patience):
        return AlertStep(before)
    turned = _TURNS.get((before.state, evidence))
    status = _seen(before, at, patience) if turned is None else _begin(turned, at)
    return _due(status, timing)


def occur(at: datetime) -> AlertStep:
    """The state of an alert that an event raises at once, such as a changed price."""
    return AlertStep(_begin("firing", at), "fired")


def lapse(before: AlertState, at: datetime, after: timedelta) -> AlertStep:
    """The state of such an alert later: quiet once ``after`` has passed since the event."""
    if before.state == "firing" and before.since is not None and at - before.since >= after:
        return AlertStep(_begin("quiet", at), "cleared")
    return AlertStep(before)


def _begin(state: State, at: datetime) -> AlertState:
    return AlertState(state, since=at, seen=at)


def _seen(before: AlertState, at: datetime, patience: timedelta) -> AlertState:
    """The same state with the time that was seen of it."""
    passed = timedelta() if before.seen is None else at - before.seen
    held = before.held + (passed if timedelta() < passed <= patience else timedelta())
    return AlertState(before.state, before.since, held, at)


def _due(status: AlertState, timing: Timing) -> AlertStep:
    """Fire or clear once it lasted for long enough."""
    assert status.seen is not None  # noqa: S101 - set with every reading
    if status.state == "pending" and status.held >= timing.fire_after:
        return AlertStep(_begin("firing", status.seen), "fired")
    if status.state == "clearing" and status.held >= timing.clear_after:
        return AlertStep(_begin("quiet", status.seen), "cleared")
    return AlertStep(status)
