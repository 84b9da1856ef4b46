"""Amounts, shares and lists of numbers as people type them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gwtui.crud.form import parse_integers
from gwtui.domain.money import parse_share, parse_usd


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("$ 5", "5"),
        (" 5 USD ", "5"),
        ("5$", "5"),
        ("usd 12.50", "12.50"),
        ("1,000.50", "1000.50"),
        ("1 000.50", "1000.50"),
        ("1_000_000", "1000000"),
        ("12,345,678.9", "12345678.9"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("0.10", "0.10"),
    ],
)
def test_amounts(text: str, amount: str) -> None:
    assert parse_usd(text) == Decimal(amount)


@pytest.mark.parametrize(
    "text",
    ["", "$", ".", "abc", "5 EUR", "1e5", "NaN", "inf", "1.2.3", "--5", "\u0665", "5 5x", "0x10"],
)
def test_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="expected an amount in USD"):
        parse_usd(text)


@pytest.mark.parametrize("text", ["1,5", "1,00", "10,00,000", "1000,000", "1,0000"])
def test_a_comma_is_never_guessed_to_be_a_point(text: str) -> None:
    with pytest.raises(ValueError, match="commas only for thousands"):
        parse_usd(text)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (".5", "0.5"),
        ("1.", "1"),
        ("50 %", "0.5"),
        ("50%", "0.5"),
        (" 0.01 percent ", "0.0001"),
        ("-1", "-1"),
    ],
)
def test_shares(text: str, share: str) -> None:
    assert parse_share(text) == Decimal(share)


@pytest.mark.parametrize(
    "text", ["", "%", "half", "0,5", "1e-1", "50 %%", "\u0665 %", "NaN", "1/2"]
)
def test_no_share(text: str) -> None:
    with pytest.raises(ValueError, match="expected a share"):
        parse_share(text)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1, 2,3", [1, 2, 3]), ("1 2\n3", [1, 2, 3]), ("[4; 5]", [4, 5]), ("-7", [-7]), ("[]", [])],
)
def test_integers(text: str, numbers: list[int]) -> None:
    assert parse_integers(text) == numbers


@pytest.mark.parametrize("text", ["1, b", "1.5", "1e3", "\u0661", "0x10", "9" * 19])
def test_no_integers(text: str) -> None:
    with pytest.raises(ValueError, match="expected whole numbers"):
        parse_integers(text)
