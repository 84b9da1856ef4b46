"""One prompt to several endpoints: in parallel and in turn, with failures and cancellation."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from inference_kit import answer_in_pieces, chunk, event, hello, models, streams
from service_kit import http_answer, sends

from gwtui.client.errors import ServerError
from gwtui.contract.models import Endpoint
from gwtui.domain.pricing import RequestCost
from gwtui.domain.routing import RouteAttempt
from gwtui.resources.tries.comparison import (
    ComparisonError,
    Contender,
    compare,
    comparison_problem,
    endpoint_contenders,
)
from gwtui.resources.tries.plan import PlannedTry, TryPlan
from resource_samples import endpoint_body, model


def contenders(number: int) -> list[Contender]:
    return [Contender(f"c{place}", hello()) for place in range(number)]


async def test_comparisons_in_turn_wait_for_each_other() -> None:
    texts: list[str] = []
    plays = (streams(*answer_in_pieces("a", "b")), streams(*answer_in_pieces("c")))
    async with models(*plays) as (inference, server):
        result = await compare(
            inference, contenders(2), lambda item: texts.append(item.text), at_once=False
        )
    assert texts == [item.text for item in result] == ["ab", "c"]
    assert [item.answer.cost for item in result] == [Decimal("0.000123")] * 2
    assert server.connections == 2


async def test_one_failure_does_not_stop_a_comparison() -> None:
    refusal = sends(http_answer(b'{"error":{"code":502,"message":"down"}}', status="502 Bad"))
    plays = (refusal, streams(event(chunk("half"))), streams(*answer_in_pieces("whole")))
    async with models(*plays) as (inference, server):
        refused, broken, complete = await compare(
            inference, contenders(3), lambda _item: None, at_once=False
        )
    assert isinstance(refused.error, ServerError)
    assert (broken.error is None, broken.text) == (False, "half")
    assert complete.error is None
    assert server.connections == 3, "no request is repeated"


@pytest.mark.parametrize("at_once", [True, False])
async def test_cancelling_a_comparison_closes_connections(at_once: bool) -> None:
    arrived, hung_up = ([asyncio.Event() for _ in range(3 if at_once else 1)] for _ in range(2))
    plays = [
        streams(event(chunk("x")), stay=True, arrived=arrival, hung_up=departure)
        for arrival, departure in zip(arrived, hung_up, strict=True)
    ]
    async with models(*plays) as (inference, server):
        comparing = asyncio.create_task(
            compare(inference, contenders(3), lambda _item: None, at_once=at_once)
        )
        await asyncio.gather(*(arrival.wait() for arrival in arrived))
        comparing.cancel()
        await asyncio.wait([comparing])
        await asyncio.wait_for(asyncio.gather(*(departure.wait() for departure in hung_up)), 60)
        assert server.connections == len(hung_up)
    assert comparing.cancelled()


def test_a_tag_pins_one_endpoint_and_a_provider_its_own() -> None:
    results = [
        Endpoint.model_validate(endpoint_body(tag="one/fp8", provider_name="One")),
        Endpoint.model_validate(
            endpoint_body(tag="one/bf16", quantization="bf16", provider_name="One")
        ),
        Endpoint.model_validate(endpoint_body(tag="two", provider_name="Two")),
    ]
    tag, provider = endpoint_contenders(hello(), results, ["two", "one"])
    for item, entry in ((tag, "two"), (provider, "one")):
        pinned = item.request.provider
        assert (pinned.order, pinned.only, pinned.allow_fallbacks) == ([entry], [entry], False)
    with pytest.raises(ComparisonError, match=r"no endpoint three \(known: one/fp8"):
        endpoint_contenders(hello(), results, ["one/fp8", "three"])
    with pytest.raises(ComparisonError, match="these are 5"):
        endpoint_contenders(hello(), results, list("abcde"))


def plan_of(most: str | None) -> TryPlan:
    endpoint = Endpoint.model_validate(endpoint_body())
    cost = None if most is None else Decimal(most)
    attempt = RouteAttempt(model(), endpoint)
    quoted = RequestCost((), cost, ())
    return TryPlan((PlannedTry(attempt, quoted),), (), ())


def test_the_maximum_cost_applies_to_the_total() -> None:
    plans = [plan_of("0.02"), plan_of("0.02"), plan_of("0.02")]
    assert comparison_problem(plans[:2], Decimal("0.05")) is None
    problem = comparison_problem(plans, Decimal("0.05"))
    assert problem.startswith("all together may cost up to $0.06, more than the maximum of $0.05")
    assert comparison_problem(plans, None) is None
    unknown = comparison_problem([plan_of("0.01"), plan_of(None)], Decimal("0.05"))
    assert "is unknown" in unknown
