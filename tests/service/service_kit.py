"""Service tests: a clock that does not wait, scripted responses, a scripted server."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from pydantic import SecretStr

from gwtui.client.connection import Connection, Timeouts
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.domain.clock import Clock

TOKEN = "gw-v1-SENTINEL-0123456789abcdef"
START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
SHORT = Timeouts(read=1.0, whole=2.0)


class FakeTime:
    """A clock that only sleeping advances; records every wait."""

    def __init__(self, chance: float = 0.5) -> None:
        self.waits: list[float] = []
        self.elapsed = 0.0
        self.clock = Clock(
            now=lambda: START + timedelta(seconds=self.elapsed),
            monotonic=lambda: self.elapsed,
            sleep=self._sleep,
            chance=lambda: chance,
        )

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.elapsed += seconds


Step = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


@dataclass
class Script:
    """Responses in order, the last one repeated; records the requests."""

    steps: list[Step]
    requests: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        if isinstance(step, Exception):
            raise step
        if callable(step):
            return step(request)
        return httpx.Response(step.status_code, headers=step.headers, content=step.content)


@dataclass
class Rig:
    """A client on a script, with its clock and the notices of its retries."""

    client: GatewayClient
    script: Script
    time: FakeTime
    notices: list[str]


def connection(base_url: str = "https://gateway.test/api/v1", **options: Any) -> Connection:
    return Connection(base_url, token=SecretStr(TOKEN), **options)


def rig(*steps: Step, time: FakeTime | None = None, max_answer: int = 1024, **options: Any) -> Rig:
    time = time or FakeTime()
    script = Script(list(steps))
    where = connection(**options)
    transport = Transport(
        where, clock=time.clock, http=httpx.MockTransport(script), max_answer=max_answer
    )
    notices: list[str] = []
    client = GatewayClient(where, clock=time.clock, transport=transport, on_retry=notices.append)
    return Rig(client, script, time, notices)


def data(value: Any, status: int = 200, **more: Any) -> httpx.Response:
    return httpx.Response(status, json={"data": value, **more})


def refusal(
    status: int, message: str = "no", *, headers: dict[str, str] | None = None
) -> httpx.Response:
    return httpx.Response(
        status, json={"error": {"code": status, "message": message}}, headers=headers
    )


def text_of_error(error: BaseException) -> str:
    """Everything that an error could show: text, traceback with locals, its chain."""
    texts = [str(error), repr(error), repr(vars(error))]
    chain: list[BaseException | None] = [error]
    while chain:
        link = chain.pop()
        if link is not None:
            report = traceback.TracebackException.from_exception(link, capture_locals=True)
            texts += [repr(link), repr(vars(link)), *report.format(chain=True)]
            chain += [link.__cause__, link.__context__]
    return "\n".join(texts)


Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class ScriptedServer:
    """A raw server that treats its n-th connection as the n-th script says."""

    plays: list[Play]
    connections: int = 0
    base_url: str = ""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        play = self.plays[min(self.connections, len(self.plays) - 1)]
        self.connections += 1
        try:
            await play(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(*plays: Play) -> AsyncIterator[ScriptedServer]:
    scripted = ScriptedServer(list(plays))
    server = await asyncio.start_server(scripted._serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    scripted.base_url = f"http://127.0.0.1:{port}/api/v1"
    try:
        yield scripted
    finally:
        server.close()


async def request_head(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


def sends(raw: bytes, *, after: Iterable[bytes] = ()) -> Play:
    """Read the head of one request, write these bytes and hang up."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_head(reader)
        for part in (raw, *after):
            writer.write(part)
            await writer.drain()

    return play


def http_answer(body: bytes, *, status: str = "200 OK") -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
