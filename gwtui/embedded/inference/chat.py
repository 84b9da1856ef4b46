"""A chat request on its way to its answer, whole or as a stream. Inference contract section 4."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Any

from pydantic import JsonValue
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import STREAM_END
from gwtui.contract.values import GENERATION_ID
from gwtui.domain.request_cost import RequestCost
from gwtui.embedded.inference import accounting, answers, upstream
from gwtui.embedded.inference.accounting import RequestOutcome
from gwtui.embedded.inference.answers import SimulatedAnswer, chat_answer, delta_choice
from gwtui.embedded.inference.exchange import InferenceExchange, RequestContext, ServingEndpoint
from gwtui.embedded.inference.parsed_request import ParsedRequest
from gwtui.embedded.inference.upstream import Pace
from gwtui.embedded.operations import Responder

_CHUNK_SECONDS = 0.04
"""How long the tokens of one chunk take at least: nobody reads faster."""
_KEEP_ALIVE_SECONDS = 10.0


class ChatExchange(InferenceExchange):
    """A chat request on its way to its answer."""

    def __init__(
        self, context: RequestContext, parsed: ParsedRequest, request: ChatRequest
    ) -> None:
        super().__init__(context, parsed)
        self._request = request

    async def answer(self, responder: Responder) -> Response:
        """The answer, whole or as a stream. Raises Refusal."""
        taken = await self._reach()
        said = self._said(taken)
        headers = {GENERATION_ID: self._at.id, "Cache-Control": "no-store"}
        if self._request.stream:
            return EventStreamResponse(self._events(responder, taken, said), headers)
        writing = taken.pace.writing(len(said.thoughts) + len(said.content))
        await self._clock.sleep(taken.pace.thinks_for + writing)
        outcome = self._outcome(taken, said, writing, streamed=False)
        cost = await self._book(responder, taken, outcome)
        body = {
            **self._head(taken, "chat.completion"),
            "system_fingerprint": None,
            "choices": [answers.choice(said)],
            "usage": self._usage(taken, said, cost),
        }
        if self._at.wants_metadata:
            body["service_metadata"] = self._metadata(outcome.generation_time)
        return responder.respond(200, body, headers)

    def _said(self, taken: ServingEndpoint) -> SimulatedAnswer:
        context = taken.attempt.endpoint.context_length
        prompt = taken.parsed.prompt_tokens
        room = 10**9 if context is None else max(1, context - prompt)
        said = chat_answer(self._request, taken.attempt.model, taken.attempt.endpoint, room)
        catalog, chance = self._at.site.catalog, self._clock.chance
        broken = upstream.breaks_off(catalog, taken.item, self._at.now, chance)
        return said.broken_off() if broken else said

    def _head(self, taken: ServingEndpoint, kind: str) -> dict[str, Any]:
        return {
            "id": self._at.id,
            "object": kind,
            "created": int(self._at.now.timestamp()),
            "model": taken.attempt.model.id,
            "provider": taken.attempt.endpoint.provider_name,
            "service_tier": taken.attempt.endpoint.service_tier,
        }

    def _usage(
        self, taken: ServingEndpoint, said: SimulatedAnswer, cost: RequestCost
    ) -> dict[str, JsonValue]:
        cached = accounting.cached_of(taken.parsed, taken.item)
        return answers.token_usage(taken.parsed.prompt_tokens, cached, said, cost)

    async def _events(
        self, responder: Responder, taken: ServingEndpoint, said: SimulatedAnswer
    ) -> AsyncGenerator[str]:
        """The stream. When it is closed early, what was written so far is booked."""
        progress = _StreamProgress(said)
        booked = False
        try:
            async for line in self._written(taken, said, progress):
                yield line
            booked = True
            outcome = self._outcome(taken, said, progress.writing, streamed=True)
            cost = await self._book(responder, taken, outcome)
            yield self._line(self._closing(taken, said, outcome, cost))
            yield event(STREAM_END)
        finally:
            if not booked:
                part = said.cut(progress.tokens)
                outcome = self._outcome(taken, part, progress.writing, streamed=True)
                await self._book(responder, taken, outcome)

    async def _written(
        self, taken: ServingEndpoint, said: SimulatedAnswer, progress: _StreamProgress
    ) -> AsyncGenerator[str]:
        """Comments until the first token, then chunk by chunk up to the finish reason."""
        if self._request.debug is not None and self._request.debug.echo_upstream_body:
            yield self._line({**self._chunk(taken, None), "debug": self._echo(taken)})
        yield comment(self._at.site.dialect.keep_alive)
        left = taken.pace.thinks_for
        while left > 0:
            pause = min(left, _KEEP_ALIVE_SECONDS)
            await self._clock.sleep(pause)
            left -= pause
            if left > 0:
                yield comment(self._at.site.dialect.keep_alive)
        yield self._line(self._chunk(taken, delta_choice({"role": "assistant", "content": ""})))
        for delta, tokens in progress.deltas(taken.pace):
            seconds = taken.pace.writing(tokens)
            await self._clock.sleep(seconds)
            progress.writing += seconds
            progress.tokens += tokens
            yield self._line(self._chunk(taken, delta_choice(delta)))
        if said.error is None:
            ending = delta_choice({"content": ""}, said.finish_reason)
            yield self._line(self._chunk(taken, ending))

    def _closing(
        self,
        taken: ServingEndpoint,
        said: SimulatedAnswer,
        outcome: RequestOutcome,
        cost: RequestCost,
    ) -> dict[str, Any]:
        """The last chunk: what it cost, or why it broke off."""
        if said.error is None:
            closing = self._chunk(taken, None)
            closing["usage"] = self._usage(taken, said, cost)
        else:
            closing = self._chunk(taken, delta_choice({"content": ""}, said.finish_reason))
            closing["error"] = dict(said.error)
        if self._at.wants_metadata:
            closing["service_metadata"] = self._metadata(outcome.generation_time)
        return closing

    def _chunk(self, taken: ServingEndpoint, choice: dict[str, JsonValue] | None) -> dict[str, Any]:
        head = self._head(taken, "chat.completion.chunk")
        return {**head, "choices": [] if choice is None else [choice]}

    def _line(self, content: Mapping[str, Any]) -> str:
        shown = self._at.site.dialect.to_wire(dict(content))
        return event(json.dumps(shown, ensure_ascii=False, allow_nan=False, separators=(",", ":")))

    def _echo(self, taken: ServingEndpoint) -> dict[str, JsonValue]:
        """The request as the provider gets it: with what the filters left."""
        body = {**self._request.body(), **taken.parsed.logged, "model": str(taken.attempt.model.id)}
        return {"echo_upstream_body": body}


class _StreamProgress:
    """How far a stream has come."""

    def __init__(self, said: SimulatedAnswer) -> None:
        self._said = said
        self.tokens = 0
        self.writing = 0.0
        """Seconds."""

    def deltas(self, pace: Pace) -> list[tuple[dict[str, JsonValue], int]]:
        """What each chunk adds, and how many tokens that are."""
        speed = pace.tokens_per_second
        size = 1 if speed is None else max(1, round(speed * _CHUNK_SECONDS))
        said = self._said
        found: list[tuple[dict[str, JsonValue], int]] = []
        for name, tokens in (("reasoning", said.thoughts), ("content", said.content)):
            for start in range(0, len(tokens), size):
                part = tokens[start : start + size]
                delta: dict[str, JsonValue] = {name: "".join(part)}
                if name == "reasoning":
                    delta = delta if said.shows_thoughts else {}
                    delta["content"] = ""
                found.append((delta, len(part)))
        return found


class EventStreamResponse(Response):
    """Sends what a generator gives; when the client leaves, the generator is closed.

    The generator's own ``finally`` is what ends its work, so it runs in either case.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[str], headers: Mapping[str, str]) -> None:
        super().__init__(headers=dict(headers), media_type=self.media_type)
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Serve the stream to its end, or until nobody reads it any more."""
        gone = asyncio.create_task(_until_gone(receive))
        writing = asyncio.create_task(self._write(send))
        try:
            await asyncio.wait({gone, writing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, writing):
                if not task.done():
                    task.cancel()
            for task in (gone, writing):
                with suppress(asyncio.CancelledError):
                    await task

    async def _write(self, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        async with aclosing(self._events) as events:
            async for event in events:
                body = event.encode("utf-8")
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def event(data: str) -> str:
    """One event."""
    return f"data: {data}\n\n"


def comment(text: str) -> str:
    """A line that says only that somebody is still there."""
    return f": {text}\n\n"


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
