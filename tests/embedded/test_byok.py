"""BYOK credentials: what is stored, answered, changed and deleted; the key never comes out."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import Bench, bench

from gwtui.contract.dialects import OPENROUTER
from gwtui.embedded.auth import issue_key

UNKNOWN = "00000000-0000-4000-8000-000000000000"
SECRET = "sk-provider-0123456789abcdefXYZ9"
BARE = {
    "name": None,
    "disabled": False,
    "is_fallback": False,
    "allowed_models": None,
    "allowed_user_ids": None,
    "allowed_api_key_hashes": None,
    "declared_region": None,
    "declared_zdr": None,
    "is_byok_only": False,
    "is_required": False,
}


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    async with bench(content="empty") as opened:
        yield opened


async def made(gate: Bench, **fields: Any) -> dict[str, Any]:
    body = {"provider": "northwind", "key": SECRET, **fields}
    response = await gate.call("POST", "/byok", json=body, expect=201)
    data: dict[str, Any] = response.json()["data"]
    return data


async def test_a_bare_credential_restricts_nothing(gate: Bench):
    response = await gate.call(
        "POST", "/byok", json={"provider": "northwind", "key": SECRET}, expect=201
    )
    data = response.json()["data"]
    assert {name: data[name] for name in BARE} == BARE
    workspace = await gate.data("GET", "/workspaces/default")
    assert data["workspace_id"] == workspace["id"]
    assert (data["provider"], data["sort_order"]) == ("northwind", 0)
    assert data["created_at"] == "2026-11-21T07:00:00Z"
    assert data["label"] == "sk-...XYZ9"
    assert SECRET not in response.text
    assert "key" not in data
    assert await gate.data("GET", f"/byok/{data['id']}") == data
    assert await gate.data("GET", "/byok") == [data]


async def test_every_field_of_a_creation_is_kept(gate: Bench):
    key, _ = await gate.create()
    sent = {
        "name": "x" * 255,
        "disabled": True,
        "is_fallback": False,
        "allowed_models": ["northwind/atlas-large", "no/such"],
        "allowed_user_ids": [],
        "allowed_api_key_hashes": [key["hash"]],
        "declared_region": "europe",
        "declared_zdr": False,
        "is_byok_only": True,
        "is_required": True,
    }
    data = await made(gate, **sent, provider="kestrel", unheard_of=1)
    assert {name: data[name] for name in sent} == sent
    assert data["provider"] == "kestrel"
    assert "unheard_of" not in data


async def test_any_well_formed_provider_is_taken(gate: Bench):
    for slug in ("northwind", "my-own-gpu", "01ai"):
        assert (await made(gate, provider=slug))["provider"] == slug
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
    gate: Bench, secret: str, label: str
):
    assert (await made(gate, key=secret))["label"] == label


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"provider": ""}, "provider: must have at least 1 character"),
        ({"provider": None}, "provider: must be text"),
        ({"key": ""}, "key: must have at least 1 character"),
        ({"key": "\ud800secret"}, "the request body is not valid JSON"),
        ({"key": 5}, "key: "),
        ({"name": "x" * 256}, "name: must have at most 255 characters"),
        ({"disabled": None}, "disabled: must be true or false"),
        ({"allowed_models": ["x"] * 101}, "allowed_models: must have at most 100 entries"),
        ({"allowed_user_ids": ["x"] * 101}, "allowed_user_ids: must have at most 100 entries"),
        ({"allowed_user_ids": [""]}, "allowed_user_ids.0: must have at least 1 character"),
        ({"allowed_api_key_hashes": []}, "allowed_api_key_hashes: must have at least 1 entry"),
        ({"allowed_api_key_hashes": ["f" * 63]}, "allowed_api_key_hashes.0: must be the hash"),
        ({"allowed_api_key_hashes": ["F" * 64]}, "allowed_api_key_hashes.0: must be the hash"),
        ({"declared_region": "mars"}, "declared_region: must be one of global, europe or us"),
        ({"is_byok_only": True, "is_fallback": True}, "is_byok_only and is_fallback exclude"),
        ({"workspace_id": UNKNOWN}, "workspace_id: there is no such workspace"),
    ],
)
async def test_a_bad_field_is_400_and_named(gate: Bench, fields: dict[str, Any], named: str):
    content = json.dumps({"provider": "northwind", "key": SECRET, **fields}).encode("ascii")
    headers = {"Content-Type": "application/json"}
    message = await gate.refused(400, "POST", "/byok", content=content, headers=headers)
    assert message.startswith(named)
    assert "secret" not in message
    assert await gate.data("GET", "/byok") == []


async def test_keys_of_other_accounts_are_named(gate: Bench):
    own, _ = await gate.create()
    other, another = "a" * 64, "b" * 64
    given = [other, own["hash"], another]
    message = await gate.refused(
        400,
        "POST",
        "/byok",
        json={"provider": "northwind", "key": "y", "allowed_api_key_hashes": given},
    )
    assert message == f"allowed_api_key_hashes: not in this account: {other}, {another}"
    data = await made(gate, allowed_api_key_hashes=[own["hash"]])
    path = f"/byok/{data['id']}"
    message = await gate.refused(400, "PATCH", path, json={"allowed_api_key_hashes": given})
    assert other in message
    await gate.call("DELETE", f"/keys/{own['hash']}", expect=200)
    second, _ = await gate.create()
    kept = [own["hash"], second["hash"]]
    changed = await gate.data("PATCH", path, json={"allowed_api_key_hashes": kept})
    assert changed["allowed_api_key_hashes"] == kept, "one that was listed may stay, if deleted"
    await gate.refused(400, "POST", "/byok", json={"provider": "northwind", "key": "y", **changed})


async def test_fallback_and_byok_only_exclude_each_other_also_over_time(gate: Bench):
    fallback = await made(gate, is_fallback=True)
    only = await made(gate, is_byok_only=True)
    for data, field in ((fallback, "is_byok_only"), (only, "is_fallback")):
        path = f"/byok/{data['id']}"
        message = await gate.refused(400, "PATCH", path, json={field: True, "name": "x"})
        assert message == f"{field}: is_byok_only and is_fallback exclude each other"
        assert (await gate.data("GET", path))["name"] is None, "nothing was half applied"
    path = f"/byok/{fallback['id']}"
    changed = await gate.data("PATCH", path, json={"is_byok_only": True, "is_fallback": False})
    assert (changed["is_byok_only"], changed["is_fallback"]) == (True, False)


async def test_a_change_touches_what_it_names(gate: Bench):
    data = await made(gate, name="a", allowed_models=["m"], declared_zdr=True)
    path = f"/byok/{data['id']}"
    assert await gate.data("PATCH", path, json={}) == data
    changed = await gate.data("PATCH", path, json={"allowed_models": None, "disabled": True})
    assert changed == {**data, "allowed_models": None, "disabled": True}
    changed = await gate.data("PATCH", path, json={"allowed_models": [], "declared_zdr": None})
    assert (changed["allowed_models"], changed["declared_zdr"]) == ([], None), "[] is not null"
    await gate.refused(400, "PATCH", path, json={"key": ""})
    assert await gate.data("GET", path) == changed
    moved = await gate.data("PATCH", path, json={"provider": "other", "workspace_id": UNKNOWN})
    assert moved == changed, "neither can be changed"


async def test_rotation_makes_a_new_label(gate: Bench):
    data = await made(gate, name="kept", allowed_models=["m"])
    path = f"/byok/{data['id']}"
    rotated = await gate.data("PATCH", path, json={"key": "other-provider-key-000000001111"})
    assert rotated == {**data, "label": "oth...1111"}


async def test_the_order_is_the_order_of_trial(gate: Bench):
    for name, provider, fallback in (
        ("first resort", "northwind", True),
        ("first", "northwind", False),
        ("elsewhere", "kestrel", False),
        ("second", "northwind", False),
        ("last resort", "northwind", True),
    ):
        await made(gate, name=name, provider=provider, is_fallback=fallback)
    listed = await gate.data("GET", "/byok")
    assert [(one["name"], one["sort_order"]) for one in listed] == [
        ("elsewhere", 0),
        ("first", 0),
        ("second", 1),
        ("first resort", 2),
        ("last resort", 3),
    ]
    first = listed[1]
    path = f"/byok/{first['id']}"
    assert (await gate.data("PATCH", path, json={"is_fallback": True}))["sort_order"] == 2
    names = [one["name"] for one in await gate.data("GET", "/byok?provider=northwind")]
    assert names == ["second", "first resort", "first", "last resort"]


async def test_pages_and_filters(gate: Bench):
    for number in range(5):
        await made(gate, name=f"n{number}")
    await made(gate, name="other", provider="kestrel")
    first = (await gate.call("GET", "/byok?provider=northwind&limit=3", expect=200)).json()
    rest = (await gate.call("GET", "/byok?provider=northwind&offset=3", expect=200)).json()
    assert [one["name"] for one in first["data"] + rest["data"]] == [f"n{n}" for n in range(5)]
    assert first["total_count"] == rest["total_count"] == 5
    none = (await gate.call("GET", "/byok?provider=nobody", expect=200)).json()
    assert none == {"data": [], "total_count": 0}
    for query in ("limit=0", "limit=101", "offset=-1", "workspace_id=x", f"workspace_id={UNKNOWN}"):
        await gate.refused(400, "GET", f"/byok?{query}")


async def test_each_workspace_has_its_own():
    async with bench() as gate:
        _, other, *_ = await gate.data("GET", "/workspaces")
        data = await made(gate, workspace_id=other["id"].upper())
        assert data["workspace_id"] == other["id"]
        assert data in await gate.data("GET", f"/byok?workspace_id={other['id']}")
        assert data not in await gate.data("GET", "/byok")


async def test_a_deleted_credential_is_gone(gate: Bench):
    first, second = await made(gate), await made(gate)
    path = f"/byok/{first['id']}"
    response = await gate.call("DELETE", path, json={}, expect=200)
    assert response.json() == {"deleted": True}
    for method in ("GET", "DELETE"):
        await gate.refused(404, method, path)
    await gate.refused(404, "PATCH", path, json={"disabled": False})
    await gate.refused(404, "GET", "/byok/not-a-uuid")
    assert await gate.data("GET", "/byok") == [{**second, "sort_order": 0}]


async def test_the_live_service_insists_on_the_declared_fields():
    async with bench(content="empty", dialect=OPENROUTER) as gate:
        data = await made(gate)
        for name in ("declared_region", "declared_zdr", "is_byok_only", "is_required"):
            assert name in data


async def test_nothing_of_a_key_is_logged(gate: Bench, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    data = await made(gate)
    await gate.call("PATCH", f"/byok/{data['id']}", json={"key": SECRET + "2"}, expect=200)
    await gate.refused(400, "PATCH", f"/byok/{data['id']}", json={"key": SECRET, "name": 5})
    assert SECRET not in caplog.text


async def test_two_writers_never_mix(tmp_path: Path):
    """Label and name are of one writer, while another process writes to the same file."""
    database = tmp_path / "gateway.sqlite3"
    async with bench(database, content="empty") as gate:
        data = await made(gate)
        path = f"/byok/{data['id']}"

        async def rotate(number: int) -> None:
            key = f"key-of-writer-number-{number:04}"
            body = {"key": key, "name": f"{number:04}"}
            seen = await gate.data("PATCH", path, json=body)
            assert seen["label"] == f"key...{seen['name']}"

        async def issue() -> None:
            for _ in range(10):
                await asyncio.to_thread(issue_key, database, management=False)

        await asyncio.gather(issue(), *(rotate(number) for number in range(30)))
        seen = await gate.data("GET", path)
        assert seen["label"] == f"key...{seen['name']}"
        assert len(await gate.data("GET", "/keys")) == 10


async def test_deleting_and_rotating_at_once_leaves_one_of_two_states(gate: Bench):
    for _ in range(5):
        data = await made(gate)
        path = f"/byok/{data['id']}"
        answers = await asyncio.gather(
            gate.call("PATCH", path, json={"key": "x" * 30}),
            gate.call("DELETE", path),
            gate.call("PATCH", path, json={"key": "y" * 30}),
        )
        assert {answer.status_code for answer in answers} <= {200, 404}
        await gate.refused(404, "GET", path)
    assert await gate.data("GET", "/byok") == []
