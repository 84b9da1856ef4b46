"""Whole answers and embeddings, and what else a key of its own can ask."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import httpx
import pytest
from inference_kit import KEY, USAGE, hello
from pydantic import SecretStr
from service_kit import TOKEN, Script, Step

from gwtui.client.connection import Connection, InvalidConnectionError
from gwtui.client.errors import (
    InvalidRequestError,
    PaymentRequiredError,
    ServerError,
    UnreadableAnswerError,
)
from gwtui.client.inference import Inference
from gwtui.client.transport import Transport
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.embeddings import EmbeddingRequest

RESULT: dict[str, Any] = {
    "id": "gen-body",
    "object": "chat.completion",
    "created": 1,
    "model": "author/slug",
    "provider": "One",
    "system_fingerprint": None,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "A lighthouse.",
                "reasoning": "hm",
                "refusal": "no",
            },
        }
    ],
    "usage": USAGE,
}


def scripted(*steps: Step, **connection: Any) -> tuple[Inference, Script]:
    where = Connection("https://gateway.test/api/v1", token=SecretStr(TOKEN), **connection)
    script = Script(list(steps))
    own = Connection("https://gateway.test/api/v1", token=SecretStr(KEY), **connection)
    transport = Transport(own, http=httpx.MockTransport(script))
    return Inference(where, SecretStr(KEY), transport=transport), script


async def test_a_whole_answer_with_what_it_took() -> None:
    inference, script = scripted(
        httpx.Response(200, json=RESULT, headers={"X-Generation-Id": "gen-header"})
    )
    answer = await inference.chat(hello(stream=True))
    assert (answer.text, answer.reasoning, answer.refusal) == ("A lighthouse.", "hm", "no")
    assert (answer.generation_id, answer.provider) == ("gen-header", "One")
    assert answer.cost == Decimal("0.000123")
    assert answer.first_token_ms is None
    assert answer.tokens_per_second is None
    assert answer.error is None
    request = script.requests[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-service-metadata"] == "enabled"
    assert json.loads(request.content)["stream"] is False


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ({**RESULT, "choices": []}, UnreadableAnswerError, ""),
        ({"error": {"code": 503, "message": "busy"}}, ServerError, ""),
        (
            {**RESULT, "choices": [{**RESULT["choices"][0], "error": {"code": 502}}]},
            ServerError,
            "A lighthouse.",
        ),
        (RESULT, type(None), "A lighthouse."),
    ],
)
async def test_an_answer_that_broke_off_keeps_what_had_come(
    body: dict[str, Any], kind: type, text: str
) -> None:
    inference, _ = scripted(httpx.Response(200, json=body))
    answer = await inference.chat(hello())
    assert (type(answer.error), answer.text) == (kind, text)
    assert answer.generation_id == body.get("id")


async def test_an_answer_of_another_shape_is_said() -> None:
    inference, _ = scripted(httpx.Response(200, json=[1]))
    with pytest.raises(UnreadableAnswerError):
        await inference.chat(hello())


async def test_the_other_dialect_has_its_own_names() -> None:
    told = {**RESULT, "openrouter_metadata": {"strategy": "fallback", "attempt": 2}}
    inference, script = scripted(httpx.Response(200, json=told), dialect=OPENROUTER)
    answer = await inference.chat(hello())
    assert answer.metadata is not None
    assert answer.metadata.strategy == "fallback"
    assert script.requests[0].headers["x-openrouter-metadata"] == "enabled"


async def test_a_refusal_is_typed_and_not_repeated() -> None:
    refusal = {"error": {"code": 402, "message": "Insufficient credits"}}
    inference, script = scripted(httpx.Response(402, json=refusal))
    with pytest.raises(PaymentRequiredError, match="Insufficient credits"):
        await inference.chat(hello())
    assert len(script.requests) == 1


async def test_vectors_with_what_they_took() -> None:
    vectors = [{"object": "embedding", "embedding": [0.5, -1], "index": 0}]
    usage = {"prompt_tokens": 3, "total_tokens": 3, "cost": 0.000001}
    body = {"object": "list", "model": "author/embed", "data": vectors, "usage": usage, "id": "g"}
    inference, script = scripted(httpx.Response(200, json=body))
    answer = await inference.embed(EmbeddingRequest(model="author/embed", input=["a"]))
    assert answer.result.data is not None
    assert answer.result.data[0].embedding == [0.5, -1.0]
    assert answer.generation_id == "g"
    assert answer.result.usage is not None
    assert answer.result.usage.cost == Decimal("0.000001")
    assert script.requests[0].url.path == "/api/v1/embeddings"


async def test_an_embedding_of_nothing_is_not_sent() -> None:
    inference, script = scripted(httpx.Response(200, json={}))
    with pytest.raises(InvalidRequestError, match="input"):
        await inference.embed(EmbeddingRequest.model_construct(model="m", input=""))
    assert not script.requests


async def test_the_key_is_asked_for_itself_and_a_generation_for_what_became_of_it() -> None:
    inference, script = scripted(
        httpx.Response(200, json={"data": {"label": "gw-v1-…"}}),
        httpx.Response(200, json={"data": {"id": "gen-1", "total_cost": 0.1}}),
    )
    assert (await inference.key()).label == "gw-v1-…"
    assert (await inference.generation("gen-1")).total_cost == Decimal("0.1")
    assert [request.headers["authorization"] for request in script.requests] == [
        f"Bearer {KEY}",
        f"Bearer {KEY}",
    ]


def test_a_key_that_cannot_be_one_is_refused_without_repeating_it() -> None:
    where = Connection("https://gateway.test/api/v1", token=SecretStr(TOKEN))
    with pytest.raises(InvalidConnectionError) as caught:
        Inference(where, SecretStr("with space"))
    assert "with space" not in str(caught.value)
