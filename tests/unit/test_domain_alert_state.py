"""When a condition becomes an alert: hysteresis, minimum duration, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.alert_state import QUIET, AlertState, Bounds, Timing, step

START = datetime(2026, 11, 2, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PATIENCE = 3 * MINUTE
LOW = Bounds("below", Decimal(90), Decimal(95))
HIGH = Bounds("above", Decimal(80), Decimal(75))
AT_ONCE = Timing()
FIVE = Timing(5 * MINUTE, 5 * MINUTE)

Transitions = list[tuple[int, str]]


def run(
    values: Sequence[int | None],
    bounds: Bounds = LOW,
    timing: Timing = AT_ONCE,
    *,
    minutes: Sequence[int] | None = None,
    status: AlertState = QUIET,
) -> tuple[Transitions, AlertState]:
    """Process one reading a minute; return the minutes with events."""
    transitions: Transitions = []
    for minute, value in zip(minutes or range(len(values)), values, strict=True):
        evidence = None if value is None else bounds.evidence(Decimal(value))
        before = status
        status = step(status, evidence, START + minute * MINUTE, timing, PATIENCE)
        if status.is_alerting != before.is_alerting:
            transitions.append((minute, "fired" if status.is_alerting else "cleared"))
    return transitions, status


HOUR_WITHOUT_TRAFFIC = [None] * 60


@pytest.mark.parametrize(
    ("values", "options", "events"),
    [
        # Without a wait they fire and clear at once.
        ([99, 80, 80, 99], {}, [(1, "fired"), (3, "cleared")]),
        ([10, 80, 90, 75], {"bounds": HIGH}, [(1, "fired"), (3, "cleared")]),
        # Bad must last before it fires, without an interruption.
        ([80] * 5 + [99], {"timing": FIVE}, []),
        ([80] * 6, {"timing": FIVE}, [(5, "fired")]),
        ([80] * 4 + [92] + [80] * 5, {"timing": FIVE}, []),
        # Good must last before it clears.
        ([80] * 6 + [99] * 5, {"timing": FIVE}, [(5, "fired")]),
        ([80] * 6 + [99] * 6, {"timing": FIVE}, [(5, "fired"), (11, "cleared")]),
        ([80] * 6 + [99] * 4 + [92] + [99] * 5, {"timing": FIVE}, [(5, "fired")]),
        (
            [80] * 6 + [99] * 4 + [80] + [99] * 6,
            {"timing": FIVE},
            [(5, "fired"), (16, "cleared")],
        ),
        # Missing traffic neither fires nor clears, nor does it make a minute an hour.
        (HOUR_WITHOUT_TRAFFIC, {}, []),
        ([80, *HOUR_WITHOUT_TRAFFIC], {}, [(0, "fired")]),
        ([80, *HOUR_WITHOUT_TRAFFIC], {"timing": FIVE}, []),
        # An hour that nobody recorded does not count, but the time before it does.
        ([80] * 3, {"timing": FIVE, "minutes": [0, 1, 61]}, []),
        ([80] * 6, {"timing": FIVE, "minutes": [0, 1, 61, 62, 63, 64]}, []),
        ([80] * 7, {"timing": FIVE, "minutes": [0, 1, 61, 62, 63, 64, 65]}, [(65, "fired")]),
        (
            [80] * 6 + [99] * 2,
            {"timing": FIVE, "minutes": [0, 1, 2, 3, 4, 5, 6, 99]},
            [(5, "fired")],
        ),
        # Late readings are ignored, but a clock that was set back is not.
        ([99, 80, 99], {"minutes": [10, 9, 11]}, []),
        (
            [99, 80, 99, 80],
            {"minutes": [600, 9, 10, 11]},
            [(9, "fired"), (10, "cleared"), (11, "fired")],
        ),
        (
            [80] * 8,
            {"timing": FIVE, "minutes": [600, 601, 9, 10, 11, 12, 13, 14]},
            [(13, "fired")],
        ),
    ],
)
def test_when_alerts_fire_and_clear(
    values: list[int | None], options: dict[str, Any], events: Transitions
) -> None:
    assert run(values, **options)[0] == events


def test_an_alert_is_clearing_while_good_must_last() -> None:
    assert run([80] * 6 + [99] * 5, timing=FIVE)[1].state == "clearing"


# By chance --------------------------------------------------------------------------------------

VALUES = st.lists(st.none() | st.integers(80, 100), max_size=80)
TIMINGS = st.builds(
    lambda fire, clear: Timing(fire * MINUTE, clear * MINUTE), st.integers(0, 8), st.integers(0, 8)
)


@given(VALUES, TIMINGS)
def test_firing_and_clearing_take_turns(values: list[int | None], timing: Timing) -> None:
    transitions = [event for _, event in run(values, timing=timing)[0]]
    assert transitions == ["fired", "cleared"] * (len(transitions) // 2) + ["fired"] * (
        len(transitions) % 2
    )


@given(st.lists(st.integers(90, 94), max_size=60), st.booleans(), TIMINGS)
def test_alerts_never_flap_between_the_bounds(
    values: list[int], firing: bool, timing: Timing
) -> None:
    status = AlertState("firing" if firing else "quiet", START - MINUTE)
    transitions, after = run(values, timing=timing, status=status)
    assert (transitions, after.state) == ([], status.state)


@given(VALUES, TIMINGS, st.integers(0, 80))
def test_the_same_readings_give_the_same_events(
    values: list[int | None], timing: Timing, cut: int
) -> None:
    transitions, _ = run(values, timing=timing)
    assert run(values, timing=timing)[0] == transitions
    first, status = run(values[:cut], timing=timing)
    rest, _ = run(
        values[cut:], timing=timing, status=status, minutes=range(cut, max(cut, len(values)))
    )
    assert first + rest == transitions, "two partial runs give the same events"


@given(VALUES, TIMINGS)
def test_every_event_has_a_matching_reading(values: list[int | None], timing: Timing) -> None:
    for minute, event in run(values, timing=timing)[0]:
        value = values[minute]
        assert value is not None
        assert LOW.evidence(Decimal(value)) == ("bad" if event == "fired" else "good")
