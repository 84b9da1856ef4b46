"""Requests to models, with a key of their own: inference contract sections 1 to 5 and 8.

The management token of the connection is not used. Every request is billed, so each is sent exactly
once, on a connection of its own, and held back while read-only. Prompts, answers and keys go into
no log. Importing this loads no HTTP library: that comes with the first request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gwtui.client.answers import error_of, parse_json, read_one, redacted
from gwtui.client.call import Answer, Call, validated
from gwtui.client.connection import Connection, Patience
from gwtui.client.errors import GatewayError, NoAnswerError, UnreadableAnswerError
from gwtui.client.gateway import LazyTransport, new_transport
from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import (
    STREAM_END,
    ChatChunk,
    ChatMessage,
    ChatResult,
    ChunkChoice,
    ServiceMetadata,
    TokenUsage,
    ToolCall,
)
from gwtui.contract.current_key import CurrentKey
from gwtui.contract.dialects import Dialect
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.request import RequestModel
from gwtui.contract.usage import Generation
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.known_secrets import HIDDEN, Secret, is_short, redactor

if TYPE_CHECKING:
    from gwtui.client.transport import EventStream, Transport


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How long an answer may take, in seconds.

    One that comes in pieces counts as lost after ``silence`` without a byte, each after ``whole``.
    """

    silence: float = 60.0
    whole: float = 600.0


@dataclass(frozen=True, slots=True)
class EmbeddingAnswer:
    """Vectors, and what they took; ``elapsed_ms`` is from sending to the whole answer."""

    result: EmbeddingsResult
    generation_id: str | None
    elapsed_ms: float


