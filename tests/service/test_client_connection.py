"""Real sockets: resets, half bodies, hangs, stale connections, unix sockets, lazy loading."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from pydantic import SecretStr
from service_kit import SHORT, TOKEN, FakeTime, Play, http_answer, request_head, sends, serving

from gwtui.client import errors
from gwtui.client.connection import Connection, Timeouts
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport

CREDITS = http_answer(b'{"data": {"total_usage": 5}}')
DELETED = http_answer(b'{"deleted": true}')


def client_of(
    base_url: str,
    fake: FakeTime | None = None,
    timeouts: Timeouts = SHORT,
    **options: object,
) -> GatewayClient:
    clock = (fake or FakeTime()).clock
    where = Connection(base_url, token=SecretStr(TOKEN), **options)  # type: ignore[arg-type]
    return GatewayClient(
        where, clock=clock, transport=Transport(where, clock=clock, timeouts=timeouts)
    )


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await request_head(reader)
    writer.transport.abort()


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await request_head(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


LOST: dict[str, Play] = {
    "reset": reset,
    "hung up": sends(b""),
    "half a head": sends(b"HTTP/1.1 200 OK\r\nContent-"),
    "half a body": sends(CREDITS[:-5]),
    "half a chunk": sends(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        b'Transfer-Encoding: chunked\r\n\r\n20\r\n{"data":'
    ),
    "not http": sends(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
    "silence": hang,
    "drip": drip,
}


@pytest.mark.parametrize("play", LOST.values(), ids=LOST.keys())
async def test_only_reads_are_repeated_after_a_lost_answer(play: Play) -> None:
    async with serving(play, sends(DELETED)) as server, client_of(server.base_url) as client:
        started = time.monotonic()
        with pytest.raises(errors.NoAnswerError) as caught:
            await client.keys.delete("h")
        assert caught.value.effect == "unknown"
        assert server.connections == 1
        assert time.monotonic() - started < 5
    async with serving(play, sends(CREDITS)) as server, client_of(server.base_url) as client:
        assert (await client.credits.get()).total_usage == 5
        assert server.connections == 2


async def test_a_refusal_is_understood_without_the_end_of_its_body() -> None:
    cut = http_answer(b'{"error": {"code": 403, "message": "no"}}', status="403 Forbidden")[:-9]
    async with serving(sends(cut)) as server, client_of(server.base_url) as client:
        with pytest.raises(errors.ForbiddenError, match="403 Forbidden"):
            await client.keys.delete("h")


@pytest.mark.parametrize(
    ("address", "socket", "says"),
    [
        ("http://127.0.0.1:1", None, "connection refused"),
        ("https://no-such-host.invalid", None, r"no-such-host\.invalid"),
        ("http://embedded", "none.sock", "no such file"),
    ],
)
async def test_a_refused_connection_is_reported(
    tmp_path: Path, address: str, socket: str | None, says: str
) -> None:
    fake, where = FakeTime(), {"socket_path": tmp_path / socket} if socket else {}
    async with client_of(address, fake, **where) as client:
        with pytest.raises(errors.ConnectFailedError, match=says) as caught:
            await client.credits.get()
    assert caught.value.effect == "none"
    assert len(fake.waits) == 3


async def test_a_write_never_travels_on_a_connection_that_may_be_stale() -> None:
    """Reads share a connection; each write gets a new one that is not kept."""
    targets: list[list[str]] = []

    async def keep_alive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine: list[str] = []
        targets.append(mine)
        while True:
            method = (await request_head(reader)).split(b" ")[0].decode()
            mine.append(method)
            writer.write(CREDITS if method == "GET" else DELETED)
            await writer.drain()

    async with serving(keep_alive) as server, client_of(server.base_url) as client:
        await client.credits.get()
        await client.keys.delete("h")
        await client.keys.delete("h")
        await client.credits.get()
    assert targets == [["GET", "GET"], ["DELETE"], ["DELETE"]]


@pytest.mark.parametrize("at_a_time", [1, 5, 8, 20])
async def test_reads_at_a_time_share_connections_that_stay_open(at_a_time: int) -> None:
    async def keep_alive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request_head(reader)
            await asyncio.sleep(0.001)
            writer.write(CREDITS)
            await writer.drain()

    # A read that times out is repeated on another connection.
    async with (
        serving(keep_alive) as server,
        client_of(server.base_url, timeouts=Timeouts()) as client,
    ):
        gate = asyncio.Semaphore(at_a_time)

        async def read() -> None:
            async with gate:
                await client.credits.get()

        await asyncio.gather(*[read() for _ in range(60)])
        assert server.connections <= min(at_a_time, 8)


async def test_a_connection_that_the_server_closed_is_replaced() -> None:
    async with serving(sends(CREDITS)) as server:
        async with client_of(server.base_url) as client:
            for _ in range(3):
                assert (await client.credits.get()).total_usage == 5
        # Concurrent callers share one transport, created on demand.
        async with GatewayClient(Connection(server.base_url, token=SecretStr(TOKEN))) as client:
            answers = await asyncio.gather(*(client.credits.get() for _ in range(5)))
    assert [credits.total_usage for credits in answers] == [5] * 5


async def test_cancelling_ends_the_request_at_once() -> None:
    async with serving(hang) as server, client_of(server.base_url) as client:
        task = asyncio.create_task(client.credits.get())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_proxy_of_the_environment_is_used_only_when_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        results.append(await request_head(reader))
        writer.write(CREDITS)
        await writer.drain()

    async with serving(proxy) as through, serving(sends(CREDITS)) as direct:
        monkeypatch.setenv("HTTP_PROXY", through.base_url.removesuffix("/api/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with client_of(direct.base_url) as client:
            await client.credits.get()
        assert (results, direct.connections) == ([], 1)
        async with client_of(direct.base_url, use_proxy=True) as client:
            await client.credits.get()
        assert len(results) == 1


async def test_a_client_closed_while_it_is_built_sends_nothing() -> None:
    async with serving(sends(CREDITS)) as server:
        client = GatewayClient(Connection(server.base_url, token=SecretStr(TOKEN)))
        first = asyncio.create_task(client.credits.get())
        await asyncio.sleep(0)
        await client.close()
        for call in (first, client.credits.get()):
            with pytest.raises(errors.ConnectFailedError, match="closed"):
                await call
        assert server.connections == 0
