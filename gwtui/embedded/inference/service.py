"""One request to a model, from its admission to its booking.

``chat`` and ``embed`` are the handlers: in their transaction they read everything that holds for
the key. What they give goes on outside of it: filters, routing, the tries, the answer, and one
transaction that books it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pydantic import JsonValue
from starlette.responses import Response

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import GENERATION_ID, STREAM_END
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.request import Problem
from gwtui.domain.request_cost import RequestCost
from gwtui.domain.routing import RouteAttempt
from gwtui.embedded.inference import answers, booking, upstream
from gwtui.embedded.inference.answers import ChatAnswer, chat_answer, delta_choice
from gwtui.embedded.inference.asked import Asked, chat_asked, embedding_asked, with_texts
from gwtui.embedded.inference.booking import Course
from gwtui.embedded.inference.choosing import Chosen, choose
from gwtui.embedded.inference.content_filters import FilterHit, pipeline, screen
from gwtui.embedded.inference.standing import Standing, standing_of
from gwtui.embedded.inference.stream import EventStream, comment, event
from gwtui.embedded.inference.upstream import Pace
from gwtui.embedded.inference.vectors import DIMENSIONS, MAX_DIMENSIONS, base64_floats, vector
from gwtui.embedded.operations import Desk, OperationRequest, Site
from gwtui.embedded.responses import Refusal, invalid
from gwtui.embedded.simulator import CatalogEndpoint
from gwtui.embedded.store import served

_ID_BYTES = 10
_CHUNK_SECONDS = 0.04
"""How long the tokens of one chunk take at least: nobody reads faster."""
_KEEP_ALIVE_SECONDS = 10.0
_MS = 1000
_LONGEST_SESSION = 256


def chat(call: OperationRequest) -> ChatExchange:
    """Handle POST /chat/completions."""
    request = call.body_as(ChatRequest)
    standing = standing_of(call)
    asked = chat_asked(request, standing.workspace.default_text_model)
    return ChatExchange(_situation(call, standing), asked, request)


def embed(call: OperationRequest) -> EmbeddingExchange:
    """Handle POST /embeddings."""
    request = call.body_as(EmbeddingRequest)
    if request.dimensions is not None and request.dimensions > MAX_DIMENSIONS:
        raise invalid([Problem("dimensions", f"must be at most {MAX_DIMENSIONS}")])
    return EmbeddingExchange(_situation(call, standing_of(call)), embedding_asked(request), request)


@dataclass(frozen=True, slots=True)
class Situation:
    """Who asks, when and how. The identifier is that of the generation to come."""

    site: Site
    standing: Standing
    now: datetime
    id: str
    headers: Mapping[str, str]

    @property
    def wants_metadata(self) -> bool:
        """Whether the answer is to tell how it was handled."""
        given = self.headers.get(self.site.dialect.metadata_header.lower(), "")
        return given.strip().lower() == "enabled"


_KEPT_HEADERS = ("user-agent", "http-referer", "origin", "x-session-id")


def _situation(call: OperationRequest, standing: Standing) -> Situation:
    wanted = (*_KEPT_HEADERS, call.site.dialect.metadata_header.lower())
    headers = {
        name: call.headers[name][:_LONGEST_SESSION] for name in wanted if name in call.headers
    }
    generation_id = f"gen-{int(call.now.timestamp())}-{secrets.token_hex(_ID_BYTES)}"
    return Situation(call.site, standing, call.now, generation_id, headers)


@dataclass(slots=True)
class Journey:
    """A request on its way: what was found out so far."""

    asked: Asked
    hits: tuple[FilterHit, ...] = ()
    chosen: Chosen | None = None
    attempt: RouteAttempt | None = None
    item: CatalogEndpoint | None = None
    pace: Pace | None = None
    tries: list[dict[str, JsonValue]] = field(default_factory=list)
    paused: float = 0.0
    """Seconds that the tries before this one took."""


@dataclass(frozen=True, slots=True)
class Taken:
    """An endpoint that takes the request."""

    asked: Asked
    attempt: RouteAttempt
    item: CatalogEndpoint
    pace: Pace


class _Exchange:
    """What chat and embeddings have in common."""

    def __init__(self, situation: Situation, asked: Asked) -> None:
        self._at = situation
        self._journey = Journey(asked)

    @property
    def _clock(self) -> Any:
        return self._at.site.clock

    async def _reach(self) -> Taken:
        """The first endpoint that takes the request. Raises Refusal, the last one of all tries."""
        at, journey = self._at, self._journey
        try:
            screened = await screen(journey.asked.texts, at.standing.filters)
            journey.hits = screened.hits
            journey.asked = with_texts(journey.asked, screened.texts)
            chance = at.site.clock.chance
            journey.chosen = choose(at.site, at.standing, journey.asked, at.now, chance)
            return await self._first_that_takes(journey.chosen)
        except Refusal as refusal:
            if at.wants_metadata:
                refusal.service_metadata = self._metadata(None)
            raise

    async def _first_that_takes(self, chosen: Chosen) -> Taken:
        journey, failures = self._journey, []
        for attempt in chosen.route.attempts:
            try:
                return await self._try(attempt)
            except Refusal as refusal:
                failures.append((attempt, refusal))
        attempt, last = failures[-1]
        previous: list[JsonValue] = [
            {
                "code": refusal.status,
                "message": refusal.message,
                "provider_name": before.endpoint.provider_name,
            }
            for before, refusal in failures[:-1]
        ]
        metadata = dict(last.metadata or {})
        if previous:
            metadata["previous_errors"] = previous
        headers = {**last.headers, GENERATION_ID: self._at.id} if journey.tries else last.headers
        raise Refusal(last.status, last.message, metadata=metadata, headers=headers) from last

    async def _try(self, attempt: RouteAttempt) -> Taken:
        at, journey = self._at, self._journey
        catalog, asked = at.site.catalog, journey.asked
        item = catalog.endpoint(f"{attempt.model.id}|{attempt.endpoint.tag}")
        at.standing.check_payment(attempt, asked.prompt_tokens, asked.max_tokens, at.now)
        pace = upstream.pace_of(catalog, item, attempt, at.id)
        await self._clock.sleep(pace.accepted_after)
        try:
            upstream.check_accepted(catalog, item, attempt, at.now, self._clock.chance)
        except Refusal as refusal:
            latency = pace.accepted_after * _MS
            journey.tries.append(booking.one_try(attempt, item, refusal.status, latency))
            journey.paused += pace.accepted_after
            raise
        upstream_id = f"up-{secrets.token_hex(8)}"
        journey.tries.append(booking.one_try(attempt, item, 200, pace.latency_ms, upstream_id))
        journey.attempt = attempt
        return Taken(asked, attempt, item, pace)

    def _course(
        self, taken: Taken, answer: ChatAnswer | None, writing: float | None, *, streamed: bool
    ) -> Course:
        """How it went; ``writing`` is how many seconds the tokens took."""
        latency = self._journey.paused * _MS + taken.pace.latency_ms
        took = latency / _MS + (writing or 0)
        return Course(
            id=self._at.id,
            began=self._at.now,
            ended=max(self._clock.now(), self._at.now + timedelta(seconds=took)),
            latency=latency,
            generation_time=None if writing is None else writing * _MS,
            streamed=streamed,
            cancelled=answer is not None and answer.finish_reason is None,
            finish_reason=None if answer is None else answer.finish_reason,
            completion_tokens=0 if answer is None else answer.tokens,
            reasoning_tokens=0 if answer is None else len(answer.thoughts),
            output={
                "completion": None if answer is None or answer.tools else answer.text,
                "reasoning": None if answer is None else answer.reasoning,
            },
            error=None if answer is None else answer.error,
            tries=tuple(self._journey.tries),
            headers=self._at.headers,
        )

    async def _book(self, desk: Desk, taken: Taken, course: Course) -> RequestCost:
        """Book the request, whoever leaves meanwhile; gives what it cost."""
        at = self._at
        whose = (at.standing, taken.asked, taken.attempt, taken.item, course)
        cost = booking.cost_of(*whose)
        request, used = booking.entries(*whose, cost)
        await desk.carry_out(lambda db: served.book(db, request, used))
        return cost

    def _metadata(self, generation_ms: float | None) -> dict[str, JsonValue]:
        """How the request was handled: inference contract section 4."""
        journey, chosen = self._journey, self._journey.chosen
        attempt = journey.attempt
        tried = len(journey.tries)
        shown: list[JsonValue] = [
            {
                "provider": each.endpoint.provider_name,
                "model": each.model.id,
                "selected": each is attempt,
            }
            for each in (chosen.route.attempts if chosen else ())
        ]
        answered = (attempt.model.id if attempt else None) or journey.asked.models[0]
        found: dict[str, JsonValue] = {
            "requested": journey.asked.models[0],
            "strategy": "fallback" if len(journey.asked.models) > 1 else "direct",
            "region": "global",
            "summary": _summary(attempt, tried),
            "attempt": tried,
            "is_byok": attempt is not None and attempt.credential is not None,
            "endpoints": {"total": chosen.route.total if chosen else 0, "available": shown},
            "attempts": booking.tries_shown(journey.tries, str(answered)),
            "pipeline": [dict(step) for step in pipeline(journey.hits)],
        }
        if generation_ms is not None:
            found["generation_time"] = round(generation_ms)
        return found


def _summary(attempt: RouteAttempt | None, tried: int) -> str:
    if attempt is None:
        return f"no provider answered in {tried} tries" if tried else "no provider was reached"
    whose = " on an own provider key" if attempt.credential is not None else ""
    return f"answered by {attempt.endpoint.provider_name}{whose} at try {tried}"


class ChatExchange(_Exchange):
    """A chat request on its way to its answer."""

    def __init__(self, situation: Situation, asked: Asked, request: ChatRequest) -> None:
        super().__init__(situation, asked)
        self._request = request

    async def answer(self, desk: Desk) -> Response:
        """The answer, whole or as a stream. Raises Refusal."""
        taken = await self._reach()
        said = self._said(taken)
        headers = {GENERATION_ID: self._at.id, "Cache-Control": "no-store"}
        if self._request.stream:
            return EventStream(self._events(desk, taken, said), headers)
        writing = taken.pace.writing(len(said.thoughts) + len(said.content))
        await self._clock.sleep(taken.pace.thinks_for + writing)
        course = self._course(taken, said, writing, streamed=False)
        cost = await self._book(desk, taken, course)
        body = {
            **self._head(taken, "chat.completion"),
            "choices": [answers.choice(said)],
            "usage": self._usage(taken, said, cost),
        }
        if self._at.wants_metadata:
            body["service_metadata"] = self._metadata(course.generation_time)
        return desk.respond(200, body, headers)

    def _said(self, taken: Taken) -> ChatAnswer:
        context = taken.attempt.endpoint.context_length
        prompt = taken.asked.prompt_tokens
        room = 10**9 if context is None else max(1, context - prompt)
        texts = [each.text for each in taken.asked.texts]
        said = chat_answer(self._request, texts, taken.attempt.model, taken.attempt.endpoint, room)
        catalog, chance = self._at.site.catalog, self._clock.chance
        broken = upstream.breaks_off(catalog, taken.item, self._at.now, chance)
        return said.broken_off() if broken else said

    def _head(self, taken: Taken, kind: str) -> dict[str, Any]:
        return {
            "id": self._at.id,
            "object": kind,
            "created": int(self._at.now.timestamp()),
            "model": taken.attempt.model.id,
            "provider": taken.attempt.endpoint.provider_name,
            "system_fingerprint": None,
            "service_tier": taken.attempt.endpoint.service_tier,
        }

    def _usage(self, taken: Taken, said: ChatAnswer, cost: RequestCost) -> dict[str, JsonValue]:
        cached = booking.cached_of(taken.asked, taken.item)
        return answers.token_usage(taken.asked.prompt_tokens, cached, said, cost)

    async def _events(self, desk: Desk, taken: Taken, said: ChatAnswer) -> AsyncGenerator[str]:
        """The stream. When it is closed early, what was written so far is booked."""
        progress = _Progress(said)
        booked = False
        try:
            async for line in self._written(taken, said, progress):
                yield line
            booked = True
            course = self._course(taken, said, progress.writing, streamed=True)
            cost = await self._book(desk, taken, course)
            yield self._line(self._closing(taken, said, course, cost))
            yield event(STREAM_END)
        finally:
            if not booked:
                part = said.cut(progress.tokens)
                course = self._course(taken, part, progress.writing, streamed=True)
                await self._book(desk, taken, course)

    async def _written(
        self, taken: Taken, said: ChatAnswer, progress: _Progress
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
        self, taken: Taken, said: ChatAnswer, course: Course, cost: RequestCost
    ) -> dict[str, Any]:
        """The last chunk: what it cost, or why it broke off."""
        if said.error is None:
            closing = self._chunk(taken, None)
            closing["usage"] = self._usage(taken, said, cost)
        else:
            closing = self._chunk(taken, delta_choice({"content": ""}, said.finish_reason))
            closing["error"] = dict(said.error)
        if self._at.wants_metadata:
            closing["service_metadata"] = self._metadata(course.generation_time)
        return closing

    def _chunk(self, taken: Taken, choice: dict[str, JsonValue] | None) -> dict[str, Any]:
        head = self._head(taken, "chat.completion.chunk")
        return {**head, "choices": [] if choice is None else [choice]}

    def _line(self, content: Mapping[str, Any]) -> str:
        shown = self._at.site.dialect.to_wire(dict(content))
        return event(json.dumps(shown, ensure_ascii=False, allow_nan=False, separators=(",", ":")))

    def _echo(self, taken: Taken) -> dict[str, JsonValue]:
        """The request as the provider gets it: with what the filters left."""
        body = {**self._request.body(), **taken.asked.logged, "model": str(taken.attempt.model.id)}
        return {"echo_upstream_body": body}


class _Progress:
    """How far a stream has come."""

    def __init__(self, said: ChatAnswer) -> None:
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
        return found + [(delta, 0) for delta in answers.tool_deltas(said)]


class EmbeddingExchange(_Exchange):
    """An embedding request on its way to its answer."""

    def __init__(self, situation: Situation, asked: Asked, request: EmbeddingRequest) -> None:
        super().__init__(situation, asked)
        self._request = request

    async def answer(self, desk: Desk) -> Response:
        """The vectors. Raises Refusal."""
        taken = await self._reach()
        vectors = await asyncio.to_thread(self._vectors, taken.asked)
        await self._clock.sleep(taken.pace.thinks_for)
        course = self._course(taken, None, None, streamed=False)
        cost = await self._book(desk, taken, course)
        prompt = taken.asked.prompt_tokens
        body: dict[str, Any] = {
            "id": self._at.id,
            "object": "list",
            "model": taken.attempt.model.id,
            "provider": taken.attempt.endpoint.provider_name,
            "data": [
                {"object": "embedding", "embedding": found, "index": index}
                for index, found in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": prompt, "total_tokens": prompt, **answers.cost_fields(cost)},
        }
        if self._at.wants_metadata:
            body["service_metadata"] = self._metadata(None)
        headers = {GENERATION_ID: self._at.id}
        return desk.respond(200, body, headers)

    def _vectors(self, asked: Asked) -> list[list[float] | str]:
        size = self._request.dimensions or DIMENSIONS
        found = [vector(each.text, size) for each in asked.texts]
        if self._request.encoding_format == "base64":
            return [base64_floats(values) for values in found]
        return list(found)
