"""Usage accrual: exact sums over any cut of time, bounded work, silence where nobody asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_facts import world
from gwtui.embedded.simulator.usage import (
    UsageProfile,
    UsageSlice,
    accrual,
    accrued,
    accrued_by_day,
)

NOW = datetime(2026, 11, 21, 9, 0, 3, 250_000, tzinfo=UTC)
WEEK = timedelta(days=7)


@cache
def busy() -> list[UsageProfile]:
    """Of the keys that somebody uses."""
    return [key.profile for key in world(1, NOW).keys if key.profile]


def in_use() -> list[UsageProfile]:
    """Of those that nobody left."""
    return [profile for profile in busy() if not profile.abandoned_at]


profiles = st.deferred(lambda: st.sampled_from(busy()))

offsets = st.integers(min_value=-40 * 86_400_000_000, max_value=40 * 86_400_000_000)


def moment(offset: int) -> datetime:
    return NOW + timedelta(microseconds=offset)


def sums(slices: list[UsageSlice]) -> tuple[Decimal, Decimal, int, int, int]:
    return (
        sum((piece.usd for piece in slices), Decimal(0)),
        sum((piece.byok_usd for piece in slices), Decimal(0)),
        sum(piece.requests for piece in slices),
        sum(piece.prompt_tokens for piece in slices),
        sum(piece.completion_tokens for piece in slices),
    )


def requests(profile: UsageProfile, since: datetime, until: datetime) -> int:
    return sum(piece.requests for piece in accrued_by_day(profile, since, until))


@settings(deadline=None)
@given(
    profile=profiles,
    cuts=st.lists(offsets, min_size=3, max_size=3).map(sorted),
)
def test_adjoining_intervals_add_up_exactly(profile: UsageProfile, cuts: list[int]) -> None:
    first, middle, last = map(moment, cuts)
    parts = accrual(profile, first, middle) + accrual(profile, middle, last)
    assert sums(parts) == sums(accrual(profile, first, last))


@settings(deadline=None)
@given(profile=profiles, cuts=st.lists(offsets, min_size=2, max_size=2).map(sorted))
def test_totals_are_the_sums_of_the_slices(profile: UsageProfile, cuts: list[int]) -> None:
    first, last = map(moment, cuts)
    slices = accrual(profile, first, last)
    assert accrued(profile, first, last) == sums(slices)[:2]
    assert sums(accrued_by_day(profile, first, last)) == sums(slices)


@settings(deadline=None)
@given(profile=profiles, cuts=st.lists(offsets, min_size=2, max_size=2).map(sorted))
def test_requests_are_made_within_the_interval_and_in_order(
    profile: UsageProfile, cuts: list[int]
) -> None:
    first, last = map(moment, cuts)
    slices = accrual(profile, first, last)
    moments = [piece.moment for piece in slices]
    assert moments == sorted(moments)
    assert all(first <= at < last for at in moments)
    assert all(piece.requests > 0 for piece in slices)


@pytest.mark.parametrize("number", range(8))
def test_the_moment_of_the_last_request_is_exact(number: int) -> None:
    profile = busy()[number]
    since = profile.active_from
    whole = requests(profile, since, since + WEEK)
    last = max(piece.moment for piece in accrued_by_day(profile, since, since + WEEK))
    assert requests(profile, since, last) < whole
    assert requests(profile, since, last + timedelta(microseconds=1)) == whole


def test_an_empty_or_reversed_interval_is_empty() -> None:
    for profile in busy():
        assert accrual(profile, NOW, NOW) == []
        assert accrual(profile, NOW, NOW - WEEK) == []
        assert accrued(profile, NOW, NOW - WEEK) == (0, 0)


def test_another_key_with_the_same_streams_differs() -> None:
    other = replace(in_use()[0], identity="0" * 64)
    assert accrual(in_use()[0], NOW, NOW + WEEK) != accrual(other, NOW, NOW + WEEK)


def test_usage_has_a_daily_rhythm() -> None:
    profile = replace(next(item for item in in_use() if item.rhythm == "office"))
    midnight = datetime(2026, 11, 17, tzinfo=UTC)
    by_hour = [0] * 24
    for piece in accrual(profile, midnight, midnight + timedelta(days=3)):
        by_hour[piece.moment.hour] += piece.requests
    assert sum(by_hour[13:17]) > 3 * sum(by_hour[0:4])


def test_weekends_are_quieter_in_the_office() -> None:
    office = [item for item in in_use() if item.rhythm == "office"]
    monday = datetime(2026, 11, 16, tzinfo=UTC)
    saturday = monday + timedelta(days=5)
    weekdays = sum(requests(item, monday, saturday) for item in office) / 5
    weekend = sum(requests(item, saturday, monday + WEEK) for item in office) / 2
    assert weekend < 0.5 * weekdays


def test_nothing_before_the_key_nor_after_its_clients_left() -> None:
    left = [profile for profile in busy() if profile.abandoned_at]
    assert left
    for profile in busy():
        assert accrual(profile, profile.active_from - WEEK, profile.active_from) == []
    for profile in left:
        assert profile.abandoned_at is not None
        assert accrual(profile, profile.abandoned_at, profile.abandoned_at + WEEK) == []


def test_byok_requests_cost_no_credits() -> None:
    slices = [piece for item in in_use() for piece in accrual(item, NOW, NOW + WEEK)]
    assert any(piece.byok_usd for piece in slices)
    assert not any(piece.usd and piece.byok_usd for piece in slices)


def test_a_rare_stream_keeps_its_average() -> None:
    rare = replace(in_use()[0].streams[0], requests_per_day=0.4)
    profile = replace(in_use()[0], rhythm="nightly", active_from=NOW, streams=(rare,))
    days = 1000
    assert 0.3 * days < requests(profile, NOW, NOW + timedelta(days=days)) < 0.5 * days
