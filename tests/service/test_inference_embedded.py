"""Model requests through the client to the real embedded gateway, with and without faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr

from gateway_facts import set_credits
from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import Inference
from gwtui.client.refusals import refusal_details, refusal_kind
from gwtui.contract.chat import ChatRequest
from gwtui.contract.dialects import DIALECTS, GENERIC, DialectName
from gwtui.contract.guardrails import AssignKeysRequest, CreateGuardrailRequest
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.guardrail_effect import verdict_of
from gwtui.embedded.faults import KINDS, FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from gwtui.resources.tries.plan import (
    expected_chat_cost,
    key_hash,
    read_key_facts,
    read_try_facts,
    try_plan,
)
from seeded_gateways import open_gateway

MODEL = "northwind/atlas-mini"
VECTORS = "tessera/vector-3"


class Hurried:
    """A manual wall clock; sleeping takes no time."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.clock = Clock(now=self._now, sleep=self._sleep, chance=lambda: 0.5)

    def _now(self) -> Any:
        return SYSTEM_CLOCK.now() + self.ahead

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


@dataclass
class ModelGateway:
    """A gateway with credits and one inference key, and clients for both kinds of key."""

    gateway: EmbeddedGateway
    time: Hurried
    path: Path
    management: GatewayClient
    key: SecretStr
    dialect: DialectName = "generic"

    def models(self, key: SecretStr | None = None, **limits: float) -> Inference:
        where = Connection("http://embedded", socket_path=self.path, dialect=DIALECTS[self.dialect])
        return Inference(where, key or self.key, **limits)

    def set_credits(self, usd: int | str) -> None:
        set_credits(self.gateway, usd)

    async def guarded(self, **fields: Any) -> SecretStr:
        """A key under a new guardrail."""
        request = CreateGuardrailRequest.model_validate({"name": "test", **fields})
        guardrail = await self.management.guardrails.create(request)
        created = await self.management.keys.create(CreateKeyRequest(name="guarded"))
        assert created.key is not None
        hashes = AssignKeysRequest(key_hashes=[key_hash(created.key)])
        await self.management.guardrails.assign_keys(guardrail.id or "", hashes)
        return created.key


@asynccontextmanager
async def open_place(
    folder: Path, dialect: DialectName = "generic", faults: FaultInjector | None = None
) -> AsyncIterator[ModelGateway]:
    time = Hurried()
    gateway = open_gateway(
        clock=time.clock, content="empty", dialect=DIALECTS[dialect], faults=faults
    )
    path = folder / "gateway.sock"
    try:
        async with host_on_socket(gateway, path):
            token = SecretStr(gateway.issue_key(management=True))
            where = Connection(
                "http://embedded", token=token, socket_path=path, dialect=DIALECTS[dialect]
            )
            async with GatewayClient(where) as management:
                key = SecretStr(gateway.issue_key(management=False))
                result = ModelGateway(gateway, time, path, management, key, dialect)
                result.set_credits(1000)
                yield result
    finally:
        gateway.close()


def asks(text: str = "What is a lighthouse?", **fields: Any) -> ChatRequest:
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}], "max_tokens": 40}
    return ChatRequest.model_validate({**body, **fields})


# Answers ------------------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ModelGateway]:
    async with open_place(tmp_path, getattr(request, "param", "generic")) as opened:
        yield opened


@pytest.mark.parametrize("place", ["generic", "openrouter"], indirect=True)
async def test_streamed_answers_equal_unstreamed_ones(place: ModelGateway) -> None:
    async with place.models() as models:
        unstreamed = await models.chat(asks(seed=7))
        async with models.stream(asks(seed=7)) as stream:
            pieces = [piece async for piece in stream]
    streamed = stream.answer
    assert unstreamed.error is None
    assert unstreamed.text
    assert streamed.error is None
    assert streamed.text == "".join(piece.text for piece in pieces)
    assert streamed.unreadable == 0
    for answer in (unstreamed, streamed):
        assert not answer.usage.gaps
        assert answer.generation_id
        assert answer.finish_reason in {"stop", "length"}
        assert not answer.metadata.gaps
        verdict = verdict_of(answer.metadata)
        assert verdict.outcome == "pass"
    assert streamed.first_token_ms is not None


async def test_the_cost_agrees_with_prices_generation_and_key_usage(place: ModelGateway) -> None:
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
        generation = await models.generation(answer.generation_id or "")
        key = await models.key()
    expected = expected_chat_cost(facts, answer, SYSTEM_CLOCK.now())
    assert answer.cost == expected.cost == generation.total_cost == key.usage
    assert plan.most_cost is not None
    assert answer.cost is not None
    assert 0 < answer.cost <= plan.most_cost
    assert answer.metadata.endpoints is not None
    available = {item.provider for item in answer.metadata.endpoints.available or ()}
    assert available == {item.attempt.endpoint.provider_name for item in plan.order}


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
    place: ModelGateway, fields: dict[str, Any], text: str, outcome: str
) -> None:
    key = await place.guarded(**fields)
    async with place.models(key) as models:
        answer = await models.chat(asks(text))
    verdict = verdict_of(answer.metadata)
    assert verdict.outcome.startswith(outcome)


async def kind_of(
    place: ModelGateway, key: SecretStr, request: ChatRequest
) -> tuple[str, GatewayError]:
    async with place.models(key) as models:
        with pytest.raises(GatewayError) as unstreamed:
            await models.chat(request)
        with pytest.raises(GatewayError) as streamed:
            async with models.stream(request):
                pass
    assert refusal_kind(unstreamed.value) == refusal_kind(streamed.value)
    return refusal_kind(unstreamed.value), unstreamed.value


async def test_each_refusal_of_the_gateway_has_its_kind(place: ModelGateway) -> None:
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


# Faults -------------------------------------------------------------------------------------------


STREAM_FAULTS: list[tuple[str, type[GatewayError] | None, int]] = [
    ("latency=0.01", None, 0),
    ("half-body", errors.NoAnswerError, 0),
    ("stream-cut=3", errors.NoAnswerError, 0),
    ("stream-silence=3", errors.NoAnswerError, 0),
    ("stream-garbage=3", None, 1),
    ("stream-late=0.2", None, 0),
]


@pytest.mark.parametrize(("fault", "error", "unreadable"), STREAM_FAULTS)
async def test_a_faulty_stream_keeps_the_text_so_far(
    tmp_path: Path, fault: str, error: type[GatewayError] | None, unreadable: int
) -> None:
    injector = FaultInjector([f"{fault}:createChatCompletion x1"])
    async with (
        open_place(tmp_path, faults=injector) as place,
        place.models(silence=0.3) as models,
        models.stream(asks()) as stream,
    ):
        async for _ in stream:
            pass
    answer = stream.answer
    assert type(answer.error) is (error or type(None))
    assert (answer.usage is None) == (error is not None)
    assert answer.unreadable == unreadable
    assert answer.text
    assert [armed.struck for armed in injector.armed] == [1]


def test_every_stream_fault_is_tested() -> None:
    tested = {fault.partition("=")[0] for fault, *_ in STREAM_FAULTS}
    assert tested >= {name for name, kind in KINDS.items() if kind.streams}
