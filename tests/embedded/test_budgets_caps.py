"""Caps of guardrails stop what keys use: for each key, or each member, by itself."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from gateway_kit import Bench, bench

ONE_REQUEST = 0.5
"""More USD than one request of the simulated keys costs."""


CONTENT = "simulated"


async def keys(gate: Bench, *slugs: str) -> dict[str, dict[str, Any]]:
    """The keys of some workspaces, of all when none is named."""
    everything = {"include_disabled": "true", "include_expired": "true"}
    found = {}
    for workspace in await gate.data("GET", "/workspaces"):
        if not slugs or workspace["slug"] in slugs:
            home = {"workspace_id": workspace["id"], **everything}
            found |= {key["hash"]: key for key in await gate.data("GET", "/keys", params=home)}
    return found


async def growth(gate: Bench, before: dict[str, dict[str, Any]]) -> dict[str, float]:
    after = await keys(gate)
    return {name: after[name]["usage"] - before[name]["usage"] for name in before}


async def busiest(gate: Bench) -> dict[str, Any]:
    """The key of production that uses most within a few hours, seen in a world of its own."""
    async with bench() as other:
        before = await keys(other, "production")
        other.clock.forward(hours=4)
        grown = await growth(other, before)
    return (await keys(gate))[max(grown, key=lambda name: grown[name])]


async def guardrail(gate: Bench, limit: float, interval: str = "monthly") -> str:
    home = await gate.data("GET", "/workspaces/production")
    body = {
        "name": "cap",
        "limit_usd": limit,
        "reset_interval": interval,
        "workspace_id": home["id"],
    }
    return str((await gate.data("POST", "/guardrails", json=body))["id"])


async def test_the_cap_of_a_guardrail_stops_the_key_that_it_is_on(gate: Bench):
    key = await busiest(gate)
    rail = await guardrail(gate, key["usage_monthly"] + 0.2)
    path = f"/guardrails/{rail}/assignments/keys"
    before = await keys(gate, "production")
    await gate.call("POST", path, json={"key_hashes": [key["hash"]]}, expect=200)
    gate.clock.forward(hours=12)
    grown = await growth(gate, before)
    assert 0.2 <= grown.pop(key["hash"]) < 0.2 + ONE_REQUEST
    assert sum(grown.values()) > 2, "the others go on"
    await gate.call("POST", f"{path}/remove", json={"key_hashes": [key["hash"]]}, expect=200)
    stopped = await keys(gate)
    gate.clock.forward(hours=12)
    assert (await growth(gate, stopped))[key["hash"]] > 0.2


async def test_a_cap_on_a_member_is_used_up_by_all_their_keys_together(gate: Bench):
    key = await busiest(gate)
    member = key["creator_user_id"]
    before = await keys(gate)
    spent = sum(one["usage"] for one in before.values() if one["creator_user_id"] == member)
    body = {"name": "cap", "limit_usd": spent + 1}
    rail = (await gate.data("POST", "/guardrails", json=body))["id"]
    path = f"/guardrails/{rail}/assignments/members"
    await gate.call("POST", path, json={"member_user_ids": [member]}, expect=200)
    gate.clock.forward(hours=24)
    by_member: dict[str | None, float] = defaultdict(float)
    for name, grown in (await growth(gate, before)).items():
        by_member[before[name]["creator_user_id"]] += grown
    assert 1 <= by_member.pop(member) < 1 + ONE_REQUEST
    assert max(by_member.values()) > 1 + ONE_REQUEST


async def test_the_default_guardrail_caps_each_key_and_member_of_its_workspace(gate: Bench):
    home = await gate.data("GET", "/workspaces/production")
    rail = {"limit_usd": 0.3, "reset_interval": "daily"}
    gate.clock.forward(hours=17)  # a new day: nothing is spent yet
    here, elsewhere = await keys(gate, "production"), await keys(gate, "research")
    await gate.data("PATCH", f"/guardrails/{home['default_guardrail_id']}", json=rail)
    gate.clock.forward(hours=20)
    by_member: dict[str | None, list[float]] = defaultdict(list)
    for name, grown in (await growth(gate, here)).items():
        by_member[here[name]["creator_user_id"]].append(grown)
    nobodys = by_member.pop(None)
    assert max(nobodys) < 0.3 + ONE_REQUEST
    sums = [sum(grown) for grown in by_member.values()]
    assert max(sums) < 0.3 + ONE_REQUEST
    assert sum(value >= 0.3 for value in sums) >= 2, "one does not use up what is another's"
    assert max((await growth(gate, elsewhere)).values()) > 0.3 + ONE_REQUEST
