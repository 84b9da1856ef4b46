"""Bytes on a real socket that are no request, or one that two readers could read in two ways."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import HandClock

from gwtui.contract.errors import ErrorBody
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from gwtui.embedded.protocol import MALFORMED, OLD_CHUNKS, TWO_LENGTHS

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


def is_refusal(answer: Answer, message: str) -> None:
    assert answer.status == 400
    assert answer.body == {"error": {"code": 400, "message": message}}
    assert ErrorBody.model_validate(answer.body).gaps == {}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["connection"] == "close"
    assert answer.headers["date"] == "Sat, 21 Nov 2026 07:00:00 GMT", "the gateway's own clock"
    assert re.fullmatch("req-[0-9a-f]{32}", answer.headers["x-request-id"])


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /api/v1/models\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /api/v1/models HTTP/x\r\nHost: x\r\n\r\n",
        b"GET /api/v1/mod\xc3\xa9ls HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n",
        b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 300_000,
        post(b"Content-Length: -1"),
        post(b"Content-Length: +5"),
        post(b"Content-Length: 5_0"),
        post(b"Content-Length: " + b"9" * 5001),
        post(b"Content-Length: 20", b"Content-Length: 21"),
        post(b"Content-Length: 20, 21"),
        post(b"Transfer-Encoding: gzip, chunked"),
        post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    ],
    ids=lambda raw: raw[-30:].decode("ascii", "ignore").strip().replace("\0", "NUL"),
)
async def test_what_is_not_http_is_refused_with_the_contracts_body(host: Host, raw: bytes):
    (answer,) = answers(await host.send(raw))
    is_refusal(answer, MALFORMED)
    assert await host.names() == []


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ((b"Content-Length: 20", b"Transfer-Encoding: chunked"), CHUNKS),
        ((b"Transfer-Encoding: chunked", b"Content-Length: 20"), CHUNKS),
        ((b"transfer-encoding: Chunked", b"content-length: 0"), CHUNKS),
        ((b"Content-Length: 20", b"Transfer-Encoding: chunked"), NAME),
        ((b"Content-Length: 20", b"Transfer-Encoding: chunked"), b""),
    ],
)
async def test_two_lengths_of_one_body_are_refused(
    host: Host, headers: tuple[bytes, ...], body: bytes
):
    (answer,) = answers(await host.send(post(*headers) + body))
    is_refusal(answer, TWO_LENGTHS)
    assert await host.names() == [], "whichever way it is read"


async def test_chunks_are_refused_where_they_were_not_known(host: Host):
    (answer,) = answers(await host.send(post(b"Transfer-Encoding: chunked", version=b"1.0")))
    is_refusal(answer, OLD_CHUNKS)


@pytest.mark.parametrize("raw", [b"xyz\r\n" + NAME, b"14\r\n" + NAME + b"??0\r\n\r\n", b"-1\r\n"])
async def test_a_body_that_breaks_off_into_nonsense_is_refused(host: Host, raw: bytes):
    (answer,) = answers(await host.send(post(b"Transfer-Encoding: chunked") + raw))
    is_refusal(answer, MALFORMED)
    assert await host.names() == []


async def test_chunks_and_lengths_on_their_own_are_taken(host: Host):
    close = b"Connection: close"
    (answer,) = answers(await host.send(post(b"Transfer-Encoding: chunked", close) + CHUNKS))
    assert answer.status == 201
    (answer,) = answers(await host.send(post(b"Content-Length: 20", close) + NAME))
    assert answer.status == 201
    assert await host.names() == ["smuggled", "smuggled"]


async def test_what_follows_a_good_request_is_refused_after_its_answer(host: Host):
    good = post(b"Content-Length: 20") + NAME
    first, second = answers(await host.send(good + b"nonsense\r\n\r\n" + good))
    assert first.status == 201
    is_refusal(second, MALFORMED)
    assert await host.names() == ["smuggled"], "nothing after the nonsense is carried out"


async def test_nonsense_after_an_early_answer_ends_the_connection_quietly(
    host: Host, caplog: pytest.LogCaptureFixture
):
    """The answer was given before the body was read to its end; there is no second one."""
    head = post(b"Transfer-Encoding: chunked").replace(b"TOKEN", b"nobody")
    reader, writer = await asyncio.open_unix_connection(host.path)
    with caplog.at_level(logging.WARNING, logger="asyncio"):
        writer.write(head)
        early = await reader.readuntil(b"}}")
        writer.write(b"nonsense\r\n")
        assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()
    (answer,) = answers(early)
    assert answer.status == 401
    assert [record for record in caplog.records if record.name == "asyncio"] == []


async def test_a_refused_sender_that_goes_on_gets_its_answer(host: Host):
    """Closing with input unread would reset the connection, and the answer could be lost."""
    reader, writer = await asyncio.open_unix_connection(host.path)
    writer.write(b"nonsense\r\n\r\n")
    for _ in range(50):
        writer.write(b"x" * 10_000)
        await asyncio.sleep(0.005)
    (answer,) = answers(await asyncio.wait_for(reader.read(), 5))
    is_refusal(answer, MALFORMED)
    writer.close()


async def test_a_refused_sender_that_stays_is_left(host: Host):
    reader, writer = await asyncio.open_unix_connection(host.path)
    writer.write(b"nonsense\r\n\r\n")
    assert answers(await reader.read())
    while True:
        try:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)
        except (BrokenPipeError, ConnectionResetError):
            break


async def test_the_gateway_stops_while_refused_senders_stay(tmp_path: Path):
    async with hosted(tmp_path) as host:
        reader, writer = await asyncio.open_unix_connection(host.path)
        writer.write(b"nonsense\r\n\r\n")
        assert answers(await reader.read())
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 5
    writer.close()
