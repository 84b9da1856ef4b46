"""Members of workspaces: who is listed, who may be added, who may not be removed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from gateway_kit import Bench, bench

HOME = "/workspaces/home"
MEMBERS = f"{HOME}/members"


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    """A gateway with one more workspace, which nobody is in yet."""
    async with bench(content="empty") as opened:
        await opened.call("POST", "/workspaces", json={"name": "Home", "slug": "home"}, expect=201)
        yield opened


async def people(gate: Bench) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await gate.data("GET", "/organization/members")
    return found


async def ids(gate: Bench) -> list[str]:
    return [one["id"] for one in await people(gate)]


async def members(gate: Bench) -> list[str]:
    return [one["user_id"] for one in await gate.data("GET", MEMBERS)]


async def add(gate: Bench, *user_ids: str, expect: int = 200) -> dict[str, Any]:
    body = {"user_ids": list(user_ids)}
    answer = await gate.call("POST", f"{MEMBERS}/add", json=body, expect=expect)
    whole: dict[str, Any] = answer.json()
    return whole


async def key_of(gate: Bench, user_id: str, **fields: Any) -> dict[str, Any]:
    home = await gate.data("GET", HOME)
    data, _ = await gate.create(creator_user_id=user_id, workspace_id=home["id"], **fields)
    return data


async def test_members_are_added_with_the_role_that_they_have(gate: Bench):
    organization = await people(gate)
    roles = {"org:admin": "admin", "org:member": "member"}
    whole = await add(gate, *(one["id"] for one in organization))
    home = await gate.data("GET", HOME)
    assert whole["added_count"] == len(organization) == len(whole["data"])
    assert [one["role"] for one in whole["data"]] == [roles[one["role"]] for one in organization]
    assert {one["workspace_id"] for one in whole["data"]} == {home["id"]}
    assert {one["created_at"] for one in whole["data"]} == {"2026-11-21T07:00:00Z"}
    assert await gate.data("GET", MEMBERS) == whole["data"]


async def test_adding_again_counts_and_changes_nothing(gate: Bench):
    first, second, *_ = await ids(gate)
    before = (await add(gate, first))["data"]
    gate.clock.forward(minutes=1)
    whole = await add(gate, second, first, second)
    assert whole["added_count"] == 2
    assert [one["user_id"] for one in whole["data"]] == [second, first]
    assert whole["data"][1] == before[0]
    assert await members(gate) == [first, second]


async def test_a_stranger_is_named_and_nobody_is_added(gate: Bench):
    first, *_ = await ids(gate)
    body = {"user_ids": ["user_nobody", first, "a\x1b[31m", "user_nobody"]}
    message = await gate.refused(400, "POST", f"{MEMBERS}/add", json=body)
    assert message == "user_ids: not members of the organization: user_nobody, a\x1b[31m"
    assert await members(gate) == []


async def test_many_strangers_are_named_within_reason(gate: Bench):
    body = {"user_ids": [f"{number}{'x' * 5000}" for number in range(100)]}
    message = await gate.refused(400, "POST", f"{MEMBERS}/add", json=body)
    assert message.endswith(" and 90 more")
    assert len(message) < 1200


async def test_members_are_removed_and_counted(gate: Bench):
    first, second, third, *_ = await ids(gate)
    await add(gate, first, second)
    body = {"user_ids": [second, third, "user_nobody", second], "unheard_of": 1}
    answer = await gate.call("POST", f"{MEMBERS}/remove", json=body, expect=200)
    assert answer.json() == {"removed_count": 1}
    assert await members(gate) == [first]
    answer = await gate.call("POST", f"{MEMBERS}/remove", json=body, expect=200)
    assert answer.json() == {"removed_count": 0}


async def test_nobody_is_removed_while_one_has_an_active_key(gate: Bench):
    first, second, third, *_ = await ids(gate)
    await add(gate, first, second)
    key = await key_of(gate, first)
    await key_of(gate, third)
    body = {"user_ids": [second, first, third]}
    message = await gate.refused(400, "POST", f"{MEMBERS}/remove", json=body)
    assert message == f"user_ids: still have active API keys in the workspace: {first}"
    assert await members(gate) == [first, second]
    await gate.call("PATCH", f"/keys/{key['hash']}", json={"disabled": True}, expect=200)
    answer = await gate.call("POST", f"{MEMBERS}/remove", json=body, expect=200)
    assert answer.json() == {"removed_count": 2}


async def test_expired_keys_and_keys_elsewhere_hold_nobody(gate: Bench):
    first, *_ = await ids(gate)
    await add(gate, first)
    await key_of(gate, first, expires_at="2026-11-21T07:30:00Z")
    await gate.create(creator_user_id=first)
    await gate.refused(400, "POST", f"{MEMBERS}/remove", json={"user_ids": [first]})
    gate.clock.forward(minutes=30)
    await gate.call("POST", f"{MEMBERS}/remove", json={"user_ids": [first]}, expect=200)


async def test_everybody_is_in_the_default_workspace(gate: Bench):
    organization = await ids(gate)
    whole = (await gate.call("GET", "/workspaces/default/members", expect=200)).json()
    assert [one["user_id"] for one in whole["data"]] == organization
    assert whole["total_count"] == len(organization)
    assert len({one["id"] for one in whole["data"]}) == len(organization)
    again = (await gate.call("GET", "/workspaces/default/members", expect=200)).json()
    assert again == whole, "a membership keeps its id"


async def test_joining_the_default_workspace_is_no_error_and_nobody_leaves_it(gate: Bench):
    first, *_ = await ids(gate)
    path, body = "/workspaces/default/members", {"user_ids": [first]}
    before = (await gate.call("GET", path)).json()
    added = await gate.call("POST", f"{path}/add", json=body, expect=200)
    assert added.json() == {"added_count": 1, "data": before["data"][:1]}
    message = await gate.refused(400, "POST", f"{path}/remove", json=body)
    assert "nobody can be removed" in message
    stranger = {"user_ids": ["user_nobody"]}
    assert "user_nobody" in await gate.refused(400, "POST", f"{path}/add", json=stranger)
    assert (await gate.call("GET", path)).json() == before
