"""Guardrails: creating, reading and changing them in each dialect, and which one applies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from gateway_kit import GatewayHarness, gateway_harness

from gwtui.contract.content_filters import BUILTIN_LABELS, BUILTIN_SLUGS
from gwtui.contract.dialects import OPENROUTER
from gwtui.embedded.auth import key_hash

MODEL, CANONICAL = "northwind/atlas-large", "northwind/atlas-large-"


@pytest.fixture
async def live() -> AsyncIterator[GatewayHarness]:
    async with gateway_harness(content="empty", dialect=OPENROUTER) as opened:
        yield opened


async def create_guardrail(gate: GatewayHarness, **fields: Any) -> dict[str, Any]:
    return dict(await gate.data("POST", "/guardrails", json={"name": "test", **fields}))


async def refusal(gate: GatewayHarness, **fields: Any) -> str:
    before = await gate.data("GET", "/guardrails")
    message = await gate.refused(400, "POST", "/guardrails", json={"name": "test", **fields})
    assert await gate.data("GET", "/guardrails") == before
    return message


async def canonical(gate: GatewayHarness, model: str) -> str:
    return str((await gate.data("GET", f"/model/{model}"))["canonical_slug"])


async def test_models_come_back_as_canonical_slugs(gate: GatewayHarness):
    lasting = await canonical(gate, MODEL)
    assert lasting.startswith(CANONICAL)
    data = await create_guardrail(
        gate, allowed_models=[MODEL, "no/such-model", lasting], ignored_models=[MODEL]
    )
    assert data["allowed_models"] == [lasting, "no/such-model"], "variants of a model are one entry"
    assert data["ignored_models"] == [lasting]
    changed = await gate.data(
        "PATCH", f"/guardrails/{data['id']}", json={"ignored_models": ["tessera/vector-3"]}
    )
    assert changed["ignored_models"] == [await canonical(gate, "tessera/vector-3")]
    assert changed["allowed_models"] == data["allowed_models"]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(unclosed", "is not a valid regular expression"),
        ("(a+)+$", "must not repeat a repetition"),
        ("(?=x)y", "must not look ahead or behind"),
        (r"(a)\1", "must not refer back to a group"),
    ],
)
async def test_a_dangerous_pattern_is_refused_by_its_name(
    gate: GatewayHarness, pattern: str, message: str
):
    filters = [{"pattern": "fine", "action": "block"}, {"pattern": pattern, "action": "block"}]
    data = await create_guardrail(gate)
    for method, path in (("POST", "/guardrails"), ("PATCH", f"/guardrails/{data['id']}")):
        response = await gate.call(
            method, path, json={"name": "x", "content_filters": filters}, expect=400
        )
        error = response.json()["error"]
        assert error["message"].startswith(f"content_filters.1.pattern: {message}")
        assert error["metadata"] == {"error_type": "invalid_regex_pattern"}
    assert await gate.data("GET", "/guardrails") == [data]


async def test_labels_of_personal_data_are_the_gateways_own(gate: GatewayHarness):
    filters = [{"slug": slug, "action": "redact", "label": "mine"} for slug in BUILTIN_SLUGS]
    filters = [item for item in filters if item["slug"] != "regex-prompt-injection"]
    data = await create_guardrail(gate, content_filter_builtins=filters)
    labels = {item["slug"]: item.get("label") for item in data["content_filter_builtins"]}
    assert labels == {**BUILTIN_LABELS, "secrets": None}
    assert labels["credit-card"] == "[CREDIT_CARD]"


async def test_the_deprecated_switch_applies_to_unset_switches(gate: GatewayHarness):
    data = await create_guardrail(
        gate, enforce_zdr=True, enforce_zdr_vendor_b=False, enforce_zdr_vendor_c=None
    )
    assert zdr(data) == {"vendor_a": True, "vendor_b": False, "vendor_c": None, "other": True}
    assert data["enforce_zdr"] is True
    path = f"/guardrails/{data['id']}"
    changed = await gate.data("PATCH", path, json={"enforce_zdr": False, "enforce_zdr_other": True})
    assert zdr(changed) == {"vendor_a": False, "vendor_b": False, "vendor_c": False, "other": True}
    cleared = await gate.data("PATCH", path, json={"enforce_zdr": None})
    assert cleared["enforce_zdr"] is None
    assert zdr(cleared) == zdr(changed), "null leaves the vendor switches unchanged"


async def test_fields_of_the_other_service_are_ignored_by_the_reference(
    gate: GatewayHarness, live: GatewayHarness
):
    newer = {
        "enforce_zdr_xai": True,
        "enable_free_model_publication": True,
        "enable_free_model_training": False,
        "enable_paid_model_training": True,
        "allow_safety_retention_google": False,
        "allow_safety_retention_other": True,
        "allowed_data_regions": ["europe"],
    }
    assert not set(newer) & set(await create_guardrail(gate, **newer))
    data = await create_guardrail(live, **newer)
    assert {name: data[name] for name in newer} == newer
    schemas = gate.document["components"]["schemas"]
    for name in ("Guardrail", "CreateGuardrailRequest", "UpdateGuardrailRequest"):
        assert not set(newer) & set(schemas[name]["properties"])
        assert set(newer) <= set(live.document["components"]["schemas"][name]["properties"])


async def test_limit_and_interval_belong_together_in_the_live_service(
    gate: GatewayHarness, live: GatewayHarness
):
    assert (await create_guardrail(gate, limit_usd=5))["reset_interval"] is None
    for fields, lacking in (
        ({"limit_usd": 5}, "reset_interval"),
        ({"reset_interval": "daily"}, "limit_usd"),
    ):
        assert (await refusal(live, **fields)).startswith(f"{lacking}: ")
    data = await create_guardrail(live, limit_usd=5, reset_interval="daily")
    changed = await live.data("PATCH", f"/guardrails/{data['id']}", json={"limit_usd": 7})
    assert (changed["limit_usd"], changed["reset_interval"]) == (7, "daily")


async def test_a_default_guardrail_comes_to_exist_with_its_first_change(gate: GatewayHarness):
    workspace = await gate.data("GET", "/workspaces/default")
    path = f"/guardrails/{workspace['default_guardrail_id']}"
    name = f"Workspace {workspace['id']} Default"
    await gate.refused(404, "GET", path)
    await gate.refused(404, "DELETE", path)
    await gate.refused(404, "GET", f"{path}/assignments/keys")
    message = await gate.refused(400, "PATCH", path, json={"name": "mine", "limit_usd": 5})
    assert message == "name: the default guardrail's name cannot be changed"
    await gate.refused(404, "GET", path)
    data = await gate.data("PATCH", path, json={"name": name, "ignored_models": [MODEL]})
    assert (data["name"], data["workspace_id"]) == (name, workspace["id"])
    assert data["ignored_models"] == [await canonical(gate, MODEL)]
    assert (data["created_at"], data["updated_at"]) == ("2026-11-21T07:00:00Z", None)
    assert await gate.data("GET", "/guardrails") == [data]
    gate.clock.forward(hours=1)
    changed = await gate.data("PATCH", path, json={"limit_usd": 5})
    assert changed == {**data, "limit_usd": 5, "updated_at": "2026-11-21T08:00:00Z"}
    await gate.refused(400, "PATCH", path, json={"name": "mine"})
    await gate.call("DELETE", path, expect=200)
    await gate.refused(404, "GET", path)
    again = await gate.data("PATCH", path, json={})
    assert again["limit_usd"] is None, "deleted rows do not return"


def zdr(data: dict[str, Any]) -> dict[str, Any]:
    prefix = "enforce_zdr_"
    return {name.removeprefix(prefix): data[name] for name in data if name.startswith(prefix)}


# Assignments --------------------------------------------------------------------------------------


FIELDS = {"keys": ("key_hashes", "key_hash"), "members": ("member_user_ids", "user_id")}


@dataclass
class Binding:
    """Two guardrails and four holders to assign them to, keys or members."""

    gate: GatewayHarness
    kind: str
    first_id: str
    second_id: str
    holders: list[str]

    async def change(self, guardrail: str, *holders: str, end: str = "") -> Any:
        path = f"/guardrails/{guardrail}/assignments/{self.kind}{end}"
        body = {FIELDS[self.kind][0]: list(holders)}
        return (await self.gate.call("POST", path, json=body, expect=200)).json()

    async def rows(self, guardrail: str = "") -> list[dict[str, Any]]:
        of_one = f"/{guardrail}" if guardrail else ""
        result = await self.gate.data("GET", f"/guardrails{of_one}/assignments/{self.kind}")
        return list(result)

    async def bound(self, guardrail: str = "") -> list[str]:
        return [row[FIELDS[self.kind][1]] for row in await self.rows(guardrail)]


@pytest.fixture(params=FIELDS)
async def binding(gate: GatewayHarness, request: pytest.FixtureRequest) -> Binding:
    rails = [await gate.data("POST", "/guardrails", json={"name": name}) for name in "ab"]
    people = [person["id"] for person in await gate.data("GET", "/organization/members")]
    keys = [(await gate.create(name=f"key {number}"))[0]["hash"] for number in range(4)]
    holders = keys if request.param == "keys" else people[:4]
    return Binding(gate, request.param, *(rail["id"] for rail in rails), holders)


async def test_an_assignment_is_described(binding: Binding):
    gate, first = binding.gate, binding.holders[0]
    gate.clock.forward(minutes=5)
    assert await binding.change(binding.first_id, first) == {"assigned_count": 1}
    (row,) = await binding.rows(binding.first_id)
    caller = await gate.data("GET", "/key")
    expected = {
        "id": row["id"],
        "guardrail_id": binding.first_id,
        FIELDS[binding.kind][1]: first,
        "assigned_by": caller["creator_user_id"],
        "created_at": "2026-11-21T07:05:00Z",
    }
    if binding.kind == "keys":
        key = await gate.data("PATCH", f"/keys/{first}", json={"name": "renamed"})
        expected |= {"key_name": key["name"], "key_label": key["label"]}
    else:
        expected["organization_id"] = caller["organization_id"]
    assert await binding.rows() == await binding.rows(binding.first_id) == [expected]


async def test_assigning_replaces(binding: Binding):
    first_id, second_id, holders = binding.first_id, binding.second_id, binding.holders
    assert await binding.change(first_id, *holders[:3]) == {"assigned_count": 3}
    first_rows = await binding.rows(first_id)
    binding.gate.clock.forward(hours=1)
    assert await binding.change(second_id, *holders[1:]) == {"assigned_count": 3}
    assert await binding.bound(first_id) == holders[:1]
    assert sorted(await binding.bound(second_id)) == sorted(holders[1:])
    assert sorted(await binding.bound()) == sorted(holders), "each holder has at most one guardrail"
    assert await binding.change(first_id, holders[0], holders[0]) == {"assigned_count": 1}
    assert await binding.rows(first_id) == first_rows[:1], "an existing assignment is unchanged"


async def test_only_what_a_guardrail_binds_is_freed(binding: Binding):
    first_id, second_id, holders = binding.first_id, binding.second_id, binding.holders
    await binding.change(first_id, *holders[:2])
    await binding.change(second_id, holders[2])
    freed = await binding.change(first_id, *holders[1:], end="/remove")
    assert freed == {"unassigned_count": 1}
    assert await binding.bound(first_id) == holders[:1]
    assert await binding.bound(second_id) == holders[2:3]


@pytest.mark.parametrize("end", ["", "/remove"])
async def test_unknown_entries_are_named_and_nothing_happens(binding: Binding, end: str):
    field, first = FIELDS[binding.kind][0], binding.holders[0]
    if end:
        await binding.change(binding.first_id, first)
    before = await binding.rows()
    path = f"/guardrails/{binding.first_id}/assignments/{binding.kind}{end}"
    # No guardrail applies to a management key.
    unknown = ["f" * 64, key_hash(binding.gate.token), "nonsense"]
    message = await binding.gate.refused(400, "POST", path, json={field: [first, *unknown]})
    assert message == f"{field}: not in this account: {', '.join(unknown)}"
    for bad in ([], [""], [5]):
        message = await binding.gate.refused(400, "POST", path, json={field: bad})
        assert message.startswith(field)
    assert await binding.rows() == before


async def test_assignments_go_with_what_they_bind(binding: Binding):
    gate, (first, second, *_) = binding.gate, binding.holders
    await binding.change(binding.first_id, first)
    await binding.change(binding.second_id, second)
    if binding.kind == "keys":
        space = await gate.data("POST", "/workspaces", json={"name": "b", "slug": "b"})
        moved = {"workspace_id": space["id"]}
        await gate.call("PATCH", f"/keys/{first}", json=moved, expect=200)
        await gate.call("DELETE", f"/keys/{second}", expect=200)
        assert await binding.bound() == [first]
    await gate.call("DELETE", f"/guardrails/{binding.first_id}", expect=200)
    assert first not in await binding.bound()
