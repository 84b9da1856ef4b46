"""Budgets that apply to a key: GET /key lists them, and they stop the simulated keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from gateway_kit import START, GatewayHarness, Keys, gateway_harness

from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.keys import BUDGET_SCOPES
from gwtui.embedded.auth import key_hash
from gwtui.embedded.store.keys import Cap, effective_budget

PRODUCTION = "/workspaces/production"
ONE_REQUEST = 0.5
"""More than the cost of one request of the simulated keys, in USD."""


@pytest.fixture
async def gate() -> AsyncIterator[GatewayHarness]:
    """The simulated world without the budgets of production."""
    async with gateway_harness() as opened:
        for interval in ("daily", "weekly", "monthly"):
            await opened.call("DELETE", f"{PRODUCTION}/budgets/{interval}", expect=200)
        yield opened


@pytest.fixture
async def probe(gate: GatewayHarness) -> str:
    """An unused key of production, to read the budgets with."""
    home = await gate.data("GET", PRODUCTION)
    _, token = await gate.create(name="probe", workspace_id=home["id"])
    return token


async def budget(gate: GatewayHarness, interval: str, limit: float) -> None:
    path = f"{PRODUCTION}/budgets/{interval}"
    await gate.call("PUT", path, json={"limit_usd": limit}, expect=200)


async def keys(gate: GatewayHarness, *slugs: str) -> Keys:
    """The keys of these workspaces, or of all; without the probe."""
    results = await gate.keys(*slugs)
    return {name: key for name, key in results.items() if key["name"] != "probe"}


async def used(gate: GatewayHarness, slug: str) -> float:
    return float(sum(key["usage"] for key in (await keys(gate, slug)).values()))


async def growth(gate: GatewayHarness, before: Keys) -> dict[str, float]:
    after = await keys(gate)
    return {name: after[name]["usage"] - before[name]["usage"] for name in before}


async def layer(gate: GatewayHarness, token: str, interval: str | None) -> dict[str, Any]:
    """The workspace budget of an interval, as its keys report it."""
    result = (await gate.data("GET", "/key", token=token))["budgets"]
    by_interval = {row["reset_interval"]: row for row in result if row["scope"] == "workspace"}
    return dict(by_interval[interval])


async def test_workspace_spending_is_the_usage_of_its_keys(gate: GatewayHarness, probe: str):
    for interval, limit in (("daily", 1e5), ("weekly", 2e5), ("monthly", 3e5), ("lifetime", 4e5)):
        await budget(gate, interval, limit)
    gate.clock.forward(hours=1)
    result = (await keys(gate, "production")).values()
    for interval in ("daily", "weekly", "monthly", None):
        field = f"usage_{interval}" if interval else "usage"
        budget_layer = await layer(gate, probe, interval)
        assert budget_layer["spend_usd"] == pytest.approx(sum(key[field] for key in result)) != 0
        assert budget_layer["remaining_usd"] == pytest.approx(
            budget_layer["limit_usd"] - budget_layer["spend_usd"]
        )


async def test_an_exhausted_budget_stops_its_workspace_until_it_starts_over(
    gate: GatewayHarness, probe: str
):
    before = await used(gate, "production")
    gate.clock.forward(hours=1)
    await budget(gate, "daily", 1e5)
    assert await used(gate, "production") > before, "usage before the budget counts"
    limit = (await layer(gate, probe, "daily"))["spend_usd"] + 2
    await budget(gate, "daily", limit)
    elsewhere = await used(gate, "research")
    gate.clock.forward(hours=8)
    stopped = await used(gate, "production")
    assert limit <= (await layer(gate, probe, "daily"))["spend_usd"] < limit + ONE_REQUEST
    gate.clock.forward(hours=4)
    assert await used(gate, "production") == stopped
    assert await used(gate, "research") > elsewhere
    gate.clock.forward(hours=5)
    assert await used(gate, "production") > stopped


async def test_removed_keys_keep_their_spending(gate: GatewayHarness, probe: str):
    await budget(gate, "lifetime", 1e6)
    before = (await layer(gate, probe, None))["spend_usd"]
    result = sorted((await keys(gate, "production")).values(), key=lambda key: -key["usage"])
    busy, next_busy, *_ = result
    await gate.call("DELETE", f"/keys/{busy['hash']}", expect=200)
    moved = {"workspace_id": (await gate.data("GET", "/workspaces/research"))["id"]}
    await gate.call("PATCH", f"/keys/{next_busy['hash']}", json=moved, expect=200)
    assert (await layer(gate, probe, None))["spend_usd"] == before
    gate.clock.forward(hours=2)
    former = busy["usage"] + next_busy["usage"]
    spent = (await layer(gate, probe, None))["spend_usd"]
    assert spent == pytest.approx(await used(gate, "production") + former)


# Caps of guardrails -------------------------------------------------------------------------------


async def busiest(gate: GatewayHarness) -> dict[str, Any]:
    """The key of production with the most usage in the next hours, from a separate world."""
    async with gateway_harness() as other:
        before = await keys(other, "production")
        other.clock.forward(hours=4)
        grown = await growth(other, before)
    return (await keys(gate))[max(grown, key=lambda name: grown[name])]


async def test_a_cap_stops_the_key_that_it_is_on(gate: GatewayHarness):
    key = await busiest(gate)
    before = await keys(gate, "production")
    rail = await gate.guard(keys=[key["hash"]], limit_usd=key["usage"] + 0.2)
    gate.clock.forward(hours=12)
    grown = await growth(gate, before)
    assert 0.2 <= grown.pop(key["hash"]) < 0.2 + ONE_REQUEST
    assert sum(grown.values()) > 2, "other keys continue"
    path = f"/guardrails/{rail}/assignments/keys/remove"
    await gate.call("POST", path, json={"key_hashes": [key["hash"]]}, expect=200)
    stopped = await keys(gate)
    gate.clock.forward(hours=12)
    assert (await growth(gate, stopped))[key["hash"]] > 0.2


async def by_member(gate: GatewayHarness, before: Keys) -> dict[str | None, float]:
    sums: dict[str | None, float] = defaultdict(float)
    for name, grown in (await growth(gate, before)).items():
        sums[before[name]["creator_user_id"]] += grown
    return sums


async def test_a_cap_on_a_member_is_used_up_by_all_their_keys_together(gate: GatewayHarness):
    member = (await busiest(gate))["creator_user_id"]
    before = await keys(gate)
    spent = sum(row["usage"] for row in before.values() if row["creator_user_id"] == member)
    await gate.guard(members=[member], limit_usd=spent + 1)
    gate.clock.forward(hours=24)
    sums = await by_member(gate, before)
    assert 1 <= sums.pop(member) < 1 + ONE_REQUEST
    assert max(sums.values()) > 1 + ONE_REQUEST


# GET /key: every budget that binds the key, in order, and the one that decides --------------------


@dataclass
class KnownKey:
    """A simulated key in use, and a value that opens it."""

    hash: str
    token: str
    data: dict[str, Any]


def take_over(gate: GatewayHarness, data: dict[str, Any]) -> KnownKey:
    """Give a simulated key, whose real value never existed, a known value."""
    token = f"gw-v1-{data['hash']}"
    with gate.gateway.database.write() as db:
        for table in ("keys", "usage"):
            column = {"keys": "id", "usage": "key_hash"}[table]
            db.execute(
                f"UPDATE {table} SET {column} = ? WHERE {column} = ?",  # noqa: S608
                (key_hash(token), data["hash"]),
            )
        db.execute("UPDATE keys SET document = json_set(document, '$.hash', id)")
    return KnownKey(key_hash(token), token, data)


async def busiest_of(gate: GatewayHarness) -> KnownKey:
    workspaces = {
        workspace["slug"]: workspace["id"] for workspace in await gate.data("GET", "/workspaces")
    }
    listed = await gate.data("GET", "/keys", params={"workspace_id": workspaces["production"]})
    free = [key for key in listed if key["limit"] is None and key["creator_user_id"]]
    return take_over(gate, max(free, key=lambda key: key["usage_monthly"]))


async def budgets(gate: GatewayHarness, token: str) -> list[dict[str, Any]]:
    data = await gate.data("GET", "/key", token=token)
    result: list[dict[str, Any]] = data["budgets"]
    scopes = [BUDGET_SCOPES.index(layer["scope"]) for layer in result]
    assert scopes == sorted(scopes)
    for layer in result:
        remaining = layer["limit_usd"] - layer["spend_usd"]
        assert layer["remaining_usd"] == pytest.approx(remaining)
        assert (layer["resets_at"] is None) == (layer["reset_interval"] is None)
    exhausted = [layer for layer in result if layer["remaining_usd"] <= 0]
    tightest = min(result, key=lambda layer: layer["remaining_usd"], default=None)
    assert data["effective_budget"] == (exhausted[0] if exhausted else tightest)
    return result


async def test_the_keys_own_limit_is_the_last_layer(gate: GatewayHarness):
    _, token = await gate.create(limit=5, limit_reset="weekly", include_byok_in_limit=True)
    layer = (await budgets(gate, token))[-1]
    assert layer == {
        "scope": "key_limit",
        "limit_usd": 5.0,
        "spend_usd": 0.0,
        "remaining_usd": 5.0,
        "reset_interval": "weekly",
        "resets_at": "2026-11-23T00:00:00Z",
        "include_byok": True,
        "budget_id": None,
        "guardrail_id": None,
    }


async def test_every_scope_in_its_order(gate: GatewayHarness):
    key = await busiest_of(gate)
    workspace = key.data["workspace_id"]
    detail = await gate.data("GET", f"/workspaces/{workspace}")
    for interval in ("daily", "weekly", "monthly", "lifetime"):
        await gate.call("DELETE", f"/workspaces/{workspace}/budgets/{interval}", expect=200)
    for interval, limit in (("lifetime", 90_000), ("monthly", 9_000), ("daily", 900)):
        path = f"/workspaces/{workspace}/budgets/{interval}"
        await gate.call("PUT", path, json={"limit_usd": limit}, expect=200)
    cap = {"limit_usd": 500, "reset_interval": "monthly"}
    path = f"/guardrails/{detail['default_guardrail_id']}"
    await gate.call("PATCH", path, json=cap, expect=200)
    of_key = await gate.guard(keys=[key.hash], workspace_id=workspace, **cap)
    people = [key.data["creator_user_id"]]
    of_member = await gate.guard(members=people, workspace_id=workspace, **cap)
    await gate.call("PATCH", f"/keys/{key.hash}", json={"limit": 400}, expect=200)
    result = await budgets(gate, key.token)
    assert [layer["scope"] for layer in result] == [
        "workspace_default_member",
        "workspace_default_key",
        "member",
        "api_key",
        "workspace",
        "workspace",
        "workspace",
        "key_limit",
    ]
    by_guardrail = [layer["guardrail_id"] for layer in result[:4]]
    default = detail["default_guardrail_id"]
    assert by_guardrail == [default, default, of_member, of_key]
    assert [layer["reset_interval"] for layer in result[4:7]] == ["daily", "monthly", None]
    assert all(layer["budget_id"] for layer in result[4:7])
    used = key.data["usage_monthly"]
    assert result[1]["spend_usd"] == result[3]["spend_usd"] == pytest.approx(used)
    listed = await gate.data("GET", "/keys", params={"workspace_id": workspace})
    mine = [row for row in listed if row["creator_user_id"] == key.data["creator_user_id"]]
    assert result[0]["spend_usd"] >= sum(row["usage_monthly"] for row in mine) - 0.001
    assert result[2]["spend_usd"] >= result[0]["spend_usd"]
    assert result[5]["spend_usd"] >= sum(row["usage_monthly"] for row in listed) - 0.001


async def test_regions_are_what_every_guardrail_allows():
    async with gateway_harness(dialect=OPENROUTER) as gate:
        key = await busiest_of(gate)
        data = await gate.data("GET", "/key", token=key.token)
        assert data["allowed_data_regions"] == ["global", "europe", "us"]
        policy = {"allowed_data_regions": ["us", "europe"]}
        await gate.guard(keys=[key.hash], workspace_id=key.data["workspace_id"], **policy)
        data = await gate.data("GET", "/key", token=key.token)
        assert data["allowed_data_regions"] == ["europe", "us"]


async def test_free_requests_of_today_are_counted(gate: GatewayHarness):
    async def free() -> dict[str, int]:
        result: dict[str, int] = (await gate.data("GET", "/key"))["free_model_daily_requests"]
        assert result["remaining"] == max(0, result["limit"] - result["used"])
        return result

    assert (await free())["limit"] == 1000
    gate.clock.forward(hours=12)
    assert (await free())["used"] > 0
    gate.clock.moment = (START + timedelta(days=1)).replace(hour=0)
    assert (await free())["used"] == 0


def cap(scope: str, limit: str, spend: str) -> Cap:
    return Cap(
        scope=scope,
        whose=("key_hash = ?", ("any",)),
        limit=Decimal(limit),
        spend=Decimal(spend),
        reset_interval=None,
        include_byok=False,
    )


@pytest.mark.parametrize(
    ("caps", "deciding"),
    [
        ([], None),
        ([cap("member", "9", "1"), cap("key_limit", "5", "1")], 1),
        ([cap("member", "9", "9"), cap("key_limit", "5", "8")], 0),
        (
            [cap("member", "9", "1"), cap("workspace", "5", "6"), cap("key_limit", "1", "9")],
            1,
        ),
        ([cap("member", "2", "1"), cap("key_limit", "5", "4")], 0),
    ],
)
def test_the_effective_budget_is_exhausted_first_or_tightest(caps: list[Cap], deciding: int | None):
    assert effective_budget(caps) == (None if deciding is None else caps[deciding])
