"""What budgets do to spending: keys of a workspace share them, in every period anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from gateway_kit import Bench, bench

PRODUCTION = "/workspaces/production"
ONE_REQUEST = 0.5
"""More USD than one request of the simulated keys costs."""


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    """The simulated world, with production's budgets out of the way."""
    async with bench() as opened:
        for interval in ("daily", "weekly", "monthly"):
            await opened.call("DELETE", f"{PRODUCTION}/budgets/{interval}", expect=200)
        yield opened


async def budget(gate: Bench, interval: str, limit: float, **fields: Any) -> None:
    body = {"limit_usd": limit, **fields}
    await gate.call("PUT", f"{PRODUCTION}/budgets/{interval}", json=body, expect=200)


async def keys(gate: Bench, workspace: str) -> list[dict[str, Any]]:
    """The keys of a workspace, the probes of these tests left out."""
    home = await gate.data("GET", f"/workspaces/{workspace}")
    everything = {"include_disabled": "true", "include_expired": "true"}
    found = await gate.data("GET", "/keys", params={"workspace_id": home["id"], **everything})
    return [key for key in found if key["name"] != "probe"]


async def used(gate: Bench, workspace: str) -> float:
    return float(sum(key["usage"] for key in await keys(gate, workspace)))


async def probe(gate: Bench) -> str:
    """A key of production that is never used, to look at the budgets with."""
    home = await gate.data("GET", PRODUCTION)
    _, token = await gate.create(name="probe", workspace_id=home["id"])
    return token


async def layer(gate: Bench, token: str, interval: str | None) -> dict[str, Any]:
    """The workspace's budget of an interval, as its keys see it."""
    found = (await gate.data("GET", "/key", token=token))["budgets"]
    (one,) = [
        item
        for item in found
        if item["scope"] == "workspace" and item["reset_interval"] == interval
    ]
    found_layer: dict[str, Any] = one
    return found_layer


async def test_what_a_workspace_spent_is_what_its_keys_used(gate: Bench):
    token = await probe(gate)
    for interval, limit in (("daily", 1e5), ("weekly", 2e5), ("monthly", 3e5), ("lifetime", 4e5)):
        await budget(gate, interval, limit)
    gate.clock.forward(hours=1)
    found = await keys(gate, "production")
    for interval, field in (
        ("daily", "usage_daily"),
        ("weekly", "usage_weekly"),
        ("monthly", "usage_monthly"),
        (None, "usage"),
    ):
        shown = await layer(gate, token, interval)
        assert shown["spend_usd"] == pytest.approx(sum(key[field] for key in found)), interval
        assert shown["spend_usd"] > 0
        assert shown["remaining_usd"] == pytest.approx(shown["limit_usd"] - shown["spend_usd"])


async def test_an_exhausted_budget_stops_every_key_of_the_workspace_alone(gate: Bench):
    token = await probe(gate)
    await budget(gate, "daily", 1e5)
    limit = (await layer(gate, token, "daily"))["spend_usd"] + 2
    await budget(gate, "daily", limit)
    elsewhere = await used(gate, "research")
    gate.clock.forward(hours=8)
    stopped = await used(gate, "production")
    spent = (await layer(gate, token, "daily"))["spend_usd"]
    assert limit <= spent < limit + ONE_REQUEST
    gate.clock.forward(hours=4)
    assert await used(gate, "production") == stopped
    assert await used(gate, "research") > elsewhere


async def test_a_budget_starts_over_and_keys_go_on(gate: Bench):
    token = await probe(gate)
    await budget(gate, "daily", 0.01)
    gate.clock.forward(hours=16)
    stopped = await used(gate, "production")
    gate.clock.forward(hours=3)
    spent = (await layer(gate, token, "daily"))["spend_usd"]
    assert 0.01 <= spent < 0.01 + ONE_REQUEST
    assert await used(gate, "production") == pytest.approx(stopped + spent)


@pytest.mark.parametrize("lift", ["raised", "deleted"])
async def test_a_budget_that_is_lifted_lets_keys_go_on(gate: Bench, lift: str):
    await budget(gate, "lifetime", 1)
    gate.clock.forward(hours=6)
    before = await used(gate, "production")
    if lift == "raised":
        await budget(gate, "lifetime", 1e6)
    else:
        await gate.call("DELETE", f"{PRODUCTION}/budgets/lifetime", expect=200)
    gate.clock.forward(hours=2)
    assert await used(gate, "production") > before


async def test_time_without_a_budget_is_booked_before_one_is_set(gate: Bench):
    before = await used(gate, "production")
    gate.clock.forward(hours=3)
    await budget(gate, "lifetime", 0.01)
    assert await used(gate, "production") > before + 1


async def test_keys_that_go_take_no_spending_along(gate: Bench):
    token = await probe(gate)
    await budget(gate, "lifetime", 1e6)
    before = (await layer(gate, token, None))["spend_usd"]
    busy, next_busy, *_ = sorted(await keys(gate, "production"), key=lambda key: -key["usage"])
    await gate.call("DELETE", f"/keys/{busy['hash']}", expect=200)
    research = await gate.data("GET", "/workspaces/research")
    moved = {"workspace_id": research["id"]}
    await gate.call("PATCH", f"/keys/{next_busy['hash']}", json=moved, expect=200)
    assert (await layer(gate, token, None))["spend_usd"] == before
    gate.clock.forward(hours=2)
    here = await layer(gate, token, None)
    assert here["spend_usd"] == pytest.approx(
        before + await used(gate, "production") - (before - busy["usage"] - next_busy["usage"])
    )
