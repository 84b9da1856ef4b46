"""What keys, workspaces, guardrails and credentials have in common, proven once for all.

Contract limits are proven from the declared operations: every field of every body, every query
parameter.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from gateway_kit import MANAGEMENT, GatewayHarness, gateway_harness
from operations_kit import NOBODY, path_to_nothing

from gwtui.embedded.operations import Access, Operation
from gwtui.embedded.routes import all_operations

SECRET = "sk-provider-0123456789abcdefXYZ9"
MOMENT = "2026-11-21T07:00:00Z"
COMPUTED = {"creator", "default workspace", "any text"}
"""Placeholders for values that differ between runs."""
USAGES = [
    f"{kind}usage{window}"
    for kind in ("", "byok_")
    for window in ("", "_daily", "_weekly", "_monthly")
]


@dataclass(frozen=True)
class Kind:
    """Request bodies of one resource, and the objects that the gateway returns for them."""

    least: Mapping[str, Any]
    bare: Mapping[str, Any]
    """The response to ``least``, with placeholders from COMPUTED."""
    full: Mapping[str, Any]
    """Fields of a creation that are returned as sent."""
    fixed: frozenset[str] = frozenset()
    """Fields of ``full`` that cannot be changed."""
    clears: tuple[str, ...] = ()
    """Fields that null clears."""
    identity: str = "id"
    nothing: str = ""
    """The refusal of an empty change; "" if it is accepted."""


KINDS: Mapping[str, Kind] = {
    "keys": Kind(
        least={"name": "  CI, ключ, 键  "},
        bare={
            "hash": "any text",
            "label": "any text",
            "name": "  CI, ключ, 键  ",
            "disabled": False,
            "limit": None,
            "limit_remaining": None,
            "limit_reset": None,
            "include_byok_in_limit": False,
            "created_at": MOMENT,
            "updated_at": None,
            "expires_at": None,
            "last_used_at": None,
            "creator_user_id": "creator",
            "workspace_id": "default workspace",
            "external_user": None,
            **dict.fromkeys(USAGES, 0),
        },
        full={
            "name": "x" * 5000,
            "limit": 0.1 + 0.2,
            "limit_reset": "weekly",
            "include_byok_in_limit": True,
            "expires_at": "2027-01-31T23:59:59Z",
        },
        fixed=frozenset({"expires_at"}),
        clears=("limit", "limit_reset"),
        identity="hash",
        nothing="No update fields provided",
    ),
    "workspaces": Kind(
        least={"name": "Team A", "slug": "team-a"},
        bare={
            "id": "any text",
            "name": "Team A",
            "slug": "team-a",
            "description": None,
            "created_at": MOMENT,
            "created_by": "creator",
            "updated_at": None,
            "default_image_model": None,
            "default_text_model": None,
            "default_provider_sort": None,
            "default_guardrail_id": "any text",
            "io_logging_api_key_ids": None,
            "io_logging_sampling_rate": 1.0,
            "is_data_discount_logging_enabled": False,
            "is_observability_broadcast_enabled": False,
            "is_observability_io_logging_enabled": False,
            "disabled_server_tools": None,
            "include_byok_in_budgets": False,
        },
        full={
            "name": "  Équipe \u2603  ",
            "slug": "9-lives",
            "description": "x" * 500,
            "default_image_model": "ampersand/canvas-xl",
            "default_text_model": "nobody/knows-this-one",
            "default_provider_sort": "exacto",
            "io_logging_api_key_ids": [3, 10**18, 3],
            "io_logging_sampling_rate": 0.0001,
            "is_data_discount_logging_enabled": True,
            "is_observability_broadcast_enabled": True,
            "is_observability_io_logging_enabled": True,
            "disabled_server_tools": ["service:shell", "service:web_search"],
        },
        clears=(
            "description",
            "default_image_model",
            "default_text_model",
            "default_provider_sort",
            "io_logging_api_key_ids",
            "disabled_server_tools",
        ),
        nothing="No update fields provided",
    ),
    "guardrails": Kind(
        least={"name": "  Küche 厨房 "},
        bare={
            "id": "any text",
            "name": "  Küche 厨房 ",
            "workspace_id": "default workspace",
            "description": None,
            "allowed_models": None,
            "allowed_providers": None,
            "ignored_models": None,
            "ignored_providers": None,
            "limit_usd": None,
            "reset_interval": None,
            "include_byok_in_budgets": False,
            "enforce_zdr": None,
            "enforce_zdr_vendor_a": None,
            "enforce_zdr_vendor_b": None,
            "enforce_zdr_vendor_c": None,
            "enforce_zdr_other": None,
            "content_filters": None,
            "content_filter_builtins": None,
            "created_at": MOMENT,
            "updated_at": None,
        },
        full={
            "name": "strict",
            "description": "d" * 1000,
            "allowed_models": ["tessera/unheard-of"],
            "allowed_providers": ["northwind", "nobody"],
            "ignored_models": ["x/y"],
            "ignored_providers": ["quasar"],
            "limit_usd": 12.5,
            "reset_interval": "weekly",
            "include_byok_in_budgets": True,
            "enforce_zdr_vendor_a": True,
            "enforce_zdr_vendor_b": False,
            "enforce_zdr_vendor_c": None,
            "enforce_zdr_other": True,
            "content_filters": [{"pattern": r"\bA-\d{4}\b", "action": "redact", "label": "[ID]"}],
            "content_filter_builtins": [
                {"slug": "email", "action": "redact", "label": "[EMAIL]"},
                {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
            ],
        },
        clears=("description", "allowed_models", "limit_usd", "content_filters"),
    ),
    "byok": Kind(
        least={"provider": "northwind", "key": SECRET},
        bare={
            "id": "any text",
            "workspace_id": "default workspace",
            "provider": "northwind",
            "label": "sk-...XYZ9",
            "name": None,
            "created_at": MOMENT,
            "sort_order": 0,
            "disabled": False,
            "is_fallback": False,
            "is_byok_only": False,
            "is_required": False,
            "declared_region": None,
            "declared_zdr": None,
            "allowed_models": None,
            "allowed_user_ids": None,
            "allowed_api_key_hashes": None,
        },
        full={
            "provider": "kestrel",
            "name": "x" * 255,
            "disabled": True,
            "is_fallback": False,
            "allowed_models": ["northwind/atlas-large", "no/such"],
            "allowed_user_ids": [],
            "declared_region": "europe",
            "declared_zdr": False,
            "is_byok_only": True,
            "is_required": True,
        },
        fixed=frozenset({"provider"}),
        clears=("name", "allowed_models", "allowed_user_ids", "declared_zdr"),
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


async def create(gate: GatewayHarness, kind: str, **fields: Any) -> tuple[dict[str, Any], str]:
    """A new resource and its path."""
    body = {**KINDS[kind].least, **fields}
    data = await gate.data("POST", f"/{kind}", json=body)
    return data, f"/{kind}/{data[KINDS[kind].identity]}"


@every_kind
async def test_new_resources_have_defaults(gate: GatewayHarness, kind: str):
    data, path = await create(gate, kind)
    workspace = await gate.data("GET", "/workspaces/default")
    caller = await gate.data("GET", "/key")
    facts = {"creator": caller["creator_user_id"], "default workspace": workspace["id"]}
    expected = {
        field: data[field] if value == "any text" else facts.get(str(value), value)
        for field, value in KINDS[kind].bare.items()
    }
    assert data == expected
    assert SECRET not in str(data)
    assert await gate.data("GET", path) == data
    assert (await gate.data("GET", f"/{kind}"))[-1 if kind == "workspaces" else 0] == data


@every_kind
async def test_every_field_is_kept_changed_and_cleared(gate: GatewayHarness, kind: str):
    sample = KINDS[kind]
    data, path = await create(gate, kind, **sample.full, id=NOBODY, unheard_of={"nested": [1]})
    assert {field: data[field] for field in sample.full} == sample.full
    assert "unheard_of" not in data
    assert data.get("id") != NOBODY
    await gate.call("DELETE", path, expect=200)
    plain, path = await create(gate, kind)
    gate.clock.forward(minutes=5)
    changes = {field: value for field, value in sample.full.items() if field not in sample.fixed}
    changed = await gate.data("PATCH", path, json={**changes, "unheard_of": 1})
    later = {"updated_at": "2026-11-21T07:05:00Z"} if "updated_at" in plain else {}
    remaining = {"limit_remaining": 0.1 + 0.2} if kind == "keys" else {}
    assert changed == {**plain, **changes, **later, **remaining}
    gate.clock.forward(minutes=5)
    assert await gate.data("PATCH", path, json=changes) == changed, "no field differs"
    cleared = await gate.data("PATCH", path, json=dict.fromkeys(sample.clears))
    later = {"updated_at": "2026-11-21T07:10:00Z"} if later else {}
    remaining = dict.fromkeys(remaining)
    assert cleared == {**changed, **dict.fromkeys(sample.clears), **later, **remaining}
    assert await gate.data("GET", path) == cleared


@every_kind
async def test_an_empty_update_is_refused(gate: GatewayHarness, kind: str):
    data, path = await create(gate, kind)
    unchangeable: dict[str, Any] = {"id": NOBODY, "unknown": 1, "created_at": MOMENT}
    for body in ({}, unchangeable):
        if KINDS[kind].nothing:
            assert await gate.refused(400, "PATCH", path, json=body) == KINDS[kind].nothing
        else:
            assert await gate.data("PATCH", path, json=body) == data


@every_kind
async def test_a_deleted_resource_is_not_found(gate: GatewayHarness, kind: str):
    _, path = await create(gate, kind)
    before = await gate.data("GET", f"/{kind}")
    assert (await gate.call("DELETE", path, json={}, expect=200)).json() == {"deleted": True}
    unknown = (f"/{kind}/{item}" for item in ("x", "%00", "..%2f..", "a" * 3000))
    for missing in (path, *unknown):
        await gate.refused(404, "GET", missing)
        await gate.refused(404, "DELETE", missing)
        await gate.refused(404, "PATCH", missing, json={"name": "x"})
    assert len(await gate.data("GET", f"/{kind}")) == len(before) - 1


@pytest.mark.parametrize("kind", ["keys", "guardrails", "byok"])
async def test_resources_belong_to_their_workspace(gate: GatewayHarness, kind: str):
    home, _ = await create(gate, "workspaces")
    data, path = await create(gate, kind, workspace_id=home["id"].upper())
    assert data["workspace_id"] == home["id"]
    query = {"workspace_id": home["id"]}
    assert await gate.data("GET", f"/{kind}", params=query) == [data]
    assert await gate.data("GET", f"/{kind}") == []
    unknown = {**KINDS[kind].least, "workspace_id": NOBODY}
    message = await gate.refused(400, "POST", f"/{kind}", json=unknown)
    assert message == "workspace_id: there is no such workspace"
    status = 404 if kind == "keys" else 400
    await gate.refused(status, "GET", f"/{kind}", params={"workspace_id": NOBODY})
    assert await gate.data("GET", path) == data


# Limits, by the declaration of the operations -----------------------------------------------------

BODIES = [operation for operation in all_operations() if operation.body is not None]
ANY_NUMBER = {"min_p", "top_a", "repetition_penalty", "deferred_tools"}
"""Chat fields that accept any number."""
NEEDED: Mapping[str, Any] = {
    "createChatCompletion": {"messages": [{"role": "user", "content": "a"}]}
}
"""Values that must be present before other fields are validated."""


@pytest.mark.parametrize("operation", BODIES, ids=lambda item: item.operation_id)
async def test_a_wrong_value_of_any_field_is_refused_by_its_name(
    gate: GatewayHarness, operation: Operation
):
    token = MANAGEMENT
    if operation.access is Access.INFERENCE:
        _, token = await gate.create()
    assert operation.body is not None
    absent = gate.dialect.absent_fields.get(operation.body.__name__, frozenset())
    accepted = set()
    for field in operation.body.model_fields.keys() - absent:
        body = {**NEEDED.get(operation.operation_id, {}), field: -1.5e300}
        message = await gate.refused(
            400, operation.method, path_to_nothing(operation), token=token, json=body
        )
        fields = [part.partition(":")[0] for part in message.split("; ")]
        if not any(re.fullmatch(rf"{field}(\..*)?", item) for item in fields):
            accepted.add(field)
    assert accepted <= ANY_NUMBER


HUGE = "9" * 5001


def wrong_values(schema: Mapping[str, Any]) -> list[str]:
    """Values that a query parameter with this schema refuses."""
    match schema:
        case {"enum": _} | {"const": _} | {"format": _}:
            return ["\N{SNOWMAN}", "", "1"]
        case {"type": "boolean"}:
            return ["maybe", "1", ""]
        case {"type": "integer" | "number" as kind}:
            results = ["", "x", "-1", "nan", "1e", "\u0661", f"-{HUGE}"]
            results += ["1e3"] if kind == "integer" else []
            return [*results, *([str(schema["maximum"] + 1), HUGE] if "maximum" in schema else [])]
    return [""] if schema.get("minLength") else []


@pytest.mark.parametrize(
    "operation",
    [operation for operation in all_operations() if operation.query],
    ids=lambda item: item.operation_id,
)
async def test_a_wrong_query_parameter_is_refused_by_its_name(
    gate: GatewayHarness, operation: Operation
):
    for parameter in operation.query:
        for value in wrong_values(parameter.schema):
            message = await gate.refused(
                400, operation.method, path_to_nothing(operation), params={parameter.name: value}
            )
            fields = [part.partition(":")[0] for part in message.split("; ")]
            assert parameter.name in fields, value


async def test_every_wrong_parameter_is_named(gate: GatewayHarness):
    message = await gate.refused(400, "GET", "/workspaces?limit=0&offset=-1&unknown=1")
    assert message == "offset: must be at least 0; limit: must be at least 1"


# Lists --------------------------------------------------------------------------------------------

FILLED = {
    operation.path.split("/")[1] for operation in all_operations() if operation.method == "POST"
}
LISTS = [
    operation.path
    for operation in all_operations()
    if any(item.name == "offset" for item in operation.query)
    and operation.path.split("/")[1] in {*FILLED, "models", "organization"}
]
ROWS = 7


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled() -> AsyncIterator[tuple[GatewayHarness, Mapping[str, str]]]:
    """A gateway with some rows in each list, and a value for {id} in its paths."""
    async with gateway_harness(content="empty") as gate:
        people = [person["id"] for person in await gate.data("GET", "/organization/members")]
        hashes, rails = [], []
        for number in range(ROWS):
            hashes.append((await gate.create(name=f"k{number}"))[0]["hash"])
            space, _ = await create(gate, "workspaces", slug=f"s{number}")
            rails.append((await create(gate, "guardrails", name=f"g{number}"))[0]["id"])
            await create(gate, "byok", name=f"c{number}")
        members = {"user_ids": people[:ROWS]}
        await gate.call("POST", f"/workspaces/{space['id']}/members/add", json=members, expect=200)
        assigned = f"/guardrails/{rails[0]}/assignments"
        await gate.call("POST", f"{assigned}/keys", json={"key_hashes": hashes}, expect=200)
        body = {"member_user_ids": people[:ROWS]}
        await gate.call("POST", f"{assigned}/members", json=body, expect=200)
        yield gate, {"workspaces": space["id"], "guardrails": rails[0]}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("path", LISTS)
async def test_a_list_is_paged_and_ends(
    filled: tuple[GatewayHarness, Mapping[str, str]], path: str
):
    gate, ids = filled
    target = path.replace("{id}", ids.get(path.split("/")[1], ""))
    full = (await gate.call("GET", target, expect=200)).json()
    assert len(full["data"]) >= min(ROWS, 5)
    assert full.get("total_count", len(full["data"])) == len(full["data"])
    for offset in (0, 2, 4, len(full["data"]) - 1):
        page = (await gate.call("GET", target, params={"offset": offset, "limit": 2})).json()
        length = len(full["data"]) if path == "/keys" else 2
        assert page["data"] == full["data"][offset : offset + length]
        assert page.get("total_count") == full.get("total_count")
    for beyond in (10_000, 2**63 - 1):
        assert await gate.data("GET", target, params={"offset": beyond}) == []
