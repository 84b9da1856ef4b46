"""Burn rates over windows, and how long the credits last."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.runway import (
    MAX_DAYS,
    WINDOWS,
    Rate,
    Runway,
    UsedTotal,
    burn_rate,
    recorded_rates,
    runway,
    since_midnight,
)
from resource_samples import NOW

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)


def readings(per_step: Sequence[Decimal | int], step: timedelta = HOUR) -> list[UsedTotal]:
    """Totals up to now, from the usage of each step."""
    totals = list(accumulate((Decimal(used) for used in per_step), initial=Decimal(1000)))
    first = NOW - step * len(per_step)
    return [UsedTotal(first + step * place, total) for place, total in enumerate(totals)]


steady = readings([2] * 24 * 8)
uses = st.lists(st.decimals(0, 50, places=2), min_size=2, max_size=24 * 8)


def lasting(
    balance: Decimal | int | None, used: Sequence[int], today: int | None = None
) -> Runway | None:
    """The runway for the usage of each past hour and of today."""
    rates = recorded_rates(readings(used), NOW)
    return runway(
        None if balance is None else Decimal(balance),
        rates,
        since_midnight(None if today is None else Decimal(today), NOW),
    )


def test_steady_use_has_the_same_rate_over_every_window() -> None:
    rates = recorded_rates(steady, NOW)
    assert rates == tuple(Rate(Decimal(2), window, window) for window in WINDOWS)
    assert [rate.share for rate in rates if rate] == [1, 1, 1]


def test_a_window_cuts_the_step_that_reaches_into_it() -> None:
    result = burn_rate(readings([6, 1], step=timedelta(minutes=40)), NOW, HOUR)
    assert result is not None
    assert result.over == HOUR
    assert result.usd_per_hour == Decimal(1) + Decimal(3)


@pytest.mark.parametrize(
    ("totals", "window"),
    [
        (steady[-1:], HOUR),
        (readings([1], step=timedelta(seconds=59)), HOUR),
        (readings([1], step=HOUR), WEEK),
        ([], HOUR),
    ],
    ids=["one reading", "a minute", "too short a window", "none"],
)
def test_too_few_readings_give_no_rate(totals: list[UsedTotal], window: timedelta) -> None:
    assert burn_rate(totals, NOW, window) is None


def test_a_falling_total_is_not_negative_usage() -> None:
    refunded = [*steady[:-1], UsedTotal(NOW, Decimal(5))]
    result = burn_rate(refunded, NOW, DAY)
    assert result is not None
    assert result.usd_per_hour == Decimal(2) * 23 / 24


def test_usage_during_a_recording_gap_counts() -> None:
    sparse = [steady[-25], steady[-1]]
    result = burn_rate(sparse, NOW, DAY)
    assert result is not None
    assert result.usd_per_hour == 2


@pytest.mark.parametrize(
    ("balance", "used", "today", "expected"),
    [
        (48, [2] * 24 * 8, 1, Runway(Decimal(1), DAY)),
        (24 * 24, [2] * 24 * 7 + [1] * 24, None, Runway(Decimal(24), DAY)),
        (24 * 24, [2] * 24 * 6 + [1] * 24, None, Runway(Decimal(24), DAY)),
        (25 * 24 * 13, [14] * 24 * 6 + [7] * 24, None, Runway(Decimal(25), WEEK)),
        (10040, [2] * 24 * 7 + [24 * 7], None, Runway(Decimal(140), WEEK)),
        (240, [2] * 13, None, Runway(Decimal(5), DAY)),
        (240, [2] * 11, 1, Runway(Decimal(5), HOUR)),
        (24, [1, 0, 0], None, Runway(MAX_DAYS, HOUR)),
        (10**9, [2] * 24 * 8, None, Runway(MAX_DAYS, WEEK)),
        (48, [], 24, Runway(Decimal(1))),
        (48, [], 0, None),
        (48, [], None, None),
        (None, [2] * 24, 24, None),
        (0, [2] * 24, 24, Runway(Decimal(0))),
        (-1, [], None, Runway(Decimal(0))),
    ],
)
def test_the_rate_of_the_runway(
    balance: int | None, used: list[int], today: int | None, expected: Runway | None
) -> None:
    runway = lasting(balance, used, today)
    if expected is None or runway is None:
        assert runway is expected
    else:
        assert runway.window == expected.window
        assert abs(runway.days - expected.days) < Decimal("1e-9")


def test_the_date_and_the_end_of_the_scale() -> None:
    assert Runway(Decimal("1.5")).end(NOW) == NOW + timedelta(hours=36)
    assert not Runway(MAX_DAYS - 1).is_endless
    assert Runway(MAX_DAYS).is_endless


@given(uses)
def test_rates_are_never_negative_and_sum_up_to_what_was_used(used: list[Decimal]) -> None:
    totals = readings(used)
    span = HOUR * len(used)
    result = burn_rate(totals, NOW, span)
    assert result is not None
    assert result.usd_per_hour >= 0
    assert abs(result.usd_per_hour * len(used) - sum(used)) < Decimal("1e-9")


def test_the_day_so_far_is_spread_over_its_hours() -> None:
    assert since_midnight(Decimal(24), NOW) == Rate(Decimal(2), HOUR * 12, HOUR * 12)
    assert since_midnight(Decimal(24), NOW.replace(hour=0, minute=9)) is None
    assert since_midnight(None, NOW) is None
