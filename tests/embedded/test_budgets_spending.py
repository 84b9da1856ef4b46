"""What stops the simulated keys: budgets of their workspace, caps of guardrails, in each period.

Keys of a workspace share its budgets; a cap is for each key, or each member, by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import pytest
from gateway_kit import Bench, bench

PRODUCTION = "/workspaces/production"
ONE_REQUEST = 0.5
"""More USD than one request of the simulated keys costs."""
Keys = dict[str, dict[str, Any]]


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    """The simulated world, with production's budgets out of the way."""
    async with bench() as opened:
        for interval in ("daily", "weekly", "monthly"):
            await opened.call("DELETE", f"{PRODUCTION}/budgets/{interval}", expect=200)
        yield opened


@pytest.fixture
async def probe(gate: Bench) -> str:
    """A key of production that is never used, to look at the budgets with."""
    home = await gate.data("GET", PRODUCTION)
    _, token = await gate.create(name="probe", workspace_id=home["id"])
    return token


async def budget(gate: Bench, interval: str, limit: float) -> None:
    path = f"{PRODUCTION}/budgets/{interval}"
    await gate.call("PUT", path, json={"limit_usd": limit}, expect=200)


async def keys(gate: Bench, *slugs: str) -> Keys:
    """The keys of some workspaces, of all when none is named; the probe is left out."""
    found: Keys = {}
    for workspace in await gate.data("GET", "/workspaces"):
        if not slugs or workspace["slug"] in slugs:
            home = {"workspace_id": workspace["id"], "include_disabled": "true"}
            home["include_expired"] = "true"
            found |= {key["hash"]: key for key in await gate.data("GET", "/keys", params=home)}
    return {name: key for name, key in found.items() if key["name"] != "probe"}


async def used(gate: Bench, slug: str) -> float:
    return float(sum(key["usage"] for key in (await keys(gate, slug)).values()))


async def growth(gate: Bench, before: Keys) -> dict[str, float]:
    after = await keys(gate)
    return {name: after[name]["usage"] - before[name]["usage"] for name in before}


async def layer(gate: Bench, token: str, interval: str | None) -> dict[str, Any]:
    """The workspace's budget of an interval, as its keys see it."""
    found = (await gate.data("GET", "/key", token=token))["budgets"]
    shown = {one["reset_interval"]: one for one in found if one["scope"] == "workspace"}
    return dict(shown[interval])


async def test_what_a_workspace_spent_is_what_its_keys_used(gate: Bench, probe: str):
    for interval, limit in (("daily", 1e5), ("weekly", 2e5), ("monthly", 3e5), ("lifetime", 4e5)):
        await budget(gate, interval, limit)
    gate.clock.forward(hours=1)
    found = (await keys(gate, "production")).values()
    for interval in ("daily", "weekly", "monthly", None):
        field = f"usage_{interval}" if interval else "usage"
        shown = await layer(gate, probe, interval)
        assert shown["spend_usd"] == pytest.approx(sum(key[field] for key in found)) != 0
        assert shown["remaining_usd"] == pytest.approx(shown["limit_usd"] - shown["spend_usd"])


async def test_an_exhausted_budget_stops_its_workspace_until_it_starts_over(
    gate: Bench, probe: str
):
    before = await used(gate, "production")
    gate.clock.forward(hours=1)
    await budget(gate, "daily", 1e5)
    assert await used(gate, "production") > before, "what was before the budget is booked"
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


async def test_keys_that_go_take_no_spending_along(gate: Bench, probe: str):
    await budget(gate, "lifetime", 1e6)
    before = (await layer(gate, probe, None))["spend_usd"]
    found = sorted((await keys(gate, "production")).values(), key=lambda key: -key["usage"])
    busy, next_busy, *_ = found
    await gate.call("DELETE", f"/keys/{busy['hash']}", expect=200)
    moved = {"workspace_id": (await gate.data("GET", "/workspaces/research"))["id"]}
    await gate.call("PATCH", f"/keys/{next_busy['hash']}", json=moved, expect=200)
    assert (await layer(gate, probe, None))["spend_usd"] == before
    gate.clock.forward(hours=2)
    gone = busy["usage"] + next_busy["usage"]
    here = (await layer(gate, probe, None))["spend_usd"]
    assert here == pytest.approx(await used(gate, "production") + gone)


# Caps of guardrails -------------------------------------------------------------------------------


async def busiest(gate: Bench) -> dict[str, Any]:
    """The key of production that uses most within a few hours, seen in a world of its own."""
    async with bench() as other:
        before = await keys(other, "production")
        other.clock.forward(hours=4)
        grown = await growth(other, before)
    return (await keys(gate))[max(grown, key=lambda name: grown[name])]


async def capped(gate: Bench, limit: float, kind: str, **holders: Any) -> str:
    """A guardrail with a cap that binds keys or members: the path of its assignments."""
    body = {"name": "cap", "limit_usd": limit}
    rail = (await gate.data("POST", "/guardrails", json=body))["id"]
    path = f"/guardrails/{rail}/assignments/{kind}"
    await gate.call("POST", path, json=holders, expect=200)
    return path


async def test_a_cap_stops_the_key_that_it_is_on(gate: Bench):
    key = await busiest(gate)
    before = await keys(gate, "production")
    path = await capped(gate, key["usage"] + 0.2, "keys", key_hashes=[key["hash"]])
    gate.clock.forward(hours=12)
    grown = await growth(gate, before)
    assert 0.2 <= grown.pop(key["hash"]) < 0.2 + ONE_REQUEST
    assert sum(grown.values()) > 2, "the others go on"
    await gate.call("POST", f"{path}/remove", json={"key_hashes": [key["hash"]]}, expect=200)
    stopped = await keys(gate)
    gate.clock.forward(hours=12)
    assert (await growth(gate, stopped))[key["hash"]] > 0.2


async def by_member(gate: Bench, before: Keys) -> dict[str | None, float]:
    sums: dict[str | None, float] = defaultdict(float)
    for name, grown in (await growth(gate, before)).items():
        sums[before[name]["creator_user_id"]] += grown
    return sums


async def test_a_cap_on_a_member_is_used_up_by_all_their_keys_together(gate: Bench):
    member = (await busiest(gate))["creator_user_id"]
    before = await keys(gate)
    spent = sum(one["usage"] for one in before.values() if one["creator_user_id"] == member)
    await capped(gate, spent + 1, "members", member_user_ids=[member])
    gate.clock.forward(hours=24)
    sums = await by_member(gate, before)
    assert 1 <= sums.pop(member) < 1 + ONE_REQUEST
    assert max(sums.values()) > 1 + ONE_REQUEST
