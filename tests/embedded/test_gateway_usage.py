"""Usage that accrues with time: windows, limits, credits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from gateway_kit import Bench, bench

from gateway_facts import world

USAGE = ("usage", "usage_daily", "usage_weekly", "usage_monthly")


CONTENT = "simulated"


async def all_keys(gate: Bench) -> dict[str, dict[str, Any]]:
    everything = {"include_disabled": "true", "include_expired": "true"}
    found = {}
    for workspace in await gate.data("GET", "/workspaces"):
        params = {**everything, "workspace_id": workspace["id"]}
        found |= {one["hash"]: one for one in await gate.data("GET", "/keys", params=params)}
    return found


def cents(value: float) -> Decimal:
    return Decimal(str(value)).quantize(Decimal("0.000001"))


async def test_the_first_answers_are_the_simulated_world(gate: Bench):
    founded = world(1, gate.clock.now())
    shown = await all_keys(gate)
    assert len(founded.keys) == len(shown) >= 40
    for key in founded.keys:
        data = shown[key.hash]
        assert data["name"] == key.name
        assert data["disabled"] == key.disabled
        for field, used in key.used.items():
            assert cents(data[field]) == cents(float(used)), key.name
        if key.limit is not None:
            assert cents(data["limit_remaining"]) == cents(float(key.remaining))
    credits = await gate.data("GET", "/credits")
    assert cents(credits["total_usage"]) == cents(float(founded.account.total_usage))
    assert credits["total_credits"] == float(founded.account.total_credits)


async def test_credits_fall_by_what_the_keys_use(gate: Bench):
    before, credits = await all_keys(gate), await gate.data("GET", "/credits")
    gate.clock.forward(hours=3)
    after, less = await all_keys(gate), await gate.data("GET", "/credits")
    used = sum(after[name]["usage"] - before[name]["usage"] for name in before)
    assert used > 0
    assert less["total_usage"] - credits["total_usage"] == pytest.approx(used)
    for name, data in after.items():
        assert data["usage"] >= before[name]["usage"]
        if data["usage"] > before[name]["usage"]:
            assert data["last_used_at"] > before[name]["last_used_at"]


async def test_many_small_steps_book_what_one_large_step_does(gate: Bench):
    for _ in range(60):
        gate.clock.forward(minutes=3)
        await gate.data("GET", "/credits")
    stepped = await all_keys(gate)
    async with bench() as other:
        other.clock.forward(hours=3)
        at_once = await all_keys(other)
    unlimited = [name for name, data in at_once.items() if data["limit"] is None]
    assert unlimited
    assert [stepped[name] for name in unlimited] == [at_once[name] for name in unlimited]


async def test_windows_begin_again_at_their_midnights(gate: Bench):
    gate.clock.forward(hours=16, minutes=59)  # Saturday, one minute before midnight
    saturday = await all_keys(gate)
    gate.clock.forward(minutes=1, days=1)
    monday = await all_keys(gate)
    for name, data in monday.items():
        assert data["usage_daily"] == data["usage_weekly"] == data["byok_usage_daily"] == 0
        assert data["usage_monthly"] >= saturday[name]["usage_monthly"]
        assert data["usage"] >= saturday[name]["usage"]
    assert any(data["usage_weekly"] > 0 for data in saturday.values())
    gate.clock.forward(days=8)  # Tuesday 1 December
    december = await all_keys(gate)
    for data in december.values():
        assert data["usage_monthly"] == data["usage_daily"] == 0
    assert any(data["usage_weekly"] > 0 for data in december.values()), "the week began on Monday"


async def test_what_is_left_of_a_limit_is_counted_in_its_window(gate: Bench):
    gate.clock.forward(days=2, hours=9)
    fields = {None: "usage", **dict(zip(("daily", "weekly", "monthly"), USAGE[1:], strict=True))}
    schedules = set()
    for data in (await all_keys(gate)).values():
        if data["limit"] is None:
            assert data["limit_remaining"] is None
            continue
        field = fields[data["limit_reset"]]
        byok = data[f"byok_{field}"] if data["include_byok_in_limit"] else 0
        assert data["limit_remaining"] == pytest.approx(data["limit"] - data[field] - byok)
        schedules.add(data["limit_reset"])
    assert schedules == {None, "daily", "weekly", "monthly"}


async def busy_key(gate: Bench) -> dict[str, Any]:
    """An unlimited key that has been used today."""
    return max(
        (data for data in (await all_keys(gate)).values() if data["limit"] is None),
        key=lambda data: data["usage_daily"],
    )


async def test_a_disabled_key_is_not_used_and_an_enabled_one_is_again(gate: Bench):
    key = await busy_key(gate)
    path = f"/keys/{key['hash']}"
    gate.clock.forward(minutes=30)
    disabled = await gate.data("PATCH", path, json={"disabled": True})
    assert disabled["usage"] > key["usage"], "what was used before counts"
    gate.clock.forward(days=1)
    assert (await gate.data("GET", path))["usage"] == disabled["usage"]
    await gate.data("PATCH", path, json={"disabled": False})
    gate.clock.forward(hours=6)
    assert (await gate.data("GET", path))["usage"] > disabled["usage"]


async def test_a_limit_stops_a_key_until_its_window_begins_again(gate: Bench):
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


async def test_a_clock_that_goes_back_books_nothing_twice(gate: Bench):
    gate.clock.forward(hours=2)
    credits = await gate.data("GET", "/credits")
    gate.clock.forward(hours=-1)
    assert await gate.data("GET", "/credits") == credits
    gate.clock.forward(hours=1)
    assert await gate.data("GET", "/credits") == credits


async def test_an_old_database_buys_credits_before_it_runs_dry(gate: Bench):
    first = await gate.data("GET", "/credits")
    gate.clock.forward(days=60)
    later = await gate.data("GET", "/credits")
    assert later["total_usage"] > first["total_credits"]
    assert later["total_credits"] > first["total_credits"]
    assert later["total_credits"] - later["total_usage"] >= 25
    days = {row["date"] for row in await gate.data("GET", "/activity")}
    assert (min(days), len(days)) == ("2026-12-21", 30)
