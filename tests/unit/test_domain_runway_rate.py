from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from gwtui.domain.runway import FARTHEST, Meter, Rate, runway, since_midnight
from resource_samples import NOW


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def test_nothing_is_measured_from_one_reading_or_too_short_a_time() -> None:
    meter = Meter()
    assert meter.rate() is None
    meter.add(NOW, Decimal(10))
    assert meter.rate() is None
    meter.add(NOW + minutes(0.5), Decimal(20))
    assert meter.rate() is None


def test_the_rate_is_usd_per_hour_between_first_and_last() -> None:
    meter = Meter()
    meter.add(NOW, Decimal(10))
    meter.add(NOW + minutes(15), Decimal(13))
    assert meter.rate() == Rate(Decimal(12), minutes(15))


def test_a_reading_that_is_not_newer_is_ignored() -> None:
    meter = Meter()
    meter.add(NOW, Decimal(10))
    meter.add(NOW, Decimal(99))
    meter.add(NOW + minutes(60), Decimal(11))
    assert meter.rate() == Rate(Decimal(1), minutes(60))


def test_usage_that_falls_starts_the_measurement_over() -> None:
    meter = Meter()
    meter.add(NOW, Decimal(100))
    meter.add(NOW + minutes(10), Decimal(5))
    assert meter.rate() is None
    meter.add(NOW + minutes(20), Decimal(6))
    assert meter.rate() == Rate(Decimal(6), minutes(10))


def test_only_the_last_hour_counts() -> None:
    meter = Meter()
    meter.add(NOW, Decimal(0))
    meter.add(NOW + minutes(60), Decimal(1000))
    meter.add(NOW + minutes(120), Decimal(1001))
    assert meter.rate() == Rate(Decimal(1), minutes(60))


def test_the_day_so_far_is_spread_over_its_hours() -> None:
    assert since_midnight(Decimal(24), NOW) == Rate(Decimal(2), timedelta(hours=12))


def test_a_young_day_or_an_unknown_figure_gives_no_rate() -> None:
    young = NOW.replace(hour=0, minute=9)
    assert since_midnight(Decimal(24), young) is None
    assert since_midnight(None, NOW) is None


def test_the_runway_ends_when_the_balance_does() -> None:
    found = runway(Decimal(48), Rate(Decimal(2), minutes(10)), NOW)
    assert found is not None
    assert found.left == timedelta(hours=24)
    assert found.until == NOW + timedelta(hours=24)


def test_no_runway_without_a_balance_or_a_rate() -> None:
    rate = Rate(Decimal(2), minutes(10))
    assert runway(None, rate, NOW) is None
    assert runway(Decimal(0), rate, NOW) is None
    assert runway(Decimal(-3), rate, NOW) is None
    assert runway(Decimal(3), None, NOW) is None
    assert runway(Decimal(3), Rate(Decimal(0), minutes(10)), NOW) is None


def test_a_runway_beyond_reason_has_no_date() -> None:
    found = runway(Decimal(10) ** 12, Rate(Decimal("0.0001"), minutes(10)), NOW)
    assert found is not None
    assert found.left is None
    assert found.until is None
    assert FARTHEST.days >= 3650
