"""Connections that a fault can break: what only the host of the gateway can do."""

from __future__ import annotations

import asyncio
import socket
import struct

from starlette.types import ASGIApp, Receive, Scope, Send

from gwtui.embedded.faults.exchange import LINE
from gwtui.embedded.protocol import ContractProtocol

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
