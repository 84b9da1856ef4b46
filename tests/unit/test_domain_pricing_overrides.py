"""Overrides of prices: contract "Override rules"."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from gwtui.contract.values import WEEKDAYS
from gwtui.domain.pricing import BASE_PRICE, override_rules, quote
from pricing_kit import amounts, at, pricing, prompt_price, rules, usage

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


@pytest.mark.parametrize("absurd", ["1e999999999", "9" * 5_000, "NaN", [1]])
def test_a_price_out_of_bounds_in_an_override_is_unknown(absurd: object) -> None:
    (rule,) = override_rules(pricing(overrides=[{"image": absurd}]))
    assert rule.prices == {"image": None}


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
    [tier] = override_rules(pricing(overrides=[{**entry, "prompt": "0.5"}]))
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
    [tier] = override_rules(pricing(overrides=[{"utc_days": days, "prompt": "0.5"}]))
    assert tier.conditions.endswith(words)
    assert tier.problem


def test_tiers_keep_the_gateways_numbering() -> None:
    found = override_rules(pricing(overrides=[{"prompt": "1"}, "?", {"completion": "2"}]))
    assert [(tier.position, bool(tier.problem)) for tier in found] == [
        (1, False),
        (2, True),
        (3, False),
    ]
    assert override_rules(pricing()) == ()
