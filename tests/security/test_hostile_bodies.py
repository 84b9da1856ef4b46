"""Invalid bodies: truncated, mislabelled, misencoded, decompression bombs, endless.

Each ends in a typed error or a readable response, in bounded time and memory, and its content is
not repeated. The operations stand for the three ways to read a response: an object, a list, a page.
"""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import cache
from typing import Any

import httpx
import pytest
import pytest_asyncio
from hostile_gateway import JSON, Recording, Spoilt

from gwtui.client.answers import MAX_DEPTH, MAX_PARTS, MAX_VALUES
from gwtui.client.errors import GatewayError, StatusError, UnreadableAnswerError
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import MAX_ANSWER

pytestmark = pytest.mark.asyncio(loop_scope="module")

READS: Mapping[str, Callable[[GatewayClient], Awaitable[Any]]] = {
    "/credits": lambda client: client.credits.get(),
    "/providers": lambda client: client.providers.list(),
    "/workspaces": lambda client: client.workspaces.list(),
}
PATHS = {
    "/credits": "/credits",
    "/providers": "/providers",
    "/workspaces": "/workspaces?offset=0&limit=100",
}
MEGABYTE = 1024 * 1024


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recording() -> AsyncIterator[Recording]:
    result = Recording()
    yield result
    result.close()


async def body_of(recording: Recording, operation: str) -> bytes:
    _, answer = await recording.answer(PATHS[operation])
    return json.dumps(answer).encode()


async def read(recording: Recording, operation: str, response: httpx.Response) -> Any:
    """Return the client's result for a response, or its typed error."""
    spoilt = Spoilt(recording, lambda _path, _answer: response, max_answer=MAX_ANSWER)
    client = spoilt.client()
    result: Any = None
    try:
        result = await READS[operation](client)
    except GatewayError as error:
        result = error
    finally:
        await client.close()
    if isinstance(result, GatewayError):
        assert result.__context__ is None
        assert result.__cause__ is None
    return result


def packed(content: bytes, encoding: str = "gzip", status: int = 200) -> httpx.Response:
    """A compressed response, as it arrives from the network."""
    return httpx.Response(
        status,
        headers={**JSON, "content-encoding": encoding},
        stream=httpx.ByteStream(content),
    )


@pytest.mark.parametrize("operation", READS)
async def test_truncated_bodies_are_rejected(recording: Recording, operation: str) -> None:
    body = await body_of(recording, operation)
    for length in range(0, len(body), max(1, len(body) // 150)):
        result = await read(
            recording, operation, httpx.Response(200, content=body[:length], headers=JSON)
        )
        assert isinstance(result, UnreadableAnswerError), length
        assert "cut off" in result.message


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/html",
        "text/html; charset=utf-8",
        "text/plain",
        "text/json",
        "application/xml",
        "application/octet-stream",
        "application/jsonp",
        "application/json-seq",
        "application/x-ndjson",
        "json",
        "multipart/form-data; boundary=x",
        "\x1b[31m",
        "application/" + "j" * 5000,
    ],
)
async def test_wrong_content_types_are_rejected(recording: Recording, kind: str) -> None:
    for operation in READS:
        body = await body_of(recording, operation)
        headers = {"content-type": kind}
        result = await read(
            recording, operation, httpx.Response(200, content=body, headers=headers)
        )
        assert isinstance(result, UnreadableAnswerError)
        assert "base URL" in result.message


@pytest.mark.parametrize(
    "name",
    [
        *(codec.encode(codec) for codec in ("utf-16", "utf-32", "cp037")),
        "Zürich".encode("latin-1"),
        "\u201cquoted\u201d".encode("cp1252"),
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
        b"\x80",
        b"\x00",
        b"\x1b[31m",
        b"\n",
    ],
)
async def test_invalid_utf8_is_rejected(recording: Recording, name: bytes) -> None:
    content = b'{"data": [{"id": "1", "name": "' + name + b'"}]}'
    workspaces = await read(
        recording, "/workspaces", httpx.Response(200, content=content, headers=JSON)
    )
    assert isinstance(workspaces, UnreadableAnswerError)


