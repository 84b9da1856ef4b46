"""Third-party clients against the gateway on a socket, whole and streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from httpx_sse import aconnect_sse
from inference_gateway_kit import (
    MINI,
    VECTORS,
    Caller,
    SharedGateway,
    exact,
    list_price,
    moved,
    shared_gateway,
)

from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.hosting import host_on_socket

if TYPE_CHECKING:
    import openai

BASE = "http://gateway.test/api/v1"
REQUEST: dict[str, Any] = {
    "model": MINI,
    "messages": [{"role": "user", "content": "Where is the report?"}],
    "extra_body": {"provider": {"only": ["quasar"]}},
}


@pytest.fixture(scope="module")
def faults() -> FaultInjector:
    return FaultInjector()


@pytest.fixture(scope="module")
def place(faults: FaultInjector) -> Iterator[SharedGateway]:
    with shared_gateway(faults=faults) as opened:
        yield opened


@pytest.fixture
async def socket(place: SharedGateway, faults: FaultInjector, tmp_path: Path) -> AsyncIterator[str]:
    faults.clear()
    place.set_credits(1000)
    folder = tmp_path / "gw"
    async with host_on_socket(place.gateway, folder / "s"):
        yield str(folder / "s")


@pytest.fixture
def library() -> Any:
    """The client's package, loaded only by these tests because it has hundreds of modules."""
    return import_module("openai")


@pytest.fixture
async def client(me: Caller, socket: str, library: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    transport = library.DefaultAsyncHttpxClient(transport=_transport(library, socket))
    async with library.AsyncOpenAI(
        api_key=me.token, base_url=BASE, http_client=transport, max_retries=0
    ) as opened:
        yield opened


def _transport(client: Any, path: str) -> Any:
    library = client.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]
    return __import__(library).AsyncHTTPTransport(uds=path)


@pytest.fixture
async def web(me: Caller, socket: str) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {me.token}"}
    limits = httpx.Limits(max_connections=None)
    transport = httpx.AsyncHTTPTransport(uds=socket, limits=limits)
    async with httpx.AsyncClient(
        transport=transport, base_url=BASE, headers=headers, timeout=20
    ) as opened:
        yield opened


# The official client ----------------------------------------------------------------------------


async def test_a_streamed_answer_equals_a_complete_one(client: openai.AsyncOpenAI, me: Caller):
    unstreamed = await client.chat.completions.create(**REQUEST)
    assert unstreamed.choices[0].finish_reason == "stop"
    before = await me.sheet()
    texts, usage, finish = [], None, None
    async for chunk in await client.chat.completions.create(**REQUEST, stream=True):
        assert chunk.object == "chat.completion.chunk"
        assert "system_fingerprint" not in chunk.model_fields_set, "other clients refuse null"
        usage = chunk.usage or usage
        for choice in chunk.choices:
            texts.append(choice.delta.content or "")
            finish = choice.finish_reason or finish
    assert "".join(texts) == unstreamed.choices[0].message.content
    assert len(texts) > 3
    assert finish == "stop"
    assert usage is not None
    assert unstreamed.usage is not None
    assert usage.completion_tokens == unstreamed.usage.completion_tokens
    cost = list_price(MINI, "quasar", usage.model_dump())
    assert moved(before, await me.sheet())["credits"] == cost


async def test_embeddings(client: openai.AsyncOpenAI):
    texts = ["a red car drives", "red cars are driving", "the quarterly tax report"]
    answer = await client.embeddings.create(model=VECTORS, input=texts, dimensions=128)
    base, similar, different = (item.embedding for item in answer.data)
    assert len(base) == 128
    assert sum(x * x for x in base) == pytest.approx(1, abs=1e-5)
    assert similarity(base, similar) > similarity(base, different) + 0.2
    plain = await client.embeddings.create(
        model=VECTORS, input=texts[0], dimensions=128, encoding_format="float"
    )
    assert plain.data[0].embedding == pytest.approx(base, abs=1e-6)


def similarity(left: list[float], right: list[float]) -> float:
    return sum(x * y for x, y in zip(left, right, strict=True))


