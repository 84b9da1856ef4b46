"""Amounts and moments as people type them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from gwtui.contract.keys import CreateKeyRequest
from gwtui.contract.request import field_rules
from gwtui.crud.fields import Field
from gwtui.domain.diffs import ABSENT
from gwtui.domain.money import parse_usd
from gwtui.ui.forms.form_state import to_typed, to_value

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
RULES = field_rules(CreateKeyRequest)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("5", "5"),
        ("$5", "5"),
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
        ("0", "0"),
        ("-5", "-5"),
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
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="expected an amount in USD"):
        parse_usd(text)


@pytest.mark.parametrize("text", ["1,5", "1,00", "10,00,000", "1000,000", "1,0000"])
def test_a_comma_is_never_guessed_to_be_a_point(text: str) -> None:
    with pytest.raises(ValueError, match="commas only for thousands"):
        parse_usd(text)


def value(name: str, kind: str, typed: str | bool) -> object:
    return to_value(Field(name, name, kind=kind), RULES[name], typed, NOW)  # type: ignore[arg-type]


def test_an_empty_text_means_no_value_where_null_is_allowed() -> None:
    assert value("limit", "usd", " ") is None
    assert value("expires_at", "datetime", "") is None
    assert value("limit_reset", "choice", "") is None
    assert value("creator_user_id", "text", "  ") is None


def test_an_empty_text_stays_a_text_where_the_model_must_judge_it() -> None:
    assert value("name", "text", "  ") == ""


def test_no_workspace_is_not_sent() -> None:
    assert value("workspace_id", "workspace", "") is ABSENT


def test_a_moment_is_read_in_utc() -> None:
    assert value("expires_at", "datetime", "in 30 days") == datetime(2026, 12, 21, 7, tzinfo=UTC)
    assert value("expires_at", "datetime", "2026-12-31 18:00") == datetime(
        2026, 12, 31, 18, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("kind", "name", "given"),
    [
        ("usd", "limit", Decimal("1000.50")),
        ("usd", "limit", Decimal("0.000001")),
        ("usd", "limit", Decimal("1E+3")),
        ("usd", "limit", None),
        ("datetime", "expires_at", datetime(2026, 12, 31, 18, 0, 5, tzinfo=UTC)),
        ("datetime", "expires_at", datetime(2026, 12, 31, tzinfo=UTC)),
        ("choice", "limit_reset", "weekly"),
        ("choice", "limit_reset", None),
        ("switch", "include_byok_in_limit", True),
        ("text", "name", "ci"),
    ],
)
def test_a_value_survives_the_editor(kind: str, name: str, given: object) -> None:
    field = Field(name, name, kind=kind)  # type: ignore[arg-type]
    assert value(name, kind, to_typed(field, given)) == given
