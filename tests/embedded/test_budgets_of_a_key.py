"""GET /key: every budget that binds the key, in order, and the one that decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from gateway_kit import START, Bench, bench

from gwtui.contract.current_key import BUDGET_SCOPES
from gwtui.contract.dialects import OPENROUTER
from gwtui.embedded.auth import key_hash
from gwtui.embedded.store import account
from gwtui.embedded.store.keys import Cap, effective_budget

CONTENT = "simulated"


@dataclass
class Known:
    """A simulated key that is used, under a text that opens it."""

    hash: str
    token: str
    data: dict[str, Any]


def take_over(gate: Bench, data: dict[str, Any]) -> Known:
    """Give a key of the simulated world, whose text never existed, a text."""
    token = f"gw-v1-{data['hash']}"
    with gate.gateway._database.write() as db:
        for table in ("keys", "usage"):
            column = {"keys": "id", "usage": "key_hash"}[table]
            db.execute(
                f"UPDATE {table} SET {column} = ? WHERE {column} = ?",  # noqa: S608
                (key_hash(token), data["hash"]),
            )
        db.execute("UPDATE keys SET document = json_set(document, '$.hash', id)")
    return Known(key_hash(token), token, data)


async def busiest(gate: Bench, slug: str = "production") -> Known:
    workspaces = {one["slug"]: one["id"] for one in await gate.data("GET", "/workspaces")}
    listed = await gate.data("GET", "/keys", params={"workspace_id": workspaces[slug]})
    free = [key for key in listed if key["limit"] is None and key["creator_user_id"]]
    return take_over(gate, max(free, key=lambda key: key["usage_monthly"]))


async def budgets(gate: Bench, token: str) -> list[dict[str, Any]]:
    data = await gate.data("GET", "/key", token=token)
    found: list[dict[str, Any]] = data["budgets"]
    scopes = [BUDGET_SCOPES.index(layer["scope"]) for layer in found]
    assert scopes == sorted(scopes)
    for layer in found:
        left = layer["limit_usd"] - layer["spend_usd"]
        assert layer["remaining_usd"] == pytest.approx(left)
        assert (layer["resets_at"] is None) == (layer["reset_interval"] is None)
    exhausted = [layer for layer in found if layer["remaining_usd"] <= 0]
    tightest = min(found, key=lambda layer: layer["remaining_usd"], default=None)
    assert data["effective_budget"] == (exhausted[0] if exhausted else tightest)
    return found


async def guardrail(gate: Bench, workspace_id: str, **policy: Any) -> str:
    body = {"name": "cap", "workspace_id": workspace_id, **policy}
    made = await gate.call("POST", "/guardrails", json=body, expect=201)
    return str(made.json()["data"]["id"])


async def test_the_keys_own_limit_is_the_last_layer(gate: Bench):
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


async def test_every_scope_in_its_order(gate: Bench):
    key = await busiest(gate)
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
    own = await guardrail(gate, workspace, **cap)
    await gate.call(
        "POST", f"/guardrails/{own}/assignments/keys", json={"key_hashes": [key.hash]}, expect=200
    )
    of_member = await guardrail(gate, workspace, **cap)
    members = {"member_user_ids": [key.data["creator_user_id"]]}
    await gate.call(
        "POST", f"/guardrails/{of_member}/assignments/members", json=members, expect=200
    )
    await gate.call("PATCH", f"/keys/{key.hash}", json={"limit": 400}, expect=200)
    found = await budgets(gate, key.token)
    assert [layer["scope"] for layer in found] == [
        "workspace_default_member",
        "workspace_default_key",
        "member",
        "api_key",
        "workspace",
        "workspace",
        "workspace",
        "key_limit",
    ]
    by_guardrail = [layer["guardrail_id"] for layer in found[:4]]
    default = detail["default_guardrail_id"]
    assert by_guardrail == [default, default, of_member, own]
    assert [layer["reset_interval"] for layer in found[4:7]] == ["daily", "monthly", None]
    assert all(layer["budget_id"] for layer in found[4:7])
    used = key.data["usage_monthly"]
    assert found[1]["spend_usd"] == found[3]["spend_usd"] == pytest.approx(used)
    listed = await gate.data("GET", "/keys", params={"workspace_id": workspace})
    mine = [one for one in listed if one["creator_user_id"] == key.data["creator_user_id"]]
    assert found[0]["spend_usd"] >= sum(one["usage_monthly"] for one in mine) - 0.001
    assert found[2]["spend_usd"] >= found[0]["spend_usd"]
    assert found[5]["spend_usd"] >= sum(one["usage_monthly"] for one in listed) - 0.001


async def test_regions_are_what_every_guardrail_allows():
    async with bench(dialect=OPENROUTER) as gate:
        key = await busiest(gate)
        data = await gate.data("GET", "/key", token=key.token)
        assert data["allowed_data_regions"] == ["global", "europe", "us"]
        regions = ["us", "europe"]
        own = await guardrail(gate, key.data["workspace_id"], allowed_data_regions=regions)
        body = {"key_hashes": [key.hash]}
        await gate.call("POST", f"/guardrails/{own}/assignments/keys", json=body, expect=200)
        data = await gate.data("GET", "/key", token=key.token)
        assert data["allowed_data_regions"] == ["europe", "us"]


async def test_free_requests_of_today_are_counted(gate: Bench):
    async def free() -> dict[str, int]:
        found: dict[str, int] = (await gate.data("GET", "/key"))["free_model_daily_requests"]
        assert found["remaining"] == max(0, found["limit"] - found["used"])
        return found

    assert (await free())["limit"] == 1000
    gate.clock.forward(hours=12)
    assert (await free())["used"] > 0
    gate.clock.moment = (START + timedelta(days=1)).replace(hour=0)
    assert (await free())["used"] == 0


def layer(scope: str, limit: str, spend: str) -> Cap:
    return Cap(
        scope=scope,
        whose=account.of_key("any"),
        limit=Decimal(limit),
        spend=Decimal(spend),
        reset_interval=None,
        include_byok=False,
    )


@pytest.mark.parametrize(
    ("found", "deciding"),
    [
        ([], None),
        ([layer("member", "9", "1"), layer("key_limit", "5", "1")], 1),
        ([layer("member", "9", "9"), layer("key_limit", "5", "8")], 0),
        (
            [layer("member", "9", "1"), layer("workspace", "5", "6"), layer("key_limit", "1", "9")],
            1,
        ),
        ([layer("member", "2", "1"), layer("key_limit", "5", "4")], 0),
    ],
)
def test_the_first_exhausted_decides_else_the_tightest(found: list[Cap], deciding: int | None):
    assert effective_budget(found) == (None if deciding is None else found[deciding])
