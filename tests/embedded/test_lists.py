"""Lists: content, order and paging, while rows come and go."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import EVERYTHING, START, GatewayHarness, HandClock, gateway_harness

import large_account
from gwtui.contract.scalars import timestamp_text


async def names(gate: GatewayHarness, **params: object) -> list[str]:
    return [key["name"] for key in await gate.data("GET", "/keys", params=params)]


async def test_disabled_and_expired_keys_are_hidden_unless_asked_for(gate: GatewayHarness):
    soon = timestamp_text(START + timedelta(minutes=1))
    await gate.create(name="plain")
    disabled, _ = await gate.create(name="disabled")
    await gate.create(name="expired", expires_at=soon)
    both, _ = await gate.create(name="both", expires_at=soon)
    for data in (disabled, both):
        await gate.call("PATCH", f"/keys/{data['hash']}", json={"disabled": True}, expect=200)
    assert await names(gate) == ["expired", "plain"]
    gate.clock.forward(minutes=1)
    assert await names(gate) == ["plain"]
    assert await names(gate, include_disabled="true") == ["disabled", "plain"]
    assert await names(gate, include_expired="true") == ["expired", "plain"]
    assert await names(gate, **EVERYTHING) == ["both", "expired", "disabled", "plain"]
    assert await names(gate, include_disabled="false", include_expired="false") == ["plain"]


async def test_an_empty_gateway_is_a_new_account(gate: GatewayHarness):
    assert await names(gate) == []
    assert await gate.data("GET", "/credits") == {"total_credits": 0.0, "total_usage": 0.0}
    (workspace,) = await gate.data("GET", "/workspaces")
    assert workspace["slug"] == "default"
    assert (await gate.data("GET", "/key"))["is_free_tier"] is True
    assert len(await gate.data("GET", "/models")) > 10
    gate.clock.forward(days=40)
    assert await gate.data("GET", "/credits") == {"total_credits": 0.0, "total_usage": 0.0}


async def test_a_workspace_is_found_by_uuid_and_by_slug():
    async with gateway_harness() as gate:
        for workspace in await gate.data("GET", "/workspaces"):
            for name in (workspace["id"], workspace["id"].upper(), workspace["slug"]):
                assert await gate.data("GET", f"/workspaces/{name}") == workspace


@pytest.mark.parametrize("figure", ["price", "output_price", "age_days"])
async def test_large_bounds_are_compared(gate: GatewayHarness, figure: str):
    models = await gate.data("GET", "/models")
    assert await gate.data("GET", "/models", params={f"min_{figure}": 10**15}) == []
    assert await gate.data("GET", "/models", params={f"max_{figure}": 10**15}) == models
    assert await gate.data("GET", "/models", params={f"min_{figure}": "000"}) == models


# Long lists ---------------------------------------------------------------------------------------


COUNT = 450


async def walked(gate: GatewayHarness, path: str, **query: Any) -> list[str]:
    """All rows of a list by identity, page by page; each page is also read by itself."""
    results: list[str] = []
    while page := await gate.data("GET", path, params={**query, "offset": len(results)}):
        results += [row.get("id") or row["hash"] for row in page]
    for offset in (COUNT - 50, 0, 100, 350, 100):
        page = await gate.data("GET", path, params={**query, "offset": offset})
        identities = [row.get("id") or row["hash"] for row in page]
        assert identities == results[offset : offset + len(identities)]
    return results


async def test_pages_follow_every_change(tmp_path: Path):
    large_account.make(tmp_path / "large.sqlite3", COUNT, people=40)
    newest = [f"{number:064x}" for number in range(COUNT)]
    async with gateway_harness(tmp_path / "large.sqlite3", clock=HandClock()) as gate:
        assert await walked(gate, "/keys", **EVERYTHING) == newest
        working = [entry for number, entry in enumerate(newest) if number % 50]
        assert await walked(gate, "/keys") == working
        await gate.call("PATCH", f"/keys/{newest[7]}", json={"disabled": True}, expect=200)
        await gate.call("DELETE", f"/keys/{newest[60]}", expect=200)
        created, _ = await gate.create(expires_at="2026-11-21T08:00:00Z")
        working = [entry for entry in working if entry not in {newest[7], newest[60]}]
        assert await walked(gate, "/keys") == [created["hash"], *working]
        gate.clock.forward(hours=1)
        assert await walked(gate, "/keys") == working, "the new key has expired"
        gate.clock.forward(minutes=-30)
        assert await walked(gate, "/keys") == [created["hash"], *working], "the clock went back"
        path = "/guardrails/assignments/keys"
        assert len(await walked(gate, path, limit=100)) == COUNT - 1
        assigned = "/guardrails/00000000-0000-4000-8000-000000000003/assignments/keys"
        bound = await walked(gate, assigned, limit=7)
        body = {"key_hashes": newest[40:42]}
        await gate.call("POST", assigned, json=body, expect=200)
        assert (await walked(gate, assigned, limit=7))[: len(bound)] == bound
        assert (await gate.call("GET", assigned)).json()["total_count"] == len(bound) + 2
