"""Every operation, in both dialects, validated against the served OpenAPI document."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import httpx
import pytest
from gateway_kit import GatewayHarness, Witness
from jsonschema import Draft202012Validator
from operations_kit import walked

from gwtui.contract.dialects import DIALECTS
from gwtui.embedded.operations import Access, Operation
from gwtui.embedded.routes import all_operations


@pytest.fixture(params=sorted(DIALECTS), scope="module")
def witness(request: pytest.FixtureRequest) -> Witness:
    """The responses of a walk over all operations."""
    return walked(request.param)


def test_every_operation_was_carried_out(witness: Witness):
    succeeded = {operation for operation, status in witness.seen if status in {200, 201}}
    assert succeeded == {operation.operation_id for operation in all_operations()}


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_every_refusal_was_given(witness: Witness, status: int):
    refused = {operation for operation, item in witness.seen if item == status}
    for operation in all_operations():
        expected = {
            400: operation.body is not None,
            401: True,
            403: operation.access is Access.MANAGEMENT,
            404: bool(operation.path_parameters) and operation.body is None,
        }
        if expected[status]:
            assert operation.operation_id in refused, operation.path


def test_nothing_failed(witness: Witness):
    assert [row for row in witness.seen if row[1] >= 500] == []


def test_the_schemas_are_schemas(witness: Witness):
    for schema in witness.document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"data": {"total_credits": "0", "total_usage": 0}}, 200),
        ({"data": {}}, 200),
        ({}, 200),
        ([], 200),
        ({"error": {"code": 418, "message": "teapot"}}, 418),
    ],
)
async def test_the_harness_rejects_a_wrong_response(gate: GatewayHarness, body: Any, status: int):
    response = await gate.client.get("/credits", headers={"Authorization": f"Bearer {gate.token}"})
    gate.check("GET", "/credits", response)
    altered = httpx.Response(
        status, json=body, request=response.request, headers={"x-request-id": "req-" + "0" * 32}
    )
    with pytest.raises((AssertionError, AttributeError)):
        gate.check("GET", "/credits", altered)


# The document -------------------------------------------------------------------------------------


ISSUED_OPERATIONS = {
    ("GET", "/keys"): {200, 400, 401, 403, 404, 429, 500},
    ("POST", "/keys"): {201, 400, 401, 403, 429, 500},
    ("GET", "/keys/{hash}"): {200, 401, 403, 404, 429, 500},
    ("PATCH", "/keys/{hash}"): {200, 400, 401, 403, 404, 409, 429, 500},
    ("DELETE", "/keys/{hash}"): {200, 401, 403, 404, 429, 500},
    ("GET", "/key"): {200, 401, 500},
    ("GET", "/credits"): {200, 401, 403, 500},
    ("GET", "/models"): {200, 400, 401, 403, 500},
    ("GET", "/models/count"): {200, 400, 401, 500},
    ("GET", "/model/{author}/{slug}"): {200, 401, 403, 404, 500},
    ("GET", "/models/{author}/{slug}/endpoints"): {200, 401, 403, 404, 500},
    ("GET", "/providers"): {200, 401, 500},
    ("GET", "/workspaces"): {200, 400, 401, 403, 500},
    ("POST", "/workspaces"): {201, 400, 401, 403, 500},
    ("GET", "/workspaces/{id}"): {200, 401, 403, 404, 500},
    ("PATCH", "/workspaces/{id}"): {200, 400, 401, 403, 404, 500},
    ("DELETE", "/workspaces/{id}"): {200, 400, 401, 403, 404, 500},
    ("GET", "/workspaces/{id}/members"): {200, 400, 401, 403, 404, 500},
    ("POST", "/workspaces/{id}/members/add"): {200, 400, 401, 403, 404, 500},
    ("POST", "/workspaces/{id}/members/remove"): {200, 400, 401, 403, 404, 500},
    ("GET", "/workspaces/{id}/budgets"): {200, 401, 403, 404, 500},
    ("GET", "/workspaces/{id}/budgets/{interval}"): {200, 400, 401, 403, 404, 500},
    ("PUT", "/workspaces/{id}/budgets/{interval}"): {200, 400, 401, 403, 404, 500},
    ("DELETE", "/workspaces/{id}/budgets/{interval}"): {200, 400, 401, 403, 404, 500},
    ("GET", "/organization/members"): {200, 400, 401, 403, 404, 500},
    ("GET", "/organization/settings"): {200, 401, 403, 404, 500},
    ("PATCH", "/organization/settings"): {200, 400, 401, 403, 404, 500},
    ("GET", "/endpoints/zdr"): {200, 401, 403, 500},
    ("GET", "/guardrails"): {200, 400, 401, 403, 500},
    ("POST", "/guardrails"): {201, 400, 401, 403, 500},
    ("GET", "/guardrails/{id}"): {200, 401, 403, 404, 500},
    ("PATCH", "/guardrails/{id}"): {200, 400, 401, 403, 404, 409, 500},
    ("DELETE", "/guardrails/{id}"): {200, 401, 403, 404, 500},
    ("GET", "/guardrails/{id}/assignments/keys"): {200, 400, 401, 403, 404, 500},
    ("POST", "/guardrails/{id}/assignments/keys"): {200, 400, 401, 403, 404, 500},
    ("POST", "/guardrails/{id}/assignments/keys/remove"): {200, 400, 401, 403, 404, 500},
    ("GET", "/guardrails/{id}/assignments/members"): {200, 400, 401, 403, 404, 500},
    ("POST", "/guardrails/{id}/assignments/members"): {200, 400, 401, 403, 404, 500},
    ("POST", "/guardrails/{id}/assignments/members/remove"): {200, 400, 401, 403, 404, 500},
    ("GET", "/guardrails/assignments/keys"): {200, 400, 401, 403, 404, 500},
    ("GET", "/guardrails/assignments/members"): {200, 400, 401, 403, 404, 500},
    ("GET", "/byok"): {200, 400, 401, 403, 500},
    ("POST", "/byok"): {201, 400, 401, 403, 500},
    ("GET", "/byok/{id}"): {200, 401, 403, 404, 500},
    ("PATCH", "/byok/{id}"): {200, 400, 401, 403, 404, 409, 500},
    ("DELETE", "/byok/{id}"): {200, 401, 403, 404, 500},
    ("GET", "/openapi.json"): {200, 401, 500},
}
"""The operations of this gateway, listed by hand: a change here changes the contract."""


async def test_the_version_is_the_contracts(gate: GatewayHarness):
    assert gate.document["openapi"] == "3.1.0"
    assert gate.document["info"]["version"] == "1.0.0"
    assert gate.document["servers"] == [{"url": "/api/v1"}]


async def test_every_operation_and_status_is_described(gate: GatewayHarness):
    described = {
        (method.upper(), path): {int(status) for status in operation["responses"]}
        for path, methods in gate.document["paths"].items()
        for method, operation in methods.items()
    }
    for operation, statuses in ISSUED_OPERATIONS.items():
        assert described[operation] == statuses, operation


async def test_the_description_equals_the_routes(gate: GatewayHarness):
    declared = {(item.method, item.path) for item in all_operations()}
    described = {
        (method.upper(), path)
        for path, methods in gate.document["paths"].items()
        for method in methods
    }
    assert declared == described
    ids = [item.operation_id for item in all_operations()]
    assert len(ids) == len(set(ids))
    for operation in all_operations():
        path = re.sub(r"\{\w+\}", "nothing", operation.path)
        response = await gate.client.request(operation.method, path)
        assert response.status_code != 405, operation


async def test_security_follows_who_may_call(gate: GatewayHarness):
    assert gate.document["security"] == [{"bearer": []}]
    assert gate.document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for item in all_operations():
        operation = gate.document["paths"][item.path][item.method.lower()]
        public = operation.get("security") == [{}, {"bearer": []}]
        assert public == (item.access is Access.PUBLIC)
        assert ("403" in operation["responses"]) >= (item.access is Access.MANAGEMENT)


async def test_every_schema_reference_resolves_and_is_used(gate: GatewayHarness):
    schemas = gate.document["components"]["schemas"]
    used = {reference.rpartition("/")[2] for reference in references(gate.document)}
    assert used == set(schemas)
    for schema in schemas.values():
        assert set(schema["required"]) <= set(schema["properties"])
        assert "anyOf" not in schema


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        result = {value["$ref"]} if "$ref" in value else set()
        return result.union(*(references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(references(item) for item in value))
    return set()


# Derived requests: whatever comes, the answer is documented; wrong ones are refused ---------------


def can_be_wrong(operation: Operation) -> bool:
    """Whether the schema excludes any value; a free-text parameter excludes none."""
    return operation.body is not None or any(
        parameter.schema["type"] != "string" or set(parameter.schema) - {"type", "default"}
        for parameter in operation.query
    )


CASES = [
    (dialect, operation, mode)
    for dialect in sorted(DIALECTS)
    for operation in all_operations()
    for mode in ("positive", "negative")
    # Dialects differ in names, which valid bodies show best.
    if dialect == "generic" or (operation.body is not None and mode == "positive")
    if mode == "positive" or can_be_wrong(operation)
]


@pytest.mark.parametrize(
    ("dialect", "operation", "mode"),
    CASES,
    ids=[f"{dialect}-{operation.operation_id}-{mode}" for dialect, operation, mode in CASES],
)
def test_any_request_gets_a_documented_answer(dialect: str, operation: Operation, mode: str):
    import_module("described_requests").drive(dialect, operation, mode)
