"""Workspaces, members, budgets, guardrails, credentials, activity: what goes out."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import httpx
import pytest
from management_calls import ID, LISTS, READS, WRITES, Act, asked, named
from service_kit import data, refusal, rig

from gwtui.client import errors
from gwtui.contract.budgets import PutBudgetRequest


@pytest.mark.parametrize(("act", "target"), named(READS))
async def test_each_reading_asks_for_its_own_path(act: Act, target: str) -> None:
    it = rig(data({}))
    await act(it.client)
    (request,) = it.script.requests
    assert (request.method, asked(request), request.content) == ("GET", target, b"")


@pytest.mark.parametrize(("act", "target"), named(LISTS))
async def test_each_list_asks_for_its_own_path(act: Act, target: str) -> None:
    it = rig(data([]))
    listing = await act(it.client)
    (request,) = it.script.requests
    assert (request.method, asked(request), request.content) == ("GET", target, b"")
    assert (listing.items, listing.complete) == ((), True)


@pytest.mark.parametrize(("act", "method", "target", "body", "answer"), named(WRITES))
async def test_each_write_is_one_request(
    act: Act, method: str, target: str, body: Any, answer: dict[str, Any]
) -> None:
    it = rig(httpx.Response(200, json=answer))
    await act(it.client)
    (request,) = it.script.requests
    assert (request.method, asked(request)) == (method, target)
    assert (json.loads(request.content) if request.content else None) == body
    assert ("content-type" in request.headers) == (body is not None)


@pytest.mark.parametrize("act", [pytest.param(row[1], id=row[0]) for row in WRITES])
async def test_a_write_is_never_repeated_and_never_sent_read_only(act: Act) -> None:
    it = rig(refusal(503))
    with pytest.raises(errors.ServerError) as caught:
        await act(it.client)
    assert caught.value.effect == "unknown"
    assert len(it.script.requests) == 1
    quiet = rig(data({}), read_only=True)
    with pytest.raises(errors.ReadOnlyError):
        await act(quiet.client)
    assert quiet.script.requests == []


@pytest.mark.parametrize("interval", ["hourly", "", "daily/..", "Daily"])
async def test_an_interval_that_does_not_exist_is_refused_unsent(interval: str) -> None:
    it = rig(data({}))
    for act in (
        it.client.workspaces.budget(ID, interval),
        it.client.workspaces.put_budget(ID, interval, PutBudgetRequest(limit_usd=Decimal(1))),
        it.client.workspaces.delete_budget(ID, interval),
    ):
        with pytest.raises(errors.InvalidRequestError, match="daily, weekly, monthly, lifetime"):
            await act
    assert it.script.requests == []
