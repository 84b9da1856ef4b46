"""Who may do what: 401 for what opens nothing, 403 for a key that is not a management key."""

from __future__ import annotations

from datetime import timedelta

import pytest
from gateway_kit import START, Bench

from gwtui.contract.scalars import timestamp_text

CONTENT = "simulated"


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
async def test_a_malformed_header_is_401(gate: Bench, header: str):
    response = await gate.call(
        "GET", "/keys", token=None, headers={"Authorization": header.encode("latin-1")}, expect=401
    )
    assert response.headers["www-authenticate"] == "Bearer"


async def test_two_authorization_headers_are_401(gate: Bench):
    headers = [("Authorization", f"Bearer {gate.token}")] * 2
    response = await gate.client.get("/keys", headers=headers)
    assert response.status_code == 401


async def test_the_scheme_is_case_insensitive(gate: Bench):
    await gate.call(
        "GET", "/keys", token=None, headers={"Authorization": f"bEARER {gate.token}"}, expect=200
    )


async def test_a_disabled_key_is_401_until_it_is_enabled(gate: Bench):
    data, key = await gate.create()
    await gate.call("PATCH", f"/keys/{data['hash']}", json={"disabled": True}, expect=200)
    assert await gate.refused(401, "GET", "/key", token=key) == "API key is disabled"
    assert await gate.refused(401, "GET", "/models", token=key) == "API key is disabled"
    await gate.call("PATCH", f"/keys/{data['hash']}", json={"disabled": False}, expect=200)
    await gate.call("GET", "/key", token=key, expect=200)


async def test_a_key_is_401_from_the_moment_it_expires(gate: Bench):
    expires_at = timestamp_text(START + timedelta(hours=1))
    _, key = await gate.create(expires_at=expires_at)
    gate.clock.forward(minutes=59, seconds=59)
    await gate.call("GET", "/key", token=key, expect=200)
    gate.clock.forward(seconds=1)
    assert await gate.refused(401, "GET", "/key", token=key) == "API key has expired"


async def test_a_deleted_key_is_401(gate: Bench):
    data, key = await gate.create()
    await gate.call("DELETE", f"/keys/{data['hash']}", expect=200)
    assert await gate.refused(401, "GET", "/key", token=key) == "Invalid API key"


async def test_a_refusal_names_the_user_of_the_key(gate: Bench):
    answer = (await gate.call("GET", "/keys/unknown", expect=404)).json()
    mine = await gate.data("GET", "/key")
    assert answer["user_id"] == mine["creator_user_id"]
    anonymous = (await gate.call("GET", "/keys", token=None, expect=401)).json()
    assert "user_id" not in anonymous


async def test_authentication_is_judged_before_the_body(gate: Bench):
    await gate.refused(401, "POST", "/keys", token=None, content=b"not json")
    _, key = await gate.create()
    await gate.refused(403, "POST", "/keys", token=key, content=b"not json")
