"""What a request to a model costs, and the most that it may cost: inference contract section 6."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pricing_kit import SATURDAY, pricing, usage

from gwtui.contract.chat import ChatRequest
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.models import Endpoint
from gwtui.domain.pricing import (
    BYOK_ALLOWANCE,
    ByokUse,
    Usage,
    is_charged,
    max_output_tokens,
    max_request_cost,
    request_cost,
)
from gwtui.domain.prompt_tokens import max_prompt_tokens


def test_the_base_price_is_named() -> None:
    found = request_cost(pricing(), usage(1000, 100))
    assert found.cost == Decimal("0.0045")
    assert found.rule == "base price"
    assert found.upstream_cost is None


def test_overrides_and_the_discount_are_named_in_the_order_they_act() -> None:
    dear = [{"min_prompt_tokens": 200_000, "prompt": "0.000006", "completion": "0.0000225"}]
    found = request_cost(pricing(overrides=dear, discount=0.5), usage(200_001, 0))
    assert found.cost == Decimal("0.600003")
    assert found.rules == ("override 1: prompts over 200,000 tokens", "discount 50%")
    some = [{"min_prompt_tokens": 200_000, "prompt": "0.000006"}]
    both = request_cost(pricing(overrides=some), usage(200_001, 1))
    assert both.rules == ("base price", "override 1: prompts over 200,000 tokens")


def test_cached_and_written_tokens_have_their_own_price() -> None:
    prices = pricing(input_cache_read="0.0000003", input_cache_write="0.00000375")
    found = request_cost(prices, usage(1000, 0, cached_tokens=600, cache_write_tokens=300))
    assert found.cost == Decimal("0.0003") + Decimal("0.00018") + Decimal("0.001125")


def test_requests_and_images_are_charged_by_the_piece() -> None:
    found = request_cost(pricing(request="0.01", image="0.002"), usage(0, 0, images=3))
    assert found.cost == Decimal("0.016")


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
def test_an_own_key_costs_five_percent_of_what_is_beyond_the_allowance(
    used: int | None, fee: str
) -> None:
    own = ByokUse(used=None if used is None else Decimal(used))
    found = request_cost(pricing(), usage(1_000_000, 0), byok=own)
    assert found.cost == Decimal(fee)
    assert found.upstream_cost == 3
    assert found.rules[-1].startswith("own provider key: ")


def test_logged_data_takes_one_percent_off() -> None:
    found = request_cost(pricing(), usage(1_000_000, 0), data_discount=True)
    assert found.cost == Decimal("2.97")
    assert found.rules == ("base price", "data discount 1%")


def test_what_is_not_charged_costs_nothing_and_says_so() -> None:
    found = request_cost(pricing(), usage(1000, 0), charged=False)
    assert found.cost == 0
    assert found.rules[-1] == "not charged: there was no response"


@pytest.mark.parametrize(
    ("finish_reason", "tokens", "tools", "charged"),
    [
        ("stop", 5, False, True),
        ("stop", 0, False, True),
        ("error", 5, False, False),
        ("error", 5, True, True),
        (None, 0, False, False),
        ("", 0, False, False),
        (None, 3, False, True),
    ],
)
def test_when_an_answer_is_charged(
    finish_reason: str | None, tokens: int, tools: bool, charged: bool
) -> None:
    assert is_charged(finish_reason, tokens, tools_ran=tools) is charged


def test_a_price_that_is_not_known_makes_no_cost_up() -> None:
    assert request_cost(pricing(prompt="-1"), usage(1, 0)).cost is None
    assert max_request_cost(pricing(completion=None), 10, 10, SATURDAY).cost is None


def test_a_shorter_prompt_can_be_the_dearest() -> None:
    cheap = [{"min_prompt_tokens": 100, "prompt": "0.000001"}]
    assert max_request_cost(pricing(overrides=cheap), 150, 0, SATURDAY).cost == Decimal("0.0003")


def test_the_bound_takes_writing_the_cache_and_dear_thoughts_in() -> None:
    prices = pricing(input_cache_write="0.000006", internal_reasoning="0.00003")
    assert max_request_cost(prices, 10, 10, SATURDAY).cost == Decimal("0.00033")
    found = max_request_cost(prices, 10, 10, SATURDAY, writes_cache=True)
    assert found.cost == Decimal("0.00036")


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
        reasoning_tokens=int(output * part * part),
        moment=SATURDAY,
    )
    cost = request_cost(prices, used).cost
    assert most is not None
    assert cost <= most


def chat(content: Any) -> ChatRequest:
    return ChatRequest.model_validate({"messages": [{"role": "user", "content": content}]})


def test_a_prompt_has_no_more_tokens_than_bytes_and_what_frames_it() -> None:
    short, long = max_prompt_tokens(chat("a")), max_prompt_tokens(chat("ä" * 1000))
    assert short is not None
    assert long is not None
    assert 2000 < long < 2200
    assert 1 < short < 200
    parts = max_prompt_tokens(chat([{"type": "text", "text": "ä" * 1000}]))
    assert parts > 2000


def test_what_is_more_than_text_has_no_bound() -> None:
    assert max_prompt_tokens(chat([{"type": "image_url", "image_url": {"url": "x"}}])) is None
    parts = {"content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    request = EmbeddingRequest.model_validate({"model": "m", "input": [parts]})
    assert max_prompt_tokens(request) is None


@pytest.mark.parametrize(
    ("given", "least"),
    [("ä" * 100, 200), (["a" * 50] * 2, 100), ([7] * 300, 300), ([[7] * 100] * 2, 200)],
)
def test_the_bound_of_every_form_of_embedding_input(given: Any, least: int) -> None:
    found = max_prompt_tokens(EmbeddingRequest(model="m", input=given))
    assert found is not None
    assert least <= found < least + 100


def test_tools_count_to_the_prompt() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "x" * 500}}
    body = {"messages": [{"role": "user", "content": "a"}], "tools": [tool]}
    found = max_prompt_tokens(ChatRequest.model_validate(body))
    assert found > 500


def test_the_longest_answer_is_what_was_asked_else_the_endpoints_limit() -> None:
    endpoint = Endpoint.model_validate({"max_completion_tokens": 100, "context_length": 5000})
    assert max_output_tokens(7, endpoint) == 7
    assert max_output_tokens(None, endpoint) == 100
    whole = Endpoint.model_validate({"max_completion_tokens": None, "context_length": 5000})
    assert max_output_tokens(None, whole) == 5000
    assert max_output_tokens(None, Endpoint.model_validate({})) is None
