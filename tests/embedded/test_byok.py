"""BYOK credentials: storing, reading, changing, deleting; the provider key is never returned."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from gateway_kit import GatewayHarness

SECRET = "sk-provider-0123456789abcdefXYZ9"


async def create_credential(gate: GatewayHarness, **fields: Any) -> dict[str, Any]:
    body = {"provider": "northwind", "key": SECRET, **fields}
    return dict(await gate.data("POST", "/byok", json=body))


async def test_any_well_formed_provider_is_accepted(gate: GatewayHarness):
    for slug in ("northwind", "my-own-gpu", "01ai"):
        assert (await create_credential(gate, provider=slug))["provider"] == slug
    before = await gate.data("GET", "/byok")
    for wrong in ("Northwind", "northwind ", "northwind/eu", "-a", "a--b", "\x00"):
        body = {"provider": wrong, "key": SECRET}
        message = await gate.refused(400, "POST", "/byok", json=body)
        assert message == "provider: must be a slug of a-z, 0-9 and hyphens"
    assert await gate.data("GET", "/byok") == before


@pytest.mark.parametrize(
    ("secret", "label"),
    [
        ("a", "..."),
        ("elevenchars", "..."),
        ("twelve-chars", "...rs"),
        ("nineteen-characters", "...rs"),
        ("exactly-20-character", "exa...cter"),
        (' {"type": "service_account"}\n', '{"t...nt"}'),
        ("line\nbreaks\x1b[31m are made visible", "lin...ible"),
        ("\u202eabcdefghijklmnopqrstuvwxyz", "?ab...wxyz"),
    ],
)
async def test_the_label_shows_the_ends_and_less_of_a_short_key(
    gate: GatewayHarness, secret: str, label: str
):
    assert (await create_credential(gate, key=secret))["label"] == label


async def test_keys_of_other_accounts_are_named(gate: GatewayHarness):
    inference_key, _ = await gate.create()
    other, another = "a" * 64, "b" * 64
    hashes = [other, inference_key["hash"], another]
    message = await gate.refused(
        400,
        "POST",
        "/byok",
        json={"provider": "northwind", "key": "y", "allowed_api_key_hashes": hashes},
    )
    assert message == f"allowed_api_key_hashes: not in this account: {other}, {another}"
    data = await create_credential(gate, allowed_api_key_hashes=[inference_key["hash"]])
    path = f"/byok/{data['id']}"
    message = await gate.refused(400, "PATCH", path, json={"allowed_api_key_hashes": hashes})
    assert other in message
    await gate.call("DELETE", f"/keys/{inference_key['hash']}", expect=200)
    second, _ = await gate.create()
    allowed = [inference_key["hash"], second["hash"]]
    changed = await gate.data("PATCH", path, json={"allowed_api_key_hashes": allowed})
    assert changed["allowed_api_key_hashes"] == allowed, "deleted keys may stay listed"
    await gate.refused(400, "POST", "/byok", json={"provider": "northwind", "key": "y", **changed})


async def test_fallback_and_byok_only_exclude_each_other_also_over_time(gate: GatewayHarness):
    fallback = await create_credential(gate, is_fallback=True)
    only = await create_credential(gate, is_byok_only=True)
    for data, field in ((fallback, "is_byok_only"), (only, "is_fallback")):
        path = f"/byok/{data['id']}"
        message = await gate.refused(400, "PATCH", path, json={field: True, "name": "x"})
        assert message == f"{field}: is_byok_only and is_fallback exclude each other"
        assert (await gate.data("GET", path))["name"] is None, "no update was applied partially"
    path = f"/byok/{fallback['id']}"
    changed = await gate.data("PATCH", path, json={"is_byok_only": True, "is_fallback": False})
    assert (changed["is_byok_only"], changed["is_fallback"]) == (True, False)


async def test_credentials_are_ordered_as_tried(gate: GatewayHarness):
    for name, provider, fallback in (
        ("first resort", "northwind", True),
        ("first", "northwind", False),
        ("elsewhere", "kestrel", False),
        ("second", "northwind", False),
        ("last resort", "northwind", True),
    ):
        await create_credential(gate, name=name, provider=provider, is_fallback=fallback)
    listed = await gate.data("GET", "/byok")
    assert [(row["name"], row["sort_order"]) for row in listed] == [
        ("elsewhere", 0),
        ("first", 0),
        ("second", 1),
        ("first resort", 2),
        ("last resort", 3),
    ]
    first = listed[1]
    path = f"/byok/{first['id']}"
    assert (await gate.data("PATCH", path, json={"is_fallback": True}))["sort_order"] == 2
    names = [
        credential["name"] for credential in await gate.data("GET", "/byok?provider=northwind")
    ]
    assert names == ["second", "first resort", "first", "last resort"]


async def test_deleting_and_rotating_at_once_leaves_one_of_two_states(gate: GatewayHarness):
    for _ in range(5):
        data = await create_credential(gate)
        path = f"/byok/{data['id']}"
        answers = await asyncio.gather(
            gate.call("PATCH", path, json={"key": "x" * 30}),
            gate.call("DELETE", path),
            gate.call("PATCH", path, json={"key": "y" * 30}),
        )
        assert {answer.status_code for answer in answers} <= {200, 404}
        await gate.refused(404, "GET", path)
    assert await gate.data("GET", "/byok") == []
