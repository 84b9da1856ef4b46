"""One request that a fault may strike: passed on, answered by the fault, or broken off."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from email.utils import format_datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gwtui.domain.clock import Clock

TRANSPORT = "gwtui.transport"
"""Name of the ASGI extension that holds the connection that a request came over."""
_EVENTS = (b"content-type", b"text/event-stream; charset=utf-8")
_AT_ONCE = struct.pack("ii", 1, 0)
"""Linger for 0 seconds: the kernel sends a reset instead of an orderly end."""


class BreakableProtocol(H11Protocol):
    """The server's protocol, whose requests carry the connection that they came over."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection."""
        super().connection_made(transport)
        app = self.app

        async def within_reach(scope: Any, receive: Any, send: Any) -> None:
            extensions = {**scope.get("extensions", {}), TRANSPORT: transport}
            await app({**scope, "extensions": extensions}, receive, send)

        self.app = within_reach


class Exchange:
    """One request and the ways in which it can go wrong."""

    def __init__(
        self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, clock: Clock
    ) -> None:
        self._app = app
        self._scope = scope
        self._receive = receive
        self.send = send
        self.clock = clock

    async def forward(self) -> None:
        """Pass the request on: the gateway answers."""
        await self._app(self._scope, self._receive, self.send)

    async def carry_out(self) -> tuple[Message, bytes]:
        """Let the gateway carry the request out, but keep its answer back: head and body."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(self._scope, self._receive, keep)
        start, *parts = messages
        return start, b"".join(part.get("body", b"") for part in parts)

    async def answer(self, status: int, body: bytes | dict[str, Any], **headers: str) -> None:
        """Send another answer; a dict is JSON. Names of headers have _ for -."""
        content_type = "application/json"
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        date = format_datetime(self.clock.now(), usegmt=True)
        given = {"date": date, "content_type": content_type, **headers}
        raw = [(name.replace("_", "-").encode(), text.encode()) for name, text in given.items()]
        raw.append((b"content-length", str(len(body)).encode()))
        await self.send({"type": "http.response.start", "status": status, "headers": raw})
        await self.send({"type": "http.response.body", "body": body})

    async def alter_events(self, alter: Callable[[int, Message], Awaitable[None]]) -> None:
        """Let the gateway answer; if that is a stream, ``alter`` sends its events.

        ``alter`` gets the number of the event, from 0. Comments and every other answer pass as
        they are.
        """
        streams, events = False, 0

        async def send(message: Message) -> None:
            nonlocal streams, events
            if message["type"] == "http.response.start":
                streams = _EVENTS in message["headers"]
            if streams and message.get("body", b"").startswith(b"data:"):
                events += 1
                await alter(events - 1, message)
            else:
                await self.send(message)

        await self._app(self._scope, self._receive, send)

    async def hang(self) -> None:
        """Say nothing until the client has gone."""
        try:
            while (await self._receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            # The server is stopping: it would send an answer that this gateway never gave.
            if TRANSPORT in self._scope.get("extensions", {}):
                self.break_off()
            raise

    def break_off(self) -> None:
        """Drop the connection at once. Raises ConnectionResetError where there is no server."""
        transport = self._transport()
        end = transport.get_extra_info("socket")
        if end is not None and end.family != socket.AF_UNIX:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        transport.abort()

    async def reset(self) -> None:
        """As ``break_off``, and return once the server has noticed."""
        self.break_off()
        await self.hang()

    async def send_half(self, start: Message, body: bytes) -> None:
        """Send the head and half of the body, then close. Raises as ``break_off``."""
        transport = self._transport()
        half = body[: len(body) // 2]
        await self.send(start)
        await self.send({"type": "http.response.body", "body": half, "more_body": True})
        transport.close()
        await self.hang()

    def _transport(self) -> asyncio.Transport:
        transport: asyncio.Transport | None = self._scope.get("extensions", {}).get(TRANSPORT)
        if transport is None:
            # Within one process the exception reaches the client, as a reset would over a socket.
            raise ConnectionResetError("the gateway dropped the connection")
        return transport
