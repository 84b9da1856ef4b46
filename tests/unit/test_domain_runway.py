"""Burn over windows, and the date when credits end with its range: what must hold for any use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.runway import (
    WINDOWS,
    Outlook,
    Rate,
    UsedTotal,
    burn_rate,
    burns,
    credit_outlook,
    outlook,
    since_midnight,
    used_per_block,
)
from resource_samples import NOW

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)


def readings(per_step: Sequence[Decimal | int], step: timedelta = HOUR) -> list[UsedTotal]:
    """Totals up to now, from what was used in each step."""
    totals = list(accumulate((Decimal(used) for used in per_step), initial=Decimal(1000)))
    first = NOW - step * len(per_step)
    return [UsedTotal(first + step * place, total) for place, total in enumerate(totals)]


def dates(found: Outlook | None) -> list[datetime]:
    """The dates of an outlook that has all of them."""
    assert found is not None
    known = [date for date in (found.soonest, found.likely, found.latest) if date is not None]
    assert len(known) == 3
    return known


steady = readings([2] * 24 * 8)
uses = st.lists(st.decimals(0, 50, places=2), min_size=2, max_size=24 * 8)
balances = st.decimals("0.01", 100_000, places=2)


def test_steady_use_has_the_same_rate_over_every_window() -> None:
    found = burns(steady, NOW)
    assert [burn.window for burn in found] == list(WINDOWS)
    assert [burn.rate and burn.rate.usd_per_hour for burn in found] == [Decimal(2)] * 3
    assert [burn.share for burn in found] == [1, 1, 1]


def test_a_window_cuts_the_step_that_reaches_into_it() -> None:
    found = burn_rate(readings([6, 1], step=timedelta(minutes=40)), NOW, HOUR)
    assert found is not None
    assert found.over == HOUR
    assert found.usd_per_hour == Decimal(1) + Decimal(3)


def test_one_reading_or_a_glimpse_of_a_window_gives_no_rate() -> None:
    assert burn_rate(steady[-1:], NOW, HOUR) is None
    assert burn_rate(readings([1], step=timedelta(seconds=59)), NOW, HOUR) is None
    assert burn_rate(readings([1], step=HOUR), NOW, WEEK) is None
    assert burn_rate((), NOW, HOUR) is None


def test_a_total_that_falls_is_no_negative_use() -> None:
    refunded = [*steady[:-1], UsedTotal(NOW, Decimal(5))]
    found = burn_rate(refunded, NOW, DAY)
    assert found is not None
    assert found.usd_per_hour == Decimal(2) * 23 / 24


def test_a_pause_of_the_recording_still_counts_what_was_used_in_it() -> None:
    sparse = [steady[-25], steady[-1]]
    found = burn_rate(sparse, NOW, DAY)
    assert found is not None
    assert found.usd_per_hour == 2


def test_steady_use_ends_on_one_date() -> None:
    found = outlook(Decimal(48), steady, NOW)
    assert found is not None
    assert found.soonest == found.likely == found.latest == NOW + DAY


def test_uneven_days_widen_the_range_and_the_farther_the_end_the_wider() -> None:
    uneven = readings([used for used in (1, 3, 1, 3, 1, 3, 2) for _ in range(24)])
    near, far = (dates(outlook(Decimal(balance), uneven, NOW)) for balance in (100, 1000))
    assert near[0] < near[1] <= near[2]
    assert far[2] - far[0] > near[2] - near[0] > timedelta()


def test_the_range_is_nine_cases_in_ten() -> None:
    """Days of 24, 48 and 72 USD: 48 on average, give or take 24."""
    uneven = readings([used for used in (1, 3, 1, 3, 1, 3, 2) for _ in range(24)])
    sure = 1.64 * 24
    soonest, _likely, latest = dates(outlook(Decimal(str(48 * 16 + sure * 4)), uneven, NOW))
    assert abs(soonest - (NOW + 16 * DAY)) < timedelta(seconds=1)
    days = (latest - NOW) / DAY
    assert abs(48 * days - sure * days**0.5 - (48 * 16 + sure * 4)) < 0.001


def test_a_burst_in_the_last_hour_does_not_move_an_end_weeks_away() -> None:
    burst = readings([2] * 24 * 7 + [60])
    found = outlook(Decimal(5000), burst, NOW)
    assert found is not None
    assert found.window >= DAY
    assert found.soonest is not None
    assert found.soonest > NOW + timedelta(days=20)


def test_a_burst_counts_where_the_end_is_hours_away() -> None:
    burst = readings([2] * 24 * 7 + [60])
    found = outlook(Decimal(30), burst, NOW)
    assert found is not None
    assert found.soonest == NOW + timedelta(minutes=30)


def test_a_quiet_last_hour_puts_off_the_latest_end_where_it_is_hours_away() -> None:
    quiet = readings([Decimal(2)] * 24 * 7 + [Decimal("1.6")])
    found = outlook(Decimal(32), quiet, NOW)
    assert found is not None
    assert found.latest == NOW + timedelta(hours=20)
    assert found.likely is not None
    assert found.likely < NOW + timedelta(hours=17)


def test_nothing_is_said_without_a_balance_or_without_use() -> None:
    idle = readings([0] * 48)
    assert outlook(None, steady, NOW) is None
    assert outlook(Decimal(0), steady, NOW) is None
    assert outlook(Decimal(-1), steady, NOW) is None
    assert outlook(Decimal(5), idle, NOW) is None
    assert outlook(Decimal(5), steady[-1:], NOW) is None


def test_an_end_beyond_reason_has_no_date() -> None:
    found = outlook(Decimal(10) ** 9, steady, NOW)
    assert found is not None
    assert found.soonest is found.likely is found.latest is None


def test_blocks_count_only_when_they_were_seen_throughout() -> None:
    assert used_per_block(steady, NOW, DAY, 7) == [Decimal(48)] * 7
    assert used_per_block(steady[-40:], NOW, DAY, 7) == [Decimal(48)]


@given(uses)
def test_rates_are_never_negative_and_sum_up_to_what_was_used(used: list[Decimal]) -> None:
    totals = readings(used)
    span = HOUR * len(used)
    found = burn_rate(totals, NOW, span)
    assert found is not None
    assert found.usd_per_hour >= 0
    assert abs(found.usd_per_hour * len(used) - sum(used)) < Decimal("1e-9")
    assert sum(used_per_block(totals, NOW, HOUR, len(used))) == sum(used)


@given(uses, balances)
def test_the_range_holds_the_likely_date_and_lies_ahead(
    used: list[Decimal], balance: Decimal
) -> None:
    found = outlook(balance, readings(used), NOW)
    if found is not None and found.likely is not None:
        assert found.soonest is not None
        assert NOW <= found.soonest <= found.likely
        assert found.latest is None or found.likely <= found.latest


def test_one_answer_is_given_from_the_best_there_is_to_tell_it_from() -> None:
    recorded = outlook(Decimal(480), readings([1] * 48), NOW)
    assert recorded is not None
    assert recorded.source == "recorded"
    assert credit_outlook(Decimal(48), recorded, Decimal(24), NOW) is recorded

    today = credit_outlook(Decimal(48), None, Decimal(24), NOW)
    assert today is not None
    assert (today.source, today.window) == ("today", timedelta(hours=12))
    assert {today.soonest, today.likely, today.latest} == {NOW + timedelta(hours=24)}

    young = NOW.replace(hour=0, minute=1)
    assert credit_outlook(Decimal(48), None, Decimal(24), young) is None

    for balance in (None, Decimal(0), Decimal(-1)):
        assert credit_outlook(balance, recorded, Decimal(24), NOW) is None
    assert credit_outlook(Decimal(48), None, None, NOW) is None
    assert credit_outlook(Decimal(48), None, Decimal(0), NOW) is None
    ages = credit_outlook(Decimal(10) ** 12, None, Decimal(24), NOW)
    assert ages is not None
    assert ages.likely is None


def test_the_day_so_far_is_spread_over_its_hours() -> None:
    assert since_midnight(Decimal(24), NOW) == Rate(Decimal(2), timedelta(hours=12))
    assert since_midnight(Decimal(24), NOW.replace(hour=0, minute=9)) is None
    assert since_midnight(None, NOW) is None