@pytest.mark.parametrize("stream", [False, True])
async def test_refusals_raise_the_clients_error_classes(
    client: openai.AsyncOpenAI, me: Caller, library: Any, stream: bool
):
    with pytest.raises(library.BadRequestError, match="not a valid model ID"):
        await client.chat.completions.create(**{**REQUEST, "model": "no/such"}, stream=stream)
    wrong = {"extra_body": {"provider": {"only": ["nobody"]}}}
    with pytest.raises(library.NotFoundError) as caught:
        await client.chat.completions.create(**{**REQUEST, **wrong}, stream=stream)
    assert caught.value.body["metadata"]["failed_routing_step"] == "Filter by Allowed Providers"
    client.api_key = me.gate.token
    with pytest.raises(library.AuthenticationError, match="User not found"):
        await client.chat.completions.create(**REQUEST, stream=stream)


# Events -----------------------------------------------------------------------------------------


def body(text: str = "Where is the report?", **fields: Any) -> dict[str, Any]:
    return {
        "model": MINI,
        "messages": [{"role": "user", "content": text}],
        "provider": {"only": ["quasar"]},
        "stream": True,
        **fields,
    }


async def stream(web: httpx.AsyncClient, **fields: Any) -> list[Any]:
    """The data of the events until the end of the stream, as another library reads them."""
    results: list[str] = []
    await collect(web, results, **fields)
    return [data if data == "[DONE]" else json.loads(data) for data in results]


async def collect(web: httpx.AsyncClient, received: list[str], **fields: Any) -> None:
    """Like ``stream``, but append to a list that survives a failing stream."""
    async with aconnect_sse(web, "POST", "/chat/completions", json=body(**fields)) as source:
        source.response.raise_for_status()
        async for event in source.aiter_sse():
            received.append(event.data)  # noqa: PERF401 - one by one, for it may end early


async def test_two_hundred_streams_over_the_socket(web: httpx.AsyncClient, me: Caller):
    before = await me.sheet()
    ends = await asyncio.gather(
        *(stream(web, text=f"Question {number}", max_tokens=6) for number in range(200))
    )
    assert all(end[-1] == "[DONE]" for end in ends)
    assert len({end[0]["id"] for end in ends}) == 200
    total = sum((exact(end[-2]["usage"]["cost"]) for end in ends), Decimal(0))
    after = moved(before, await me.sheet())
    assert after["credits"] == after["usage"] == total > 0


async def test_a_cancelled_stream_is_charged_for_its_output(
    web: httpx.AsyncClient, me: Caller, place: SharedGateway, monkeypatch: pytest.MonkeyPatch
):
    """The client closes the connection after some tokens."""
    before = await me.sheet()
    monkeypatch.setattr(place, "sleep", _short_pause)
    async with aconnect_sse(web, "POST", "/chat/completions", json=body()) as source:
        received = source.aiter_sse()
        for _ in range(4):
            name = (await anext(received)).json()["id"]
        await received.aclose()
    await until_moved(me, before)
    generation = await me.generation(name)
    assert generation["cancelled"] is True
    assert generation["finish_reason"] is None
    assert generation["native_tokens_completion"] > 0
    usage = {
        "prompt_tokens": generation["native_tokens_prompt"],
        "completion_tokens": generation["native_tokens_completion"],
        "prompt_tokens_details": {"cached_tokens": generation["native_tokens_cached"]},
    }
    cost = list_price(MINI, "quasar", usage)
    assert exact(generation["usage"]) == cost
    assert moved(before, await me.sheet())["credits"] == cost


async def _short_pause(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.02))


async def until_moved(me: Caller, before: dict[str, Decimal]) -> None:
    """Wait until the gateway has noticed that the client disconnected."""
    for _ in range(500):
        if await me.sheet() != before:
            return
        await asyncio.sleep(0.01)
    pytest.fail("nothing was booked")


# Faults on streams ------------------------------------------------------------------------------


@pytest.mark.parametrize("events", [0, 3])
async def test_a_cut_stream_reaches_the_client(
    web: httpx.AsyncClient, me: Caller, faults: FaultInjector, events: int
):
    before = await me.sheet()
    faults.arm(f"stream-cut={events} x1")
    results: list[str] = []
    with pytest.raises(httpx.TransportError):
        await collect(web, results)
    assert len(results) == events
    assert not any('"usage"' in data for data in results)
    if events:
        await until_moved(me, before)
        assert (await me.generation(json.loads(results[0])["id"]))["usage"] > 0
    assert (await stream(web))[-1] == "[DONE]"
