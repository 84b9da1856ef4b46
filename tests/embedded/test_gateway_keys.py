"""API keys: what is created, read, changed and deleted."""

from __future__ import annotations

import hashlib
import re

import pytest
from gateway_kit import Bench, bench

from gwtui.contract.dialects import OPENROUTER

CONTENT = "simulated"


async def test_a_created_key_is_given_once_and_opens_the_door(gate: Bench):
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
async def test_a_key_is_made_for_nobody_outside_the_organization(gate: Bench, unknown: str):
    before = await gate.data("GET", "/keys")
    body = {"name": "x", "creator_user_id": unknown}
    message = await gate.refused(400, "POST", "/keys", json=body)
    assert message == f"creator_user_id: not in this account: {unknown[:100]}"
    assert await gate.data("GET", "/keys") == before
    await gate.create(creator_user_id=None)


async def test_a_key_moves_between_workspaces(gate: Bench):
    data, key = await gate.create()
    _, other, *_ = await gate.data("GET", "/workspaces")
    workspace = other["id"]
    moved = await gate.data("PATCH", f"/keys/{data['hash']}", json={"workspace_id": workspace})
    assert moved["workspace_id"] == workspace
    assert data["hash"] not in {one["hash"] for one in await gate.data("GET", "/keys")}
    there = await gate.data("GET", "/keys", params={"workspace_id": workspace})
    assert there[0]["hash"] == data["hash"]
    await gate.call("GET", "/key", token=key, expect=200)


async def test_management_keys_are_not_resources(gate: Bench):
    path = f"/keys/{hashlib.sha256(gate.token.encode()).hexdigest()}"
    await gate.refused(404, "GET", path)
    await gate.refused(404, "DELETE", path)
    await gate.refused(404, "PATCH", path, json={"disabled": True})
    everything = {"include_disabled": "true", "include_expired": "true"}
    for workspace in await gate.data("GET", "/workspaces"):
        params = {"workspace_id": workspace["id"], **everything}
        assert path[6:] not in str(await gate.data("GET", "/keys", params=params))


async def test_keys_have_the_form_of_the_dialect():
    async with bench(dialect=OPENROUTER, content="empty") as gate:
        data, key = await gate.create()
        assert key.startswith("sk-or-v1-")
        assert data["label"].startswith("sk-or-v1-")
        assert gate.token.startswith("sk-or-v1-")
