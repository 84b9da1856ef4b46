"""The plan of a test request: eligible endpoints, maximum cost, and the cost limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pricing_kit import SATURDAY

from gwtui.contract.byok import ByokCredential
from gwtui.contract.chat import ChatRequest
from gwtui.contract.dialects import GENERIC
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints
from gwtui.domain.routing import Router
from gwtui.resources.tries.plan import (
    KeyFacts,
    TryFacts,
    TryPlan,
    cap_problem,
    exclusion_reasons,
    models_of,
    try_plan,
)

MODEL = "author/slug"


def endpoint(tag: str, **fields: Any) -> Endpoint:
    return Endpoint.model_validate(
        {
            "tag": tag,
            "provider_name": tag.title(),
            "model_id": MODEL,
            "context_length": 10_000,
            "max_completion_tokens": 1000,
            "supported_parameters": ["max_tokens", "temperature"],
            "pricing": {"prompt": "0.000001", "completion": "0.00001"},
            **fields,
        }
    )


def facts(*endpoints: Endpoint, credentials: tuple[ByokCredential, ...] = ()) -> TryFacts:
    model = Model.model_validate({"id": MODEL, "canonical_slug": MODEL})
    offers = (ModelWithEndpoints(model, endpoints),)
    view = CatalogView(offers, {item.provider_name or "": item.tag or "" for item in endpoints})
    return TryFacts(offers, Router(view, GENERIC, (), credentials), KeyFacts())


def asks(**fields: Any) -> ChatRequest:
    body = {"model": MODEL, "messages": [{"role": "user", "content": "x"}], **fields}
    return ChatRequest.model_validate(body)


def planned(request: ChatRequest | EmbeddingRequest, found: TryFacts) -> TryPlan:
    return try_plan(request, found, SATURDAY, lambda: 0.5)


def test_the_most_is_that_of_the_dearest_endpoint_left() -> None:
    dear = endpoint("dear", pricing={"prompt": "0.000001", "completion": "0.0001"})
    plan = planned(asks(max_tokens=100), facts(endpoint("cheap"), dear))
    assert plan.most_cost is not None
    assert Decimal("0.01") < plan.most_cost < Decimal("0.0102")
    only = planned(
        asks(max_tokens=100, provider={"only": ["cheap"]}), facts(endpoint("cheap"), dear)
    )
    assert only.most_cost < Decimal("0.0012")
    assert [exclusion_reasons(item) for item in only.excluded] == [("provider not allowed",)]


def test_the_limit_of_the_endpoint_applies_without_a_maximum() -> None:
    plan = planned(asks(), facts(endpoint("one")))
    assert plan.most_cost > Decimal("0.01")


def test_an_unknown_cost_stops_a_try_with_a_maximum() -> None:
    plan = planned(asks(max_tokens=1), facts(endpoint("one", pricing={"prompt": "-1"})))
    assert plan.most_cost is None
    problem = cap_problem(plan, Decimal(1000))
    assert "unknown" in problem
    assert cap_problem(plan, None) is None
    image = [{"type": "image_url", "image_url": {"url": "x"}}]
    result = planned(asks(messages=[{"role": "user", "content": image}]), facts(endpoint("one")))
    assert result.most_cost is None


def test_a_try_is_sent_up_to_the_maximum_cost() -> None:
    plan = planned(asks(max_tokens=100), facts(endpoint("one")))
    assert plan.most_cost is not None
    assert cap_problem(plan, plan.most_cost) is None
    problem = cap_problem(plan, plan.most_cost - Decimal("0.0000001"))
    assert "more than the maximum" in problem


def test_a_try_without_endpoints_is_refused_and_free() -> None:
    plan = planned(asks(provider={"only": ["nobody"]}), facts(endpoint("one")))
    assert not plan.order
    assert plan.total == 1
    assert cap_problem(plan, Decimal(0)) is None


def test_an_own_provider_key_costs_what_its_provider_asks_and_the_fee() -> None:
    own = ByokCredential.model_validate({"id": "c", "provider": "one", "is_required": True})
    plan = planned(asks(max_tokens=100), facts(endpoint("one"), credentials=(own,)))
    assert [item.attempt.credential for item in plan.order] == [own]
    assert plan.most_cost is not None
    other = planned(asks(max_tokens=100), facts(endpoint("one")))
    assert other.most_cost is not None
    assert plan.most_cost == other.most_cost * Decimal("1.05")


def test_vectors_cost_their_prompt() -> None:
    plan = planned(EmbeddingRequest(model=MODEL, input=["x" * 932]), facts(endpoint("one")))
    assert plan.most_cost == Decimal("0.001")


def test_the_models_of_a_request_in_order_and_once() -> None:
    assert models_of(asks(models=["a/b", MODEL, "c/d"])) == (MODEL, "a/b", "c/d")
    assert models_of(EmbeddingRequest(model="a/b", input="x")) == ("a/b",)
