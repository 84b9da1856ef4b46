"""Injected faults: their syntax, the requests they affect, and what a client sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from gateway_kit import START, HandClock

from gwtui.embedded.errors import FaultSyntaxError
from gwtui.embedded.faults import KINDS, FaultInjector, catalogue, parse
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket, serve_tcp
from gwtui.embedded.routes import PREFIX, all_operations

# In words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "number", "times", "chance"),
    [
        ("reset-after:POST /keys x1", "reset-after", 0, 1, 1),
        ("latency=0.8:reads", "latency", 0.8, None, 1),
        ("503=30:GET /keys x2", "503", 30, 2, 1),
        ("429 25%", "429", 1, None, 0.25),
        ("429", "429", 1, None, 1),
        ("clock-skew=-90", "clock-skew", -90, None, 1),
        ("hang:*", "hang", 0, None, 1),
        (" hang:POST /keys x3 ", "hang", 0, 3, 1),
    ],
)
def test_a_fault_is_parsed(
    text: str, kind: str, number: float, times: int | None, chance: float
) -> None:
    fault = parse(text)
    assert fault.kind is KINDS[kind]
    assert (fault.number, fault.times, fault.chance) == (number, times, chance)


@pytest.mark.parametrize(
    ("scope", "operations"),
    [
        ("POST /keys", {"createKey"}),
        ("createKey", {"createKey"}),
        ("/keys", {"listKeys", "createKey"}),
        ("*", None),
        ("PATCH /keys/{x}", {"updateKey"}),
        ("PUT", {"putWorkspaceBudget"}),
        (
            "reads",
            {operation.operation_id for operation in all_operations() if operation.method == "GET"},
        ),
        (
            "writes",
            {operation.operation_id for operation in all_operations() if operation.method != "GET"},
        ),
    ],
)
def test_a_fault_selects_operations(scope: str, operations: set[str] | None) -> None:
    assert parse(f"hang:{scope}").operations == operations


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown kind"),
        ("sunspots", "'--fault list'"),
        ("hang:POST /kys", "no operation is 'POST /kys'"),
        ("hang:GET POST /keys", "no operation"),
        ("stream-cut:GET /keys", "no streaming operation"),
        ("latency=soon", "unknown kind or syntax"),
        ("latency=nan", "unknown kind or syntax"),
        ("hang=3", "hang takes no number"),
        ("hang x0", "unknown kind or syntax"),
        ("429 250%", "the chance 250% must be more than 0%"),
        ("429 0%", "the chance 0% must be more than 0%"),
        ("429 1.2.3%", "unknown kind or syntax"),
        ("hang:POST /keys y2", "no operation is 'POST /keys y2'"),
        ("clock-skew=3:reads", "clock-skew applies to every request"),
        ("clock-skew=3 x2", "clock-skew applies to every request"),
    ],
)
def test_a_fault_that_cannot_be_parsed(text: str, message: str) -> None:
    with pytest.raises(FaultSyntaxError) as caught:
        parse(text)
    assert message in caught.value.message
    assert repr(text) in caught.value.message


def test_the_list_has_everything_and_fits() -> None:
    lines = list(catalogue())
    text = "\n".join(lines)
    assert all(kind in text and KINDS[kind].about in text for kind in KINDS)
    assert all(
        operation.operation_id in text and operation.path in text for operation in all_operations()
    )
    assert max(map(len, lines)) <= 79
    examples = [line.split("'")[1] for line in lines if line.startswith("  --fault")]
    assert len(examples) >= 5
    assert all(parse(example) for example in examples)


# Whom they strike -------------------------------------------------------------------------------


@asynccontextmanager
async def gateway(*faults: str, clock: HandClock | None = None) -> AsyncIterator[Any]:
    hand = clock or HandClock()
    opened = EmbeddedGateway(None, clock=hand.clock, faults=FaultInjector(faults))
    token = opened.issue_key(management=True)
    http = httpx.ASGITransport(app=opened.asgi)
    headers = {"Authorization": f"Bearer {token}"}
    base = f"http://gateway.test{PREFIX}"
    try:
        async with httpx.AsyncClient(transport=http, base_url=base, headers=headers) as client:
            yield opened, client
    finally:
        opened.close()


async def statuses(client: httpx.AsyncClient, path: str, count: int) -> list[int]:
    return [(await client.get(path)).status_code for _ in range(count)]


@pytest.mark.parametrize(
    ("fault", "path", "expected"),
    [
        ("503:GET /keys x2", "/keys", [503, 503, 200]),
        ("503:GET /keys x2", "/credits", [200]),
        ("503:listAllGuardrailKeys", "/guardrails/assignments/keys", [503]),
        ("503:listAllGuardrailKeys", "/guardrails/x/assignments/keys", [404]),
        ("503", "/nothing", [503]),
    ],
)
async def test_faults_apply_to_their_operations(fault: str, path: str, expected: list[int]) -> None:
    async with gateway(fault) as (opened, client):
        assert await statuses(client, path, len(expected)) == expected
        assert [armed.struck for armed in opened.faults.armed] == [expected.count(503)]


async def test_random_faults_are_reproducible() -> None:
    runs = []
    for _ in range(2):
        async with gateway("503 50%") as (_gateway, client):
            runs.append(await statuses(client, "/credits", 40))
    assert runs[0] == runs[1]
    assert 8 < runs[0].count(503) < 32


async def test_delays_add_up_and_the_first_fault_wins() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    hand = HandClock()
    clock = type(hand.clock)(now=hand.now, sleep=sleep)
    opened = EmbeddedGateway(
        None, clock=clock, faults=FaultInjector(["latency=2", "409 x1", "403", "latency=9"])
    )
    try:
        http = httpx.ASGITransport(app=opened.asgi)
        async with httpx.AsyncClient(transport=http, base_url="http://t/api/v1") as client:
            assert await statuses(client, "/models", 2) == [409, 403]
        assert waits == [2, 2]
    finally:
        opened.close()


async def test_faults_can_be_changed_at_run_time() -> None:
    async with gateway() as (opened, client):
        assert await statuses(client, "/credits", 1) == [200]
        opened.faults.arm("500:getCredits")
        assert await statuses(client, "/credits", 1) == [500]
        opened.faults.clear()
        assert await statuses(client, "/credits", 1) == [200]


# What a client sees -----------------------------------------------------------------------------


async def test_retry_after_in_both_ways() -> None:
    async with gateway("429=7 x1", "429-date=7 x1", "503=7 x1", "503=0 x1") as (_, client):
        answers = [await client.get("/credits") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [429, 429, 503, 503]
    assert answers[0].headers["retry-after"] == "7"
    assert parsedate_to_datetime(answers[1].headers["retry-after"]) == START + timedelta(seconds=7)
    assert answers[2].headers["retry-after"] == "7"
    assert "retry-after" not in answers[3].headers


async def test_the_clock_is_wrong_in_dates_and_data() -> None:
    async with gateway("clock-skew=-90") as (opened, client):
        wrong = START - timedelta(seconds=90)
        created = await client.post("/keys", json={"name": "n"})
        assert parsedate_to_datetime(created.headers["date"]) == wrong
        assert created.json()["data"]["created_at"].startswith(wrong.isoformat()[:19])
        opened.faults.clear()
        right = await client.get("/credits")
        assert parsedate_to_datetime(right.headers["date"]) == START


async def test_malformed_answers_leave_refusals_alone() -> None:
    async with gateway("malformed-not-json") as (_, client):
        assert (await client.get("/keys/nobody")).json()["error"]["code"] == 404
        assert (await client.get("/credits")).text == "{oops"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("reset-before", httpx.ReadError),
        ("reset-after", httpx.ReadError),
        ("half-body", httpx.RemoteProtocolError),
        ("hang", httpx.ReadTimeout),
        ("hang-after", httpx.ReadTimeout),
    ],
)
async def test_connection_faults_over_tcp(fault: str, error: type[Exception]) -> None:
    """A reset is a TCP reset, not an orderly close."""
    injector = FaultInjector([f"{fault}:POST /keys"])
    opened = EmbeddedGateway(None, content="empty", faults=injector)
    headers = {"Authorization": f"Bearer {opened.issue_key(management=True)}"}
    ready = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serve_tcp(opened, "127.0.0.1", 0, on_ready=ready.set_result))
    try:
        base = await asyncio.wait_for(ready, 10)
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=0.3) as client:
            before = len((await client.get(f"{base}/keys")).json()["data"])
            with pytest.raises(error):
                await client.post(f"{base}/keys", json={"name": "n"})
            after = len((await client.get(f"{base}/keys")).json()["data"])
        is_done = fault in {"reset-after", "half-body", "hang-after"}
        assert after - before == int(is_done)
    finally:
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)
        opened.close()


async def test_a_hanging_request_ends_with_the_gateway(tmp_path: Path) -> None:
    """Stopping does not wait for a client that waits for nothing."""
    opened = EmbeddedGateway(None, content="empty", faults=FaultInjector(["hang"]))
    path = tmp_path / "s" / "gateway.sock"
    http = httpx.AsyncHTTPTransport(uds=str(path))
    started = asyncio.get_running_loop().time()
    async with httpx.AsyncClient(transport=http) as client:
        async with host_on_socket(opened, path):
            request = asyncio.create_task(client.get("http://gateway/api/v1/models"))
            await asyncio.sleep(0.05)
        assert isinstance(
            (await asyncio.gather(request, return_exceptions=True))[0], httpx.HTTPError
        )
    assert asyncio.get_running_loop().time() - started < 3
    opened.close()
