"""Requests to models, with their own key. See sections 1 to 5 and 8 of the inference contract.

The management key is never used here. Every request is billed, so it is sent exactly once, on its
own connection, and not while read-only. Prompts, answers and keys are never logged. The HTTP
library is loaded with the first request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from gwtui.client.answers import error_of, parse_json, read_one, redacted
from gwtui.client.call import Answer, Call, validated
from gwtui.client.connection import Connection, Timeouts
from gwtui.client.errors import GatewayError, NoAnswerError, UnreadableAnswerError
from gwtui.client.gateway import LazyTransport, SharedTransport, new_transport
from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import (
    STREAM_END,
    ChatChoice,
    ChatChunk,
    ChatDelta,
    ChatMessage,
    ChatResult,
    ChunkChoice,
    ServiceMetadata,
    TokenUsage,
    ToolCall,
)
from gwtui.contract.dialects import Dialect
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.keys import CurrentKey
from gwtui.contract.request import RequestModel
from gwtui.contract.usage import Generation
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.known_secrets import HIDDEN, SHORTEST, redactor

if TYPE_CHECKING:
    from pydantic import SecretStr

    from gwtui.client.transport import EventStream, Transport


@dataclass(frozen=True, slots=True)
class EmbeddingAnswer:
    """The vectors, their token usage, and the milliseconds until the response was complete."""

    result: EmbeddingsResult
    generation_id: str | None
    elapsed_ms: float


class Inference(SharedTransport):
    """Requests to the models of one gateway with one key.

    ``async with Inference(connection, key) as models: answer = await models.chat(request)``

    A stream fails after ``silence`` seconds without a byte, every request after ``whole`` seconds.
    ``key`` replaces the token of ``connection``. On a read-only connection, requests to models
    raise ReadOnlyError unless ``allow_tries``. The constructor raises InvalidConnectionError for a
    malformed key. All methods raise GatewayError.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        connection: Connection,
        key: SecretStr,
        *,
        allow_tries: bool = False,
        clock: Clock = SYSTEM_CLOCK,
        silence: float = 60.0,
        whole: float = 600.0,
        transport: Transport | None = None,
    ) -> None:
        read_only = connection.read_only and not allow_tries
        self.connection = replace(connection, token=key, read_only=read_only)
        self._key = key
        self._clock = clock
        self._silence = silence
        timeouts = Timeouts(read=whole, whole=whole)
        self._transport = LazyTransport(
            lambda: new_transport(self.connection, clock, timeouts=timeouts), transport
        )

    async def chat(self, request: ChatRequest) -> ChatAnswer:
        """Request an answer without streaming. An incomplete answer has an ``error``."""
        body = _chat_request(request, stream=False)
        answer, elapsed = await self._send("/chat/completions", body, self._metadata_header())
        return whole_answer(answer.json, answer.generation_id, self._clock, elapsed)

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStream]:
        """Open a stream for an answer. Leaving the context cancels the request.

        Errors before the stream begins are raised; later ones are in ``ChatStream.answer.error``.
        """
        body = _chat_request(request, stream=True)
        transport = await self._transport.ready()
        started = self._clock.monotonic()
        call = Call("POST", "/chat/completions", body=body, headers=self._metadata_header())
        events = await transport.open(call, self._silence)
        try:
            yield ChatStream(events, self.connection.dialect, self._key, self._clock, started)
        finally:
            await events.aclose()

    async def embed(self, request: EmbeddingRequest) -> EmbeddingAnswer:
        """Compute the vectors of texts."""
        body = validated(request, EmbeddingRequest)
        answer, elapsed = await self._send("/embeddings", body, {})
        result = EmbeddingsResult.model_validate(answer.json)
        if result.data is None:
            raise UnreadableAnswerError("the response has no vectors that can be read")
        return EmbeddingAnswer(result, answer.generation_id or result.id, elapsed)

    async def key(self) -> CurrentKey:
        """Read the rights and remaining limits of the key, at no cost."""
        return read_one(await self._transport.call(Call("GET", "/key")), CurrentKey)

    async def generation(self, id: str) -> Generation:
        """Read the metadata of a request: NotFoundError for a second or more after its end."""
        call = Call("GET", "/generation", query={"id": id})
        return read_one(await self._transport.call(call), Generation)

    async def _send(
        self, path: str, body: RequestModel, headers: Mapping[str, str]
    ) -> tuple[Answer, float]:
        """Send a request; returns the answer, whose JSON is an object, and its duration in ms."""
        transport = await self._transport.ready()
        started = self._clock.monotonic()
        answer = await transport.call(Call("POST", path, body=body, headers=headers))
        if not isinstance(answer.json, dict):
            raise UnreadableAnswerError("the response is not what the API describes")
        return answer, (self._clock.monotonic() - started) * _MS

    def _metadata_header(self) -> Mapping[str, str]:
        """The header that requests metadata on the routing of the request."""
        return {self.connection.dialect.metadata_header: "enabled"}


