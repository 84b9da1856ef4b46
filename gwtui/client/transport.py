"""Sends requests to the gateway over HTTP; no other module sends the token.

The token is only sent in the Authorization header. Redirects are refused, proxies used only if the
connection says so, and writes on a read-only connection blocked before any I/O. Failures become
typed errors without headers or bytes, also in their exception chain.
"""

from __future__ import annotations

import asyncio
import codecs
import io
import json
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from gwtui import __version__
from gwtui.client.answers import (
    LARGE_BODY,
    error_of,
    generation_id_of,
    read_json,
    redacted,
    redirect_error,
    request_id_of,
    run_by_size,
)
from gwtui.client.call import Answer, Call
from gwtui.client.connection import Connection, Timeouts, WriteGate
from gwtui.client.errors import (
    ConnectFailedError,
    GatewayError,
    NoAnswerError,
    NotFoundError,
    ReadOnlyError,
    UnreadableAnswerError,
)
from gwtui.client.request_log import ClockSkew, Traffic, record_write_id
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.known_secrets import redactor, remember

if TYPE_CHECKING:
    from pydantic import SecretStr

logger = logging.getLogger("gwtui.client")

MAX_ANSWER = 16 * 1024 * 1024
"""Maximum size of an uncompressed response in bytes."""
MAX_EVENT = 1024 * 1024
"""Maximum length of one event or line of a stream."""
_MAX_ERROR_BODY = 64 * 1024
_DIGEST = 16
"""Size of a response's digest in bytes."""
_COMPRESSIONS = ("gzip", "deflate")
"""Accepted encodings. Both expand at most a thousandfold: the limit on responses protects memory.

Other or nested encodings have no such bound.
"""
_CONNECTIONS = 8
"""Maximum number of connections for reads. All of them stay open.

With a lower limit for idle connections, nearly every request would open a new one.
"""
_TIMEOUTS = Timeouts()
_IDLE = 30.0
"""Seconds after which an unused connection is closed."""
_STREAM_HEADERS = {
    "Accept": "text/event-stream",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-store",
}
"""Compression would delay events until a block is full."""
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.InvalidURL,
)


