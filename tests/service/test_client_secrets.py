"""A sentinel token through every failure: it may be in the header and nowhere else."""

from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Iterator

import httpx
import pytest
from pydantic import SecretStr
from service_kit import (
    TOKEN,
    FakeTime,
    Step,
    connection,
    data,
    everything_said,
    http_answer,
    refusal,
    rig,
    sends,
    serving,
)

from gwtui.client import errors
from gwtui.client.connection import Connection, InvalidConnectionError
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.keys import CreateKeyRequest

NEW_KEY = "gw-v1-NEW-SENTINEL-fedcba9876543210"
JSON = {"content-type": "application/json"}


def raising(kind: type[httpx.RequestError]) -> Step:
    """A fault that carries the request, headers and all, as the real ones do."""

    def step(request: httpx.Request) -> httpx.Response:
        raise kind(f"while sending {request.headers['authorization']}", request=request)

    return step


def broken(_: httpx.Request) -> httpx.Response:
    raise OSError(5, TOKEN)


FAULTS: dict[str, Step] = {
    kind.__name__: raising(kind)
    for kind in (
        httpx.ConnectError,
        httpx.ConnectTimeout,
        httpx.ReadError,
        httpx.ReadTimeout,
        httpx.WriteError,
        httpx.PoolTimeout,
        httpx.ProxyError,
        httpx.RemoteProtocolError,
        httpx.LocalProtocolError,
        httpx.UnsupportedProtocol,
        httpx.DecodingError,
    )
}
FAULTS |= {
    f"status {status}": refusal(status, f"{TOKEN} is bad", headers={"x-request-id": TOKEN})
    for status in (400, 401, 403, 404, 409, 429, 500, 503)
}
FAULTS |= {
    "os error": broken,
    "redirect": httpx.Response(302, headers={"location": f"https://x.test/?t={TOKEN}"}),
    "cut off": httpx.Response(200, content=f'{{"data": "{TOKEN}'.encode(), headers=JSON),
    "not json": httpx.Response(200, text=f"<p>{TOKEN}</p>"),
    "too large": httpx.Response(200, content=TOKEN.encode() * 100, headers=JSON),
    "no data": httpx.Response(200, json={"data": TOKEN}),
    "not utf-8": httpx.Response(200, content=TOKEN.encode() + b"\xff", headers=JSON),
}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("writes", [False, True], ids=["read", "write"])
async def test_no_failure_tells_the_token(
    fault: Step, writes: bool, log: pytest.LogCaptureFixture
) -> None:
    it = rig(fault)
    with pytest.raises(errors.GatewayError) as caught:
        await (it.client.keys.delete("h") if writes else it.client.credits.get())
    assert it.script.requests[0].headers["authorization"].endswith(TOKEN)
    assert TOKEN not in everything_said(caught.value)
    assert TOKEN not in log.text + repr(it.notices)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "content",
    [
        f'{{"data": {{"name": "n"}}, "key": "{NEW_KEY}"',
        f'{{"key": "{NEW_KEY}"}} {{',
        f'{{"data": null, "key": ["{NEW_KEY}"]}}',
        f'["{NEW_KEY}"]',
    ],
)
async def test_a_new_key_in_an_unreadable_answer_is_not_told(
    content: str, log: pytest.LogCaptureFixture
) -> None:
    it = rig(httpx.Response(201, content=content.encode(), headers=JSON))
    del content
    with pytest.raises(errors.UnreadableAnswerError) as caught:
        await it.client.keys.create(CreateKeyRequest(name="n"))
    assert NEW_KEY not in str(caught.value) + repr(vars(caught.value)) + log.text
    assert caught.value.__context__ is None


async def test_real_sockets_tell_neither_token_nor_key(log: pytest.LogCaptureFixture) -> None:
    half = http_answer(f'{{"data": {{}}, "key": "{NEW_KEY}"}}'.encode())[:-3]
    async with serving(sends(half)) as server:
        where = Connection(server.base_url, token=SecretStr(TOKEN))
        async with GatewayClient(where) as client:
            with pytest.raises(errors.NoAnswerError) as caught:
                await client.keys.create(CreateKeyRequest(name="n"))
    said = everything_said(caught.value) + log.text
    assert TOKEN not in said
    assert NEW_KEY not in log.text + str(caught.value)


async def test_success_is_logged_without_identifiers(log: pytest.LogCaptureFixture) -> None:
    it = rig(data({"hash": "HASH-1"}, key=NEW_KEY), max_answer=10_000)
    await it.client.keys.create(CreateKeyRequest(name="n"))
    await it.client.keys.get("HASH-1")
    mine = [record.getMessage() for record in log.records if record.name == "gwtui.client"]
    assert mine == ["POST /keys -> ok in 0 ms", "GET /keys/{hash} -> ok in 0 ms"]
    assert TOKEN not in log.text
    assert NEW_KEY not in log.text


def test_nothing_that_holds_the_token_shows_it() -> None:
    where = connection()
    transport = Transport(where, clock=FakeTime().clock)
    client = GatewayClient(where, transport=transport)
    shown = [repr(thing) + str(thing) for thing in (where, transport, client, client.keys)]
    shown += [repr(vars(transport)), repr(vars(client))]
    assert TOKEN not in "".join(shown)


def test_a_refused_connection_tells_neither_token_nor_password() -> None:
    for url, token in (
        ("http://gateway.test/api/v1", TOKEN),
        ("https://user:PASS-SENTINEL@gateway.test/api/v1", TOKEN),
        ("https://gateway.test:PASS-SENTINEL/api/v1", TOKEN),
        ("https://gateway.test/api/v1?key=PASS-SENTINEL", TOKEN),
        ("https://gateway.test/api/v1", f"{TOKEN} with spaces"),
        ("https://gateway.test/api/v1", f"{TOKEN}\n"),
    ):
        secret = SecretStr(token)
        with pytest.raises(InvalidConnectionError) as caught:
            Connection(url, token=secret)
        message = str(caught.value) + repr(caught.value.__context__)
        assert TOKEN not in message
        assert "SENTINEL" not in message


def test_errors_survive_copying_with_their_meaning() -> None:
    error = errors.RateLimitedError("slow down", request_id="r", retry_after=3)
    assert copy.copy(error).message == "slow down"
    assert pickle.loads(pickle.dumps(error)).retry_after == 3  # noqa: S301 - our own bytes
