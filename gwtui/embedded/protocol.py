"""HTTP/1.1 on a connection: what is not a request is refused in the contract's words.

uvicorn answers such input in plain text, and takes a body whose length is given in two ways at
once, which a proxy in front may read in the other way.
"""

from __future__ import annotations

import asyncio
import json
import sys
from email.utils import format_datetime
from functools import partial
from http import HTTPStatus
from types import ModuleType
from typing import Any, cast

import h11

from gwtui.contract import errors
from gwtui.domain.clock import Clock
from gwtui.embedded.app import new_request_id
from gwtui.embedded.responses import error_body

_COMMAND = "uvicorn.main"


class _NoCommand(ModuleType):
    """Stands for the module of the command while the library is loaded.

    The library loads its command line, 40 modules, only to offer it. Here it finds its own
    ``Server``, which is all that it takes from there; afterwards the name is free again.
    """

    main = run = None

    def __getattr__(self, name: str) -> Any:
        if name != "Server":
            raise AttributeError(name)
        from uvicorn.server import Server  # noqa: PLC0415 - the library is being loaded

        return Server


_stand_in = _NoCommand(_COMMAND)
_stands_in = sys.modules.setdefault(_COMMAND, _stand_in) is _stand_in
try:
    from uvicorn.config import Config
    from uvicorn.protocols.http.h11_impl import H11Protocol
    from uvicorn.server import Server
finally:
    if _stands_in:
        del sys.modules[_COMMAND]

__all__ = ["Config", "ContractProtocol", "H11Protocol", "Server", "protocol_class"]

MALFORMED = f"{errors.INVALID_REQUEST}: this is not an HTTP/1.1 request"
TWO_LENGTHS = "Content-Length and Transfer-Encoding must not be given together"
OLD_CHUNKS = "Transfer-Encoding needs HTTP/1.1"

LINGER_SECONDS = 1.0
LINGER_BYTES = 16 * 1024 * 1024
"""How long and how far a refused sender is still read: closing before that could cost it the
answer, for the kernel resets a connection that is closed with input unread."""

_ANSWERABLE = frozenset({h11.IDLE, h11.SEND_RESPONSE})
"""States of a connection in which an answer can still begin."""


def protocol_class(protocol: type[ContractProtocol], clock: Clock) -> type[asyncio.Protocol]:
    """What a server calls for each new connection, with the gateway's clock bound in."""
    return cast("type[asyncio.Protocol]", partial(protocol, clock=clock))


class ContractProtocol(H11Protocol):
    """One connection. What cannot be read gets a 400 with the contract's body, then the end."""

    conn: _StrictConnection

    def __init__(self, *args: Any, clock: Clock, **named: Any) -> None:
        super().__init__(*args, **named)
        self.conn = _StrictConnection(h11.SERVER)
        self._clock = clock
        self._unread: int | None = None
        """Bytes that came after a refusal; None while nothing is refused."""

    def data_received(self, data: bytes) -> None:
        """Take in what came, unless the connection is only waiting for its end."""
        if self._unread is None:
            super().data_received(data)
            return
        self._unread += len(data)
        if self._unread > LINGER_BYTES:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the server's own words
        """Refuse what came and end the connection, after a while in which its sender may read."""
        self._unread = 0
        if self.cycle is not None:
            # Whoever waits for the rest of a body gets none, and nobody reads its answer.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in _ANSWERABLE:
            self.transport.close()
            return
        self.transport.write(self._refusal())
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def shutdown(self) -> None:
        """End the connection as soon as the answer under way, if any, was given."""
        if self._unread is None:
            super().shutdown()
        else:
            self.transport.close()

    def _refusal(self) -> bytes:
        content = json.dumps(error_body(HTTPStatus.BAD_REQUEST, self.conn.fault)).encode("ascii")
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "X-Request-Id": new_request_id(),
            "Date": format_datetime(self._clock.now(), usegmt=True),
            "Connection": "close",
        }
        parts = (
            h11.Response(
                status_code=HTTPStatus.BAD_REQUEST,
                headers=list(headers.items()),
                reason=HTTPStatus.BAD_REQUEST.phrase,
            ),
            h11.Data(data=content),
            h11.EndOfMessage(),
        )
        return b"".join(self.conn.send(part) or b"" for part in parts)


class _StrictConnection(h11.Connection):
    """Reads requests as the library does, and refuses a body whose length is in doubt."""

    fault = MALFORMED
    """Why the last input was refused."""

    def next_event(self) -> Any:
        """The next event. Raises RemoteProtocolError."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._check_framing(event)
        return event

    def _check_framing(self, request: h11.Request) -> None:
        names = {name for name, _ in request.headers}
        if b"transfer-encoding" not in names:
            return
        if b"content-length" in names:
            self.fault = TWO_LENGTHS
        elif request.http_version < b"1.1":
            self.fault = OLD_CHUNKS
        else:
            return
        raise h11.RemoteProtocolError(self.fault)
