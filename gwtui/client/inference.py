"""Requests to models, with a key of their own: inference contract sections 1 to 5 and 8.

The management token of the connection is not used. Every request is billed, so each is sent exactly
once, on a connection of its own, and held back while read-only. Prompts, answers and keys go into
no log. Importing this loads no HTTP library: that comes with the first request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from gwtui.client.answers import read_one
from gwtui.client.call import Answer, Call, validated
from gwtui.client.chat_stream import ChatAnswer, ChatStream, whole_answer
from gwtui.client.connection import Connection
from gwtui.client.errors import UnreadableAnswerError
from gwtui.client.gateway import LazyTransport, spare_http_command
from gwtui.contract.chat import ChatRequest
from gwtui.contract.current_key import CurrentKey
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.request import RequestModel
from gwtui.contract.usage import Generation
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.known_secrets import Secret

if TYPE_CHECKING:
    from gwtui.client.event_stream import StreamingTransport

_MS = 1000


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
        transport: StreamingTransport | None = None,
    ) -> None:
        read_only = connection.read_only and not allow_tries
        self.connection = replace(connection, token=key, read_only=read_only)
        self._key = key
        self._clock = clock
        self._limits = limits
        self._transport = LazyTransport(
            lambda: _new_transport(self.connection, clock, limits.whole), transport
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
        """What the key may do and what is left of its limits; costs nothing."""
        return read_one(await (await self._transport.ready()).call(Call("GET", "/key")), CurrentKey)

    async def generation(self, id: str) -> Generation:
        """What became of a request; NotFoundError for a second or more after it."""
        call = Call("GET", "/generation", query={"id": id})
        return read_one(await (await self._transport.ready()).call(call), Generation)

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


def _new_transport(connection: Connection, clock: Clock, whole: float) -> StreamingTransport:
    spare_http_command()
    from gwtui.client.event_stream import StreamingTransport  # noqa: PLC0415 - see LazyTransport

    return StreamingTransport.patient(connection, clock, whole)
