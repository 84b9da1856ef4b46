"""Prices: contract "Pricing object" and "Override rules"."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.contract.pricing import Pricing
from gwtui.contract.values import WEEKDAYS
from gwtui.domain.pricing import BASE_PRICE, Quote, Usage, quote, tiers

SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def pricing(**changes: Any) -> Pricing:
    body: dict[str, Any] = {"prompt": "0.000003", "completion": "0.000015", "discount": 0}
    return Pricing.model_validate({**body, **changes})


def usage(prompt: int = 1_000_000, completion: int = 0, **changes: Any) -> Usage:
    return Usage(
        **{
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "moment": SATURDAY,
            **changes,
        }
    )


def at(hour: int, minute: int = 0, *, day: int = 21) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


def amounts(found: Quote) -> dict[str, Decimal | None]:
    return {line.key: line.amount for line in found.lines}


def rules(found: Quote) -> dict[str, str]:
    return {line.key: line.rule for line in found.lines}


def prompt_price(prices: Pricing, **request: Any) -> Decimal | None:
    return quote(prices, usage(1, **request)).lines[0].unit_price


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


# Overrides


@pytest.mark.parametrize(
    ("tokens", "price"), [(200_000, "0.000003"), (200_001, "0.000006"), (0, None)]
)
def test_a_prompt_must_have_strictly_more_tokens(tokens: int, price: str | None) -> None:
    prices = pricing(overrides=[{"min_prompt_tokens": 200_000, "prompt": "0.000006"}])
    lines = quote(prices, usage(tokens)).lines
    assert [line.unit_price for line in lines] == ([] if price is None else [Decimal(price)])


def test_later_entries_win_per_key_and_the_others_inherit() -> None:
    prices = pricing(
        input_cache_read="0.0000003",
        overrides=[
            {"prompt": "0.000001", "completion": "0.000010"},
            {"min_prompt_tokens": 10, "prompt": "0.000002"},
            {"min_prompt_tokens": 10_000_000, "prompt": "0.000009"},
        ],
    )
    found = quote(prices, usage(100, 100, cached_tokens=50))
    assert {line.key: line.unit_price for line in found.lines} == {
        "prompt": Decimal("0.000002"),
        "completion": Decimal("0.000010"),
        "input_cache_read": Decimal("0.0000003"),
    }
    assert rules(found) == {
        "prompt": "override 2: prompts over 10 tokens",
        "completion": "override 1: always",
        "input_cache_read": "base price",
    }
    assert found.applied == ("override 1: always", "override 2: prompts over 10 tokens")


def test_an_override_that_sets_nothing_here_is_not_called_applied() -> None:
    found = quote(pricing(overrides=[{"audio": "0.1"}, {"completion": "0.1"}]), usage(10))
    assert found.applied == ()


NIGHT = [{"utc_start": 2200, "utc_end": 600, "prompt": "0.000001"}]
DAY = [{"utc_start": 1030, "utc_end": 1800, "prompt": "0.000001"}]


@pytest.mark.parametrize(
    ("overrides", "moment", "inside"),
    [
        (DAY, at(10, 29), False),
        (DAY, at(10, 30), True),
        (DAY, at(17, 59), True),
        (DAY, at(18), False),
        (NIGHT, at(21, 59), False),
        (NIGHT, at(22), True),
        (NIGHT, at(0), True),
        (NIGHT, at(5, 59), True),
        (NIGHT, at(6), False),
        ([{"utc_start": 0, "utc_end": 0, "prompt": "0.000001"}], at(13), True),
        ([{"utc_start": 900, "utc_end": 900, "prompt": "0.000001"}], at(8), True),
        ([{"utc_start": 1600, "utc_end": 2400, "prompt": "0.000001"}], at(23, 59), True),
        ([{"utc_start": 1600, "utc_end": 2400, "prompt": "0.000001"}], at(0), False),
        ([{"utc_start": 1600, "prompt": "0.000001"}], at(15, 59), False),
        ([{"utc_start": 1600, "prompt": "0.000001"}], at(23), True),
        ([{"utc_end": 600, "prompt": "0.000001"}], at(0), True),
        ([{"utc_end": 600, "prompt": "0.000001"}], at(6), False),
    ],
)
def test_a_window_has_its_start_and_not_its_end(
    overrides: list[dict[str, Any]], moment: datetime, inside: bool
) -> None:
    price = prompt_price(pricing(overrides=overrides), moment=moment)
    assert price == Decimal("0.000001" if inside else "0.000003")


def test_the_window_is_utc_whatever_zone_the_moment_is_written_in() -> None:
    tokyo = at(22).astimezone(timezone(timedelta(hours=9)))
    assert tokyo.hour == 7
    assert prompt_price(pricing(overrides=NIGHT), moment=tokyo) == Decimal("0.000001")


def test_days_alone_are_whole_utc_days() -> None:
    prices = pricing(overrides=[{"utc_days": ["saturday", "Sunday"], "prompt": "0.000001"}])
    for day, inside in ((20, False), (21, True), (22, True), (23, False)):
        for hour in (0, 23):
            found = prompt_price(prices, moment=at(hour, day=day))
            assert (found == Decimal("0.000001")) is inside


def test_after_midnight_a_window_belongs_to_the_new_day() -> None:
    prices = pricing(overrides=[{**NIGHT[0], "utc_days": ["saturday"]}])
    cheap = Decimal("0.000001")
    assert prompt_price(prices, moment=at(23, day=21)) == cheap  # Saturday night
    assert prompt_price(prices, moment=at(3, day=21)) == cheap  # Saturday before dawn
    assert prompt_price(prices, moment=at(3, day=22)) != cheap  # Sunday before dawn
    assert prompt_price(prices, moment=at(23, day=20)) != cheap  # Friday night


def test_all_conditions_must_match() -> None:
    prices = pricing(overrides=[{**NIGHT[0], "min_prompt_tokens": 5}])
    assert quote(prices, usage(6, moment=at(23))).applied != ()
    assert quote(prices, usage(5, moment=at(23))).applied == ()
    assert quote(prices, usage(6, moment=at(12))).applied == ()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"max_prompt_tokens": 5}, "its condition max_prompt_tokens is not known"),
        ({"evil\x1b": 1}, "its condition evil␛ is not known"),
        ({"min_prompt_tokens": "many"}, "its condition min_prompt_tokens cannot be read"),
        ({"utc_start": "noon"}, "its condition utc_start cannot be read"),
        ({"utc_start": 2560}, "its utc_start 2560 is not a time of day"),
        ({"utc_end": 1260}, "its utc_end 1260 is not a time of day"),
        ({"utc_end": -5}, "its utc_end -5 is not a time of day"),
        ({"utc_days": ["funday"]}, "its day funday is not known"),
        ({"utc_days": "saturday"}, "its condition utc_days cannot be read"),
        ({"utc_days": ["saturday", 7]}, "its condition utc_days cannot be read"),
        (17, "the entry cannot be read"),
    ],
)
def test_an_entry_that_is_not_understood_is_left_out_and_said_so(entry: Any, reason: str) -> None:
    cheap = {"prompt": "0", **entry} if isinstance(entry, dict) else entry
    found = quote(pricing(overrides=[cheap, {"completion": "0.000001"}]), usage(100, 100))
    assert found.lines[0].rule == BASE_PRICE
    assert found.lines[1].rule == "override 2: always"
    assert found.notes == (f"override 1 is left out: {reason}",)


def test_overrides_that_are_no_list_are_said_so() -> None:
    found = quote(pricing(overrides="see website"), usage(100))
    assert found.notes == ("override 1 is left out: the overrides cannot be read",)


def test_a_condition_of_null_is_none() -> None:
    prices = pricing(overrides=[{"utc_days": None, "max_prompt_tokens": None, "prompt": "0"}])
    assert quote(prices, usage()).total == 0


def test_an_override_price_that_cannot_be_read_makes_the_amount_unknown() -> None:
    found = quote(pricing(overrides=[{"prompt": "cheap"}]), usage())
    assert found.total is None
    assert found.lines[0].rule == "override 1: always"


def test_any_price_key_can_be_overridden() -> None:
    prices = pricing(request="0.01", overrides=[{"request": "0.002", "image": True}])
    found = quote(prices, usage(0, images=1))
    assert amounts(found) == {"request": Decimal("0.002"), "image": None}


# In words


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "always"),
        ({"min_prompt_tokens": 200_000}, "prompts over 200,000 tokens"),
        ({"utc_start": 2200, "utc_end": 600}, "22:00-06:00 UTC"),
        ({"utc_start": 1630, "utc_end": 0}, "16:30-24:00 UTC"),
        ({"utc_days": ["sunday", "saturday"]}, "Saturday and Sunday"),
        (
            {"utc_days": ["monday", "tuesday", "wednesday", "thursday", "friday"]},
            "Monday to Friday",
        ),
        ({"utc_days": ["monday", "wednesday", "sunday"]}, "Monday, Wednesday and Sunday"),
        ({"utc_days": ["friday"]}, "Friday"),
        ({"utc_days": []}, "on no day"),
        (
            {"min_prompt_tokens": 10, "utc_start": 0, "utc_end": 30, "utc_days": ["friday"]},
            "prompts over 10 tokens, 00:00-00:30 UTC, Friday",
        ),
    ],
)
def test_conditions_in_words(entry: dict[str, Any], words: str) -> None:
    [tier] = tiers(pricing(overrides=[{**entry, "prompt": "0.5"}]))
    assert tier.name == f"override 1: {words}"
    assert tier.prices == {"prompt": Decimal("0.5")}
    assert tier.problem == ""


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (["funday"], "funday"),
        (["saturday", "fun\x1bday"], "Saturday and fun␛day"),
        ([*WEEKDAYS, "funday"], "Sunday and funday"),
    ],
)
def test_a_day_that_is_not_known_is_named_as_it_came(days: list[str], words: str) -> None:
    [tier] = tiers(pricing(overrides=[{"utc_days": days, "prompt": "0.5"}]))
    assert tier.conditions.endswith(words)
    assert tier.problem


def test_tiers_keep_the_gateways_numbering() -> None:
    found = tiers(pricing(overrides=[{"prompt": "1"}, "?", {"completion": "2"}]))
    assert [(tier.position, bool(tier.problem)) for tier in found] == [
        (1, False),
        (2, True),
        (3, False),
    ]
    assert tiers(pricing()) == ()


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
    names = {tier.name for tier in tiers(prices)} | {BASE_PRICE}
    for line in found.lines:
        assert line.rule in names
        assert line.unit_price is not None
        assert line.amount == line.unit_price * line.quantity
