"""Bytes on a real socket: requests one after another, and what is no request."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import HandClock

from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket

NAME = b'{"name": "smuggled"}'
CHUNKS = b"14\r\n" + NAME + b"\r\n0\r\n\r\n"


@dataclass
class Host:
    """A hosted gateway and what raw bytes get from it."""

    gateway: EmbeddedGateway
    path: Path
    token: str

    async def send(self, raw: bytes) -> bytes:
        """Everything that comes back until the gateway ends the connection."""
        reader, writer = await asyncio.open_unix_connection(self.path)
        writer.write(raw.replace(b"TOKEN", self.token.encode("ascii")))
        answer = await asyncio.wait_for(reader.read(), 5)
        writer.close()
        return answer

    async def names(self) -> list[str]:
        """The keys that there are."""
        raw = b"GET /api/v1/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n"
        (answer,) = answers(await self.send(raw + b"Connection: close\r\n\r\n"))
        return [one["name"] for one in answer.body["data"]]


@dataclass
class Answer:
    """One answer on the wire."""

    status: int
    headers: Mapping[str, str]
    body: Any


def answers(raw: bytes) -> list[Answer]:
    """The answers in a stream; fails where it is not a whole number of them."""
    found = []
    while raw:
        head, separator, rest = raw.partition(b"\r\n\r\n")
        assert separator, raw
        first, *lines = head.decode("ascii").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        length = int(headers["content-length"])
        assert len(rest) >= length
        found.append(Answer(int(first.split()[1]), headers, json.loads(rest[:length])))
        raw = rest[length:]
    return found


@asynccontextmanager
async def hosted(tmp_path: Path, faults: FaultInjector | None = None) -> AsyncIterator[Host]:
    gateway = EmbeddedGateway.open(None, content="empty", clock=HandClock().clock, faults=faults)
    try:
        path = tmp_path / "run" / "gw.sock"
        async with host_on_socket(gateway, path):
            yield Host(gateway, path, gateway.issue_key(management=True))
    finally:
        gateway.close()


@pytest.fixture(params=["plain", "with faults"])
async def host(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Host]:
    faults = None if request.param == "plain" else FaultInjector()
    async with hosted(tmp_path, faults) as opened:
        yield opened


def post(*headers: bytes, version: bytes = b"1.1") -> bytes:
    """The head of a creation."""
    lines = (
        b"POST /api/v1/keys HTTP/" + version,
        b"Host: x",
        b"Authorization: Bearer TOKEN",
        b"Content-Type: application/json",
        *headers,
    )
    return b"\r\n".join(lines) + b"\r\n\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET /api/v1/models\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 66_000,
        post(b"Content-Length: -1"),
        post(b"Content-Length: 20", b"Content-Length: 21"),
        post(b"Transfer-Encoding: gzip, chunked"),
    ],
    ids=lambda raw: raw[-30:].decode("ascii", "ignore").strip().replace("\0", "NUL"),
)
async def test_what_is_not_http_is_refused(host: Host, raw: bytes):
    assert (await host.send(raw)).startswith(b"HTTP/1.1 400 ")
    assert await host.names() == []


@pytest.mark.parametrize("raw", [b"xyz\r\n" + NAME, b"14\r\n" + NAME + b"??0\r\n\r\n", b"-1\r\n"])
async def test_a_body_that_breaks_off_into_nonsense_is_refused(host: Host, raw: bytes):
    answer = await host.send(post(b"Transfer-Encoding: chunked") + raw)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert await host.names() == []


async def test_chunks_and_lengths_on_their_own_are_taken(host: Host):
    close = b"Connection: close"
    (answer,) = answers(await host.send(post(b"Transfer-Encoding: chunked", close) + CHUNKS))
    assert answer.status == 201
    (answer,) = answers(await host.send(post(b"Content-Length: 20", close) + NAME))
    assert answer.status == 201
    assert await host.names() == ["smuggled", "smuggled"]


@pytest.mark.parametrize("rounds", [0, 1, 2, 50])
async def test_the_gateway_stops_while_a_client_is_silent(tmp_path: Path, rounds: int):
    """``rounds`` of the loop after it connected, which may be while it is accepted."""
    async with hosted(tmp_path) as host:
        reader, writer = await asyncio.open_unix_connection(host.path)
        writer.write(post(b"Content-Length: 20"))
        for _ in range(rounds):
            await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 5
    with suppress(ConnectionResetError):
        await asyncio.wait_for(reader.read(), 5)
    writer.close()


async def test_the_gateway_stops_while_a_client_reads_nothing(tmp_path: Path):
    """Its answers fill what the kernel keeps for it, and the rest waits."""
    async with hosted(tmp_path) as host:
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(host.path))
        client.settimeout(5)
        client.sendall(b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        await asyncio.sleep(0.5)
    with closing(client), suppress(ConnectionResetError):
        while client.recv(1 << 20):
            pass
