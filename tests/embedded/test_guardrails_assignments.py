"""Which guardrail binds whom: at most one each, by key and by member."""

from __future__ import annotations

from typing import Any

import pytest
from gateway_kit import Bench

from gwtui.embedded.auth import key_hash


async def guardrail(gate: Bench, name: str = "test") -> str:
    return str((await gate.data("POST", "/guardrails", json={"name": name}))["id"])


async def keys(gate: Bench, count: int) -> list[str]:
    return [(await gate.create(name=f"key {number}"))[0]["hash"] for number in range(count)]


async def people(gate: Bench) -> list[str]:
    return [person["id"] for person in await gate.data("GET", "/organization/members")]


async def change(gate: Bench, guardrail_id: str, kind: str, entries: list[str], **path: Any) -> Any:
    field = {"keys": "key_hashes", "members": "member_user_ids"}[kind]
    end = "/remove" if path.get("remove") else ""
    response = await gate.call(
        "POST",
        f"/guardrails/{guardrail_id}/assignments/{kind}{end}",
        json={field: entries},
        expect=200,
    )
    return response.json()


async def bound(gate: Bench, guardrail_id: str | None, kind: str) -> list[str]:
    one = f"/{guardrail_id}" if guardrail_id else ""
    listed = await gate.data("GET", f"/guardrails{one}/assignments/{kind}")
    return [item["key_hash" if kind == "keys" else "user_id"] for item in listed]


async def test_assigned_keys_are_described(gate: Bench):
    rail, (key, other) = await guardrail(gate), await keys(gate, 2)
    gate.clock.forward(minutes=5)
    assert await change(gate, rail, "keys", [key]) == {"assigned_count": 1}
    (listed,) = await gate.data("GET", f"/guardrails/{rail}/assignments/keys")
    described = await gate.data("GET", f"/keys/{key}")
    caller = await gate.data("GET", "/key")
    assert listed == {
        "id": listed["id"],
        "guardrail_id": rail,
        "key_hash": key,
        "key_name": "key 0",
        "key_label": described["label"],
        "assigned_by": caller["creator_user_id"],
        "created_at": "2026-11-21T07:05:00Z",
    }
    assert await gate.data("GET", "/guardrails/assignments/keys") == [listed]
    await gate.call("PATCH", f"/keys/{key}", json={"name": "renamed"}, expect=200)
    (listed,) = await gate.data("GET", f"/guardrails/{rail}/assignments/keys")
    assert listed["key_name"] == "renamed"
    assert other not in await bound(gate, None, "keys")


async def test_assigned_members_are_described(gate: Bench):
    rail, (someone, *_) = await guardrail(gate), await people(gate)
    assert await change(gate, rail, "members", [someone]) == {"assigned_count": 1}
    (listed,) = await gate.data("GET", f"/guardrails/{rail}/assignments/members")
    caller = await gate.data("GET", "/key")
    assert listed == {
        "id": listed["id"],
        "guardrail_id": rail,
        "user_id": someone,
        "organization_id": caller["organization_id"],
        "assigned_by": caller["creator_user_id"],
        "created_at": "2026-11-21T07:00:00Z",
    }
    assert await gate.data("GET", "/guardrails/assignments/members") == [listed]


@pytest.mark.parametrize("kind", ["keys", "members"])
async def test_assigning_replaces(gate: Bench, kind: str):
    old, new = await guardrail(gate, "old"), await guardrail(gate, "new")
    given = (await keys(gate, 4) if kind == "keys" else await people(gate))[:4]
    assert await change(gate, old, kind, given[:3]) == {"assigned_count": 3}
    first = await gate.data("GET", f"/guardrails/{old}/assignments/{kind}")
    gate.clock.forward(hours=1)
    assert await change(gate, new, kind, given[1:]) == {"assigned_count": 3}
    assert await bound(gate, old, kind) == given[:1]
    assert sorted(await bound(gate, new, kind)) == sorted(given[1:])
    assert sorted(await bound(gate, None, kind)) == sorted(given), "each at most once"
    again = await change(gate, old, kind, [given[0], given[0]])
    assert again == {"assigned_count": 1}, "an entry counts once"
    (kept,) = await gate.data("GET", f"/guardrails/{old}/assignments/{kind}")
    assert kept == first[0], "what it has already stays as it was"


@pytest.mark.parametrize("kind", ["keys", "members"])
async def test_only_what_a_guardrail_binds_is_freed(gate: Bench, kind: str):
    one, other = await guardrail(gate), await guardrail(gate)
    given = (await keys(gate, 4) if kind == "keys" else await people(gate))[:4]
    await change(gate, one, kind, given[:2])
    await change(gate, other, kind, given[2:3])
    freed = await change(gate, one, kind, given[1:], remove=True)
    assert freed == {"unassigned_count": 1}
    assert await bound(gate, one, kind) == given[:1]
    assert await bound(gate, other, kind) == given[2:3]


@pytest.mark.parametrize("end", ["", "/remove"])
async def test_unknown_entries_are_named_and_nothing_happens(gate: Bench, end: str):
    rail, (key,) = await guardrail(gate), await keys(gate, 1)
    someone = (await people(gate))[0]
    if end:
        await change(gate, rail, "keys", [key])
        await change(gate, rail, "members", [someone])
    before = [await bound(gate, rail, kind) for kind in ("keys", "members")]
    path = f"/guardrails/{rail}/assignments"
    wrong = "f" * 64
    body = {"key_hashes": [key, wrong, "nonsense"]}
    message = await gate.refused(400, "POST", f"{path}/keys{end}", json=body)
    assert message == f"key_hashes: not in this account: {wrong}, nonsense"
    body = {"member_user_ids": [someone, "user_nobody"]}
    message = await gate.refused(400, "POST", f"{path}/members{end}", json=body)
    assert message == "member_user_ids: not in this account: user_nobody"
    for kind, field in (("keys", "key_hashes"), ("members", "member_user_ids")):
        for bad in ({}, {field: []}, {field: [""]}, {field: [5]}, {field: None}):
            message = await gate.refused(400, "POST", f"{path}/{kind}{end}", json=bad)
            assert message.startswith(field)
    assert [await bound(gate, rail, kind) for kind in ("keys", "members")] == before


async def test_a_management_key_is_not_bound_by_a_guardrail(gate: Bench):
    rail = await guardrail(gate)
    body = {"key_hashes": [key_hash(gate.token)]}
    await gate.refused(400, "POST", f"/guardrails/{rail}/assignments/keys", json=body)


async def test_assignments_go_with_what_they_bind(gate: Bench):
    rail, other = await guardrail(gate), await guardrail(gate)
    one, two = await keys(gate, 2)
    await change(gate, rail, "keys", [one])
    await change(gate, other, "keys", [two])
    await change(gate, rail, "members", (await people(gate))[:2])
    await gate.call("DELETE", f"/keys/{two}", expect=200)
    assert await bound(gate, None, "keys") == [one]
    await gate.call("DELETE", f"/guardrails/{rail}", expect=200)
    assert await bound(gate, None, "keys") == []
    assert await bound(gate, None, "members") == []


async def test_a_moved_key_keeps_its_guardrail(gate: Bench):
    rail, (key,) = await guardrail(gate), await keys(gate, 1)
    await change(gate, rail, "keys", [key])
    space = await gate.data("POST", "/workspaces", json={"name": "other", "slug": "other"})
    await gate.call("PATCH", f"/keys/{key}", json={"workspace_id": space["id"]}, expect=200)
    assert await bound(gate, rail, "keys") == [key]
