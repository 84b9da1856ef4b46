from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain import money
from gwtui.domain.money import parse_quantity, parse_share

AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (None, "—"),
        ("0", "$0.00"),
        ("-0", "$0.00"),
        ("1234.5", "$1,234.50"),
        ("1.005", "$1.00"),
        ("1.015", "$1.02"),
        ("0.5", "$0.50"),
        ("0.1234", "$0.123"),
        ("0.99999", "$1.00"),
        ("0.00000125", "$0.00000125"),
        ("0.000001234567", "$0.00000123"),
        ("0.0000012350000000000000000000000000000001", "$0.00000124"),
        ("-12.5", "-$12.50"),
        ("-0.000002", "-$0.000002"),
        ("12345678901234567890.125", "$12,345,678,901,234,567,890.12"),
        ("1e30", "$1e+30"),
        ("1.23456e-20", "$1.23e-20"),
        ("-1e999", "-$1e+999"),
        ("NaN", "—"),
        ("Infinity", "—"),
    ],
)
def test_usd(amount: str | None, expected: str) -> None:
    assert money.usd(None if amount is None else Decimal(amount)) == expected


@pytest.mark.parametrize(
    ("amount", "places", "expected"),
    [("2.345", 2, "$2.34"), ("2.5", 0, "$2"), ("-0.001", 2, "$0.00"), ("1", 4, "$1.0000")],
)
def test_usd_with_fixed_places(amount: str, places: int, expected: str) -> None:
    assert money.usd(Decimal(amount), places=places) == expected


@given(AMOUNTS)
def test_usd_is_never_off_by_more_than_its_last_digit(amount: Decimal) -> None:
    text = money.usd(amount)
    assert text.startswith("-$" if amount < 0 and text != "$0.00" else "$")
    with localcontext(prec=400):
        parsed = Decimal(re.sub(r"[$,]", "", text))
        tolerance = max(abs(amount) / 200, Decimal(0)) if abs(amount) < 1 or "e" in text else 0
        assert abs(parsed - amount) <= (tolerance or Decimal("0.005"))


def test_the_callers_context_does_not_change_the_rounding() -> None:
    with localcontext(prec=2):
        assert money.usd(Decimal("1234.567")) == "$1,234.57"
        assert money.per_million(Decimal("0.00000123456")) == "$1.23"


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        (None, "—"),
        ("0.0000025", "$2.50"),
        ("0", "$0.00"),
        ("0.00000000125", "$0.00125"),
        ("-1", "varies"),
    ],
)
def test_per_million(price: str | None, expected: str) -> None:
    assert money.per_million(None if price is None else Decimal(price)) == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (None, "—"),
        ("0", "0%"),
        ("1", "100%"),
        ("0.425", "42.5%"),
        ("0.83", "83%"),
        ("0.9999", ">99.9%"),
        ("0.0001", "<0.1%"),
        ("0.001", "0.1%"),
        ("1.5", "150%"),
        ("12.5", "1,250%"),
        ("-0.25", "-25%"),
        ("-0.0001", "0%"),
    ],
)
def test_percent(share: str | None, expected: str) -> None:
    assert money.percent(None if share is None else Decimal(share)) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [("99.95", "99.95%"), ("99.999", ">99.99%"), ("100", "100%"), ("0.004", "<0.01%")],
)
def test_percent_points(points: str, expected: str) -> None:
    assert money.percent_points(Decimal(points), places=2) == expected


def test_percent_points_have_one_place_unless_told_otherwise() -> None:
    assert money.percent_points(Decimal("42.25")) == "42.2%"
    assert money.percent_points(None) == "—"


@given(st.decimals("0", "2", allow_nan=False))
def test_percentages_of_0_and_100_are_exact(share: Decimal) -> None:
    text = money.percent(share)
    assert (text == "0%") == (share == 0)
    if share < 1:
        assert text != "100%"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (None, "—"),
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1500, "1.5k"),
        (128_000, "128k"),
        (131_072, "131k"),
        (999_499, "999k"),
        (999_999, "1M"),
        (1_048_576, "1.05M"),
        (2_000_000_000, "2B"),
        (10**13, "10T"),
        (10**40, "1e+40"),
        (-2500, "-2.5k"),
        (Decimal("NaN"), "—"),
    ],
)
def test_compact_int(number: int | Decimal | None, expected: str) -> None:
    assert money.compact_int(number) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [(131_072, "131,072"), (None, "—"), (Decimal("2E+5"), "200,000"), (Decimal("1E+99"), "1e+99")],
)
def test_grouped(number: int | Decimal | None, expected: str) -> None:
    assert money.grouped(number) == expected


# Typed values -------------------------------------------------------------------------------------


def in_usd(text: str) -> Decimal:
    return parse_quantity(text, "USD")


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (in_usd, "$ 5", "5"),
        (in_usd, " 5 USD ", "5"),
        (in_usd, "5$", "5"),
        (in_usd, "usd 12.50", "12.50"),
        (in_usd, "1,000.50", "1000.50"),
        (in_usd, "1 000.50", "1000.50"),
        (in_usd, "1_000_000", "1000000"),
        (in_usd, "12,345,678.9", "12345678.9"),
        (in_usd, ".5", "0.5"),
        (in_usd, "5.", "5"),
        (in_usd, "$-5", "-5"),
        (in_usd, "0.10", "0.10"),
        (parse_share, ".5", "0.5"),
        (parse_share, "1.", "1"),
        (parse_share, "50 %", "0.5"),
        (parse_share, "50%", "0.5"),
        (parse_share, " 0.01 percent ", "0.0001"),
        (parse_share, "-1", "-1"),
    ],
)
def test_typed_amounts_and_shares(parse: Callable[[str], Decimal], text: str, value: str) -> None:
    assert parse(text) == Decimal(value)


NO_AMOUNTS = ["", "$", ".", "abc", "5 EUR", "1e5", "NaN", "inf", "1.2.3", "--5", "\u0665", "5 5x"]
AMBIGUOUS = ["1,5", "1,00", "10,00,000", "1000,000", "1,0000"]
NO_SHARES = ["", "%", "half", "0,5", "1e-1", "50 %%", "\u0665 %", "NaN", "1/2"]


@pytest.mark.parametrize(
    ("parse", "texts", "says"),
    [
        (in_usd, [*NO_AMOUNTS, "0x10", *AMBIGUOUS], r"expected a number in USD, such as 12\.5"),
        (parse_share, NO_SHARES, r"expected a number in %, such as 12\.5"),
    ],
    ids=["amounts", "shares"],
)
def test_text_that_is_no_amount_or_share(
    parse: Callable[[str], Decimal], texts: list[str], says: str
) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=says):
            parse(text)
