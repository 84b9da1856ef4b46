"""One request that a fault may strike: passed on, answered by the fault, or broken off."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from email.utils import format_datetime
from typing import Any, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gwtui.domain.clock import Clock
from gwtui.embedded.protocol import ContractProtocol
from gwtui.lazy_dataclass import dataclass

LINE = "gwtui.line"
"""Name of the ASGI extension that holds the ``RequestLine`` of a request."""


_EVENTS = b"text/event-stream; charset=utf-8"


class RequestLine(Protocol):
    """The connection that a request came over, which only a host can break."""

    def reset(self) -> None:
        """Drop it at once, with whatever was not sent yet."""
        ...

    def hang_up(self) -> None:
        """Close it after what was written."""
        ...


@dataclass(frozen=True, slots=True)
class HeldAnswer:
    """An answer that the gateway gave and that was kept back."""

    start: Message
    body: bytes = field(repr=False)
    """May hold a new key."""

    @property
    def is_success(self) -> bool:
        """Whether the gateway did what it was asked."""
        return 200 <= int(self.start["status"]) < 300  # noqa: PLR2004 - the class of successes


class Exchange:
    """One request and the ways in which it can go wrong."""

    def __init__(
        self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, clock: Clock
    ) -> None:
        self._app = app
        self._scope = scope
        self._receive = receive
        self._send = send
        self.clock = clock

    async def forward(self) -> None:
        """Pass the request on: the gateway answers."""
        await self._app(self._scope, self._receive, self._send)

    async def hold(self) -> HeldAnswer:
        """Let the gateway carry the request out, and keep its answer back."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(self._scope, self._receive, keep)
        start, *parts = messages
        return HeldAnswer(start, b"".join(part.get("body", b"") for part in parts))

    async def release(self, held: HeldAnswer) -> None:
        """Send an answer that was kept back, unharmed."""
        await self._send(held.start)
        await self._send({"type": "http.response.body", "body": held.body})

    async def answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send another answer."""
        date = format_datetime(self.clock.now(), usegmt=True)
        given = {"Date": date, **headers, "Content-Length": str(len(body))}
        raw = [(name.lower().encode(), text.encode()) for name, text in given.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(
        self, status: int, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> None:
        """Send another answer as the gateway itself would word it."""
        kind = {"Content-Type": "application/json", "Cache-Control": "no-store"}
        await self.answer(status, {**kind, **headers}, json.dumps(body).encode())

    async def alter_stream(self, alter: Callable[[int, Message], Awaitable[None]]) -> None:
        """Let the gateway answer; if that is a stream, its events go through ``alter``.

        ``alter`` gets the number of the event, from 0, and sends what it likes with ``pass_on``.
        Comments and every other answer pass as they are.
        """
        streams, events = False, 0

        async def send(message: Message) -> None:
            nonlocal streams, events
            if message["type"] == "http.response.start":
                streams = (b"content-type", _EVENTS) in message["headers"]
            if streams and message.get("body", b"").startswith(b"data:"):
                events += 1
                await alter(events - 1, message)
            else:
                await self.pass_on(message)

        await self._app(self._scope, self._receive, send)

    async def pass_on(self, message: Message) -> None:
        """Send one part of an answer."""
        await self._send(message)

    def break_off(self) -> None:
        """Drop the connection in the middle of an answer. Raises as ``reset``."""
        self._line().reset()

    async def hang(self) -> None:
        """Say nothing until the client has gone."""
        try:
            while (await self._receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            # The host is stopping: its own answer would be one that this gateway never gave.
            if LINE in self._scope.get("extensions", {}):
                self._line().reset()
            raise

    async def reset(self) -> None:
        """Drop the connection. Raises ConnectionResetError where no host has given a line."""
        self._line().reset()
        await self.hang()

    async def halve(self, held: HeldAnswer) -> None:
        """Send the head and half of the body, then close. Raises as ``reset``."""
        line = self._line()
        half = held.body[: len(held.body) // 2]
        await self._send(held.start)
        await self._send({"type": "http.response.body", "body": half, "more_body": True})
        line.hang_up()
        await self.hang()

    def _line(self) -> RequestLine:
        line: RequestLine | None = self._scope.get("extensions", {}).get(LINE)
        if line is None:
            # Within one process the exception reaches the client, as a reset would over a socket.
            raise ConnectionResetError("the gateway dropped the connection")
        return line


_AT_ONCE = struct.pack("ii", 1, 0)
"""Linger for 0 seconds: the kernel sends a reset instead of an orderly end."""


class BreakableProtocol(ContractProtocol):
    """The server's protocol, whose requests carry the line that they came over."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection."""
        super().connection_made(transport)
        self.app = _with_line(self.app, _TransportLine(transport))


class _TransportLine:
    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def reset(self) -> None:
        end = self._transport.get_extra_info("socket")
        if end is not None and end.family != socket.AF_UNIX:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._transport.abort()

    def hang_up(self) -> None:
        self._transport.close()


def _with_line(app: ASGIApp, line: _TransportLine) -> ASGIApp:
    async def within_reach(scope: Scope, receive: Receive, send: Send) -> None:
        extensions = {**scope.get("extensions", {}), LINE: line}
        await app({**scope, "extensions": extensions}, receive, send)

    return within_reach
