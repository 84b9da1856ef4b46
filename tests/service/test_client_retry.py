"""Which failures are retried and when; a write never is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from service_kit import START, FakeTime, Step, data, refusal, rig

from gwtui.client import errors
from gwtui.client.call import (
    BUDGET,
    MAX_RETRY_AFTER,
    Answer,
    Call,
    RetryingCaller,
    retry_after_seconds,
)
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import ReadingLog, reading_log
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest

NOT_SENT: list[Step] = [
    httpx.ConnectError("refused"),
    httpx.ConnectTimeout("slow"),
    httpx.PoolTimeout("busy"),
    httpx.ProxyError("no"),
]
MAY_HAVE_ARRIVED: list[Step] = [
    httpx.ReadError("reset"),
    httpx.WriteError("reset"),
    httpx.CloseError("reset"),
    httpx.ReadTimeout("slow"),
    httpx.WriteTimeout("slow"),
    httpx.RemoteProtocolError("nonsense"),
    TimeoutError(),
    OSError("broken"),
]
PASSING: list[Step] = [
    *NOT_SENT,
    *MAY_HAVE_ARRIVED,
    *(refusal(status) for status in (429, 502, 503, 504)),
]
LASTING: list[Step] = [
    httpx.UnsupportedProtocol("ftp"),
    httpx.LocalProtocolError("bad header"),
    httpx.InvalidURL("bad"),
    *(refusal(status) for status in (400, 401, 402, 403, 404, 409, 413, 500, 501)),
    httpx.Response(200, content=b"{", headers={"content-type": "application/json"}),
    httpx.Response(302),
]
WRITES: list[Callable[[GatewayClient], Awaitable[Any]]] = [
    lambda g: g.keys.create(CreateKeyRequest(name="n")),
    lambda g: g.keys.update("h", UpdateKeyRequest(name="n")),
    lambda g: g.keys.delete("h"),
]


def name_of(step: object) -> str:
    if isinstance(step, httpx.Response):
        return str(step.status_code)
    return type(step).__name__


@pytest.mark.parametrize("fault", PASSING, ids=name_of)
async def test_a_read_is_tried_four_times_at_most(fault: Step) -> None:
    gateway = rig(fault)
    with pytest.raises(errors.GatewayError):
        await gateway.client.credits.get()
    assert len(gateway.script.requests) == 4
    assert gateway.time.waits == [0.15, 0.3, 0.6]
    recovering = rig(fault, fault, data({"total_usage": 3}))
    assert (await recovering.client.credits.get()).total_usage == 3
    assert recovering.time.waits == [0.15, 0.3]
    retrying = rig(fault)
    with reading_log(ReadingLog(retries_paused=True)), pytest.raises(errors.GatewayError):
        await retrying.client.credits.get()
    assert len(retrying.script.requests) == 1


async def test_a_reading_that_failed_before_tries_again_once_it_is_answered() -> None:
    gateway = rig(data({"total_usage": 3}), httpx.ReadError("x"), data({"total_usage": 4}))
    with reading_log(ReadingLog(retries_paused=True)):
        for usage in (3, 4):
            assert (await gateway.client.credits.get()).total_usage == usage
    assert len(gateway.script.requests) == 3


async def test_a_read_has_an_overall_deadline() -> None:
    class Dripping:
        async def call(self, _call: Call) -> Answer:
            await asyncio.sleep(60)
            raise AssertionError

    caller = RetryingCaller(Dripping(), FakeTime().clock, print, budget=0.05)
    with pytest.raises(
        errors.NoAnswerError, match=r"did not respond completely within 0\.05 s"
    ) as caught:
        await caller.call(Call("GET", "/keys"))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("fault", LASTING, ids=name_of)
async def test_lasting_failures_are_not_retried(fault: Step) -> None:
    gateway = rig(fault)
    with pytest.raises(errors.GatewayError):
        await gateway.client.credits.get()
    assert len(gateway.script.requests) == 1
    assert gateway.time.waits == []


@pytest.mark.parametrize("write", WRITES, ids=["create", "update", "delete"])
@pytest.mark.parametrize("fault", [*PASSING, *LASTING], ids=name_of)
async def test_a_write_is_sent_once_whatever_happens(
    write: Callable[[GatewayClient], Awaitable[Any]], fault: Step
) -> None:
    gateway = rig(fault, data({"hash": "second"}, key="second"))
    with pytest.raises(errors.GatewayError) as caught:
        await write(gateway.client)
    assert len(gateway.script.requests) == 1
    if fault in NOT_SENT + MAY_HAVE_ARRIVED + LASTING[:3]:
        assert caught.value.effect == ("unknown" if fault in MAY_HAVE_ARRIVED else "none")
    assert gateway.time.waits == []
    assert gateway.notices == []


async def test_each_retry_is_announced_before_its_wait() -> None:
    gateway = rig(refusal(503, "busy"), httpx.ReadError("x"), data({}))
    await gateway.client.keys.get("secret-hash")
    assert gateway.notices == [
        "busy",
        "the connection to gateway.test broke before the response was complete",
    ]


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sat, 21 Nov 2026 07:00:12 GMT"}, 12.0),
        ({"retry-after": "Sat, 21 Nov 2020 07:00:12 GMT"}, 0.0),
        (
            {
                "date": "Sat, 21 Nov 2026 06:00:00 GMT",
                "retry-after": "Sat, 21 Nov 2026 06:00:04 GMT",
            },
            4.0,
        ),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after-ms": "nan", "retry-after": "3"}, 3.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_the_gateway_says_how_long_to_wait(
    headers: dict[str, str], wait: float, status: int
) -> None:
    gateway = rig(refusal(status, headers=headers), data({}), time=FakeTime(chance=0.0))
    await gateway.client.credits.get()
    assert gateway.time.waits == [pytest.approx(wait)]


async def test_jitter_only_adds_to_what_the_gateway_asked_for() -> None:
    gateway = rig(refusal(429, headers={"retry-after": "7"}), data({}), time=FakeTime(chance=0.99))
    await gateway.client.credits.get()
    assert 7.0 < gateway.time.waits[0] < 7.3


@pytest.mark.parametrize("status", [429, 503])
async def test_a_retry_after_beyond_the_budget_is_not_waited_for(status: int) -> None:
    gateway = rig(refusal(status, headers={"retry-after": "31"}))
    with pytest.raises((errors.RateLimitedError, errors.ServerError)) as caught:
        await gateway.client.credits.get()
    assert caught.value.retry_after == 31
    assert gateway.time.waits == []


async def test_waits_share_one_budget() -> None:
    gateway = rig(refusal(429, headers={"retry-after": "14"}), time=FakeTime(chance=0.0))
    with pytest.raises(errors.RateLimitedError):
        await gateway.client.credits.get()
    assert gateway.time.waits == [14.0, 14.0]


async def test_slow_attempts_count_against_the_budget() -> None:
    time = FakeTime()

    def hang(_: httpx.Request) -> httpx.Response:
        time.elapsed += BUDGET / 2
        raise httpx.ReadTimeout("slow")

    gateway = rig(hang, time=time)
    with pytest.raises(errors.NoAnswerError):
        await gateway.client.credits.get()
    assert len(gateway.script.requests) == 2


async def test_a_failure_that_ends_the_retries_has_no_older_one_attached() -> None:
    with pytest.raises(errors.NoAnswerError) as caught:
        await rig(httpx.ConnectError("a"), httpx.ReadError("b")).client.credits.get()
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_header_gives_a_sane_wait_or_none(seconds: str, millis: str) -> None:
    wait = retry_after_seconds({"retry-after": seconds, "retry-after-ms": millis}, START)
    assert wait is None or 0 <= wait <= MAX_RETRY_AFTER


@pytest.mark.parametrize("text", ["inf", "nan", "1e400", "", "Sat, 99 Nov 2026 07:00:00 GMT"])
def test_unreadable_waits_count_as_absent(text: str) -> None:
    assert retry_after_seconds({"retry-after": text}, datetime.now(UTC)) is None
