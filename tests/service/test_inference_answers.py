"""Answers of models as the client reads them, whole and as streams."""

from __future__ import annotations

import asyncio
import json
import logging
from decimal import Decimal
from typing import Any

import httpx
import pytest
from inference_kit import (
    END,
    KEY,
    PROMPT,
    USAGE,
    answer_in_pieces,
    chunk,
    collected,
    event,
    hello,
    models,
    streams,
)
from pydantic import SecretStr
from service_kit import TOKEN, Play, Script, Step, http_answer, sends, text_of_error

from gwtui.client import transport
from gwtui.client.connection import Connection, InvalidConnectionError
from gwtui.client.errors import (
    ConnectFailedError,
    ForbiddenError,
    InvalidRequestError,
    NoAnswerError,
    NotFoundError,
    RateLimitedError,
    ReadOnlyError,
    ServerError,
    UnreadableAnswerError,
)
from gwtui.client.inference import ChatAnswer, ChatStream, Inference
from gwtui.client.transport import Transport
from gwtui.contract.chat import ChatRequest
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
    connected = Connection("https://gateway.test/api/v1", token=SecretStr(KEY), **connection)
    transport = Transport(connected, http=httpx.MockTransport(script))
    return Inference(where, SecretStr(KEY), transport=transport), script


async def test_a_complete_answer_with_usage() -> None:
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
async def test_an_interrupted_answer_keeps_its_text(
    body: dict[str, Any], kind: type, text: str
) -> None:
    inference, _ = scripted(httpx.Response(200, json=body))
    answer = await inference.chat(hello())
    assert (type(answer.error), answer.text) == (kind, text)
    assert answer.generation_id == body.get("id")


async def test_an_unexpected_response_is_an_error() -> None:
    inference, _ = scripted(httpx.Response(200, json=[1]))
    with pytest.raises(UnreadableAnswerError):
        await inference.chat(hello())


async def test_embeddings_with_usage() -> None:
    vectors = [{"object": "embedding", "embedding": [0.5, -1], "index": 0}]
    usage = {"prompt_tokens": 3, "total_tokens": 3, "cost": 0.000001}
    body = {"object": "list", "model": "author/embed", "data": vectors, "usage": usage, "id": "g"}
    inference, script = scripted(httpx.Response(200, json=body))
    answer = await inference.embed(EmbeddingRequest(model="author/embed", input=["a"]))
    assert answer.result.data[0].embedding == [0.5, -1.0]
    assert answer.generation_id == "g"
    assert answer.result.usage.cost == Decimal("0.000001")
    assert script.requests[0].url.path == "/api/v1/embeddings"


async def test_an_empty_embedding_input_is_not_sent() -> None:
    inference, script = scripted(httpx.Response(200, json={}))
    with pytest.raises(InvalidRequestError, match="input"):
        await inference.embed(EmbeddingRequest.model_construct(model="m", input=""))
    assert not script.requests


def test_an_invalid_key_is_refused_without_repeating_it() -> None:
    where = Connection("https://gateway.test/api/v1", token=SecretStr(TOKEN))
    with pytest.raises(InvalidConnectionError) as caught:
        Inference(where, SecretStr("with space"))
    assert "with space" not in str(caught.value)


# Streams ------------------------------------------------------------------------------------------


async def received(*parts: bytes, **options: Any) -> tuple[str, ChatAnswer]:
    """The text of the pieces that were shown, and the answer."""
    async with models(streams(*parts), **options) as (inference, server):
        pieces, answer = await collected(inference)
    assert server.connections == 1
    assert "".join(piece.text for piece in pieces) == answer.text
    assert all("TRYKEY" not in piece.text for piece in pieces)
    return answer.text, answer


# Valid responses


async def test_a_streamed_answer_with_usage() -> None:
    async with models(streams(*answer_in_pieces("Light", "house"))) as (inference, _):
        pieces, answer = await collected(inference)
    assert [piece.text for piece in pieces] == ["Light", "house"]
    assert (answer.text, answer.finish_reason) == ("Lighthouse", "stop")
    assert (answer.generation_id, answer.model, answer.provider) == ("gen-1", "author/slug", "One")
    assert answer.cost == Decimal("0.000123")
    assert answer.first_token_ms is not None
    assert answer.elapsed_ms is not None
    assert 0 <= answer.first_token_ms <= answer.elapsed_ms
    assert answer.error is None


@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
async def test_stream_lines_may_be_split_anywhere(size: int, newline: bytes) -> None:
    stream = b"".join(answer_in_pieces("Grüße", " 🗼\u2028")).replace(b"\n", newline)
    stream = stream.replace(b"\\u00fc", "ü".encode()).replace(b"\\u2028", "\u2028".encode())
    parts = [stream[start : start + size] for start in range(0, len(stream), size)]
    text, answer = await received(*parts)
    assert (text, answer.error) == ("Grüße 🗼\u2028", None)