def _chat_request(request: ChatRequest, *, stream: bool) -> ChatRequest:
    given = {name: getattr(request, name) for name in request.model_fields_set}
    return validated(ChatRequest.model_construct(**{**given, "stream": stream}), ChatRequest)


_MS = 1000


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of an answer: of its text, its reasoning, or a refusal."""

    text: str = field(default="", repr=False)
    reasoning: str = field(default="", repr=False)
    refusal: str = field(default="", repr=False)


@dataclass(slots=True)
class CalledTool:
    """A tool call of the model; ``arguments`` is JSON as text."""

    id: str = ""
    name: str = ""
    arguments: str = field(default="", repr=False)


@dataclass(slots=True)
class ChatAnswer:
    """An answer as received so far.

    ``first_token_ms`` is the time to the first piece, None for an answer that was not streamed;
    ``elapsed_ms`` is the time to the last piece. ``error`` is why the answer is incomplete.
    ``unreadable`` is the number of pieces that were not JSON objects; above 0, the text may be
    incomplete.
    """

    text: str = field(default="", repr=False)
    reasoning: str = field(default="", repr=False)
    refusal: str = field(default="", repr=False)
    tools: list[CalledTool] = field(default_factory=list)
    generation_id: str | None = None
    model: str | None = None
    provider: str | None = None
    service_tier: str | None = None
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    usage: TokenUsage | None = None
    metadata: ServiceMetadata | None = None
    first_token_ms: float | None = None
    elapsed_ms: float | None = None
    error: GatewayError | None = None
    unreadable: int = 0

    def describe(self, part: ChatResult | ChatChunk) -> None:
        """Take over id, model, provider, usage and metadata from a response or a chunk."""
        self.generation_id = self.generation_id or part.id
        self.model = part.model or self.model
        self.provider = part.provider or self.provider
        self.service_tier = part.service_tier or self.service_tier
        self.usage = part.usage or self.usage
        self.metadata = part.service_metadata or self.metadata

    def choose(self, choice: ChatChoice | ChunkChoice, calls: Sequence[ToolCall] | None) -> None:
        """Update the finish reason and the tool calls.

        Each of ``calls`` continues the tool call at its index. If there is none at that index yet,
        it starts a new one at the end of the list.
        """
        self.finish_reason = choice.finish_reason or self.finish_reason
        self.native_finish_reason = choice.native_finish_reason or self.native_finish_reason
        for call in calls or ():
            count = len(self.tools)
            index = count if call.index is None else min(max(call.index, 0), count)
            if index == count:
                self.tools.append(CalledTool())
            tool = self.tools[index]
            tool.id = call.id or tool.id
            if call.function is not None:
                tool.name = call.function.name or tool.name
                tool.arguments += call.function.arguments or ""

    @property
    def cost(self) -> Decimal | None:
        """The reported cost in USD; None if unknown."""
        return None if self.usage is None else self.usage.cost

    @property
    def tokens_per_second(self) -> float | None:
        """Completion tokens per second between first and last piece; None if unknown."""
        tokens = None if self.usage is None else self.usage.completion_tokens
        if not tokens or self.first_token_ms is None or self.elapsed_ms is None:
            return None
        span = self.elapsed_ms - self.first_token_ms
        return tokens * _MS / span if span > 0 else None


class ChatStream:
    """Iterates over the pieces of an answer; ``answer`` holds everything received so far.

    Iterating does not raise GatewayError: see ``answer.error``. Leaving early cancels the request;
    the part that was already produced may be billed.
    """

    def __init__(
        self, events: EventStream, dialect: Dialect, key: SecretStr, clock: Clock, started: float
    ) -> None:
        self.answer = ChatAnswer(generation_id=events.generation_id)
        self._events = events
        self._dialect = dialect
        self._clock = clock
        self._started = started
        self._hide = redactor([key])
        self._guards = {
            name: _KeyFilter(key, self._hide) for name in ("text", "reasoning", "refusal")
        }

    async def __aiter__(self) -> AsyncIterator[AnswerDelta]:
        answer = self.answer
        is_ended = False
        try:
            async for data in self._events:
                is_ended = data.strip() == STREAM_END
                if is_ended:
                    break
                body = parse_json(data.encode("utf-8", "replace"), self._dialect)
                if not isinstance(body, dict):
                    answer.unreadable += 1
                    continue
                body = redacted(body, self._hide)
                for delta in self._chunk(ChatChunk.model_validate(body)):
                    yield delta
                if body.get("error"):
                    answer.error = _refused(body, self._clock, self._hide)
                    break
        except GatewayError as error:
            answer.error = error
        # The end may go unsaid where the answer is complete.
        if answer.error is None and not is_ended and not answer.finish_reason:
            answer.error = NoAnswerError("the stream ended before the response was complete")
        if rest := self._add({name: guard.rest() for name, guard in self._guards.items()}):
            yield rest
        await self._events.aclose()

    def _chunk(self, chunk: ChatChunk) -> Iterator[AnswerDelta]:
        answer = self.answer
        answer.describe(chunk)
        for choice in chunk.choices or ():
            delta = choice.delta or ChatDelta()
            answer.choose(choice, delta.tool_calls)
            parts = {
                "text": delta.content or "",
                "reasoning": delta.reasoning or "",
                "refusal": delta.refusal or "",
            }
            if delta.tool_calls or any(parts.values()):
                answer.elapsed_ms = (self._clock.monotonic() - self._started) * _MS
                if answer.first_token_ms is None:
                    answer.first_token_ms = answer.elapsed_ms
            shown = {name: self._guards[name].pass_on(piece) for name, piece in parts.items()}
            if piece := self._add(shown):
                yield piece

    def _add(self, pieces: Mapping[str, str]) -> AnswerDelta | None:
        for name, piece in pieces.items():
            setattr(self.answer, name, getattr(self.answer, name) + piece)
        return AnswerDelta(**pieces) if any(pieces.values()) else None


def whole_answer(
    body: Mapping[str, Any], generation_id: str | None, clock: Clock, elapsed_ms: float
) -> ChatAnswer:
    """Convert the JSON of a response without streaming; an incomplete answer has an ``error``."""
    result = ChatResult.model_validate(body)
    answer = ChatAnswer(generation_id=generation_id, elapsed_ms=elapsed_ms)
    answer.describe(result)
    if result.choices:
        choice = result.choices[0]
        message = choice.message or ChatMessage()
        answer.choose(choice, message.tool_calls)
        answer.text = _text_of(message.content)
        answer.reasoning = message.reasoning or ""
        answer.refusal = message.refusal or ""
        body = choice.raw
    elif not body.get("error"):
        answer.error = UnreadableAnswerError("the response has no choice that can be read")
    if body.get("error"):
        answer.error = _refused(body, clock, str)
    return answer


def _refused(body: Mapping[str, Any], clock: Clock, redact: Callable[[str], str]) -> GatewayError:
    """The error in the body of a response with status 200, or of an event of a stream."""
    error = body["error"]
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(code, int) or not HTTPStatus.BAD_REQUEST <= code < _NO_STATUS:
        code = HTTPStatus.INTERNAL_SERVER_ERROR
    return error_of(code, dict(body), {}, now=clock.now(), redact=redact)


_NO_STATUS = 600


def _text_of(content: str | list[Any] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


class _KeyFilter:
    """Masks the key in a text that arrives in pieces.

    The end of the text is held back as long as it may be the beginning of the key.
    """

    def __init__(self, key: SecretStr, hide: Callable[[str], str]) -> None:
        self._key = key
        self._hide = hide
        self._held = ""

    def pass_on(self, piece: str) -> str:
        """Add a piece; returns the text that can be shown now."""
        text = self._hide(self._held + piece)
        self._held = _begun(text, self._key.get_secret_value())
        return text[: len(text) - len(self._held)]

    def rest(self) -> str:
        """Return the text that was held back, masked if it is at least ``SHORTEST`` characters."""
        held, self._held = self._held, ""
        return held if len(held) < SHORTEST else HIDDEN


def _begun(text: str, key: str) -> str:
    """The longest end of the text with which the key begins; "" if there is none."""
    for length in range(min(len(text), len(key) - 1), 0, -1):
        if text.endswith(key[:length]):
            return key[:length]
    return ""