class Inference:
    """Requests to models of one gateway through one key.

    ``async with Inference(connection, key) as models: answer = await models.chat(request)``

    ``connection`` says where the gateway is; its token is replaced by ``key``. While it is
    read-only nothing is sent, unless ``allow_tries``. Raises InvalidConnectionError for a key that
    cannot be one. Every method raises GatewayError.
    """

    def __init__(
        self,
        connection: Connection,
        key: Secret,
        *,
        allow_tries: bool = False,
        clock: Clock = SYSTEM_CLOCK,
        limits: AnswerLimits = AnswerLimits(),
        transport: Transport | None = None,
    ) -> None:
        read_only = connection.read_only and not allow_tries
        self.connection = replace(connection, token=key, read_only=read_only)
        self._key = key
        self._clock = clock
        self._limits = limits
        patience = Patience(read=limits.whole, whole=limits.whole)
        self._transport = LazyTransport(
            lambda: new_transport(self.connection, clock, patience=patience), transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; what is under way is cancelled."""
        await self._transport.close()

    async def chat(self, request: ChatRequest) -> ChatAnswer:
        """A whole answer. One that broke off has its ``error``, and may be billed."""
        given = {name: getattr(request, name) for name in request.model_fields_set}
        body = validated(ChatRequest.model_construct(**{**given, "stream": False}), ChatRequest)
        answer, elapsed = await self._send("/chat/completions", body, self._metadata_header())
        if not isinstance(answer.json, dict):
            raise UnreadableAnswerError("the answer is not what the API describes")
        return whole_answer(answer.json, answer.generation_id, self._clock, elapsed)

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStream]:
        """An answer piece by piece; leaving the context hangs up, which cancels the request.

        What is refused before the first piece raises here, what fails later is an event.
        """
        given = {name: getattr(request, name) for name in request.model_fields_set}
        body = validated(ChatRequest.model_construct(**{**given, "stream": True}), ChatRequest)
        transport = await self._transport.ready()
        started = self._clock.monotonic()
        call = Call("POST", "/chat/completions", body=body, headers=self._metadata_header())
        pieces = await transport.open(call, self._limits.silence)
        stream = ChatStream(pieces, self.connection.dialect, self._key, self._clock, started)
        try:
            yield stream
        finally:
            await stream.aclose()

    async def embed(self, request: EmbeddingRequest) -> EmbeddingAnswer:
        """The vectors of texts."""
        body = validated(request, EmbeddingRequest)
        answer, elapsed = await self._send("/embeddings", body, {})
        if not isinstance(answer.json, dict):
            raise UnreadableAnswerError("the answer is not what the API describes")
        result = EmbeddingsResult.model_validate(answer.json)
        if result.data is None:
            raise UnreadableAnswerError("the answer has no vectors that can be read")
        return EmbeddingAnswer(result, answer.generation_id or result.id, elapsed)

    async def key(self) -> CurrentKey:
        """The rights and remaining limits of the key; costs nothing."""
        return read_one(await self._transport.call(Call("GET", "/key")), CurrentKey)

    async def generation(self, id: str) -> Generation:
        """The metadata of a request; NotFoundError for a second or more after it."""
        call = Call("GET", "/generation", query={"id": id})
        return read_one(await self._transport.call(call), Generation)

    async def _send(
        self, path: str, body: RequestModel, headers: Mapping[str, str]
    ) -> tuple[Answer, float]:
        """The answer, and how long it took in ms."""
        transport = await self._transport.ready()
        started = self._clock.monotonic()
        answer = await transport.call(Call("POST", path, body=body, headers=headers))
        return answer, (self._clock.monotonic() - started) * _MS

    def _metadata_header(self) -> Mapping[str, str]:
        """The header that asks for metadata on how the service handled the request."""
        return {self.connection.dialect.metadata_header: "enabled"}


_MS = 1000


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of the answer, of the thoughts before it, or of a refusal."""

    text: str = field(default="", repr=False)
    reasoning: str = field(default="", repr=False)
    refusal: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """The service says that it is still at work."""


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The usage and cost of the request; comes once, near the end."""

    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class AnswerFailed:
    """The last event of an answer that did not end well; what had come stays in the answer.

    The request may be billed all the same.
    """

    error: GatewayError


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The last event of an answer that ended as it should."""


ChatEvent = AnswerDelta | KeepAlive | UsageReported | AnswerFailed | AnswerDone


@dataclass(slots=True)
class CalledTool:
    """A tool that the model wants called; ``arguments`` is JSON as text."""

    id: str = ""
    name: str = ""
    arguments: str = field(default="", repr=False)


@dataclass(slots=True)
class ChatAnswer:
    """An answer, as far as it has come.

    ``first_token_ms`` is from sending to the first piece, None for an answer that came whole;
    ``elapsed_ms`` from sending to the last piece. ``error`` says why the answer broke off.
    ``unreadable`` counts pieces that were no JSON: the text may lack them.
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
    keep_alives: int = 0
    unreadable: int = 0

    @property
    def cost(self) -> Decimal | None:
        """The reported cost, in USD; None when the service reports none."""
        return None if self.usage is None else self.usage.cost

    @property
    def tokens_per_second(self) -> float | None:
        """Completion tokens over the time from the first to the last piece; None when unknown."""
        tokens = None if self.usage is None else self.usage.completion_tokens
        if not tokens or self.first_token_ms is None or self.elapsed_ms is None:
            return None
        span = self.elapsed_ms - self.first_token_ms
        return tokens * _MS / span if span > 0 else None


class ChatStream:
    """Iterates over the events of an answer; ``answer`` is what has come by then.

    The last event is AnswerDone or AnswerFailed: iterating raises no GatewayError. Leaving early
    hangs up, which cancels the request; what was made by then may be billed.
    """

    def __init__(
        self, pieces: EventStream, dialect: Dialect, key: Secret, clock: Clock, started: float
    ) -> None:
        self.answer = ChatAnswer(generation_id=pieces.generation_id)
        self._pieces = pieces
        self._dialect = dialect
        self._clock = clock
        self._started = started
        self._hide = redactor([key])
        self._guards = {
            name: _KeyFilter(key, self._hide) for name in ("text", "reasoning", "refusal")
        }
        self._queue: list[ChatEvent] = []
        self._over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChatEvent:
        while not self._queue:
            if self._over:
                raise StopAsyncIteration
            try:
                data = await anext(self._pieces)
            except StopAsyncIteration:
                await self._end(None)
            except GatewayError as error:
                await self._end(error)
            else:
                await self._read(data)
        return self._queue.pop(0)

    async def aclose(self) -> None:
        """Hang up."""
        self._over = True
        self._queue.clear()
        await self._pieces.aclose()

    async def _read(self, data: str | None) -> None:
        if data is None:
            self.answer.keep_alives += 1
            self._queue.append(KeepAlive())
        elif data.strip() == STREAM_END:
            await self._end(None, said=True)
        else:
            body = parse_json(data.encode("utf-8", "replace"), self._dialect)
            if isinstance(body, dict):
                await self._chunk(redacted(body, self._hide))
            else:
                self.answer.unreadable += 1

    async def _chunk(self, body: dict[str, Any]) -> None:
        chunk = ChatChunk.model_validate(body)
        answer = self.answer
        answer.generation_id = answer.generation_id or chunk.id
        answer.model = chunk.model or answer.model
        answer.provider = chunk.provider or answer.provider
        answer.service_tier = chunk.service_tier or answer.service_tier
        answer.metadata = chunk.service_metadata or answer.metadata
        for choice in chunk.choices or ():
            self._choice(choice)
        if chunk.usage is not None:
            answer.usage = chunk.usage
            self._queue.append(UsageReported(chunk.usage))
        if body.get("error"):
            await self._end(_refused(body, self._clock, self._hide), said=True)

    def _choice(self, choice: ChunkChoice) -> None:
        answer = self.answer
        answer.finish_reason = choice.finish_reason or answer.finish_reason
        answer.native_finish_reason = choice.native_finish_reason or answer.native_finish_reason
        delta = choice.delta
        if delta is None:
            return
        calls = delta.tool_calls or []
        for call in calls:
            _add_call(answer.tools, call)
        if calls or delta.content or delta.reasoning or delta.refusal:
            now = (self._clock.monotonic() - self._started) * _MS
            answer.first_token_ms = now if answer.first_token_ms is None else answer.first_token_ms
            answer.elapsed_ms = now
        self._add(
            text=self._guards["text"].pass_on(delta.content or ""),
            reasoning=self._guards["reasoning"].pass_on(delta.reasoning or ""),
            refusal=self._guards["refusal"].pass_on(delta.refusal or ""),
        )

    def _add(self, *, text: str, reasoning: str, refusal: str) -> None:
        if text or reasoning or refusal:
            self.answer.text += text
            self.answer.reasoning += reasoning
            self.answer.refusal += refusal
            self._queue.append(AnswerDelta(text, reasoning, refusal))

    async def _end(self, error: GatewayError | None, *, said: bool = False) -> None:
        """Close, and give the last event. The end may go unsaid where the answer is complete."""
        answer = self.answer
        self._add(**{name: guard.rest() for name, guard in self._guards.items()})
        if error is None and not said and not answer.finish_reason:
            error = NoAnswerError("the stream ended before the answer was complete")
        answer.error = error
        self._queue.append(AnswerDone() if error is None else AnswerFailed(error))
        self._over = True
        await self._pieces.aclose()


def whole_answer(
    body: Mapping[str, Any], generation_id: str | None, clock: Clock, elapsed_ms: float
) -> ChatAnswer:
    """The answer that came whole; one that broke off has an ``error``."""
    result = ChatResult.model_validate(body)
    answer = ChatAnswer(
        generation_id=generation_id or result.id,
        model=result.model,
        provider=result.provider,
        service_tier=result.service_tier,
        usage=result.usage,
        metadata=result.service_metadata,
        elapsed_ms=elapsed_ms,
    )
    choice = result.choices[0] if result.choices else None
    if choice is None and body.get("error"):
        answer.error = _refused(body, clock, str)
        return answer
    if choice is None:
        answer.error = UnreadableAnswerError("the answer has no choice that can be read")
        return answer
    answer.finish_reason = choice.finish_reason
    answer.native_finish_reason = choice.native_finish_reason
    message = choice.message or ChatMessage()
    answer.text = _text_of(message.content)
    answer.reasoning = message.reasoning or ""
    answer.refusal = message.refusal or ""
    for call in message.tool_calls or ():
        answer.tools.append(CalledTool())
        _fill(answer.tools[-1], call)
    if choice.raw.get("error"):
        answer.error = _refused(choice.raw, clock, str)
    return answer


def _refused(body: Mapping[str, Any], clock: Clock, redact: Callable[[str], str]) -> GatewayError:
    """The error inside of an answer whose status was 200."""
    error = body["error"]
    code = error.get("code") if isinstance(error, dict) else None
    readable = isinstance(code, int) and HTTPStatus.BAD_REQUEST <= code < _NO_STATUS
    status = int(code) if readable and code else int(HTTPStatus.INTERNAL_SERVER_ERROR)
    return error_of(status, dict(body), {}, now=clock.now(), redact=redact)


_NO_STATUS = 600


def _text_of(content: str | list[Any] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _add_call(calls: list[CalledTool], piece: ToolCall) -> None:
    """A piece belongs to the call that it names; one with a number beyond the next is the next."""
    index = len(calls) if piece.index is None else min(max(piece.index, 0), len(calls))
    if index == len(calls):
        calls.append(CalledTool())
    _fill(calls[index], piece)


def _fill(call: CalledTool, piece: ToolCall) -> None:
    call.id = piece.id or call.id
    if piece.function is not None:
        call.name = piece.function.name or call.name
        call.arguments += piece.function.arguments or ""


class _KeyFilter:
    """Keeps the key out of a text that comes in pieces: an end that may begin it is held back."""

    def __init__(self, key: Secret, hide: Callable[[str], str]) -> None:
        self._key = key
        self._hide = hide
        self._held = ""

    def pass_on(self, piece: str) -> str:
        """Return what can be shown now of what has come so far."""
        if is_short(self._key.get_secret_value()):
            return piece
        text = self._hide(self._held + piece)
        self._held = _begun(text, self._key.get_secret_value())
        return text[: len(text) - len(self._held)]

    def rest(self) -> str:
        """Return what was held back, at the end of the text; masked where it is most of a key."""
        held, self._held = self._held, ""
        return held if is_short(held) else HIDDEN


def _begun(text: str, key: str) -> str:
    """The longest end of the text that the key begins with."""
    for length in range(min(len(text), len(key) - 1), 0, -1):
        if text.endswith(key[:length]):
            return key[:length]
    return ""
