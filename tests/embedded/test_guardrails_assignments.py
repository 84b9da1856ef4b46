"""Which guardrail binds whom: at most one each, by key and by member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from gateway_kit import Bench

from gwtui.embedded.auth import key_hash

FIELDS = {"keys": ("key_hashes", "key_hash"), "members": ("member_user_ids", "user_id")}


@dataclass
class Binding:
    """Two guardrails and four that they may bind, keys or members."""

    gate: Bench
    kind: str
    one: str
    other: str
    holders: list[str]

    async def change(self, guardrail: str, *holders: str, end: str = "") -> Any:
        path = f"/guardrails/{guardrail}/assignments/{self.kind}{end}"
        body = {FIELDS[self.kind][0]: list(holders)}
        return (await self.gate.call("POST", path, json=body, expect=200)).json()

    async def rows(self, guardrail: str = "") -> list[dict[str, Any]]:
        of_one = f"/{guardrail}" if guardrail else ""
        found = await self.gate.data("GET", f"/guardrails{of_one}/assignments/{self.kind}")
        return list(found)

    async def bound(self, guardrail: str = "") -> list[str]:
        return [row[FIELDS[self.kind][1]] for row in await self.rows(guardrail)]


@pytest.fixture(params=FIELDS)
async def binding(gate: Bench, request: pytest.FixtureRequest) -> Binding:
    rails = [await gate.data("POST", "/guardrails", json={"name": name}) for name in "ab"]
    people = [person["id"] for person in await gate.data("GET", "/organization/members")]
    keys = [(await gate.create(name=f"key {number}"))[0]["hash"] for number in range(4)]
    holders = keys if request.param == "keys" else people[:4]
    return Binding(gate, request.param, *(rail["id"] for rail in rails), holders)


async def test_an_assignment_is_described(binding: Binding):
    gate, first = binding.gate, binding.holders[0]
    gate.clock.forward(minutes=5)
    assert await binding.change(binding.one, first) == {"assigned_count": 1}
    (row,) = await binding.rows(binding.one)
    caller = await gate.data("GET", "/key")
    expected = {
        "id": row["id"],
        "guardrail_id": binding.one,
        FIELDS[binding.kind][1]: first,
        "assigned_by": caller["creator_user_id"],
        "created_at": "2026-11-21T07:05:00Z",
    }
    if binding.kind == "keys":
        key = await gate.data("PATCH", f"/keys/{first}", json={"name": "renamed"})
        expected |= {"key_name": key["name"], "key_label": key["label"]}
    else:
        expected["organization_id"] = caller["organization_id"]
    assert await binding.rows() == await binding.rows(binding.one) == [expected]


async def test_assigning_replaces(binding: Binding):
    one, other, holders = binding.one, binding.other, binding.holders
    assert await binding.change(one, *holders[:3]) == {"assigned_count": 3}
    first = await binding.rows(one)
    binding.gate.clock.forward(hours=1)
    assert await binding.change(other, *holders[1:]) == {"assigned_count": 3}
    assert await binding.bound(one) == holders[:1]
    assert sorted(await binding.bound(other)) == sorted(holders[1:])
    assert sorted(await binding.bound()) == sorted(holders), "each at most once"
    assert await binding.change(one, holders[0], holders[0]) == {"assigned_count": 1}
    assert await binding.rows(one) == first[:1], "what it has already stays as it was"


async def test_only_what_a_guardrail_binds_is_freed(binding: Binding):
    one, other, holders = binding.one, binding.other, binding.holders
    await binding.change(one, *holders[:2])
    await binding.change(other, holders[2])
    freed = await binding.change(one, *holders[1:], end="/remove")
    assert freed == {"unassigned_count": 1}
    assert await binding.bound(one) == holders[:1]
    assert await binding.bound(other) == holders[2:3]


@pytest.mark.parametrize("end", ["", "/remove"])
async def test_unknown_entries_are_named_and_nothing_happens(binding: Binding, end: str):
    field, first = FIELDS[binding.kind][0], binding.holders[0]
    if end:
        await binding.change(binding.one, first)
    before = await binding.rows()
    path = f"/guardrails/{binding.one}/assignments/{binding.kind}{end}"
    # A management key is bound by no guardrail.
    unknown = ["f" * 64, key_hash(binding.gate.token), "nonsense"]
    message = await binding.gate.refused(400, "POST", path, json={field: [first, *unknown]})
    assert message == f"{field}: not in this account: {', '.join(unknown)}"
    for bad in ([], [""], [5]):
        message = await binding.gate.refused(400, "POST", path, json={field: bad})
        assert message.startswith(field)
    assert await binding.rows() == before


async def test_assignments_go_with_what_they_bind(binding: Binding):
    gate, (first, second, *_) = binding.gate, binding.holders
    await binding.change(binding.one, first)
    await binding.change(binding.other, second)
    if binding.kind == "keys":
        space = await gate.data("POST", "/workspaces", json={"name": "b", "slug": "b"})
        moved = {"workspace_id": space["id"]}
        await gate.call("PATCH", f"/keys/{first}", json=moved, expect=200)
        await gate.call("DELETE", f"/keys/{second}", expect=200)
        assert await binding.bound() == [first]
    await gate.call("DELETE", f"/guardrails/{binding.one}", expect=200)
    assert first not in await binding.bound()
