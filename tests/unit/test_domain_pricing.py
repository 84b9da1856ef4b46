"""Prices: contract "Pricing object" and "Override rules"."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.contract.models import Pricing
from gwtui.domain.pricing import BASE_PRICE, override_rules, quote
from pricing_kit import amounts, pricing, rules, usage

# Base prices


def test_tokens_are_multiplied_exactly() -> None:
    found = quote(pricing(), usage(123_457, 89_101))
    assert amounts(found) == {"prompt": Decimal("0.370371"), "completion": Decimal("1.336515")}
    assert found.total == Decimal("1.706886")
    assert set(rules(found).values()) == {BASE_PRICE}
    assert found.applied == ()
    assert found.notes == ()


def test_long_prices_lose_no_digit() -> None:
    price = "0." + "123456789" * 4
    found = quote(pricing(prompt=price), usage(10**12))
    assert found.total is not None
    assert str(found.total).rstrip("0") == "123456789123.456789123456789123456789"


def test_what_is_not_used_or_not_priced_has_no_line() -> None:
    found = quote(pricing(web_search="0.01"), usage(10, 0))
    assert set(amounts(found)) == {"prompt"}
    assert quote(pricing(), usage(0, 0)).total == 0


def test_requests_images_and_searches_are_charged_by_the_piece() -> None:
    prices = pricing(request="0.01", image="0.002", image_output="0.04", web_search="0.005")
    found = quote(prices, usage(0, 0, images=3, output_images=2, web_searches=4))
    assert amounts(found) == {
        "request": Decimal("0.01"),
        "image": Decimal("0.006"),
        "image_output": Decimal("0.08"),
        "web_search": Decimal("0.020"),
    }


def test_parts_of_the_prompt_are_charged_at_their_own_price() -> None:
    prices = pricing(input_cache_read="0.0000003", input_cache_write="0.00000375", audio="0.00001")
    found = quote(prices, usage(1000, cached_tokens=400, cache_write_tokens=100, audio_tokens=50))
    assert {line.key: line.quantity for line in found.lines} == {
        "prompt": 450,
        "audio": 50,
        "input_cache_read": 400,
        "input_cache_write": 100,
    }


def test_parts_without_a_price_cost_what_the_whole_costs() -> None:
    found = quote(
        pricing(input_cache_write="0.000004"),
        usage(1000, 100, cached_tokens=400, cache_write_1h_tokens=100, reasoning_tokens=60),
    )
    assert {line.key: line.quantity for line in found.lines} == {
        "prompt": 900,
        "completion": 100,
        "input_cache_write": 100,
    }


def test_a_reasoning_price_of_zero_does_not_make_reasoning_free() -> None:
    free = quote(pricing(internal_reasoning="0"), usage(0, 100, reasoning_tokens=60))
    assert {line.key: line.quantity for line in free.lines} == {"completion": 100}
    apart = quote(pricing(internal_reasoning="0.000003"), usage(0, 100, reasoning_tokens=60))
    assert {line.key: line.quantity for line in apart.lines} == {
        "completion": 40,
        "internal_reasoning": 60,
    }


def test_parts_never_exceed_the_whole() -> None:
    prices = pricing(input_cache_read="0.0000003", audio="0.00001")
    found = quote(prices, usage(100, cached_tokens=80, audio_tokens=80))
    assert {line.key: line.quantity for line in found.lines} == {
        "audio": 20,
        "input_cache_read": 80,
    }


def test_a_price_that_is_missing_makes_the_total_unknown_and_not_zero() -> None:
    found = quote(Pricing.model_validate({"completion": "0.00001"}), usage(10, 10))
    assert found.total is None
    assert found.notes == ("no prompt price is given",)
    assert set(amounts(found)) == {"completion"}


def test_a_price_that_cannot_be_read_is_named() -> None:
    found = quote(pricing(image="a lot"), usage(10, images=1))
    assert amounts(found)["image"] is None
    assert found.total is None
    assert found.notes == ("the image price cannot be read",)


def test_a_negative_price_varies() -> None:
    found = quote(pricing(prompt="-1", discount=Decimal("0.5")), usage(10))
    assert found.lines[0].unit_price == -1
    assert found.lines[0].amount is None
    assert found.total is None
    assert found.notes == ("the prompt price depends on where the request goes",)


# Discount


def test_the_discount_is_taken_off_every_price_and_named() -> None:
    found = quote(pricing(discount=Decimal("0.2"), request="0.01"), usage(1_000_000))
    assert found.lines[0].unit_price == Decimal("0.0000024")
    assert amounts(found) == {"prompt": Decimal("2.4"), "request": Decimal("0.008")}
    assert set(rules(found).values()) == {"base price; discount 20%"}
    assert found.applied == ("discount 20%",)


def test_a_discount_of_one_is_free() -> None:
    assert quote(pricing(discount=1), usage()).total == 0


@pytest.mark.parametrize("share", ["-0.1", "1.5"])
def test_a_discount_outside_0_to_1_is_left_out_and_said_so(share: str) -> None:
    found = quote(pricing(discount=Decimal(share)), usage())
    assert found.total == 3
    assert found.applied == ()
    assert found.notes == (f"the discount {share} is left out: it is not between 0 and 1",)


def test_an_unreadable_discount_is_said_so() -> None:
    assert quote(pricing(discount="lots"), usage()).notes == (
        "the discount cannot be read and is left out",
    )


def test_the_discount_also_lowers_overridden_prices() -> None:
    prices = pricing(discount=Decimal("0.2"), overrides=[{"prompt": "0.000001"}])
    found = quote(prices, usage())
    assert found.total == Decimal("0.8")
    assert rules(found)["prompt"] == "override 1: always; discount 20%"


PRICES = st.decimals("0", "0.001", places=9)
ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "min_prompt_tokens": st.integers(0, 1000),
        "utc_start": st.integers(0, 2400),
        "utc_end": st.integers(0, 2400),
        "utc_days": st.lists(st.sampled_from(["monday", "saturday", "sunday"])),
        "prompt": PRICES.map(str),
        "completion": PRICES.map(str),
        "mystery": st.none() | st.integers(),
    },
)


@given(
    st.lists(ENTRY, max_size=5),
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.datetimes(timezones=st.just(UTC)),
)
def test_a_quote_adds_up_and_every_line_names_its_rule(
    overrides: list[dict[str, Any]], prompt: int, completion: int, moment: datetime
) -> None:
    prices = pricing(overrides=overrides)
    found = quote(prices, usage(prompt, completion, moment=moment))
    assert found.total == sum(line.amount or 0 for line in found.lines)
    names = {tier.name for tier in override_rules(prices)} | {BASE_PRICE}
    for line in found.lines:
        assert line.rule in names
        assert line.unit_price is not None
        assert line.amount == line.unit_price * line.quantity