NOISE = b":\n: x\nid: 7\nretry: 99999999999999999999\nevent: chunk\nodd\n"
A, LAST, HALF = event(chunk("a")), event(chunk("b", finish_reason="stop")), event(chunk("half"))


def failing(error: Any) -> list[bytes]:
    return [HALF, event(chunk(choices=[], error=error))]


@pytest.mark.parametrize(
    ("parts", "text", "unreadable", "error"),
    [
        # Comments and fields of no interest change nothing.
        ([b"\xef\xbb\xbf", NOISE, A, NOISE, b"\n", LAST, END], "ab", 0, None),
        # The end may go unsaid, and nothing is read after it.
        ([LAST], "b", 0, None),
        ([LAST, b"data: [DONE]"], "b", 0, None),
        ([LAST, b"data: [DONE]\n"], "b", 0, None),
        ([LAST, END, event(chunk("MORE"))], "b", 0, None),
        # A garbage chunk costs that chunk and is counted.
        ([A, b"data: {]\n\n", LAST, END], "ab", 1, None),
        ([A, b"data: 7\n\n", LAST, END], "ab", 1, None),
        ([A, b"data: \xff\xfe\n\n", LAST, END], "ab", 1, None),
        ([A, b"data: " + b"[" * 999 + b"\n\n", LAST, END], "ab", 1, None),
        # Errors in the middle of every shape.
        (failing({"code": 429, "message": "slow"}), "half", 0, RateLimitedError),
        (failing({"code": "server_error", "message": "gone"}), "half", 0, ServerError),
        (failing({"code": 7, "message": "odd"}), "half", 0, ServerError),
        (failing("just words"), "half", 0, ServerError),
    ],
)
async def test_stream_events_are_parsed(
    parts: list[bytes], text: str, unreadable: int, error: type[Exception] | None
) -> None:
    received_text, answer = await received(*parts)
    assert (received_text, answer.unreadable) == (text, unreadable)
    assert type(answer.error) is (error or type(None))


@pytest.mark.parametrize("choices", [[], [{"index": 0, "delta": {}, "finish_reason": None}]])
async def test_usage_comes_with_or_without_a_choice(choices: list[Any]) -> None:
    last = event(chunk("a", finish_reason="stop"))
    usage = event(chunk(choices=choices, usage=USAGE))
    _, answer = await received(last, usage, END)
    assert answer.usage.completion_tokens == 4
    assert answer.finish_reason == "stop"


