"""Prices: contract Pricing object and Override rules."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pricing_kit import SATURDAY, amounts, pricing, usage

from gwtui.contract.chat import ChatRequest
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.models import PRICE_KEYS, Endpoint, Pricing
from gwtui.contract.values import WEEKDAYS
from gwtui.domain.pricing import (
    BASE_PRICE,
    BYOK_ALLOWANCE,
    ByokUse,
    Usage,
    is_charged,
    max_output_tokens,
    max_prompt_tokens,
    max_request_cost,
    override_rules,
    request_cost,
)

PARTS = {
    "input_cache_read": ("prompt",),
    "input_cache_write": ("prompt",),
    "input_cache_write_1h": ("input_cache_write", "prompt"),
    "input_audio_cache": ("audio", "prompt"),
    "audio": ("prompt",),
    "image_token": ("prompt",),
    "internal_reasoning": ("completion",),
    "audio_output": ("completion",),
}
"""Price keys of parts -> the price keys that they fall back to."""
PIECES = ("image", "image_output", "web_search")
PRICES = st.decimals("0", "0.001", places=9).map(str)
CLOCK = st.builds(lambda hour, minute: hour * 100 + minute, st.integers(0, 23), st.integers(0, 59))
ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "min_prompt_tokens": st.integers(0, 500),
        "utc_start": CLOCK,
        "utc_end": CLOCK | st.just(2400),
        "utc_days": st.lists(st.sampled_from([*WEEKDAYS, "Sunday"]), min_size=4),
        **dict.fromkeys(PRICE_KEYS, PRICES),
    },
)
USAGE = st.fixed_dictionaries(
    {
        **{name: st.integers(0, 100) for name in PARTS},
        **{name: st.integers(0, 3) for name in PIECES},
        "prompt": st.integers(0, 100),
        "completion": st.integers(0, 100),
        "moment": st.integers(0, 360 * 1440).map(
            lambda minutes: SATURDAY + timedelta(minutes=minutes)
        ),
    }
)


def applies(entry: dict[str, Any], prompt: int, moment: datetime) -> bool:
    start, end = entry.get("utc_start", 0), entry.get("utc_end") or 2400
    now = moment.hour * 100 + moment.minute
    inside = start <= now < end if start < end else now >= start or now < end
    days = [day.lower() for day in entry.get("utc_days", WEEKDAYS)]
    is_long = prompt > entry.get("min_prompt_tokens", -1)
    return is_long and inside and WEEKDAYS[moment.weekday()] in days


@given(
    st.dictionaries(st.sampled_from(PRICE_KEYS), PRICES),
    st.lists(ENTRY, max_size=4),
    st.sampled_from(["0", "0.2", "1"]),
    USAGE,
    st.integers(-12, 12),
)
def test_costs_follow_the_contract(
    base: dict[str, str],
    overrides: list[dict[str, Any]],
    discount: str,
    used: dict[str, Any],
    zone: int,
) -> None:
    """Compared with a plain implementation of the rules; parts never exceed the whole."""
    parts = {key: used[key] for key in PARTS}
    answer_parts = ("internal_reasoning", "audio_output")
    spoken = sum(parts[key] for key in answer_parts)
    prompt = used.pop("prompt") + sum(parts.values()) - spoken
    completion = used.pop("completion") + spoken

    listed = {"prompt": "0.000003", "completion": "0.000015", **base}
    rule = dict.fromkeys(listed, BASE_PRICE)
    for number, entry in enumerate(overrides, 1):
        if applies(entry, prompt, used["moment"]):
            for key in entry.keys() & set(PRICE_KEYS):
                listed[key], rule[key] = entry[key], f"override {number}"
    quantity = {"request": 1, **{key: used[key] for key in PIECES}}
    quantity |= {"prompt": prompt - sum(parts.values()) + spoken, "completion": completion - spoken}
    for key, fallbacks in PARTS.items():
        apart = [name for name in (key, *fallbacks) if name in listed]
        payer = next(
            name
            for name in apart
            if name != "internal_reasoning"
            or (Decimal(listed[name]) and discount != "1") * (1 - Decimal(discount))
        )
        quantity[payer] = quantity.get(payer, 0) + parts[key]
    expected = {
        key: (count, count * Decimal(listed[key]) * (1 - Decimal(discount)), rule[key])
        for key, count in quantity.items()
        if count and key in listed
    }

    prices = pricing(discount=discount, overrides=overrides, **base)
    moment = used.pop("moment").astimezone(timezone(timedelta(hours=zone)))
    result = request_cost(prices, usage(prompt, completion, moment=moment, **used))

    assert {
        line.key: (line.quantity, line.amount, line.override.partition(":")[0] or BASE_PRICE)
        for line in result.lines
    } == expected
    assert result.cost == sum(amount for _, amount, _ in expected.values())
    rules = {rule for _, _, rule in expected.values()} or {BASE_PRICE}
    rules |= set() if discount == "0" else {f"discount {Decimal(discount):.0%}"}
    assert {name.partition(":")[0] for name in result.rules} == rules


def test_long_prices_lose_no_digit() -> None:
    price = "0." + "123456789" * 4
    result = request_cost(pricing(prompt=price), usage(10**12))
    assert result.cost is not None
    assert str(result.cost).rstrip("0") == "123456789123.456789123456789123456789"


def test_parts_never_exceed_the_whole() -> None:
    prices = pricing(input_cache_read="0.0000003", audio="0.00001")
    result = request_cost(prices, usage(100, input_cache_read=80, audio=80))
    assert {line.key: line.quantity for line in result.lines} == {
        "audio": 20,
        "input_cache_read": 80,
    }


@pytest.mark.parametrize(
    ("prices", "unknown"),
    [
        (Pricing.model_validate({"completion": "0.00001"}), []),
        (pricing(image="a lot"), ["image"]),
        (pricing(prompt="-1", discount=Decimal("0.5")), ["prompt"]),
        (pricing(overrides=[{"prompt": "cheap"}]), ["prompt"]),
    ],
    ids=["missing", "unreadable", "varies", "in an override"],
)
def test_an_unknown_price_makes_the_total_unknown_and_not_zero(
    prices: Pricing, unknown: list[str]
) -> None:
    result = request_cost(prices, usage(10, 10, image=1))
    assert result.cost is None
    assert [key for key, amount in amounts(result).items() if amount is None] == unknown


@pytest.mark.parametrize("share", ["-0.1", "1.5", "lots"])
def test_a_discount_outside_0_to_1_or_unreadable_is_left_out(share: str) -> None:
    result = request_cost(pricing(discount=share), usage())
    assert result.cost == 3
    assert result.rules == (BASE_PRICE,)


@pytest.mark.parametrize("absurd", ["1e999999999", "9" * 5_000, "NaN", [1]])
def test_a_price_out_of_bounds_in_an_override_is_unknown(absurd: object) -> None:
    (rule,) = override_rules(pricing(overrides=[{"image": absurd}]))
    assert rule.prices == {"image": None}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"max_prompt_tokens": 5}, "its condition max_prompt_tokens is not known"),
        ({"evil\x1b": 1}, "its condition evil␛ is not known"),
        ({"min_prompt_tokens": "many"}, "its condition min_prompt_tokens cannot be read"),
        ({"utc_start": "noon"}, "its condition utc_start cannot be read"),
        ({"utc_start": 2560}, "its condition utc_start cannot be read"),
        ({"utc_end": 1260}, "its condition utc_end cannot be read"),
        ({"utc_end": -5}, "its condition utc_end cannot be read"),
        ({"utc_days": ["funday"]}, "its condition utc_days cannot be read"),
        ({"utc_days": "saturday"}, "its condition utc_days cannot be read"),
        ({"utc_days": ["saturday", 7]}, "its condition utc_days cannot be read"),
        (17, "the entry cannot be read"),
    ],
)
def test_an_unreadable_entry_is_left_out_and_says_why(entry: Any, reason: str) -> None:
    cheap = {"prompt": "0", **entry} if isinstance(entry, dict) else entry
    prices = pricing(overrides=[cheap, {"completion": "0.000001"}])
    rules = request_cost(prices, usage(100, 100)).rules
    assert rules == (BASE_PRICE, "override 2: always")
    assert [rule.problem for rule in override_rules(prices)] == [reason, ""]


def test_overrides_must_be_a_list() -> None:
    (rule,) = override_rules(pricing(overrides="see website"))
    assert rule.problem == "the overrides cannot be read"


def test_a_condition_of_null_is_none() -> None:
    prices = pricing(overrides=[{"utc_days": None, "max_prompt_tokens": None, "prompt": "0"}])
    assert request_cost(prices, usage()).cost == 0


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "always"),
        ({"min_prompt_tokens": 200_000}, "prompts over 200,000 tokens"),
        ({"utc_start": 2200, "utc_end": 600}, "22:00-06:00 UTC"),
        ({"utc_start": 1630, "utc_end": 0}, "16:30-24:00 UTC"),
        ({"utc_days": ["sunday", "saturday"]}, "Sat, Sun"),
        (
            {"utc_days": ["monday", "tuesday", "wednesday", "thursday", "friday"]},
            "Mon, Tue, Wed, Thu, Fri",
        ),
        ({"utc_days": ["monday", "wednesday", "sunday"]}, "Mon, Wed, Sun"),
        ({"utc_days": ["friday"]}, "Fri"),
        ({"utc_days": []}, "on no day"),
        ({"utc_days": [*WEEKDAYS]}, "every day"),
        (
            {"min_prompt_tokens": 10, "utc_start": 0, "utc_end": 30, "utc_days": ["friday"]},
            "prompts over 10 tokens, 00:00-00:30 UTC, Fri",
        ),
    ],
)
def test_conditions_in_words(entry: dict[str, Any], words: str) -> None:
    [tier] = override_rules(pricing(overrides=[{**entry, "prompt": "0.5"}]))
    assert tier.name == f"override 1: {words}"
    assert tier.prices == {"prompt": Decimal("0.5")}
    assert tier.problem == ""


def test_tiers_keep_the_gateways_numbering() -> None:
    result = override_rules(pricing(overrides=[{"prompt": "1"}, "?", {"completion": "2"}]))
    assert [(tier.position, bool(tier.problem)) for tier in result] == [
        (1, False),
        (2, True),
        (3, False),
    ]
    assert override_rules(pricing()) == ()


# Requests -----------------------------------------------------------------------------------------


def test_overrides_and_the_discount_are_named_in_the_order_they_act() -> None:
    dear = [{"min_prompt_tokens": 200_000, "prompt": "0.000006", "completion": "0.0000225"}]
    result = request_cost(pricing(overrides=dear, discount=0.5), usage(200_001, 0))
    assert result.cost == Decimal("0.600003")
    assert result.rules == ("override 1: prompts over 200,000 tokens", "discount 50%")
    assert result.upstream_cost is None
    some = [{"min_prompt_tokens": 200_000, "prompt": "0.000006"}]
    both = request_cost(pricing(overrides=some), usage(200_001, 1))
    assert both.rules == ("base price", "override 1: prompts over 200,000 tokens")


@pytest.mark.parametrize(
    ("used", "fee"),
    [
        (0, "0"),
        (BYOK_ALLOWANCE - 10, "0"),
        (BYOK_ALLOWANCE - 3, "0"),
        (BYOK_ALLOWANCE - 2, "0.05"),
        (BYOK_ALLOWANCE, "0.15"),
        (None, "0.15"),
    ],
)
def test_byok_costs_five_percent_beyond_the_allowance(used: int | None, fee: str) -> None:
    byok = ByokUse(used=None if used is None else Decimal(used))
    result = request_cost(pricing(), usage(1_000_000, 0), byok=byok)
    assert result.cost == Decimal(fee)
    assert result.upstream_cost == 3
    assert result.rules[-1].startswith("BYOK credential: ")


def test_data_logging_gives_a_one_percent_discount() -> None:
    result = request_cost(pricing(), usage(1_000_000, 0), data_discount=True)
    assert result.cost == Decimal("2.97")
    assert result.rules == ("base price", "data discount 1%")


def test_uncharged_requests_cost_nothing() -> None:
    result = request_cost(pricing(), usage(1000, 0), charged=False)
    assert result.cost == 0
    assert result.rules[-1] == "not charged: there was no response"


@pytest.mark.parametrize(
    ("finish_reason", "tokens", "charged"),
    [
        ("stop", 5, True),
        ("stop", 0, True),
        ("error", 5, False),
        (None, 0, False),
        ("", 0, False),
        (None, 3, True),
    ],
)
def test_responses_that_are_charged(finish_reason: str | None, tokens: int, charged: bool) -> None:
    assert is_charged(finish_reason, tokens) is charged


def test_a_shorter_prompt_can_cost_most() -> None:
    assert max_request_cost(pricing(completion=None), 10, 10, SATURDAY).cost is None
    cheap = [{"min_prompt_tokens": 100, "prompt": "0.000001"}, {"completion": "0.000001"}]
    assert max_request_cost(pricing(overrides=cheap), 150, 0, SATURDAY).cost == Decimal("0.0003")


def test_the_upper_bound_includes_cache_writes_and_reasoning() -> None:
    prices = pricing(input_cache_write="0.000006", internal_reasoning="0.00003")
    assert max_request_cost(prices, 10, 10, SATURDAY).cost == Decimal("0.00033")
    result = max_request_cost(prices, 10, 10, SATURDAY, writes_cache=True)
    assert result.cost == Decimal("0.00036")


tokens = st.integers(0, 5000)


@given(
    prompt=tokens,
    output=tokens,
    part=st.floats(0, 1),
    threshold=tokens,
    over=st.sampled_from(["0", "0.000001", "0.00001"]),
)
def test_no_request_within_the_bounds_costs_more(
    prompt: int, output: int, part: float, threshold: int, over: str
) -> None:
    prices = pricing(
        overrides=[{"min_prompt_tokens": threshold, "prompt": over}], internal_reasoning="0.00002"
    )
    most = max_request_cost(prices, prompt, output, SATURDAY).cost
    used = Usage(
        prompt_tokens=int(prompt * part),
        completion_tokens=int(output * part),
        parts={"internal_reasoning": int(output * part * part)},
        moment=SATURDAY,
    )
    cost = request_cost(prices, used).cost
    assert most is not None
    assert cost <= most


def chat(content: Any) -> ChatRequest:
    return ChatRequest.model_validate({"messages": [{"role": "user", "content": content}]})


def test_prompt_tokens_are_bounded_by_bytes_and_framing() -> None:
    short, long = max_prompt_tokens(chat("a")), max_prompt_tokens(chat("ä" * 1000))
    assert short is not None
    assert long is not None
    assert 2000 < long < 2200
    assert 1 < short < 200
    parts = max_prompt_tokens(chat([{"type": "text", "text": "ä" * 1000}]))
    assert parts > 2000


def test_prompts_with_more_than_text_have_no_bound() -> None:
    assert max_prompt_tokens(chat([{"type": "image_url", "image_url": {"url": "x"}}])) is None
    parts = {"content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    request = EmbeddingRequest.model_validate({"model": "m", "input": [parts]})
    assert max_prompt_tokens(request) is None


@pytest.mark.parametrize(
    ("value", "least"),
    [("ä" * 100, 200), (["a" * 50] * 2, 100), ([7] * 300, 300), ([[7] * 100] * 2, 200)],
)
def test_the_bound_of_every_form_of_embedding_input(value: Any, least: int) -> None:
    result = max_prompt_tokens(EmbeddingRequest(model="m", input=value))
    assert result is not None
    assert least <= result < 5 * least + 100


def test_tools_count_to_the_prompt() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "x" * 500}}
    body = {"messages": [{"role": "user", "content": "a"}], "tools": [tool]}
    result = max_prompt_tokens(ChatRequest.model_validate(body))
    assert result > 500


@pytest.mark.parametrize(
    ("requested", "limits", "longest"),
    [
        (7, {"max_completion_tokens": 100, "context_length": 5000}, 7),
        (None, {"max_completion_tokens": 100, "context_length": 5000}, 100),
        (None, {"max_completion_tokens": None, "context_length": 5000}, 5000),
        (None, {}, None),
    ],
)
def test_max_output_is_the_request_or_the_endpoint_limit(
    requested: int | None, limits: dict[str, Any], longest: int | None
) -> None:
    assert max_output_tokens(requested, Endpoint.model_validate(limits)) == longest
