"""Workspace budgets: one per interval, each smaller than those of longer intervals."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from gateway_kit import GatewayHarness, gateway_harness
from hypothesis import given, settings
from hypothesis import strategies as st

BUDGETS = "/workspaces/default/budgets"
INTERVALS = ("daily", "weekly", "monthly", "lifetime")


async def put_budget(
    gate: GatewayHarness, interval: str, limit: float, **fields: Any
) -> dict[str, Any]:
    body = {"limit_usd": limit, **fields}
    answer = await gate.call("PUT", f"{BUDGETS}/{interval}", json=body, expect=200)
    return dict(answer.json())


async def limits(gate: GatewayHarness) -> dict[str, float]:
    result = await gate.data("GET", BUDGETS)
    return {row["reset_interval"] or "lifetime": row["limit_usd"] for row in result}


async def test_a_budget_is_created_and_replaced(gate: GatewayHarness):
    workspace = await gate.data("GET", "/workspaces/default")
    created = (await put_budget(gate, "weekly", 12.5))["data"]
    assert (created["workspace_id"], created["limit_usd"]) == (workspace["id"], 12.5)
    assert created["reset_interval"] == "weekly"
    assert created["created_at"] == created["updated_at"] == "2026-11-21T07:00:00Z"
    gate.clock.forward(minutes=1)
    assert (await put_budget(gate, "weekly", 12.5))["data"] == created, "the setting is unchanged"
    changed = (await put_budget(gate, "weekly", 20))["data"]
    assert changed == {**created, "limit_usd": 20.0, "updated_at": "2026-11-21T07:01:00Z"}
    assert await gate.data("GET", f"{BUDGETS}/weekly") == changed
    assert await gate.data("GET", "/workspaces/default") == workspace, (
        "it is not a change by itself"
    )


async def test_the_whole_workspace_counts_byok_usage_or_not(gate: GatewayHarness):
    budgets = await put_budget(gate, "daily", 1, include_byok_in_budgets=True)
    assert budgets["include_byok_in_budgets"] is True
    budgets = await put_budget(gate, "weekly", 7)
    assert budgets["include_byok_in_budgets"] is True, "an omitted field is unchanged"
    for path in (BUDGETS, f"{BUDGETS}/daily"):
        assert (await gate.call("GET", path)).json()["include_byok_in_budgets"] is True
    assert (await gate.data("GET", "/workspaces/default"))["include_byok_in_budgets"] is True
    budgets = await put_budget(gate, "weekly", 7, include_byok_in_budgets=False)
    assert budgets["include_byok_in_budgets"] is False
    assert (await gate.call("GET", BUDGETS)).json()["include_byok_in_budgets"] is False


async def test_a_refused_budget_leaves_the_byok_switch_alone(gate: GatewayHarness):
    await put_budget(gate, "weekly", 7)
    body = {"limit_usd": 7, "include_byok_in_budgets": True}
    await gate.refused(400, "PUT", f"{BUDGETS}/daily", json=body)
    assert (await gate.call("GET", BUDGETS)).json()["include_byok_in_budgets"] is False


async def test_one_of_two_conflicting_budgets_wins(gate: GatewayHarness):
    calls = [
        gate.call("PUT", f"{BUDGETS}/{interval}", json={"limit_usd": 10})
        for interval in INTERVALS * 2
    ]
    statuses = [answer.status_code for answer in await asyncio.gather(*calls)]
    assert sorted(statuses) == [200, 200] + [400] * 6
    assert len(await limits(gate)) == 1


@pytest.mark.parametrize("interval", ["yearly", "Daily", "null", "daily%20"])
async def test_an_unknown_interval_is_400(gate: GatewayHarness, interval: str):
    for method, body in (("GET", None), ("PUT", {"limit_usd": 1}), ("DELETE", None)):
        message = await gate.refused(400, method, f"{BUDGETS}/{interval}", json=body)
        assert message == "interval: must be one of daily, weekly, monthly, lifetime"


AMOUNTS = st.sampled_from([0.000001, 0.1, 0.30000000000000004, 1, 2.5, 10, 1e12])
STEPS = st.lists(st.tuples(st.sampled_from(INTERVALS), AMOUNTS | st.none()), max_size=12)


def test_budgets_always_grow_with_their_interval() -> None:
    with asyncio.Runner() as runner:
        opened = gateway_harness(content="empty")
        gate = runner.run(opened.__aenter__())

        @settings(max_examples=50)
        @given(steps=STEPS)
        def holds(steps: list[tuple[str, float | None]]) -> None:
            runner.run(set_and_delete(gate, steps))

        try:
            holds()
        finally:
            runner.run(opened.__aexit__(None, None, None))


async def set_and_delete(gate: GatewayHarness, steps: list[tuple[str, float | None]]) -> None:
    for interval in await limits(gate):
        await gate.call("DELETE", f"{BUDGETS}/{interval}", expect=200)
    expected: dict[str, float] = {}
    for interval, limit in steps:
        path = f"{BUDGETS}/{interval}"
        if limit is None:
            await gate.call("DELETE", path, expect=200)
            await gate.refused(404, "GET", path)
            expected.pop(interval, None)
            continue
        requested = {**expected, interval: limit}
        ordered = [requested[item] for item in INTERVALS if item in requested]
        legal = all(low < high for low, high in itertools.pairwise(ordered))
        status = 200 if legal else 400
        await gate.call("PUT", path, json={"limit_usd": limit}, expect=status)
        expected = requested if legal else expected
    assert await limits(gate) == expected
