"""Activity: the same figures as the keys', by day and endpoint, whatever is filtered."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from gateway_kit import START, Bench

from gateway_facts import stopped_at, world
from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded.simulator.usage import accrued_by_day

TODAY = START.date()
KEYS = "/keys?include_disabled=true&include_expired=true"


CONTENT = "simulated"


async def rows(gate: Bench, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await gate.data("GET", "/activity", params=query)
    return found


def usd(found: list[dict[str, Any]], field: str = "usage") -> Decimal:
    return sum((Decimal(str(row[field])) for row in found), Decimal(0))


async def test_thirty_completed_days_newest_first(gate: Bench):
    days = [row["date"] for row in await rows(gate)]
    assert days == sorted(days, reverse=True)
    assert days[0] == (TODAY - timedelta(days=1)).isoformat()
    assert days[-1] == (TODAY - timedelta(days=ACTIVITY_DAYS)).isoformat()
    gate.clock.forward(days=1)
    days = [row["date"] for row in await rows(gate)]
    assert days[0] == TODAY.isoformat()
    assert len(set(days)) == ACTIVITY_DAYS


async def test_the_sums_are_what_the_simulated_keys_used(gate: Bench):
    midnight = START.replace(hour=0)
    since = midnight - timedelta(days=ACTIVITY_DAYS)
    # Keys that were stopped meanwhile were refused: their sums are in the documents.
    used = [
        piece
        for key in world(1, START).keys
        if key.profile
        for piece in accrued_by_day(key.profile, since, min(midnight, stopped_at(key, START)))
    ]
    found = await rows(gate)
    assert float(usd(found)) == pytest.approx(float(sum(one.usd for one in used)))
    byok = usd(found, "byok_usage_inference")
    assert byok > 0
    assert float(byok) == pytest.approx(float(sum(one.byok_usd for one in used)))
    assert sum(row["requests"] for row in found) == sum(one.requests for one in used)


async def test_a_completed_day_is_what_the_key_showed_for_it(gate: Bench):
    gate.clock.forward(hours=16, minutes=59, seconds=59)
    shown = {key["hash"]: key for key in await gate.data("GET", KEYS)}
    gate.clock.forward(seconds=1)
    busy = [key for key in shown.values() if key["usage_daily"] > 0]
    assert len(busy) > 3
    for key in busy:
        found = await rows(gate, api_key_hash=key["hash"], date=TODAY.isoformat())
        assert float(usd(found)) == pytest.approx(key["usage_daily"], rel=0.01), key["name"]


async def test_workspaces_keys_and_people_divide_it_without_rest(gate: Bench):
    everything = await rows(gate)
    by_workspace = await rows(gate, group_by="workspace")
    assert usd(by_workspace) == pytest.approx(usd(everything))
    assert all("workspace_id" not in row for row in everything)
    named = {row["workspace_id"] for row in by_workspace}
    assert len(named) > 1
    for workspace_id in named:
        alone = await rows(gate, workspace_id=workspace_id)
        part = [row for row in by_workspace if row["workspace_id"] == workspace_id]
        assert usd(alone) == usd(part)
    users = {key["creator_user_id"] for key in await gate.data("GET", KEYS)}
    for user_id in users - {None}:
        of_user = await rows(gate, user_id=user_id)
        assert usd(of_user) <= usd(everything)
    assert await rows(gate, user_id="user_nobody") == []


async def test_one_row_for_each_day_and_endpoint(gate: Bench):
    found = await rows(gate)
    identities = [(row["date"], row["endpoint_id"]) for row in found]
    assert len(identities) == len(set(identities))
    models = {model["id"] for model in await gate.data("GET", "/models?output_modalities=all")}
    assert {row["model"] for row in found} <= models
    for row in found:
        assert 0 <= row["reasoning_tokens"] <= row["completion_tokens"]
        assert 0 <= row["cached_tokens"] <= row["prompt_tokens"]


@pytest.mark.parametrize(
    "query",
    [
        {"date": TODAY.isoformat()},
        {"date": (TODAY - timedelta(days=ACTIVITY_DAYS + 1)).isoformat()},
        {"date": "yesterday"},
        {"date": "2026-11-31"},
        {"date": "2026-11-20T00:00:00Z"},
        {"group_by": "model"},
        {"workspace_id": "production"},
    ],
)
async def test_what_cannot_be_asked_is_named(gate: Bench, query: dict[str, str]):
    message = await gate.refused(400, "GET", "/activity", params=query)
    assert message.startswith(next(iter(query)) + ": ")


async def test_what_never_was_is_not_found(gate: Bench):
    await gate.refused(404, "GET", "/activity", params={"api_key_hash": "0" * 64})
    nobody = "00000000-0000-4000-8000-000000000000"
    await gate.refused(404, "GET", "/activity", params={"workspace_id": nobody})


async def test_a_deleted_key_keeps_its_history(gate: Bench):
    busiest = max(await gate.data("GET", KEYS), key=lambda key: key["usage_monthly"])
    before = await rows(gate, api_key_hash=busiest["hash"])
    assert before
    await gate.call("DELETE", f"/keys/{busiest['hash']}", expect=200)
    assert await rows(gate, api_key_hash=busiest["hash"]) == before


async def test_a_key_that_moves_leaves_its_history_behind(gate: Bench):
    workspaces = {one["slug"]: one["id"] for one in await gate.data("GET", "/workspaces")}
    busiest = max(await gate.data("GET", KEYS), key=lambda key: key["usage_monthly"])
    body = {"workspace_id": workspaces["partner-portal"]}
    await gate.call("PATCH", f"/keys/{busiest['hash']}", json=body, expect=200)
    assert await rows(gate, workspace_id=workspaces["partner-portal"]) == []
    gate.clock.forward(days=2)
    found = await rows(gate, workspace_id=workspaces["partner-portal"])
    assert {row["date"] for row in found} >= {(TODAY + timedelta(days=1)).isoformat()}
