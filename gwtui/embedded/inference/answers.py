"""Simulated responses: chat, complete or streamed, and embedding vectors.

Every model answers with the same sentences, token by token. See sections 4 and 8 of the inference
contract.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import struct
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any
from zlib import crc32

from pydantic import JsonValue
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import STREAM_END, ChatChunk, ChatResult
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.request import Problem
from gwtui.contract.values import GENERATION_ID
from gwtui.domain.pricing import RequestCost
from gwtui.embedded.inference.exchange import (
    InferenceExchange,
    ServingEndpoint,
    SimulatedAnswer,
    cost_fields,
)
from gwtui.embedded.inference.policy import policy_of
from gwtui.embedded.inference.request_input import parse_chat, parse_embedding, tokens_of
from gwtui.embedded.messages import ResponseSchema, invalid, reference
from gwtui.embedded.operations import Access, Deferred, Operation, OperationRequest

ANSWER = (
    "This is a simulated answer: the embedded gateway answers every question with these sentences. "
    "Everything else behaves as on a real gateway: limits, budgets, guardrails, routing and "
    "prices. No money is spent: all costs are simulated."
)
JSON_ANSWER = '{"answer": "This is a simulated answer."}'
THOUGHTS = "Every question has the same answer here, so there is nothing to think about."
_CHUNK_SECONDS = 0.04
"""Minimum seconds between two chunks: nobody reads faster."""
_KEEP_ALIVE_SECONDS = 10.0
DIMENSIONS = 256
MAX_DIMENSIONS = 4096


def _chat(call: OperationRequest) -> Deferred:
    request: ChatRequest = call.body
    policy = policy_of(call)
    parsed = parse_chat(request, policy.workspace["default_text_model"])
    return partial(_answer, InferenceExchange(call, policy, parsed), request)


async def _answer(exchange: InferenceExchange, request: ChatRequest) -> Response:
    endpoint = await exchange.reach_endpoint()
    answer = chat_answer(
        request, endpoint.attempt.model, endpoint.attempt.endpoint, exchange.parsed.prompt_tokens
    )
    if request.stream:
        headers = {**exchange.site.headers(), GENERATION_ID: exchange.id}
        return _EventStream(_events(exchange, request, endpoint, answer), headers=headers)
    generated_s = endpoint.generation_s(answer.tokens)
    await exchange.site.clock.sleep(endpoint.first_token_s + generated_s)
    cost = exchange.charge(endpoint, answer, generated_s)
    body = {
        **_head(exchange, endpoint, "chat.completion"),
        "system_fingerprint": None,
        "choices": [choice(answer)],
        "usage": _usage(exchange, endpoint, answer, cost),
        **exchange.metadata_field(generated_s),
    }
    return exchange.site.respond(200, body, {GENERATION_ID: exchange.id})


def _head(exchange: InferenceExchange, endpoint: ServingEndpoint, kind: str) -> dict[str, Any]:
    return {
        "id": exchange.id,
        "object": kind,
        "created": int(exchange.now.timestamp()),
        "model": endpoint.attempt.model.id,
        "provider": endpoint.attempt.endpoint.provider_name,
        "service_tier": endpoint.attempt.endpoint.service_tier,
    }


def _usage(
    exchange: InferenceExchange,
    endpoint: ServingEndpoint,
    answer: SimulatedAnswer,
    cost: RequestCost,
) -> dict[str, JsonValue]:
    prompt = exchange.parsed.prompt_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer.tokens,
        "total_tokens": prompt + answer.tokens,
        **cost_fields(cost),
        "prompt_tokens_details": {
            "cached_tokens": endpoint.cached_tokens(exchange.parsed),
            "cache_write_tokens": 0,
            "audio_tokens": 0,
            "video_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": len(answer.thoughts),
            "audio_tokens": 0,
        },
    }


async def _events(
    exchange: InferenceExchange,
    request: ChatRequest,
    endpoint: ServingEndpoint,
    answer: SimulatedAnswer,
) -> AsyncGenerator[str]:
    # If the stream is closed early, the tokens sent so far are charged.
    sleep, dialect = exchange.site.clock.sleep, exchange.site.dialect
    head = _head(exchange, endpoint, "chat.completion.chunk")
    tokens, generated_s, is_booked = 0, 0.0, False

    def chunk(*choices: JsonValue, **more: JsonValue) -> str:
        shown = dialect.to_wire({**head, "choices": [*choices], **more})
        return _event(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))

    try:
        if request.debug is not None and request.debug.echo_upstream_body:
            # The provider gets the request after redaction.
            model = {"model": str(endpoint.attempt.model.id)}
            sent = {**request.body(), **exchange.parsed.logged, **model}
            yield chunk(debug={"echo_upstream_body": sent})
        seconds = endpoint.first_token_s
        while seconds > 0:
            # Comments keep the connection alive until the first token.
            yield f": {dialect.keep_alive}\n\n"
            await sleep(min(seconds, _KEEP_ALIVE_SECONDS))
            seconds -= _KEEP_ALIVE_SECONDS
        yield chunk(delta_choice({"role": "assistant", "content": ""}))
        for delta, count in _deltas(answer, endpoint):
            seconds = endpoint.generation_s(count)
            await sleep(seconds)
            tokens, generated_s = tokens + count, generated_s + seconds
            yield chunk(delta_choice(delta))
        yield chunk(delta_choice({"content": ""}, answer.finish_reason))
        is_booked = True
        cost = exchange.charge(endpoint, answer, generated_s)
        usage = _usage(exchange, endpoint, answer, cost)
        yield chunk(usage=usage, **exchange.metadata_field(generated_s))
        yield _event(STREAM_END)
    finally:
        if not is_booked:
            exchange.charge(endpoint, answer.cut(tokens), generated_s)


def _deltas(
    answer: SimulatedAnswer, endpoint: ServingEndpoint
) -> Iterator[tuple[dict[str, JsonValue], int]]:
    size = max(1, round((endpoint.tokens_per_second or 0) * _CHUNK_SECONDS))
    for name, tokens in (("reasoning", answer.thoughts), ("content", answer.content)):
        for start in range(0, len(tokens), size):
            part = tokens[start : start + size]
            shown = name == "content" or answer.shows_thoughts
            yield {"content": "", **({name: "".join(part)} if shown else {})}, len(part)


class _EventStream(StreamingResponse):
    """A streamed response; closes the generator of its events when the client disconnects."""

    media_type = "text/event-stream"
    body_iterator: AsyncGenerator[str]

    async def stream_response(self, send: Send) -> None:
        """Send the events."""
        async with aclosing(self.body_iterator):
            await super().stream_response(send)


def _event(data: str) -> str:
    return f"data: {data}\n\n"


def chat_answer(
    request: ChatRequest, model: Model, endpoint: Endpoint, prompt_tokens: int
) -> SimulatedAnswer:
    """Return a simulated answer, cut to what is left of the model's context after the prompt.

    ``prompt_tokens`` is the number of tokens of the prompt.
    """
    context = endpoint.context_length
    room = None if context is None else max(1, context - prompt_tokens)
    form, parameters = request.response_format, endpoint.supported_parameters or ()
    wants_json = form is not None and form.type == "json_object"
    text = JSON_ANSWER if wants_json and "response_format" in parameters else ANSWER
    stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
    for stop in filter(None, stops):
        text = text.partition(stop)[0]
    thoughts = tokens_of(THOUGHTS)[: _thinking_limit(request, model)]
    excluded = request.reasoning is not None and request.reasoning.exclude is True
    whole = SimulatedAnswer(
        tuple(thoughts),
        tuple(tokens_of(text)),
        "stop",
        shows_thoughts=not excluded and request.include_reasoning is not False,
    )
    for limit in (request.output_limit, endpoint.max_completion_tokens, room):
        if limit is not None and whole.tokens > limit:
            whole = whole.cut(limit, "length")
    return whole


def _thinking_limit(request: ChatRequest, model: Model) -> int | None:
    support, asked = model.reasoning, request.reasoning
    if support is None:
        return 0
    effort = request.reasoning_effort or (asked.effort if asked else None)
    thinks = support.default_enabled is not False if effort is None else effort != "none"
    if asked is not None and asked.enabled is not None:
        thinks = asked.enabled
    if not thinks and not support.mandatory:
        return 0
    return asked.max_tokens if asked else None


def choice(answer: SimulatedAnswer) -> dict[str, JsonValue]:
    """Convert an answer to the entry of ``choices`` in a complete response."""
    return {
        "index": 0,
        "finish_reason": answer.finish_reason,
        "native_finish_reason": answer.finish_reason,
        "message": {
            "role": "assistant",
            "content": answer.text,
            "refusal": None,
            "reasoning": answer.reasoning,
        },
        "logprobs": None,
    }


def delta_choice(
    delta: Mapping[str, JsonValue], finish_reason: str | None = None
) -> dict[str, JsonValue]:
    """Return the entry of ``choices`` in a chunk of a stream; ``delta`` has the new pieces."""
    return {
        "index": 0,
        "delta": dict(delta),
        "finish_reason": finish_reason,
        "native_finish_reason": finish_reason,
        "logprobs": None,
    }


def _embed(call: OperationRequest) -> Deferred:
    request: EmbeddingRequest = call.body
    if request.dimensions is not None and request.dimensions > MAX_DIMENSIONS:
        raise invalid([Problem("dimensions", f"must be at most {MAX_DIMENSIONS}")])
    return partial(
        _embedded, InferenceExchange(call, policy_of(call), parse_embedding(request)), request
    )


async def _embedded(exchange: InferenceExchange, request: EmbeddingRequest) -> Response:
    endpoint = await exchange.reach_endpoint()
    vectors = await asyncio.to_thread(_vectors, exchange, request)
    await exchange.site.clock.sleep(endpoint.first_token_s)
    cost = exchange.charge(endpoint, None, None)
    prompt = exchange.parsed.prompt_tokens
    body: dict[str, Any] = {
        "id": exchange.id,
        "object": "list",
        "model": endpoint.attempt.model.id,
        "provider": endpoint.attempt.endpoint.provider_name,
        "data": [
            {"object": "embedding", "embedding": values, "index": index}
            for index, values in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": prompt, "total_tokens": prompt, **cost_fields(cost)},
        **exchange.metadata_field(None),
    }
    return exchange.site.respond(200, body, {GENERATION_ID: exchange.id})


def _vectors(exchange: InferenceExchange, request: EmbeddingRequest) -> list[list[float] | str]:
    size = request.dimensions or DIMENSIONS
    vectors = [vector(text.text, size) for text in exchange.parsed.texts]
    if request.encoding_format != "base64":
        return [*vectors]
    packed = (struct.pack(f"<{size}f", *values) for values in vectors)
    return [base64.b64encode(floats).decode("ascii") for floats in packed]


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return the unit vector of a text, from the frequencies of its trigrams.

    The dot product of two vectors grows with the number of trigrams that the texts share.
    """
    counts = [0.0] * dimensions
    padded = f"  {text.casefold()} "
    for start in range(len(padded) - 2):
        run = padded[start : start + 3].encode("utf-8", "replace")
        counts[crc32(run) % dimensions] += 1
    length = math.hypot(*counts)
    return [value / length for value in counts]


OPERATIONS = (
    Operation(
        method="POST",
        path="/chat/completions",
        operation_id="createChatCompletion",
        summary="Create a chat completion, whole or as a stream; the answer is simulated",
        tag="Inference",
        access=Access.INFERENCE,
        handler=_chat,
        answer=ResponseSchema("ChatResult", reference(ChatResult), (ChatResult, ChatChunk)),
        streams=ChatChunk,
        body=ChatRequest,
        refusals=(402, 403, 404, 408, 413, 422, 429, 502, 503, 524, 529),
    ),
    Operation(
        method="POST",
        path="/embeddings",
        operation_id="createEmbeddings",
        summary="Submit an embedding request; the vectors are simulated",
        tag="Inference",
        access=Access.INFERENCE,
        handler=_embed,
        answer=ResponseSchema("EmbeddingsResult", reference(EmbeddingsResult), (EmbeddingsResult,)),
        body=EmbeddingRequest,
        refusals=(402, 403, 404, 408, 413, 429, 502, 503, 524, 529),
    ),
)
