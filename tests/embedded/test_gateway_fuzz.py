"""Whatever JSON arrives, the answer is a documented one and never the gateway's own fault."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from gateway_kit import Bench, bench
from hypothesis import given, settings
from hypothesis import strategies as st

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["daily", "weekly", "2027-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
    | st.sampled_from(["00000000-0000-4000-8000-000000000000", "\ud800", "\x00", "0000-00-00"])
    | st.integers(min_value=10**30, max_value=10**300)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = (
    "name",
    "disabled",
    "limit",
    "limit_reset",
    "expires_at",
    "include_byok_in_limit",
    "creator_user_id",
    "workspace_id",
    "surprise",
)
GOOD = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
        "limit": st.none() | st.floats(min_value=1e-12, max_value=1e12),
        "limit_reset": st.sampled_from([None, "daily", "weekly", "monthly"]),
        "include_byok_in_limit": st.booleans(),
    },
)
BODIES = (
    st.dictionaries(st.sampled_from(FIELDS), VALUES)
    | VALUES
    | st.tuples(GOOD, st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=1)).map(
        lambda parts: {**parts[0], **parts[1]}
    )
)


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@settings(max_examples=60)
@given(bodies=st.lists(BODIES, min_size=1, max_size=8))
def test_any_json_gets_a_documented_answer(method: str, bodies: list[Any]):
    asyncio.run(_send(method, [json.dumps(body).encode("ascii") for body in bodies]))


@settings(max_examples=60)
@given(bodies=st.lists(st.binary(max_size=60), min_size=1, max_size=8))
def test_any_bytes_get_a_documented_answer(bodies: list[bytes]):
    asyncio.run(_send("POST", bodies))


async def _send(method: str, bodies: list[bytes]) -> None:
    async with bench(content="empty") as gate:
        data, _ = await gate.create()
        path = "/keys" if method == "POST" else f"/keys/{data['hash']}"
        for body in bodies:
            response = await gate.call(
                method, path, content=body, headers={"Content-Type": "application/json"}
            )
            assert response.status_code in {200, 201, 400}, response.text
            if response.is_error:
                assert response.json()["error"]["message"]
        await _still_sound(gate)


async def _still_sound(gate: Bench) -> None:
    await gate.call("GET", "/keys?include_disabled=true&include_expired=true", expect=200)
