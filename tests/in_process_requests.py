"""Sends requests to gateways of this process to their application, without a socket.

HTTP/1.1 takes two thirds of the processor time of such a request. The socket is used where it
matters: while the gateway is to fail, which may end a connection or keep silent, and for streamed
responses. Tests that start a process, and the tests of transport and server, prove that requests
cross a real socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

_STREAMED = ("/chat/completions",)
"""Ends of paths with streamed responses."""


Address = tuple[str, int | None] | str
"""Host and port, or the path of a socket."""


@dataclass(frozen=True)
class _Served:
    """An application and its event loop, which may run in another thread."""

    app: Any
    loop: asyncio.AbstractEventLoop
    failing: Callable[[], object]
    answering: set[asyncio.Task[httpx.Response]] = field(default_factory=set)

    def takes(self, request: httpx.Request) -> bool:
        return not self.failing() and not request.url.path.endswith(_STREAMED)

    async def ask_here(self, request: httpx.Request) -> httpx.Response:
        """Return the response in the running loop; it is completed even if nobody waits for it."""
        task = asyncio.create_task(self._answer(request))
        self.answering.add(task)
        task.add_done_callback(self.answering.discard)
        return await asyncio.shield(task)

    def ask(self, request: httpx.Request) -> Future[httpx.Response]:
        """Return the response to a request whose body was read."""
        return asyncio.run_coroutine_threadsafe(self._answer(request), self.loop)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        answer = await transport.handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        body = b"".join([part async for part in answer.stream])
        # The body is readable in any loop and still encoded: the client decodes it.
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=httpx.ByteStream(body)
        )


_served: dict[Address, _Served] = {}


@contextmanager
def short_way(
    address: Address, app: Any, failing: Callable[[], object] = lambda: False
) -> Iterator[None]:
    """Answer requests to this address in the running event loop while the context lasts.

    ``failing`` returns whether they must use the socket now.
    """
    served = _served[address] = _Served(app, asyncio.get_running_loop(), failing)
    try:
        yield
    finally:
        del _served[address]
        for task in served.answering:
            task.cancel()


def _served_by(transport: Any, request: httpx.Request) -> _Served | None:
    address: Address = transport._pool._uds or (request.url.host, request.url.port)
    served = _served.get(address)
    return served if served is not None and served.takes(request) else None


@contextmanager
def short_ways() -> Iterator[None]:
    """Let every httpx client use the registered shortcuts."""
    send: Callable[..., Any] = httpx.HTTPTransport.handle_request
    send_soon: Callable[..., Any] = httpx.AsyncHTTPTransport.handle_async_request

    def handle_request(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        served = _served_by(self, request)
        if served is None:
            return send(self, request)
        request.read()
        return served.ask(request).result()

    async def handle_async_request(
        self: httpx.AsyncHTTPTransport, request: httpx.Request
    ) -> httpx.Response:
        served = _served_by(self, request)
        if served is None:
            return await send_soon(self, request)
        await request.aread()
        if served.loop is asyncio.get_running_loop():
            return await served.ask_here(request)
        return await asyncio.wrap_future(served.ask(request))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.HTTPTransport, "handle_request", handle_request)
        patch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", handle_async_request)
        yield
