from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from gwtui.crud import cells
from gwtui.crud.resource import Cell


@pytest.mark.parametrize(
    ("amount", "expected"),
    [("0", "$0.00"), ("0.004", "<$0.01"), ("0.01", "$0.01"), ("1234.567", "$1,234.57")],
)
def test_usage_in_a_column_is_in_cents_and_never_rounds_to_nothing(
    amount: str, expected: str
) -> None:
    assert cells.cents(Decimal(amount)).text == expected


def test_unknown_values_show_a_dash() -> None:
    for cell in (
        cells.cents(None),
        cells.usd(None),
        cells.share(None),
        cells.count(None),
        cells.tokens(None),
        cells.yes_no(None),
        cells.milliseconds(None),
        cells.speed(None),
        cells.uptime(None),
        cells.text(None),
        cells.text(""),
        cells.names(None),
        cells.prose(None),
    ):
        assert cell == Cell("—", "muted")


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("-3", "░" * 10),
        ("0", "░" * 10),
        ("0.001", "▏" + "░" * 9),
        ("0.04", "▍" + "░" * 9),
        ("0.5", "█" * 5 + "░" * 5),
        ("0.999", "█" * 9 + "▉"),
        ("1", "█" * 10),
        ("7", "█" * 10),
    ],
)
def test_a_bar_is_full_or_empty_only_at_the_exact_bound(part: str, expected: str) -> None:
    assert cells.bar(Decimal(part), 10) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [("0.2", "████████ 20%"), ("0.1", "████     10%"), ("0.001", "▏        0.1%"), ("0", "")],
)
def test_the_bars_of_a_ranking_are_scaled_to_the_largest_share(part: str, expected: str) -> None:
    assert cells.ranked_share(Decimal(part), Decimal("0.2"), 8).text == expected
    assert cells.ranked_share(None, None, 8) == cells.NOTHING


def test_uptime_below_100_is_not_rounded_up() -> None:
    assert cells.uptime(Decimal("99.9999")).text == ">99.99%"
    assert cells.uptime(Decimal(100)).text == "100%"


@pytest.mark.parametrize(
    ("seconds", "moment"),
    [(0, datetime(1970, 1, 1, tzinfo=UTC)), (10**15, None), (-(10**15), None), (None, None)],
)
def test_unix_moments_outside_the_calendar_are_unknown(
    seconds: int | None, moment: datetime | None
) -> None:
    assert cells.from_unix(seconds) == moment


def test_an_empty_list_is_none_and_not_unknown() -> None:
    assert cells.names([]).text == "none"