@pytest.mark.parametrize("depth", [MAX_DEPTH, 500, 990, 5_000, 1_000_000])
@pytest.mark.parametrize("pair", [(b"[", b"]"), (b'{"a":', b"}")], ids=["lists", "objects"])
async def test_deep_nesting_is_rejected(
    recording: Recording, depth: int, pair: tuple[bytes, bytes]
) -> None:
    inside = pair[0] * depth + b"1" + pair[1] * depth
    for content in (inside, b'{"data": ' + inside + b"}", b'{"data": {"odd": ' + inside + b"}}"):
        for status in (200, 400):
            result = await read(
                recording, "/credits", httpx.Response(status, content=content, headers=JSON)
            )
            assert isinstance(result, UnreadableAnswerError if status == 200 else StatusError)


@pytest.mark.parametrize("status", [200, 201, 202, 203, 204, 205, 206, 299])
@pytest.mark.parametrize("content", [b"", b" ", b"null", b"{}", b"[]", b'""', b"0"])
async def test_empty_success_responses_are_rejected(
    recording: Recording, status: int, content: bytes
) -> None:
    for operation in READS:
        result = await read(
            recording, operation, httpx.Response(status, content=content, headers=JSON)
        )
        assert isinstance(result, UnreadableAnswerError)


# Packed -----------------------------------------------------------------------------------------


async def test_compressed_responses_are_read(recording: Recording) -> None:
    for operation in READS:
        body = await body_of(recording, operation)
        for response in (
            packed(gzip.compress(body)),
            packed(zlib.compress(body), "deflate"),
            packed(body, "identity"),
            packed(gzip.compress(body), " GZIP "),
        ):
            assert not isinstance(await read(recording, operation, response), GatewayError)


@cache
def bomb(layers: int) -> bytes:
    content = b'{"data": {"pad": "' + b"x" * (32 * MEGABYTE) + b'"}}'
    for _ in range(layers):
        content = gzip.compress(content)
    return content


@pytest.mark.parametrize(
    ("layers", "encoding"),
    [(1, "gzip"), (2, "gzip, gzip"), (3, "gzip,gzip,gzip"), (1, "br"), (1, "zstd"), (1, "x-gzip")],
)
@pytest.mark.parametrize("status", [200, 500])
async def test_decompression_bombs_use_bounded_memory(
    recording: Recording, layers: int, encoding: str, status: int
) -> None:
    response = packed(bomb(layers), encoding, status)
    tracemalloc.start()
    try:
        result = await read(recording, "/credits", response)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(result, UnreadableAnswerError if status == 200 else StatusError)
    assert peak < 100 * MEGABYTE


# Large ------------------------------------------------------------------------------------------


def endless() -> httpx.Response:
    async def chunks() -> AsyncIterator[bytes]:
        yield b'{"data": {"pad": "'
        while True:
            yield b"x" * 65536

    return httpx.Response(200, headers=JSON, content=chunks())


LARGE: Mapping[str, Callable[[], httpx.Response]] = {
    "20 MB of text": lambda: httpx.Response(
        200, headers=JSON, content=b'{"data": {"pad": "' + b"x" * (20 * MEGABYTE) + b'"}}'
    ),
    "endless": endless,
    "many rows": lambda: _json(b'{"data": [' + b"{}," * (MAX_PARTS + 1) + b"{}]}"),
    "many numbers": lambda: _json(b'{"data": [' + b"0," * (MAX_VALUES + 1) + b"0]}"),
    "many fields": lambda: _json(
        b'{"data": {' + b",".join(b'"f%d":[]' % n for n in range(MAX_PARTS + 1)) + b"}}"
    ),
    "many brackets": lambda: _json(b'{"data": [' + b"[[]]," * MAX_PARTS + b"[]]}"),
}


def _json(content: bytes) -> httpx.Response:
    return httpx.Response(200, headers=JSON, content=content)


@pytest.mark.parametrize("name", LARGE)
async def test_huge_responses_are_rejected_quickly(recording: Recording, name: str) -> None:
    response = LARGE[name]()
    started = time.process_time()
    providers = await read(recording, "/providers", response)
    assert isinstance(providers, UnreadableAnswerError)
    assert "larger" in providers.message or "more parts" in providers.message
    assert time.process_time() - started < 10  # seconds of processor time
