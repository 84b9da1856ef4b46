"""Usage over time, by day and endpoint, and the generations behind it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import START, GatewayHarness, HandClock, gateway_harness

from gateway_facts import made_request, stopped_at, world
from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded.errors import DatabaseMissingError
from gwtui.embedded.simulator.usage import accrued_by_day
from gwtui.embedded.store.generations import recent_generations

USAGE = ("usage", "usage_daily", "usage_weekly", "usage_monthly")


CONTENT = "simulated"


async def test_credits_fall_by_what_the_keys_use(gate: GatewayHarness):
    before, credits = await gate.keys(), await gate.data("GET", "/credits")
    gate.clock.forward(hours=3)
    after, less = await gate.keys(), await gate.data("GET", "/credits")
    used = sum(after[name]["usage"] - before[name]["usage"] for name in before)
    assert used > 0
    assert less["total_usage"] - credits["total_usage"] == pytest.approx(used)
    for name, data in after.items():
        assert data["usage"] >= before[name]["usage"]
        if data["usage"] > before[name]["usage"]:
            assert data["last_used_at"] > before[name]["last_used_at"]


async def test_many_small_steps_book_what_one_large_step_does(gate: GatewayHarness):
    for _ in range(60):
        gate.clock.forward(minutes=3)
        await gate.data("GET", "/credits")
    stepped = await gate.keys()
    async with gateway_harness() as other:
        other.clock.forward(hours=3)
        at_once = await other.keys()
    unlimited = [name for name, data in at_once.items() if data["limit"] is None]
    assert unlimited
    assert [stepped[name] for name in unlimited] == [at_once[name] for name in unlimited]


async def test_usage_windows_reset_at_midnight(gate: GatewayHarness):
    gate.clock.forward(hours=16, minutes=59)  # Saturday, one minute before midnight
    saturday = await gate.keys()
    gate.clock.forward(minutes=1, days=1)
    monday = await gate.keys()
    for name, data in monday.items():
        assert data["usage_daily"] == data["usage_weekly"] == data["byok_usage_daily"] == 0
        assert data["usage_monthly"] >= saturday[name]["usage_monthly"]
        assert data["usage"] >= saturday[name]["usage"]
    assert any(data["usage_weekly"] > 0 for data in saturday.values())
    gate.clock.forward(days=8)  # Tuesday 1 December
    december = await gate.keys()
    for data in december.values():
        assert data["usage_monthly"] == data["usage_daily"] == 0
    assert any(data["usage_weekly"] > 0 for data in december.values()), "the week began on Monday"


async def test_the_remaining_limit_counts_its_window(gate: GatewayHarness):
    gate.clock.forward(days=2, hours=9)
    fields = {None: "usage", **dict(zip(("daily", "weekly", "monthly"), USAGE[1:], strict=True))}
    schedules = set()
    for data in (await gate.keys()).values():
        if data["limit"] is None:
            assert data["limit_remaining"] is None
            continue
        field = fields[data["limit_reset"]]
        byok = data[f"byok_{field}"] if data["include_byok_in_limit"] else 0
        assert data["limit_remaining"] == pytest.approx(data["limit"] - data[field] - byok)
        schedules.add(data["limit_reset"])
    assert schedules == {None, "daily", "weekly", "monthly"}


async def busy_key(gate: GatewayHarness) -> dict[str, Any]:
    """An unlimited key that was used today."""
    return max(
        (data for data in (await gate.keys()).values() if data["limit"] is None),
        key=lambda data: data["usage_daily"],
    )


async def test_a_limit_stops_a_key_until_its_window_begins_again(gate: GatewayHarness):
    key = await busy_key(gate)
    path = f"/keys/{key['hash']}"
    limit = round(key["usage_daily"] + 0.01, 6)
    limited = await gate.data("PATCH", path, json={"limit": limit, "limit_reset": "daily"})
    assert 0 < limited["limit_remaining"] < 0.011
    gate.clock.forward(hours=10)
    stopped = await gate.data("GET", path)
    assert stopped["limit_remaining"] <= 0
    gate.clock.forward(hours=6)
    assert (await gate.data("GET", path))["usage"] == stopped["usage"]
    gate.clock.forward(days=1, hours=6)
    assert (await gate.data("GET", path))["usage"] > stopped["usage"]


async def test_a_clock_set_back_charges_nothing_twice(gate: GatewayHarness):
    gate.clock.forward(hours=2)
    credits = await gate.data("GET", "/credits")
    gate.clock.forward(hours=-1)
    assert await gate.data("GET", "/credits") == credits
    gate.clock.forward(hours=1)
    assert await gate.data("GET", "/credits") == credits


async def test_an_old_database_buys_credits_before_it_runs_dry(gate: GatewayHarness):
    first = await gate.data("GET", "/credits")
    gate.clock.forward(days=60)
    later = await gate.data("GET", "/credits")
    assert later["total_usage"] > first["total_credits"]
    assert later["total_credits"] > first["total_credits"]
    assert later["total_credits"] - later["total_usage"] >= 25
    days = {row["date"] for row in await gate.data("GET", "/activity")}
    assert (min(days), len(days)) == ("2026-12-21", 30)


# Activity -----------------------------------------------------------------------------------------


TODAY = START.date()
KEYS = "/keys?include_disabled=true&include_expired=true"


async def rows(gate: GatewayHarness, **query: Any) -> list[dict[str, Any]]:
    return list(await gate.data("GET", "/activity", params=query))


def usd(activity: list[dict[str, Any]], field: str = "usage") -> Decimal:
    return sum((Decimal(str(row[field])) for row in activity), Decimal(0))


async def test_thirty_completed_days_newest_first(gate: GatewayHarness):
    days = [row["date"] for row in await rows(gate)]
    assert days == sorted(days, reverse=True)
    assert days[0] == (TODAY - timedelta(days=1)).isoformat()
    assert days[-1] == (TODAY - timedelta(days=ACTIVITY_DAYS)).isoformat()
    gate.clock.forward(days=1)
    days = [row["date"] for row in await rows(gate)]
    assert days[0] == TODAY.isoformat()
    assert len(set(days)) == ACTIVITY_DAYS


async def test_the_sums_are_what_the_simulated_keys_used(gate: GatewayHarness):
    midnight = START.replace(hour=0)
    since = midnight - timedelta(days=ACTIVITY_DAYS)
    # Keys that were disabled meanwhile were refused; their totals are in their objects.
    used = [
        piece
        for key in world(1, START).keys
        if key.profile
        for piece in accrued_by_day(key.profile, since, min(midnight, stopped_at(key, START)))
    ]
    result = await rows(gate)
    assert float(usd(result)) == pytest.approx(float(sum(item.usd for item in used)))
    byok = usd(result, "byok_usage_inference")
    assert byok > 0
    assert float(byok) == pytest.approx(float(sum(item.byok_usd for item in used)))
    assert sum(row["requests"] for row in result) == sum(item.requests for item in used)


async def test_a_finished_day_equals_the_keys_daily_usage(gate: GatewayHarness):
    gate.clock.forward(hours=16, minutes=59, seconds=59)
    keys = {key["hash"]: key for key in await gate.data("GET", KEYS)}
    gate.clock.forward(seconds=1)
    busy = [key for key in keys.values() if key["usage_daily"] > 0]
    assert len(busy) > 3
    for key in busy:
        result = await rows(gate, api_key_hash=key["hash"], date=TODAY.isoformat())
        assert float(usd(result)) == pytest.approx(key["usage_daily"], rel=0.01), key["name"]


async def test_usage_by_workspace_key_and_person_sums_to_the_total(gate: GatewayHarness):
    all_rows = await rows(gate)
    by_workspace = await rows(gate, group_by="workspace")
    assert usd(by_workspace) == pytest.approx(usd(all_rows))
    assert all("workspace_id" not in row for row in all_rows)
    ids = {row["workspace_id"] for row in by_workspace}
    assert len(ids) > 1
    for workspace_id in ids:
        alone = await rows(gate, workspace_id=workspace_id)
        part = [row for row in by_workspace if row["workspace_id"] == workspace_id]
        assert usd(alone) == usd(part)
    users = {key["creator_user_id"] for key in await gate.data("GET", KEYS)}
    for user_id in users - {None}:
        of_user = await rows(gate, user_id=user_id)
        assert usd(of_user) <= usd(all_rows)
    assert await rows(gate, user_id="user_nobody") == []


@pytest.mark.parametrize(
    "query",
    [
        {"date": TODAY.isoformat()},
        {"date": (TODAY - timedelta(days=ACTIVITY_DAYS + 1)).isoformat()},
        {"date": "yesterday"},
        {"date": "2026-11-31"},
        {"group_by": "model"},
        {"workspace_id": "production"},
    ],
)
async def test_invalid_queries_name_the_parameter(gate: GatewayHarness, query: dict[str, str]):
    message = await gate.refused(400, "GET", "/activity", params=query)
    assert message.startswith(next(iter(query)) + ": ")


async def test_unknown_keys_and_workspaces_are_not_found(gate: GatewayHarness):
    await gate.refused(404, "GET", "/activity", params={"api_key_hash": "0" * 64})
    nobody = "00000000-0000-4000-8000-000000000000"
    await gate.refused(404, "GET", "/activity", params={"workspace_id": nobody})


async def test_a_deleted_key_keeps_its_history(gate: GatewayHarness):
    busiest = max(await gate.data("GET", KEYS), key=lambda key: key["usage_monthly"])
    before = await rows(gate, api_key_hash=busiest["hash"])
    assert before
    await gate.call("DELETE", f"/keys/{busiest['hash']}", expect=200)
    assert await rows(gate, api_key_hash=busiest["hash"]) == before


# Generations --------------------------------------------------------------------------------------


NOBODY = f"gen-{int(START.timestamp()) - 60}-{'0' * 20}"


async def test_the_same_generation_reads_the_same_for_30_days(gate: GatewayHarness):
    params = {"id": made_request(gate.gateway, START)}
    before = await gate.data("GET", "/generation", params=params)
    gate.clock.forward(days=29)
    assert await gate.data("GET", "/generation", params=params) == before
    gate.clock.forward(days=2)
    await gate.refused(404, "GET", "/generation", params=params)


@pytest.mark.parametrize("unknown", [NOBODY, "gen-1", "nothing", "gen-99999999999-0", "\x00"])
async def test_an_unknown_identifier_is_not_found(gate: GatewayHarness, unknown: str):
    await gate.refused(404, "GET", "/generation", params={"id": unknown})
    await gate.refused(404, "GET", "/generation/content", params={"id": unknown})
    body = {"generation_id": unknown, "category": "other"}
    await gate.refused(404, "POST", "/generation/feedback", json=body)


async def test_feedback_is_accepted(gate: GatewayHarness):
    body = {
        "generation_id": made_request(gate.gateway, START),
        "category": "latency",
        "comment": "slow",
    }
    response = await gate.call("POST", "/generation/feedback", json=body, expect=200)
    assert response.json() == {"data": {"success": True}}
    for wrong in ({**body, "category": "taste"}, {"category": "other"}, {**body, "comment": 5}):
        await gate.refused(400, "POST", "/generation/feedback", json=wrong)


async def test_a_person_finds_identifiers_beside_the_running_gateway(tmp_path: Path):
    database, clock = tmp_path / "gateway.sqlite3", HandClock()
    with pytest.raises(DatabaseMissingError):
        recent_generations(database, clock=clock.clock)
    async with gateway_harness(database, clock=clock) as gate:
        names = {made_request(gate.gateway, START, is_logged=logged) for logged in (True, False)}
        result = recent_generations(database, clock=clock.clock)
        assert {item.id for item in result} == names
        assert {item.model for item in result} == {"northwind/atlas-mini"}