async def test_reasoning_refusals_and_tool_calls_are_joined() -> None:
    def piece(**delta: Any) -> bytes:
        return event(chunk(choices=[{"index": 0, "delta": delta, "finish_reason": None}]))

    parts = [
        piece(reasoning="think "),
        piece(reasoning="hard"),
        piece(refusal="no"),
        piece(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a'}}]),
        piece(tool_calls=[{"index": 0, "function": {"arguments": '":1}'}}]),
        piece(tool_calls=[{"index": 9, "id": "c2", "function": {"name": "g"}}]),
        event(chunk("", finish_reason="tool_calls")),
        END,
    ]
    _, answer = await received(*parts)
    assert (answer.reasoning, answer.refusal) == ("think hard", "no")
    assert [(call.id, call.name, call.arguments) for call in answer.tools] == [
        ("c1", "f", '{"a":1}'),
        ("c2", "g", ""),
    ]


# Broken responses


async def test_a_stream_error_keeps_the_text_so_far() -> None:
    error = {
        "code": 502,
        "message": "Provider returned error",
        "metadata": {"error_type": "server"},
    }
    parts = [event(chunk("half")), event(chunk("", finish_reason="error", error=error)), END]
    _, answer = await received(*parts)
    assert isinstance(answer.error, ServerError)
    assert answer.error.metadata == {"error_type": "server"}
    assert (answer.text, answer.finish_reason) == ("half", "error")


async def test_an_early_end_of_stream_is_reported() -> None:
    _, answer = await received(event(chunk("half")), b'data: {"id": "gen')
    assert "ended before the response was complete" in str(answer.error)
    assert (answer.text, answer.unreadable) == ("half", 1)


@pytest.mark.parametrize(
    "endless",
    [b"data: " + b"x" * 5000, b": " + b"x" * 5000, b"data: xxxxxxxxxxxxxxxx\n" * 300],
    ids=["line", "comment", "event"],
)
async def test_endless_streams_are_bounded(monkeypatch: pytest.MonkeyPatch, endless: bytes) -> None:
    monkeypatch.setattr(transport, "MAX_EVENT", 4096)
    parts = [endless[start : start + 500] for start in range(0, len(endless), 500)]
    text, answer = await received(event(chunk("a")), *parts)
    assert isinstance(answer.error, UnreadableAnswerError)
    assert "larger than 4 KiB" in answer.error.message
    assert text == "a"


async def test_a_silent_stream_times_out() -> None:
    play = streams(event(chunk("half")), stay=True)
    async with models(play, silence=0.2) as (inference, _):
        _, answer = await collected(inference)
    assert "sent nothing for 0.2 s" in str(answer.error)
    assert answer.text == "half"

    async def never_begins(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)

    async with models(never_begins, silence=0.2) as (inference, _):
        with pytest.raises(NoAnswerError, match="sent nothing for"):
            await collected(inference)


@pytest.mark.parametrize("cancel", [False, True])
async def test_closing_a_stream_closes_the_connection(cancel: bool) -> None:
    hung_up, started = asyncio.Event(), asyncio.Event()
    play = streams(event(chunk("half")), stay=True, hung_up=hung_up)

    async def read(inference: Inference) -> ChatStream:
        async with inference.stream(hello()) as stream:
            async for _ in stream:
                started.set()
                if not cancel:
                    break
        return stream  # still referenced, so that only leaving the context closes it

    async with models(play) as (inference, _):
        task = asyncio.create_task(read(inference))
        await asyncio.wait_for(started.wait(), 2)
        if cancel:
            task.cancel()
        await asyncio.wait_for(hung_up.wait(), 2)
        await asyncio.wait({task})
        assert task.cancelled() is cancel


# Refusals


async def test_a_refusal_before_the_first_chunk_raises() -> None:
    body = {
        "error": {
            "code": 404,
            "message": "0 endpoints out of 3 requested are available",
            "metadata": {"input_endpoint_count": 3, "failed_routing_step": "Filter by Guardrails"},
            "availability": {"code": "no_endpoints", "retryable": False},
        }
    }
    refused = http_answer(json.dumps(body).encode(), status="404 Not Found")
    async with models(sends(refused)) as (inference, server):
        with pytest.raises(NotFoundError) as caught:
            await collected(inference)
    assert caught.value.metadata["input_endpoint_count"] == 3
    assert caught.value.availability["code"] == "no_endpoints"
    assert server.connections == 1


async def test_a_response_that_is_no_stream_is_an_error() -> None:
    async with models(sends(http_answer(b"{}"))) as (inference, _):
        with pytest.raises(UnreadableAnswerError, match="not a stream"):
            await collected(inference)


@pytest.mark.parametrize(
    ("play", "error"),
    [
        (sends(b""), NoAnswerError),
        (sends(http_answer(b"{}", status="500 Oops")), ServerError),
        (sends(http_answer(b"{}", status="503 Busy")), ServerError),
        (sends(http_answer(b"{}", status="429 Slow")), RateLimitedError),
    ],
)
async def test_requests_to_models_are_sent_once(play: Play, error: type[Exception]) -> None:
    async with models(play) as (inference, server):
        for ask in (collected(inference), inference.chat(hello())):
            with pytest.raises(error):
                await ask
    assert server.connections == 2


async def test_invalid_requests_to_models_are_not_sent() -> None:
    play = streams(*answer_in_pieces("a"))
    empty = ChatRequest.model_construct(messages=[])
    async with models(play, read_only=True) as (inference, server):
        for ask in (collected(inference), inference.chat(hello())):
            with pytest.raises(ReadOnlyError):
                await ask
    async with models(play) as (inference, other):
        with pytest.raises(InvalidRequestError, match="messages: must have at least 1 entry"):
            await collected(inference, empty)
        await inference.close()
        with pytest.raises(ConnectFailedError):
            await collected(inference)
    assert server.connections == other.connections == 0
    text, _ = await received(*answer_in_pieces("a"), read_only=True, allow_tries=True)
    assert text == "a"


# Secrets


@pytest.mark.parametrize("size", [2, 5, 100])
async def test_a_key_that_the_service_repeats_is_hidden_however_it_is_torn(size: int) -> None:
    sentence = f"your key is {KEY}, is it not? gw-v1-"
    pieces = [sentence[start : start + size] for start in range(0, len(sentence), size)]
    text, _ = await received(*answer_in_pieces(*pieces))
    assert text == "your key is [redacted], is it not? gw-v1-"


async def test_most_of_a_key_at_the_end_is_hidden_too() -> None:
    text, _ = await received(*answer_in_pieces("it is ", KEY[:-1]))
    assert text == "it is [redacted]"


def repeating_the_key() -> Play:
    body = {"error": {"code": 403, "message": f"key {KEY}", "metadata": {"raw": f"x {KEY}"}}}
    return sends(http_answer(json.dumps(body).encode(), status="403 Forbidden"))


async def test_a_key_in_a_refusal_is_hidden() -> None:
    async with models(repeating_the_key()) as (inference, _):
        with pytest.raises(ForbiddenError) as caught:
            await collected(inference)
    assert KEY not in text_of_error(caught.value)


async def test_prompt_answer_and_key_are_in_no_log_and_no_repr(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="gwtui")
    async with models(streams(*answer_in_pieces("ANSWER-SENTINEL"))) as (inference, _):
        events, answer = await collected(inference)
    texts = caplog.text + repr(events) + repr(answer) + repr(vars(inference))
    for secret in (KEY, TOKEN, PROMPT, "ANSWER-SENTINEL"):
        assert secret not in texts
    assert "POST /chat/completions" in caplog.text
