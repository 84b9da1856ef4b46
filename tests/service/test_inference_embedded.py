"""Requests to models through the client against the embedded gateway, over a real unix socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from inference_client_kit import MODEL, VECTORS, Place, asks, open_place
from pydantic import SecretStr

from gwtui.client.errors import GatewayError
from gwtui.client.refusals import refusal_details, refusal_kind
from gwtui.contract.chat import ChatRequest
from gwtui.contract.dialects import GENERIC
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.guardrail_verdict import verdict_of
from gwtui.resources.tries.plan import (
    expected_chat_cost,
    key_hash,
    read_key_facts,
    read_try_facts,
    try_plan,
)


@pytest_asyncio.fixture
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, getattr(request, "param", "generic")) as found:
        yield found


@pytest.mark.parametrize("place", ["generic", "openrouter"], indirect=True)
async def test_whole_and_streamed_answers_tell_the_same(place: Place) -> None:
    async with place.models() as models:
        whole = await models.chat(asks(seed=7))
        async with models.stream(asks(seed=7)) as stream:
            pieces = [piece async for piece in stream]
    streamed = stream.answer
    assert whole.error is None
    assert whole.text
    assert streamed.error is None
    assert streamed.text == "".join(piece.text for piece in pieces)
    assert streamed.unreadable == 0
    for answer in (whole, streamed):
        assert not answer.usage.gaps
        assert answer.generation_id
        assert answer.finish_reason in {"stop", "length"}
        assert not answer.metadata.gaps
        verdict = verdict_of(answer.metadata)
        assert verdict.outcome == "pass"
    assert streamed.first_token_ms is not None


async def test_what_it_costs_is_what_the_prices_say_and_what_is_kept_of_it(place: Place) -> None:
    request = asks()
    facts = await read_try_facts(
        place.management,
        [MODEL],
        await read_key_facts(place.management, key_hash(place.key)),
        GENERIC,
    )
    plan = try_plan(request, facts, SYSTEM_CLOCK.now(), lambda: 0.5)
    async with place.models() as models:
        answer = await models.chat(request)
        place.time.ahead += timedelta(minutes=1)
        kept = await models.generation(answer.generation_id or "")
        left = await models.key()
    expected = expected_chat_cost(facts, answer, SYSTEM_CLOCK.now())
    assert answer.cost == expected.cost == kept.total_cost == left.usage
    assert plan.most_cost is not None
    assert answer.cost is not None
    assert 0 < answer.cost <= plan.most_cost
    assert answer.metadata.endpoints is not None
    available = {each.provider for each in answer.metadata.endpoints.available or ()}
    assert available == {each.attempt.endpoint.provider_name for each in plan.order}


async def test_leaving_a_stream_cancels_it(place: Place) -> None:
    async with place.models() as models:
        async with models.stream(asks("Tell me a long story.", max_tokens=4000)) as stream:
            async for _ in stream:
                break
        place.time.ahead += timedelta(minutes=1)
        kept = None
        for _ in range(200):
            try:
                kept = await models.generation(stream.answer.generation_id or "")
                break
            except GatewayError:
                await asyncio.sleep(0.01)
                place.time.ahead += timedelta(minutes=1)
    assert kept.cancelled is True


@pytest.mark.parametrize(
    ("place", "fields", "text", "outcome"),
    [
        (
            "generic",
            {"content_filter_builtins": [{"slug": "email", "action": "redact"}]},
            "a@b.example",
            "r",
        ),
        (
            "openrouter",
            {"content_filters": [{"pattern": "heron", "action": "flag"}]},
            "heron",
            "flag",
        ),
        (
            "openrouter",
            {"content_filters": [{"pattern": "heron", "action": "flag"}]},
            "crane",
            "pass",
        ),
    ],
    indirect=["place"],
)
async def test_the_verdict_of_a_guardrail(
    place: Place, fields: dict[str, Any], text: str, outcome: str
) -> None:
    key = await place.guarded(**fields)
    async with place.models(key) as models:
        answer = await models.chat(asks(text))
    verdict = verdict_of(answer.metadata)
    assert verdict.outcome.startswith(outcome)


async def kind_of(place: Place, key: SecretStr, request: ChatRequest) -> tuple[str, GatewayError]:
    async with place.models(key) as models:
        with pytest.raises(GatewayError) as whole:
            await models.chat(request)
        with pytest.raises(GatewayError) as streamed:
            async with models.stream(request):
                pass
    assert refusal_kind(whole.value) == refusal_kind(streamed.value)
    return refusal_kind(whole.value), whole.value


async def test_each_refusal_of_the_gateway_has_its_kind(place: Place) -> None:
    management, key = place.management, place.key
    token = management.connection.token
    assert token is not None
    blocking = await place.guarded(content_filters=[{"pattern": "heron", "action": "block"}])
    elsewhere = await place.guarded(allowed_models=["meridian/lens-flash"])
    limited = await management.keys.create(CreateKeyRequest(name="limited", limit=Decimal(0)))
    disabled = await management.keys.create(CreateKeyRequest(name="disabled"))
    assert limited.key is not None
    assert disabled.key is not None
    await management.keys.update(key_hash(disabled.key), UpdateKeyRequest(disabled=True))
    for secret, request, expected, detail in (
        (token, asks(), "key not usable", ""),
        (key, asks(model="nobody/nothing"), "unknown model", ""),
        (key, asks(model=VECTORS), "wrong operation", ""),
        (key, asks(provider={"only": ["nobody"]}), "no endpoint left", "Allowed Providers"),
        (key, asks("word " * 90_000, model="larkspur/petite-plume"), "prompt too long", ""),
        (blocking, asks("heron"), "blocked by a guardrail", ""),
        (elsewhere, asks(), "no endpoint left", "Filter by Guardrails"),
        (limited.key, asks(), "key limit used up", ""),
        (disabled.key, asks(), "key not usable", ""),
    ):
        kind, error = await kind_of(place, secret, request)
        assert kind == expected
        assert detail in "\n".join(refusal_details(error))
    place.set_credits(0)
    assert (await kind_of(place, key, asks()))[0] == "credits needed"
