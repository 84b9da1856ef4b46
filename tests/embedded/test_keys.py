"""API keys and permissions: 401 for an unknown key, 403 for a key without the permission."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta

import pytest
from gateway_kit import START, GatewayHarness

from gwtui.contract.scalars import timestamp_text

CONTENT = "simulated"


async def test_a_created_key_is_returned_once_and_authenticates(gate: GatewayHarness):
    member = (await gate.data("GET", "/organization/members"))[-1]["id"]
    expires = "2027-01-31T23:59:59.123456Z"
    data, key = await gate.create(creator_user_id=member, expires_at=expires, limit=12.34)
    assert re.fullmatch(r"gw-v1-[0-9a-f]{64}", key)
    assert data["hash"] == hashlib.sha256(key.encode()).hexdigest()
    assert data["label"] == f"{key[:9]}...{key[-3:]}"
    assert (data["creator_user_id"], data["limit_remaining"]) == (member, 12.34)
    assert data["expires_at"] == "2027-01-31T23:59:59.123Z"
    assert (await gate.call("GET", f"/keys/{data['hash']}")).json() == {"data": data}
    assert (await gate.data("GET", "/key", token=key))["label"] == data["label"]


@pytest.mark.parametrize("unknown", ["user_someone", "nobody", "\x00", "x" * 5000])
async def test_keys_need_a_creator_in_the_organization(gate: GatewayHarness, unknown: str):
    before = await gate.data("GET", "/keys")
    body = {"name": "x", "creator_user_id": unknown}
    message = await gate.refused(400, "POST", "/keys", json=body)
    assert message == f"creator_user_id: not in this account: {unknown[:100]}"
    assert await gate.data("GET", "/keys") == before
    await gate.create(creator_user_id=None)


async def test_a_key_moves_between_workspaces(gate: GatewayHarness):
    data, key = await gate.create()
    _, other, *_ = await gate.data("GET", "/workspaces")
    workspace = other["id"]
    moved = await gate.data("PATCH", f"/keys/{data['hash']}", json={"workspace_id": workspace})
    assert moved["workspace_id"] == workspace
    assert data["hash"] not in {row["hash"] for row in await gate.data("GET", "/keys")}
    moved_keys = await gate.data("GET", "/keys", params={"workspace_id": workspace})
    assert moved_keys[0]["hash"] == data["hash"]
    await gate.call("GET", "/key", token=key, expect=200)


async def test_management_keys_are_not_resources(gate: GatewayHarness):
    path = f"/keys/{hashlib.sha256(gate.token.encode()).hexdigest()}"
    await gate.refused(404, "GET", path)
    await gate.refused(404, "DELETE", path)
    await gate.refused(404, "PATCH", path, json={"disabled": True})
    assert path[6:] not in str(await gate.keys())


# Authentication -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic abc",
        "token",
        "Bearer  ",
        "bearerabc",
        "Bearer ÿþ",
        "Bearer a b",
    ],
)
async def test_a_malformed_header_is_401(gate: GatewayHarness, header: str):
    response = await gate.call(
        "GET", "/keys", token=None, headers={"Authorization": header.encode("latin-1")}, expect=401
    )
    assert response.headers["www-authenticate"] == "Bearer"


async def test_two_authorization_headers_are_401(gate: GatewayHarness):
    headers = [("Authorization", f"Bearer {gate.token}")] * 2
    response = await gate.client.get("/keys", headers=headers)
    assert response.status_code == 401


async def test_the_scheme_is_case_insensitive(gate: GatewayHarness):
    await gate.call(
        "GET", "/keys", token=None, headers={"Authorization": f"bEARER {gate.token}"}, expect=200
    )


async def test_a_disabled_key_is_401_until_it_is_enabled(gate: GatewayHarness):
    data, key = await gate.create()
    await gate.call("PATCH", f"/keys/{data['hash']}", json={"disabled": True}, expect=200)
    assert await gate.refused(401, "GET", "/key", token=key) == "API key is disabled"
    assert await gate.refused(401, "GET", "/models", token=key) == "API key is disabled"
    await gate.call("PATCH", f"/keys/{data['hash']}", json={"disabled": False}, expect=200)
    await gate.call("GET", "/key", token=key, expect=200)


async def test_a_key_is_401_from_the_moment_it_expires(gate: GatewayHarness):
    expires_at = timestamp_text(START + timedelta(hours=1))
    _, key = await gate.create(expires_at=expires_at)
    gate.clock.forward(minutes=59, seconds=59)
    await gate.call("GET", "/key", token=key, expect=200)
    gate.clock.forward(seconds=1)
    assert await gate.refused(401, "GET", "/key", token=key) == "API key has expired"


async def test_a_deleted_key_is_401(gate: GatewayHarness):
    data, key = await gate.create()
    await gate.call("DELETE", f"/keys/{data['hash']}", expect=200)
    assert await gate.refused(401, "GET", "/key", token=key) == "Invalid API key"


async def test_a_refusal_names_the_user_of_the_key(gate: GatewayHarness):
    answer = (await gate.call("GET", "/keys/unknown", expect=404)).json()
    mine = await gate.data("GET", "/key")
    assert answer["user_id"] == mine["creator_user_id"]
    anonymous = (await gate.call("GET", "/keys", token=None, expect=401)).json()
    assert "user_id" not in anonymous


async def test_authentication_precedes_validation(gate: GatewayHarness):
    await gate.refused(401, "POST", "/keys", token=None, content=b"not json")
    _, key = await gate.create()
    await gate.refused(403, "POST", "/keys", token=key, content=b"not json")
