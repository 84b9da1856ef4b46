"""Answers that come piece by piece: server-sent events over the transport.

The lines and events are those of httpx-sse. Its decoders are used, not its ``EventSource``: that
gives neither comments, by which a service says that it is still at work, nor any bound on what it
keeps of a line without an end.
"""

from __future__ import annotations

import asyncio
import codecs
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Self

import httpx
from httpx_sse._decoders import SSEDecoder, SSELineDecoder  # private names: see above

from gwtui.client.answers import generation_id_of
from gwtui.client.call import Answer, Call
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError, NoAnswerError, UnreadableAnswerError
from gwtui.client.transport import Patience, Transport, answer_headers
from gwtui.domain.clock import Clock

MAX_EVENT = 1024 * 1024
"""Characters of one event, and of one line, that are kept."""
_HEADERS = {
    "Accept": "text/event-stream",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-store",
}
"""Compression would hold pieces back until a block of it is full."""


class StreamingTransport(Transport):
    """A transport whose answers may also come piece by piece."""

    @classmethod
    def patient(cls, connection: Connection, clock: Clock, seconds: float) -> Self:
        """One that waits so many seconds for a whole answer, and as long for each part of it."""
        return cls(connection, clock=clock, patience=Patience(read=seconds, whole=seconds))

    async def open(self, call: Call, silence: float) -> EventStream:
        """Send one call and give its events as they come; the caller closes them.

        An answer that sends nothing for ``silence`` seconds counts as lost.
        Raises GatewayError where the service refuses, and where no connection is made.
        """
        target = self._admitted(call)
        call = replace(call, headers={**_HEADERS, **call.headers})
        started = self._clock.monotonic()
        self.traffic.sent(read=call.is_read)
        outcome = await self._begin(call, target, silence)
        seconds = self._clock.monotonic() - started
        if isinstance(outcome, GatewayError):
            self._log(call, outcome, seconds)
            raise outcome
        self._log(call, Answer(HTTPStatus.OK, None), seconds)
        return outcome

    async def _begin(self, call: Call, target: str, silence: float) -> EventStream | GatewayError:
        redact = self._redactor(call)
        limits = _Limits(
            asyncio.get_running_loop().time() + self._patience.whole,
            self._patience.whole,
            silence,
            self._max_answer,
        )
        try:
            async with limits.timer():
                request = self._writes.build_request(
                    call.method, self._connection.base_url + target, **self._content(call)
                )
                response = await self._writes.send(request, stream=True)
                headers = answer_headers(response, redact)
                if _is_stream(response.status_code, headers):
                    lost = partial(self._fault, redact=redact)
                    return EventStream(response, generation_id_of(headers), limits, lost)
                try:
                    return _not_a_stream(await self._read(response, headers, call))
                finally:
                    await response.aclose()
        except TimeoutError:
            return limits.passed()
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return self._fault(error, redact)


@dataclass(frozen=True, slots=True)
class _Limits:
    """The limits of an answer: the loop's time at its end, seconds, seconds of silence, bytes."""

    deadline: float
    whole: float
    silence: float
    size: int

    def timer(self) -> asyncio.Timeout:
        """For one reading."""
        return asyncio.timeout_at(min(self.deadline, self._now() + self.silence))

    def passed(self) -> GatewayError:
        """Which limit it was."""
        if self._now() >= self.deadline:
            return NoAnswerError(f"the answer took longer than {self.whole:g} s")
        return NoAnswerError(f"the gateway sent nothing for {self.silence:g} s")

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


class EventStream:
    """Iterates over the data of each event, a text, and None for each comment.

    Iterating raises GatewayError when the connection breaks, is silent for too long, or sends more
    than is read; the stream is closed then.
    """

    def __init__(
        self,
        response: httpx.Response,
        generation_id: str | None,
        limits: _Limits,
        lost: Callable[[Exception], GatewayError],
    ) -> None:
        self.generation_id = generation_id
        self._response = response
        self._limits = limits
        self._left = limits.size
        self._lost = lost
        self._raw = response.aiter_bytes()
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._lines = SSELineDecoder()
        self._events = SSEDecoder()
        self._line_length = self._event_length = 0
        self._ready: deque[str | None] = deque()
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | None:
        while not self._ready:
            if self._ended:
                raise StopAsyncIteration
            fault = await self._receive()
            if fault is not None:
                await self.aclose()
                raise fault
        return self._ready.popleft()

    async def aclose(self) -> None:
        """Hang up. What has come and was not taken is dropped."""
        self._ended = True
        self._ready.clear()
        await self._response.aclose()

    async def _receive(self) -> GatewayError | None:
        """Read what has come. Errors are given: those of the HTTP library hold the request."""
        try:
            async with self._limits.timer():
                raw = await anext(self._raw, None)
        except TimeoutError:
            return self._limits.passed()
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            return self._lost(error)
        self._left -= len(raw or b"")
        if self._left < 0:
            return UnreadableAnswerError("the answer is larger than is read of a stream")
        text = self._utf8.decode(raw or b"", final=raw is None)
        lines = self._lines.decode(text) if text else []
        if raw is None:
            # An empty line ends the last event where the service forgot to.
            lines += [*self._lines.flush(), ""]
            self._ended = True
        return self._take(text, lines)

    def _take(self, text: str, lines: list[str]) -> GatewayError | None:
        after = len(text) - 1 - max(text.rfind("\n"), text.rfind("\r"))
        self._line_length = after if after < len(text) else self._line_length + len(text)
        for line in lines:
            if line.startswith(":"):
                self._ready.append(None)
                continue
            self._event_length = self._event_length + len(line) if line else 0
            if self._event_length > MAX_EVENT:
                break
            event = self._events.decode(line)
            if event is not None and event.data:
                self._ready.append(event.data)
        if max(self._event_length, self._line_length) > MAX_EVENT:
            return UnreadableAnswerError(
                f"an event of the stream is larger than {MAX_EVENT // 1024} KiB"
            )
        return None


def _is_stream(status: int, headers: Mapping[str, str]) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    compression = headers.get("content-encoding", "").strip().lower()
    return (
        status == HTTPStatus.OK and kind == "text/event-stream" and compression in {"", "identity"}
    )


def _not_a_stream(outcome: Answer | GatewayError) -> GatewayError:
    if isinstance(outcome, GatewayError):
        return outcome
    return UnreadableAnswerError(
        "the answer is not a stream: try it without streaming", request_id=outcome.request_id
    )