class Transport:
    """Sends each call as exactly one HTTP request.

    Writes raise ReadOnlyError while ``gate`` is closed. Tests replace the network with ``http``.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        connection: Connection,
        *,
        clock: Clock = SYSTEM_CLOCK,
        gate: WriteGate | None = None,
        skew: ClockSkew | None = None,
        traffic: Traffic | None = None,
        http: httpx.AsyncBaseTransport | None = None,
        timeouts: Timeouts = _TIMEOUTS,
        max_answer: int = MAX_ANSWER,
    ) -> None:
        self.gate = gate or WriteGate(connection)
        self.skew = skew or ClockSkew()
        self.traffic = traffic or Traffic(clock)
        self._connection = connection
        self._clock = clock
        self._timeouts = timeouts
        self._max_answer = max_answer
        self._closed = False
        tls = tls_context(connection)
        # The service may close an idle connection just while a request goes out on it. A read is
        # then repeated; a write would end as "effect unknown" for nothing, so each write gets a
        # connection of its own. Writes are made by people: the extra handshake costs nothing.
        self._reads = _http_client(connection, timeouts, tls, http, keepalive=_CONNECTIONS)
        self._writes = _http_client(connection, timeouts, tls, http, keepalive=0)

    async def call(self, call: Call) -> Answer:
        """Send one call. Raises GatewayError, and InvalidRequestError for a bad path."""
        answer = await self._exchange(call, self._read)
        if not call.is_read:
            record_write_id(answer.request_id)
        return answer

    async def open(self, call: Call, silence: float) -> EventStream:
        """Send one call and return its stream of events, which the caller must close.

        The stream fails after ``silence`` seconds without data. Raises GatewayError if the gateway
        refuses the call or cannot be reached.
        """
        call = replace(call, headers={**_STREAM_HEADERS, **call.headers})
        return await self._exchange(call, self._open, timeout=_timeout(self._timeouts, silence))

    async def _exchange(self, call: Call, take: _Take[T], **options: Any) -> T:
        target = self._admitted(call)
        started = self._clock.monotonic()
        with self.traffic.waiting():
            outcome = await self._attempt(call, target, take, options)
        if not isinstance(outcome, NoAnswerError | ConnectFailedError):
            self.traffic.answered()
        self._log(call, outcome, self._clock.monotonic() - started)
        # Raised here, outside of every handler: the exceptions of the HTTP library hold the
        # request with its headers and must not become this one's context.
        if isinstance(outcome, GatewayError):
            raise outcome
        return outcome

    async def _attempt(
        self, call: Call, target: str, take: _Take[T], options: dict[str, Any]
    ) -> T | GatewayError:
        http = self._reads if call.is_read else self._writes
        redact = self._redactor(call)
        try:
            async with asyncio.timeout(self._timeouts.whole) as timer:
                request = http.build_request(
                    call.method,
                    self._connection.base_url + target,
                    **self._content(call),
                    **options,
                )
                sent = self._clock.monotonic()
                response = await http.send(request, stream=True)
                headers = answer_headers(response, redact)
                self.skew.observe(headers, self._clock.now(), self._clock.monotonic() - sent)
                return await take(_Received(response, headers, call, redact, timer.when()))
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            return self._fault(error, redact)

    def _admitted(self, call: Call) -> str:
        """Check that a call may be sent; return its target. Raises GatewayError before any I/O."""
        if self.gate.closed is not None and not call.is_read:
            raise ReadOnlyError(
                f"read-only: {call.method} {call.template} was not sent, {self.gate.closed}"
            )
        if self._closed:
            raise ConnectFailedError("the gateway client is closed", temporary=False)
        return call.target()

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        await self._reads.aclose()
        await self._writes.aclose()

    def _content(self, call: Call) -> dict[str, Any]:
        if call.body is None:
            return {"headers": dict(call.headers)}
        body = self._connection.dialect.to_wire(call.body.wire_body())
        return {
            "content": json.dumps(body, allow_nan=False).encode(),
            "headers": {"Content-Type": "application/json", **call.headers},
        }

    async def _open(self, received: _Received) -> EventStream | GatewayError:
        if received.is_stream:
            lost = partial(self._fault, redact=received.redact)
            return EventStream(received, self._max_answer, lost)
        outcome = await self._read(received)
        if isinstance(outcome, GatewayError):
            return outcome
        return UnreadableAnswerError(
            "the response is not a stream: try it without streaming", request_id=outcome.request_id
        )

    async def _read(self, received: _Received) -> Answer | GatewayError:
        try:
            return await self._outcome(received)
        finally:
            await received.response.aclose()

    async def _outcome(self, received: _Received) -> Answer | GatewayError:
        status, headers = received.response.status_code, received.headers
        if status >= HTTPStatus.BAD_REQUEST:
            raw = await self._error_body(received)
            body = read_json(raw, headers, self._connection.dialect)
            now = self._clock.now()
            return error_of(status, body, headers, now=now, redact=received.redact)
        if status >= HTTPStatus.MULTIPLE_CHOICES or status < HTTPStatus.OK:
            return redirect_error(headers, status)
        if status == HTTPStatus.NO_CONTENT:
            return Answer(None, request_id_of(headers))
        content = await received.body(self._max_answer)
        if content is None:
            return UnreadableAnswerError(
                f"the response is larger than {self._max_answer // 1024} KiB and was not read",
                request_id=request_id_of(headers),
            )
        success = partial(self._success, content, received)
        return await run_by_size(success, len(content), LARGE_BODY)

    def _success(self, body: bytes, received: _Received) -> Answer | GatewayError:
        headers, call = received.headers, received.call
        digest = b"" if call.known is None else blake2b(body, digest_size=_DIGEST).digest()
        if digest and digest == call.known:
            request_id = request_id_of(headers)
            return Answer(None, request_id, digest=digest, unchanged=True, size=len(body))
        outcome = read_json(body, headers, self._connection.dialect)
        if isinstance(outcome, GatewayError):
            return outcome
        text = body.decode("utf-8", "replace")
        if received.redact(text) != text:
            outcome = redacted(outcome, received.redact)
        return Answer(
            outcome,
            request_id_of(headers),
            generation_id_of(headers),
            digest,
            size=len(body),
        )

    async def _error_body(self, received: _Received) -> bytes:
        # The status is enough: a lost body only costs its message.
        try:
            return await received.body(_MAX_ERROR_BODY) or b""
        except httpx.HTTPError:
            return b""

    def _fault(self, error: Exception, redact: Callable[[str], str]) -> GatewayError:
        """The error to raise for an exception of the HTTP library.

        ConnectFailedError: the request was certainly not sent. UnreadableAnswerError: the gateway
        answered, but the response cannot be decoded. NoAnswerError: the gateway may have received
        and carried out the request.
        """
        where = self._connection.host_and_port
        if isinstance(error, _NEVER_SENT):
            why, temporary = _cause(error)
            return ConnectFailedError(
                f"no connection to {where}: {redact(why)}", temporary=temporary
            )
        if isinstance(error, httpx.DecodingError):
            return UnreadableAnswerError("the response's compression is damaged or unknown")
        if isinstance(error, httpx.ReadTimeout):
            seconds = error.request.extensions["timeout"]["read"]
            return NoAnswerError(f"{where} sent nothing for {seconds:g} s")
        if isinstance(error, TimeoutError):
            return NoAnswerError(
                f"{where} did not send its whole response within {self._timeouts.whole:g} s"
            )
        return NoAnswerError(f"the connection to {where} broke before the response was complete")

    def _redactor(self, call: Call) -> Callable[[str], str]:
        """Return a function that removes the token and the secrets of the request from a text."""
        secrets: list[SecretStr] = [self._connection.token] if self._connection.token else []
        secrets += call.body.secrets() if call.body is not None else ()
        remember(*secrets)
        return redactor(secrets)

    def _log(self, call: Call, outcome: object, seconds: float) -> None:
        error = outcome if isinstance(outcome, GatewayError) else None
        # A 404 is common: nobody has changed the defaults, for example.
        usual = call.is_read and isinstance(error, NotFoundError)
        logger.log(
            logging.INFO if error is not None and not usual else logging.DEBUG,
            "%s %s -> %s in %.0f ms",
            call.method,
            call.template,
            "ok" if error is None else error.status or type(error).__name__,
            seconds * 1000,
        )


class EventStream:
    """Iterates over the ``data`` field of each server-sent event.

    Iterating raises GatewayError if the connection breaks, is silent for too long, or sends more
    than ``size`` bytes; the stream is then closed.
    """

    def __init__(
        self, received: _Received, size: int, lost: Callable[[Exception], GatewayError]
    ) -> None:
        self.generation_id = generation_id_of(received.headers)
        self._response = received.response
        self._deadline = received.deadline
        self._left = size
        self._lost = lost
        self._raw = received.response.aiter_bytes()
        utf8 = codecs.getincrementaldecoder("utf-8-sig")("replace")
        # Every end of a line becomes "\n"; a text that JSON may hold, such as U+2028, ends none.
        self._text = io.IncrementalNewlineDecoder(utf8, translate=True)
        self._line = ""
        """The beginning of a line whose end has not arrived yet."""
        self._data: list[str] = []
        """The data lines of the event whose end has not arrived yet."""
        self._ended = False

    async def __aiter__(self) -> AsyncIterator[str]:
        while not self._ended:
            outcome = await self._receive()
            if isinstance(outcome, GatewayError):
                await self.aclose()
                raise outcome
            for line in outcome:
                name, _, value = line.partition(":")
                if name == "data":
                    self._data.append(value.removeprefix(" "))
                elif not line:  # the event is complete; of its fields only the data matters
                    data = "\n".join(self._data)
                    self._data.clear()
                    if data:
                        yield data

    async def aclose(self) -> None:
        """Close the connection. Received data that was not read is dropped."""
        self._ended = True
        await self._response.aclose()

    async def _receive(self) -> list[str] | GatewayError:
        """Receive the next complete lines; returns errors instead of raising them.

        An exception raised here would hold the HTTP library's, and with it the request.
        """
        try:
            async with asyncio.timeout_at(self._deadline):
                raw = await anext(self._raw, None)
        except (httpx.HTTPError, httpx.StreamError, TimeoutError, OSError) as error:
            return self._lost(error)
        self._left -= len(raw or b"")
        if self._left < 0:
            return UnreadableAnswerError("the response is larger than is read of a stream")
        text = self._line + self._text.decode(raw or b"", final=raw is None)
        *lines, self._line = text.split("\n")
        if raw is None:
            # An empty line ends the last event where the service forgot to.
            lines += [self._line, ""]
            self._ended = True
        if len(self._line) + sum(map(len, (*self._data, *lines))) > MAX_EVENT:
            return UnreadableAnswerError(
                f"an event of the stream is larger than {MAX_EVENT // 1024} KiB"
            )
        return lines


@dataclass(frozen=True, slots=True)
class _Received:
    """A response with an unread body; ``deadline`` is by the event loop, None without a timeout."""

    response: httpx.Response
    headers: Mapping[str, str]
    call: Call
    redact: Callable[[str], str]
    deadline: float | None

    @property
    def is_stream(self) -> bool:
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_plain = self._compression in {"", "identity"}
        return (
            self.response.status_code == HTTPStatus.OK and kind == "text/event-stream" and is_plain
        )

    @property
    def _compression(self) -> str:
        return self.headers.get("content-encoding", "").strip().lower()

    async def body(self, limit: int) -> bytes | None:
        """Read the body; None if it is longer than ``limit`` bytes. Raises httpx.HTTPError."""
        if self._compression not in {"", "identity", *_COMPRESSIONS}:
            raise httpx.DecodingError("a compression that was not asked for")
        content = bytearray()
        async for chunk in self.response.aiter_bytes():
            content += chunk
            if len(content) > limit:
                return None
        return bytes(content)


T = TypeVar("T")
_Take = Callable[[_Received], Awaitable[T | GatewayError]]


def _with_token(token: SecretStr, request: httpx.Request) -> httpx.Request:
    """Add the token to the headers. Only this function unwraps it to send it."""
    request.headers["Authorization"] = f"Bearer {token.get_secret_value()}"
    return request


def _http_client(
    connection: Connection,
    timeouts: Timeouts,
    tls: ssl.SSLContext,
    http: httpx.AsyncBaseTransport | None,
    *,
    keepalive: int,
) -> httpx.AsyncClient:
    limits = httpx.Limits(
        max_connections=_CONNECTIONS, max_keepalive_connections=keepalive, keepalive_expiry=_IDLE
    )
    if http is None and connection.socket_path is not None:
        http = httpx.AsyncHTTPTransport(uds=str(connection.socket_path), verify=tls, limits=limits)
    return httpx.AsyncClient(
        auth=partial(_with_token, connection.token) if connection.token else None,
        headers={
            "User-Agent": f"gwtui/{__version__}",
            "Accept": "application/json",
            "Accept-Encoding": ", ".join(_COMPRESSIONS),
        },
        verify=tls,
        limits=limits,
        timeout=_timeout(timeouts, timeouts.read),
        transport=http,
        # No request depends on the response to another.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        follow_redirects=False,
        trust_env=connection.use_proxy,
    )


def _timeout(timeouts: Timeouts, read: float) -> httpx.Timeout:
    return httpx.Timeout(
        connect=timeouts.connect, read=read, write=timeouts.write, pool=timeouts.pool
    )


def tls_context(connection: Connection) -> ssl.SSLContext:
    """The TLS context of both HTTP clients.

    For plain http it trusts nothing, because loading trust roots is slow.
    """
    if connection.is_plain and not connection.use_proxy:
        return _without_roots()
    return httpx.create_ssl_context(trust_env=connection.use_proxy)


@cache
def _without_roots() -> ssl.SSLContext:
    """A TLS context that trusts no certificate."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def answer_headers(response: httpx.Response, redact: Callable[[str], str]) -> dict[str, str]:
    """The headers by lower-case name, redacted; values of the same name are joined."""
    return {name: redact(text) for name, text in response.headers.items()}


def _cause(error: BaseException) -> tuple[str, bool]:
    """The reason why a connection failed, and whether another attempt may succeed."""
    if isinstance(error, httpx.TimeoutException):
        return "it did not respond in time", True
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return "the address is not valid", False
    if isinstance(error, httpx.ProxyError):
        return "the proxy refused", True
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({cause.verify_message})", False
        if isinstance(cause, OSError) and cause.errno:
            return _reason(cause), True
        cause = cause.__cause__ or cause.__context__
    return "it cannot be reached", True


def _reason(error: OSError) -> str:
    """The message of the system's error code, because asyncio's own contains the address."""
    if isinstance(error, socket.gaierror):
        return "its name cannot be resolved"
    return os.strerror(error.errno or 0).lower()
