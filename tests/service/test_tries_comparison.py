"""One prompt to several endpoints: at once and in turn, failures, and hanging up on all of them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from inference_kit import answer_in_pieces, chunk, event, hello, models, streams
from service_kit import http_answer, sends

from gwtui.client.errors import ServerError
from gwtui.client.inference import Inference
from gwtui.contract.models import Endpoint, Pricing
from gwtui.domain.pricing import Usage, quote
from gwtui.domain.request_cost import RequestCost
from gwtui.domain.routing import RouteAttempt
from gwtui.resources.tries.comparison import (
    Comparison,
    ComparisonError,
    Contender,
    comparison_problem,
    endpoint_contenders,
)
from gwtui.resources.tries.plan import PlannedTry, TryPlan
from resource_samples import endpoint_body, model

USED = Usage(prompt_tokens=1, completion_tokens=1, moment=datetime(2026, 11, 21, 12, tzinfo=UTC))


def contenders(number: int) -> list[Contender]:
    return [Contender(f"c{place}", hello()) for place in range(number)]


async def finished(comparison: Comparison, inference: Inference) -> list[tuple[int, str]]:
    """What happened, in order: the place, and the text it grew by."""
    async with aclosing(comparison.updates(inference)) as updates:
        return [
            (each.place, each.delta.text if each.delta else comparison.compared[each.place].state)
            async for each in updates
        ]


async def test_in_turn_the_next_one_waits_for_the_one_before() -> None:
    plays = (streams(*answer_in_pieces("a", "b")), streams(*answer_in_pieces("c")))
    async with models(*plays) as (inference, server):
        comparison = Comparison(contenders(2), at_once=False)
        happened = await finished(comparison, inference)
    places = [place for place, _ in happened]
    assert places == sorted(places)
    assert [one.text for one in comparison.compared] == ["ab", "c"]
    assert [one.state for one in comparison.compared] == ["answered", "answered"]
    assert comparison.cost == 2 * Decimal("0.000123")
    assert server.connections == 2


async def test_a_failure_is_its_own() -> None:
    refusal = sends(http_answer(b'{"error":{"code":502,"message":"down"}}', status="502 Bad"))
    plays = (refusal, streams(event(chunk("half"))), streams(*answer_in_pieces("whole")))
    async with models(*plays) as (inference, server):
        comparison = Comparison(contenders(3), at_once=False)
        await finished(comparison, inference)
    refused, broken, whole = comparison.compared
    assert isinstance(refused.error, ServerError)
    assert (broken.state, broken.text) == ("failed", "half")
    assert (whole.state, whole.error) == ("answered", None)
    assert server.connections == 3, "none is sent again"


async def test_leaving_hangs_up_on_all_of_them() -> None:
    heard = [asyncio.Event() for _ in range(3)]
    plays = [streams(event(chunk("x")), stay=True, heard=each) for each in heard]
    async with models(*plays) as (inference, _):
        comparison = Comparison(contenders(3))
        begun: set[int] = set()
        async with aclosing(comparison.updates(inference)) as updates:
            async for update in updates:
                if update.delta is not None:
                    begun.add(update.place)
                if len(begun) == 3:
                    break
        await asyncio.wait_for(asyncio.gather(*(each.wait() for each in heard)), 5)
    assert [one.state for one in comparison.compared] == ["cancelled"] * 3


async def test_those_in_turn_that_were_not_sent_are_never_sent() -> None:
    async with models(streams(event(chunk("x")), stay=True)) as (inference, server):
        comparison = Comparison(contenders(2), at_once=False)
        async with aclosing(comparison.updates(inference)) as updates:
            async for update in updates:
                if update.delta is not None:
                    break
        assert server.connections == 1
    assert [one.state for one in comparison.compared] == ["cancelled"] * 2


def test_a_tag_pins_one_endpoint_and_a_provider_its_own() -> None:
    found = [
        Endpoint.model_validate(endpoint_body(tag="one/fp8", provider_name="One")),
        Endpoint.model_validate(
            endpoint_body(tag="one/bf16", quantization="bf16", provider_name="One")
        ),
        Endpoint.model_validate(endpoint_body(tag="two", provider_name="Two")),
    ]
    tag, provider = endpoint_contenders(hello(), found, ["two", "one"])
    for each, entry in ((tag, "two"), (provider, "one")):
        pinned = each.request.provider
        assert pinned is not None
        assert (pinned.order, pinned.only, pinned.allow_fallbacks) == ([entry], [entry], False)
    with pytest.raises(ComparisonError, match=r"no endpoint three \(known: one/fp8"):
        endpoint_contenders(hello(), found, ["one/fp8", "three"])
    with pytest.raises(ComparisonError, match="these are 5"):
        endpoint_contenders(hello(), found, list("abcde"))


def plan_of(most: str | None) -> TryPlan:
    endpoint = Endpoint.model_validate(endpoint_body())
    cost = None if most is None else Decimal(most)
    attempt = RouteAttempt(model(), endpoint)
    quoted = RequestCost(quote(Pricing(), USED), cost, ())
    return TryPlan((PlannedTry(attempt, quoted),), (), (), ())


def test_the_maximum_is_that_of_all_together() -> None:
    plans = [plan_of("0.02"), plan_of("0.02"), plan_of("0.02")]
    assert comparison_problem(plans[:2], Decimal("0.05")) is None
    problem = comparison_problem(plans, Decimal("0.05"))
    assert problem is not None
    assert problem.startswith("all together may cost up to $0.06, more than the maximum of $0.05")
    assert comparison_problem(plans, None) is None
    unknown = comparison_problem([plan_of("0.01"), plan_of(None)], Decimal("0.05"))
    assert unknown is not None
    assert "is not known" in unknown
