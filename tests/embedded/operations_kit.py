"""One walk through every operation of the API: each success, and the general refusals."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from gateway_kit import MANAGEMENT, GatewayHarness, Witness, gateway_harness

from gateway_facts import made_request
from gwtui.contract.dialects import DIALECTS, Dialect
from gwtui.embedded.operations import Access, Operation
from gwtui.embedded.routes import all_operations

NOBODY = "00000000-0000-4000-8000-000000000000"
UNKNOWN: Mapping[str, str] = {"hash": "0" * 64, "interval": "weekly", "author": "no", "slug": "no"}
"""Path parameter values that do not exist; for any other parameter a UUID is used."""


@cache
def walked(dialect: str) -> Witness:
    """The responses of a walk over all operations, made once per process; read-only."""
    return asyncio.run(_walk(DIALECTS[dialect]))


async def _walk(dialect: Dialect) -> Witness:
    async with gateway_harness(dialect=dialect) as gate:
        witness = Witness(gate.document)
        gate.client.event_hooks["response"].append(witness.take)
        await successes(gate)
        await rest(gate, {operation for operation, _ in witness.seen})
        await refusals(gate)
        return witness


async def successes(gate: GatewayHarness) -> None:
    """Execute every operation successfully."""
    await _reads(gate)
    await _keys(gate)
    await _inference(gate)
    workspace = await _workspaces(gate)
    await _guardrails(gate, workspace)
    await _byok(gate, workspace)
    await _organization(gate)
    await _ok(gate, "DELETE", f"/workspaces/{workspace}")


async def rest(gate: GatewayHarness, covered: set[str]) -> None:
    """List, get and delete what no earlier step covered, using the first row of each list."""
    for operation in sorted(all_operations(), key=lambda item: (item.path, item.method != "GET")):
        if operation.operation_id not in covered and operation.body is None:
            path = operation.path
            for name in operation.path_parameters:
                first, *_ = (await _ok(gate, "GET", path.partition(f"/{{{name}}}")[0]))["data"]
                path = path.replace(f"{{{name}}}", first[name])
            await _ok(gate, operation.method, path)


async def refusals(gate: GatewayHarness) -> None:
    """For every operation, the refusals that follow from its declaration."""
    _, ordinary = await gate.create()
    for operation in all_operations():
        path = path_to_nothing(operation)
        body: dict[str, Any] = {} if operation.body is None else {"json": {}}
        await gate.call(operation.method, path, token="nonsense", expect=401, **body)
        if operation.access is not Access.PUBLIC:
            await gate.call(operation.method, path, token=None, expect=401, **body)
        if operation.access is Access.MANAGEMENT:
            await gate.call(operation.method, path, token=ordinary, expect=403, **body)
        if operation.body is not None:
            token = ordinary if operation.access is Access.INFERENCE else MANAGEMENT
            await gate.call(operation.method, path, token=token, json=[], expect=400)
        elif operation.path_parameters:
            await gate.call(operation.method, path, expect=404)
        for parameter in operation.query:
            wrong = {parameter.name: "\N{SNOWMAN}"}
            if {"enum", "const", "format"} & parameter.schema.keys():
                await gate.call(operation.method, path, params=wrong, expect=400)


def path_to_nothing(operation: Operation) -> str:
    """The path of an operation with identifiers that do not exist."""
    return re.sub(r"\{(\w+)\}", lambda match: UNKNOWN.get(match[1], NOBODY), operation.path)


async def _ok(gate: GatewayHarness, method: str, path: str, **request: Any) -> Any:
    response = await gate.call(method, path, **request)
    assert response.is_success, f"{method} {path}: {response.text}"
    return response.json()


async def _reads(gate: GatewayHarness) -> None:
    for path in (
        "/credits",
        "/activity",
        "/activity?group_by=workspace",
        "/key",
        "/models?output_modalities=all",
        "/models?offset=0&limit=3&sort=throughput-high-to-low",
        "/models/user",
        "/models/count",
        "/providers",
        "/endpoints/zdr",
        "/openapi.json",
    ):
        await _ok(gate, "GET", path)
    for model in (await _ok(gate, "GET", "/models?output_modalities=all"))["data"]:
        await _ok(gate, "GET", f"/model/{model['id']}")
        await _ok(gate, "GET", f"/models/{model['id']}/endpoints")
        await _ok(gate, "GET", f"/models/{model['id']}/endpoints", token=None)
    await _generations(gate)


async def _generations(gate: GatewayHarness) -> None:
    generation = made_request(gate.gateway, gate.clock.now())
    await _ok(gate, "GET", f"/generation?id={generation}")
    await _ok(gate, "GET", f"/generation/content?id={generation}")
    body = {"generation_id": generation, "category": "latency", "comment": None}
    await _ok(gate, "POST", "/generation/feedback", json=body)


async def _keys(gate: GatewayHarness) -> None:
    for workspace in (await _ok(gate, "GET", "/workspaces"))["data"]:
        params = {
            "workspace_id": workspace["id"], "include_disabled": "true", "include_expired": "true"
        }  # fmt: skip
        await _ok(gate, "GET", "/keys", params=params)
    full = {
        "name": "full",
        "limit": 12.5,
        "limit_reset": "weekly",
        "expires_at": "2027-01-01T00:00:00Z",
        "include_byok_in_limit": True,
        "creator_user_id": (await _ok(gate, "GET", "/organization/members"))["data"][0]["id"],
    }
    data, token = await gate.create(**full)
    await _ok(gate, "GET", "/key", token=token)
    await _ok(gate, "PATCH", f"/keys/{data['hash']}", json={"limit": None, "disabled": True})
    await _ok(gate, "DELETE", f"/keys/{data['hash']}")


async def _inference(gate: GatewayHarness) -> None:
    _, token = await gate.create()
    prompt = {"messages": [{"role": "user", "content": "Where is the report?"}]}
    headers = {gate.dialect.metadata_header: "enabled"}
    for model in ("northwind/atlas-mini", "osprey-labs/ponder-32b", "northwind/atlas-mini:free"):
        body = {**prompt, "model": model}
        await _ok(gate, "POST", "/chat/completions", token=token, json=body, headers=headers)
    for form in ("float", "base64"):
        body = {"model": "tessera/vector-3", "input": ["a", "b"], "encoding_format": form}
        await _ok(gate, "POST", "/embeddings", token=token, json=body)
    for path, body in (
        ("/chat/completions", {**prompt, "model": "no/such"}),
        ("/chat/completions", {**prompt, "model": "tessera/vector-3"}),
        (
            "/chat/completions",
            {**prompt, "model": "northwind/atlas-mini", "provider": {"only": ["nobody"]}},
        ),
        ("/chat/completions", {**prompt, "model": "northwind/atlas-mini", "max_tokens": 10**7}),
        ("/embeddings", {"model": "no/such", "input": "a"}),
    ):
        refused = await gate.call("POST", path, token=token, json=body, headers=headers)
        assert refused.is_error


async def _workspaces(gate: GatewayHarness) -> str:
    """Yield the identifier of a new workspace with members and budgets."""
    full = {
        "name": "Walk",
        "slug": "walk",
        "description": "made by a walk",
        "default_text_model": "northwind/atlas-mini",
        "default_image_model": "ampersand/canvas-xl",
        "default_provider_sort": "exacto",
        "io_logging_sampling_rate": 0.0001,
        "io_logging_api_key_ids": [1, 2],
        "is_observability_io_logging_enabled": True,
        "disabled_server_tools": [f"{gate.dialect.tool_prefix}web_search"],
    }
    created = (await _ok(gate, "POST", "/workspaces", json=full))["data"]
    path = f"/workspaces/{created['id']}"
    await _ok(gate, "PATCH", path, json={"description": None, "io_logging_api_key_ids": None})
    people = (await _ok(gate, "GET", "/organization/members"))["data"]
    users = {"user_ids": [person["id"] for person in people[:3]]}
    await _ok(gate, "POST", f"{path}/members/add", json=users)
    await _ok(gate, "POST", f"{path}/members/remove", json={"user_ids": users["user_ids"][1:]})
    await _ok(gate, "PUT", f"{path}/budgets/lifetime", json={"limit_usd": 500})
    daily = {"limit_usd": 5, "include_byok_in_budgets": True}
    await _ok(gate, "PUT", f"{path}/budgets/daily", json=daily)
    await _ok(gate, "GET", f"{path}/budgets")
    await _ok(gate, "GET", f"{path}/budgets/lifetime")
    await _ok(gate, "DELETE", f"{path}/budgets/daily")
    return str(created["id"])


async def _guardrails(gate: GatewayHarness, workspace: str) -> None:
    full = {
        "name": "Walk",
        "workspace_id": workspace,
        "description": "made by a walk",
        "allowed_models": ["northwind/atlas-mini"],
        "ignored_providers": ["paperboat"],
        "limit_usd": 50,
        "reset_interval": "daily",
        "include_byok_in_budgets": True,
        "enforce_zdr": True,
        "enforce_zdr_other": False,
        "content_filter_builtins": [
            {"slug": "email", "action": "redact"},
            {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
        ],
        "content_filters": [{"pattern": "secret-[0-9]+", "action": "block", "label": None}],
    }
    created = (await _ok(gate, "POST", "/guardrails", json=full))["data"]
    path = f"/guardrails/{created['id']}"
    await _ok(gate, "PATCH", path, json={"allowed_models": None, "content_filters": None})
    data, token = await gate.create(workspace_id=workspace)
    people = (await _ok(gate, "GET", "/organization/members"))["data"]
    default = (await _ok(gate, "GET", f"/workspaces/{workspace}"))["data"]["default_guardrail_id"]
    cap = {"limit_usd": 900, "reset_interval": "monthly"}
    await _ok(gate, "PATCH", f"/guardrails/{default}", json=cap)
    for kind, chosen in (
        ("keys", {"key_hashes": [data["hash"]]}),
        ("members", {"member_user_ids": [people[0]["id"]]}),
    ):
        await _ok(gate, "POST", f"{path}/assignments/{kind}", json=chosen)
        await _ok(gate, "GET", f"{path}/assignments/{kind}")
        await _ok(gate, "GET", f"/guardrails/assignments/{kind}")
    await _ok(gate, "GET", "/key", token=token)
    await _ok(gate, "GET", "/models/user", token=token)
    await _ok(gate, "POST", f"{path}/assignments/keys/remove", json={"key_hashes": [data["hash"]]})
    users = {"member_user_ids": [people[0]["id"]]}
    await _ok(gate, "POST", f"{path}/assignments/members/remove", json=users)
    await _ok(gate, "DELETE", path)
    await _ok(gate, "DELETE", f"/keys/{data['hash']}")


async def _byok(gate: GatewayHarness, workspace: str) -> None:
    full = {
        "provider": "northwind",
        "key": "nw-0123456789abcdef",
        "name": "Walk",
        "workspace_id": workspace,
        "allowed_models": ["northwind/atlas-mini"],
    }
    created = (await _ok(gate, "POST", "/byok", json=full))["data"]
    changes = {"key": "nw-fedcba9876543210", "allowed_models": None, "is_fallback": True}
    await _ok(gate, "PATCH", f"/byok/{created['id']}", json=changes)


async def _organization(gate: GatewayHarness) -> None:
    await _ok(gate, "GET", "/organization/settings")
    body = {"is_filtered_model_catalog_enabled": True}
    await _ok(gate, "PATCH", "/organization/settings", json=body)
