"""A chat request on its way to its answer, whole or as a stream. Inference contract section 4.

Every model answers with the same sentences, token by token.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import STREAM_END, ChatChunk, ChatResult
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.values import GENERATION_ID
from gwtui.domain.request_cost import RequestCost
from gwtui.embedded.inference.accounting import SimulatedAnswer, cached_of, token_usage
from gwtui.embedded.inference.exchange import InferenceExchange, ServingEndpoint
from gwtui.embedded.inference.key_policy import KeyPolicy, policy_of
from gwtui.embedded.inference.parsed_request import parse_chat, tokens_of
from gwtui.embedded.operations import Access, Deferred, Operation, OperationRequest
from gwtui.embedded.responses import ResponseSchema, reference

if TYPE_CHECKING:
    from gwtui.embedded.app import Responder

ANSWER = (
    "This is a simulated answer: the embedded gateway answers every question with these sentences. "
    "Everything around them is real: the limit of the key, budgets, guardrails, routing, and the "
    "price of every token."
)
JSON_ANSWER = '{"answer": "This is a simulated answer."}'
THOUGHTS = "Every question has the same answer here, so there is nothing to think about."
BROKEN_OFF: dict[str, JsonValue] = {
    "code": 502,
    "message": "Provider disconnected unexpectedly",
    "metadata": {"error_type": "provider_unavailable"},
}
_CHUNK_SECONDS = 0.04
"""How long the tokens of one chunk take at least: nobody reads faster."""
_KEEP_ALIVE_SECONDS = 10.0


class ChatExchange(InferenceExchange):
    """A chat request on its way to its answer."""

    def __init__(self, call: OperationRequest, policy: KeyPolicy, request: ChatRequest) -> None:
        super().__init__(call, policy, parse_chat(request, policy.workspace.default_text_model))
        self._request = request

    async def answer(self, responder: Responder) -> Response:
        """The answer, whole or as a stream. Raises Refusal."""
        taken = await self._reach()
        said = self._said(taken)
        if self._request.stream:
            headers = {**responder.headers(), GENERATION_ID: self.id}
            return _EventStream(self._events(responder, taken, said), headers=headers)
        writing = taken.writing(said.tokens)
        await self.clock.sleep(taken.thinks_for + writing)
        cost = await self._book(responder, taken, said, writing)
        body = {
            **self._head(taken, "chat.completion"),
            "system_fingerprint": None,
            "choices": [choice(said)],
            "usage": self._usage(taken, said, cost),
            **self._metadata_field(writing),
        }
        return responder.respond(200, body, {GENERATION_ID: self.id})

    def _said(self, taken: ServingEndpoint) -> SimulatedAnswer:
        context = taken.attempt.endpoint.context_length
        room = None if context is None else max(1, context - self.parsed.prompt_tokens)
        said = chat_answer(self._request, taken.attempt.model, taken.attempt.endpoint, room)
        if self._breaks_off(taken.item):
            return said.cut(said.tokens // 2, "error", BROKEN_OFF)
        return said

    def _head(self, taken: ServingEndpoint, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": int(self.now.timestamp()),
            "model": taken.attempt.model.id,
            "provider": taken.attempt.endpoint.provider_name,
            "service_tier": taken.attempt.endpoint.service_tier,
        }

    def _usage(
        self, taken: ServingEndpoint, said: SimulatedAnswer, cost: RequestCost
    ) -> dict[str, JsonValue]:
        cached = cached_of(self.parsed, taken.item)
        return token_usage(self.parsed.prompt_tokens, cached, said, cost)

    async def _events(
        self, responder: Responder, taken: ServingEndpoint, said: SimulatedAnswer
    ) -> AsyncGenerator[str]:
        """The stream. When it is closed early, what was written so far is booked."""
        tokens, writing, is_booked = 0, 0.0, False
        try:
            if self._request.debug is not None and self._request.debug.echo_upstream_body:
                yield self._chunk(taken, debug={"echo_upstream_body": self._upstream_body(taken)})
            async for comment in self._thinking(taken.thinks_for):
                yield comment
            yield self._chunk(taken, delta_choice({"role": "assistant", "content": ""}))
            for delta, count in _deltas(said, taken):
                seconds = taken.writing(count)
                await self.clock.sleep(seconds)
                tokens, writing = tokens + count, writing + seconds
                yield self._chunk(taken, delta_choice(delta))
            ending = delta_choice({"content": ""}, said.finish_reason)
            if said.error is None:
                yield self._chunk(taken, ending)
            is_booked = True
            cost = await self._book(responder, taken, said, writing, streamed=True)
            metadata = self._metadata_field(writing)
            if said.error is None:
                yield self._chunk(taken, usage=self._usage(taken, said, cost), **metadata)
            else:
                yield self._chunk(taken, ending, error=dict(said.error), **metadata)
            yield _event(STREAM_END)
        finally:
            if not is_booked:
                await self._book(responder, taken, said.cut(tokens), writing, streamed=True)

    async def _thinking(self, seconds: float) -> AsyncGenerator[str]:
        """Comments that keep the connection alive until the first token."""
        while seconds > 0:
            yield f": {self.site.dialect.keep_alive}\n\n"
            await self.clock.sleep(min(seconds, _KEEP_ALIVE_SECONDS))
            seconds -= _KEEP_ALIVE_SECONDS

    def _chunk(
        self,
        taken: ServingEndpoint,
        choice: Mapping[str, JsonValue] | None = None,
        /,
        **more: JsonValue,
    ) -> str:
        chunk = {
            **self._head(taken, "chat.completion.chunk"),
            "choices": [] if choice is None else [choice],
            **more,
        }
        shown = self.site.dialect.to_wire(chunk)
        return _event(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))

    def _upstream_body(self, taken: ServingEndpoint) -> dict[str, JsonValue]:
        """The request as the provider gets it: with what the filters left."""
        return {
            **self._request.body(),
            **self.parsed.logged,
            "model": str(taken.attempt.model.id),
        }


def _deltas(
    said: SimulatedAnswer, taken: ServingEndpoint
) -> Iterator[tuple[dict[str, JsonValue], int]]:
    """The delta of each chunk and its number of tokens."""
    size = max(1, round((taken.tokens_per_second or 0) * _CHUNK_SECONDS))
    for name, tokens in (("reasoning", said.thoughts), ("content", said.content)):
        for start in range(0, len(tokens), size):
            part = tokens[start : start + size]
            shown = name == "content" or said.shows_thoughts
            yield {"content": "", **({name: "".join(part)} if shown else {})}, len(part)


class _EventStream(StreamingResponse):
    """Sends events; when the client leaves, their generator is closed, which ends its work."""

    media_type = "text/event-stream"
    body_iterator: AsyncGenerator[str]

    async def stream_response(self, send: Send) -> None:
        """Send the events."""
        async with aclosing(self.body_iterator):
            await super().stream_response(send)


def _event(data: str) -> str:
    return f"data: {data}\n\n"


def chat_answer(
    request: ChatRequest, model: Model, endpoint: Endpoint, room: int | None
) -> SimulatedAnswer:
    """The answer to a request; ``room`` is how many tokens the context leaves."""
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
    """The maximum number of reasoning tokens; None is no limit."""
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
    """The choice of a whole result."""
    found: dict[str, JsonValue] = {
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
    if answer.error is not None:
        found["error"] = dict(answer.error)
    return found


def delta_choice(
    delta: Mapping[str, JsonValue], finish_reason: str | None = None
) -> dict[str, JsonValue]:
    """The choice of a chunk."""
    return {
        "index": 0,
        "delta": dict(delta),
        "finish_reason": finish_reason,
        "native_finish_reason": finish_reason,
        "logprobs": None,
    }


def _chat(call: OperationRequest) -> Deferred:
    return ChatExchange(call, policy_of(call), call.body_as(ChatRequest)).answer


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
)
