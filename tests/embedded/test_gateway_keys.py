"""API keys: what is created, read, changed and deleted."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator

import pytest
from gateway_kit import Bench, bench

from gwtui.contract.dialects import OPENROUTER

UNKNOWN = "f" * 64
UNKNOWN_WORKSPACE = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    async with bench() as opened:
        yield opened


async def other_workspace(gate: Bench) -> str:
    default, other, *_ = await gate.data("GET", "/workspaces")
    assert default["slug"] == "default"
    return str(other["id"])


async def test_a_created_key_is_given_once_and_opens_the_door(gate: Bench):
    data, key = await gate.create(name="  CI, ключ, 键  ")
    assert re.fullmatch(r"gw-v1-[0-9a-f]{64}", key)
    assert data["hash"] == hashlib.sha256(key.encode()).hexdigest()
    assert data["label"] == f"{key[:9]}...{key[-3:]}"
    assert data["name"] == "  CI, ключ, 键  "
    assert data["created_at"] == "2026-11-21T07:00:00Z"
    assert (data["updated_at"], data["expires_at"], data["last_used_at"]) == (None, None, None)
    assert (data["limit"], data["limit_remaining"], data["limit_reset"]) == (None, None, None)
    assert data["usage"] == data["usage_daily"] == data["byok_usage_monthly"] == 0
    assert (data["disabled"], data["include_byok_in_limit"]) == (False, False)
    again = await gate.call("GET", f"/keys/{data['hash']}", expect=200)
    assert again.json() == {"data": data}
    assert (await gate.data("GET", "/key", token=key))["label"] == data["label"]


async def test_every_field_of_a_creation_is_kept(gate: Bench):
    workspace = await other_workspace(gate)
    member = (await gate.data("GET", "/organization/members"))[-1]["id"]
    data, _ = await gate.create(
        limit=12.34,
        limit_reset="weekly",
        expires_at="2027-01-31T23:59:59.123456Z",
        include_byok_in_limit=True,
        creator_user_id=member,
        workspace_id=workspace.upper(),
        unheard_of="ignored",
    )
    assert data["limit"] == data["limit_remaining"] == 12.34
    assert data["limit_reset"] == "weekly"
    assert data["expires_at"] == "2027-01-31T23:59:59.123Z"
    assert data["include_byok_in_limit"] is True
    assert data["creator_user_id"] == member
    assert data["workspace_id"] == workspace
    assert "unheard_of" not in data


@pytest.mark.parametrize("unknown", ["user_someone", "nobody", "\x00", "x" * 5000])
async def test_a_key_is_made_for_nobody_outside_the_organization(gate: Bench, unknown: str):
    before = await gate.data("GET", "/keys")
    body = {"name": "x", "creator_user_id": unknown}
    message = await gate.refused(400, "POST", "/keys", json=body)
    assert message == f"creator_user_id: not in this account: {unknown[:100]}"
    assert await gate.data("GET", "/keys") == before
    await gate.create(creator_user_id=None)


async def test_a_key_goes_to_the_default_workspace_and_belongs_to_who_made_it(gate: Bench):
    data, _ = await gate.create()
    assert data["workspace_id"] == (await gate.data("GET", "/workspaces/default"))["id"]
    assert data["creator_user_id"] == (await gate.data("GET", "/key"))["creator_user_id"]


@pytest.mark.parametrize("limit", [0, 0.000001, 5, 1e12, 0.1 + 0.2])
async def test_a_limit_comes_back_as_it_was_set(gate: Bench, limit: float):
    data, _ = await gate.create(limit=limit)
    assert data["limit"] == limit


async def test_two_keys_may_have_one_name(gate: Bench):
    (first, one), (second, other) = await gate.create(), await gate.create()
    assert first["hash"] != second["hash"]
    assert one != other


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"name": ""}, "name: must have at least 1 character"),
        ({"name": None}, "name: must be text"),
        ({"name": 5}, "name: must be text"),
        ({"limit": -0.01}, "limit: must not be negative"),
        ({"limit": "5"}, "limit: must be a number"),
        ({"limit": True}, "limit: must be a number"),
        ({"limit": 1e13}, "limit: must be at most"),
        ({"limit_reset": "hourly"}, "limit_reset: must be one of daily, weekly or monthly"),
        ({"limit_reset": 1}, "limit_reset: "),
        ({"expires_at": "2027-01-01T00:00:00+02:00"}, "expires_at: must be in UTC"),
        ({"expires_at": "2027-01-01T00:00:00"}, "expires_at: must be in UTC"),
        ({"expires_at": "2027-01-01T00:00Z"}, "expires_at: must be an ISO 8601"),
        ({"expires_at": "2027-02-30T00:00:00Z"}, "expires_at: must be an ISO 8601"),
        ({"expires_at": 1798761600}, "expires_at: must be an ISO 8601"),
        ({"include_byok_in_limit": "yes"}, "include_byok_in_limit: must be true or false"),
        ({"creator_user_id": ""}, "creator_user_id: must have at least 1 character"),
        ({"workspace_id": "default"}, "workspace_id: must be a UUID"),
        ({"workspace_id": UNKNOWN_WORKSPACE}, "workspace_id: there is no such workspace"),
        ({"name": "\ud800"}, "the request body is not valid JSON"),
        ({"creator_user_id": "a\udfff"}, "the request body is not valid JSON"),
    ],
)
async def test_a_bad_field_is_400_and_named(gate: Bench, fields: dict, named: str):
    before = await gate.data("GET", "/keys")
    content = json_bytes({"name": "x", **fields})
    message = await gate.refused(
        400, "POST", "/keys", content=content, headers={"Content-Type": "application/json"}
    )
    assert message.startswith(named)
    assert await gate.data("GET", "/keys") == before


async def test_every_bad_field_is_named_at_once(gate: Bench):
    message = await gate.refused(400, "POST", "/keys", json={"limit": -1, "limit_reset": "never"})
    assert message.split("; ")[0] == "name: is required"
    assert "limit: " in message
    assert "limit_reset: " in message


async def test_a_change_touches_only_what_it_names(gate: Bench):
    data, _ = await gate.create(limit=10, limit_reset="daily", include_byok_in_limit=True)
    gate.clock.forward(minutes=5)
    changed = await gate.data("PATCH", f"/keys/{data['hash']}", json={"name": "renamed"})
    assert changed == {**data, "name": "renamed", "updated_at": "2026-11-21T07:05:00Z"}
    changed = await gate.data(
        "PATCH", f"/keys/{data['hash']}", json={"limit": None, "limit_reset": None}
    )
    assert (changed["limit"], changed["limit_remaining"], changed["limit_reset"]) == (None,) * 3
    assert changed["include_byok_in_limit"] is True
    assert changed["name"] == "renamed"


async def test_a_change_to_what_already_is_changes_nothing(gate: Bench):
    data, _ = await gate.create(limit=10)
    same = {"name": data["name"], "limit": 10.0, "workspace_id": data["workspace_id"]}
    assert await gate.data("PATCH", f"/keys/{data['hash']}", json=same) == data


@pytest.mark.parametrize("body", [{}, {"unknown": 1}, {"expires_at": "2030-01-01T00:00:00Z"}])
async def test_a_change_of_nothing_is_400(gate: Bench, body: dict):
    data, _ = await gate.create()
    message = await gate.refused(400, "PATCH", f"/keys/{data['hash']}", json=body)
    assert message == "No update fields provided"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"disabled": None}, "disabled"),
        ({"disabled": 1}, "disabled"),
        ({"limit": -1}, "limit"),
        ({"limit_reset": "yearly"}, "limit_reset"),
        ({"include_byok_in_limit": None}, "include_byok_in_limit"),
        ({"workspace_id": None}, "workspace_id"),
        ({"workspace_id": UNKNOWN_WORKSPACE}, "workspace_id"),
    ],
)
async def test_a_bad_change_is_400_named_and_changes_nothing(gate: Bench, fields: dict, named: str):
    data, _ = await gate.create()
    message = await gate.refused(
        400, "PATCH", f"/keys/{data['hash']}", json={"name": "good", **fields}
    )
    assert message.startswith(f"{named}: ")
    assert await gate.data("GET", f"/keys/{data['hash']}") == data


async def test_a_key_moves_between_workspaces(gate: Bench):
    data, key = await gate.create()
    workspace = await other_workspace(gate)
    moved = await gate.data("PATCH", f"/keys/{data['hash']}", json={"workspace_id": workspace})
    assert moved["workspace_id"] == workspace
    assert data["hash"] not in {one["hash"] for one in await gate.data("GET", "/keys")}
    there = await gate.data("GET", "/keys", params={"workspace_id": workspace})
    assert there[0]["hash"] == data["hash"]
    await gate.call("GET", "/key", token=key, expect=200)


async def test_a_deleted_key_is_gone(gate: Bench):
    data, _ = await gate.create()
    answer = await gate.call("DELETE", f"/keys/{data['hash']}", json={}, expect=200)
    assert answer.json() == {"deleted": True}
    for method in ("GET", "DELETE"):
        await gate.refused(404, method, f"/keys/{data['hash']}")
    await gate.refused(404, "PATCH", f"/keys/{data['hash']}", json={"name": "x"})


@pytest.mark.parametrize("key_hash", [UNKNOWN, "x", "%00", "%F0%28", "..%2f..", "a" * 3000])
async def test_an_unknown_hash_is_404(gate: Bench, key_hash: str):
    await gate.client.get(f"/keys/{key_hash}")
    response = await gate.client.get(
        f"/keys/{key_hash}", headers={"Authorization": f"Bearer {gate.token}"}
    )
    assert response.status_code == 404
    assert response.json()["error"]["message"] == "Resource not found"


async def test_management_keys_are_not_resources(gate: Bench):
    own_hash = hashlib.sha256(gate.token.encode()).hexdigest()
    await gate.refused(404, "GET", f"/keys/{own_hash}")
    await gate.refused(404, "DELETE", f"/keys/{own_hash}")
    await gate.refused(404, "PATCH", f"/keys/{own_hash}", json={"disabled": True})
    for workspace in await gate.data("GET", "/workspaces"):
        listed = await gate.data(
            "GET",
            "/keys",
            params={
                "workspace_id": workspace["id"],
                "include_disabled": "true",
                "include_expired": "true",
            },
        )
        assert own_hash not in {one["hash"] for one in listed}


async def test_the_current_key_describes_itself(gate: Bench):
    mine = await gate.data("GET", "/key")
    assert (mine["is_management_key"], mine["is_provisioning_key"]) == (True, True)
    assert (mine["workspace_id"], mine["budgets"], mine["effective_budget"]) == (None, [], None)
    data, key = await gate.create(limit=20, limit_reset="monthly", include_byok_in_limit=True)
    other = await gate.data("GET", "/key", token=key)
    assert (other["is_management_key"], other["is_free_tier"]) == (False, False)
    assert other["workspace_id"] == data["workspace_id"]
    assert other["limit_remaining"] == 20
    assert other["effective_budget"] == other["budgets"][0]
    assert other["budgets"] == [
        {
            "scope": "key_limit",
            "limit_usd": 20.0,
            "spend_usd": 0.0,
            "remaining_usd": 20.0,
            "reset_interval": "monthly",
            "resets_at": "2026-12-01T00:00:00Z",
            "include_byok": True,
            "budget_id": None,
            "guardrail_id": None,
        }
    ]
    assert other["rate_limit"]["requests"] == -1
    free = other["free_model_daily_requests"]
    assert (free["limit"], free["used"] + free["remaining"]) == (1000, 1000)
    assert not {"hash", "name", "disabled", "created_at"} & set(other)


async def test_keys_have_the_form_of_the_dialect():
    async with bench(dialect=OPENROUTER, content="empty") as gate:
        data, key = await gate.create()
        assert key.startswith("sk-or-v1-")
        assert data["label"].startswith("sk-or-v1-")
        assert gate.token.startswith("sk-or-v1-")


def json_bytes(value: object) -> bytes:
    """JSON with escapes, so that even a lone surrogate can be sent."""
    return json.dumps(value).encode("ascii")
