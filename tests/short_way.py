"""Requests to a gateway that this process serves itself reach its application without a socket.

Two thirds of the processor time of such a request go into HTTP/1.1 on both of its ends. The socket
is taken where it matters: while a fault is armed, which may end a connection or keep silent, and
for what answers piece by piece. That requests cross a real socket is proven by every test that
starts a process, and by those of the transport and of the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from gwtui.embedded.faults import FaultInjector

_STREAMED = ("/chat/completions",)
"""Ends of paths that may answer piece by piece."""


@dataclass(frozen=True)
class _Served:
    """An application and the event loop that it runs in, which is another thread's."""

    app: Any
    loop: asyncio.AbstractEventLoop
    faults: FaultInjector | None

    def takes(self, request: httpx.Request) -> bool:
        troubled = self.faults is not None and self.faults.armed
        return not troubled and not request.url.path.endswith(_STREAMED)

    def ask(self, request: httpx.Request) -> Future[httpx.Response]:
        """The answer to a request whose body was read."""
        return asyncio.run_coroutine_threadsafe(self._answer(request), self.loop)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = await httpx.ASGITransport(self.app).handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        body = b"".join([part async for part in answer.stream])
        # A stream that can be read from any loop, and as it came: who asked decodes it.
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=httpx.ByteStream(body)
        )


_served: dict[tuple[str, int | None], _Served] = {}


@contextmanager
def short_way(host: str, port: int, app: Any, faults: FaultInjector | None) -> Iterator[None]:
    """Answer requests to this address in the running event loop while the context lasts."""
    _served[host, port] = _Served(app, asyncio.get_running_loop(), faults)
    try:
        yield
    finally:
        del _served[host, port]


def _found(request: httpx.Request) -> _Served | None:
    served = _served.get((request.url.host, request.url.port))
    return served if served is not None and served.takes(request) else None


@contextmanager
def short_ways() -> Iterator[None]:
    """Let every client of httpx take the short ways that there are."""
    send: Callable[..., Any] = httpx.HTTPTransport.handle_request
    send_soon: Callable[..., Any] = httpx.AsyncHTTPTransport.handle_async_request

    def handle_request(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        served = _found(request)
        if served is None:
            return send(self, request)
        request.read()
        return served.ask(request).result()

    async def handle_async_request(
        self: httpx.AsyncHTTPTransport, request: httpx.Request
    ) -> httpx.Response:
        served = _found(request)
        if served is None:
            return await send_soon(self, request)
        await request.aread()
        return await asyncio.wrap_future(served.ask(request))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.HTTPTransport, "handle_request", handle_request)
        patch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", handle_async_request)
        yield
