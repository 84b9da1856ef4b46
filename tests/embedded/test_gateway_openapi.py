"""The service describes itself: OpenAPI 3.1, complete and true."""

from __future__ import annotations

import re
from typing import Any

from gateway_kit import Bench

from gwtui.embedded.operations import Access
from gwtui.embedded.routes import all_operations

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
"""What this gateway promises, by hand: a change here is a change of the contract."""


async def test_the_version_is_the_contracts(gate: Bench):
    assert gate.document["openapi"] == "3.1.0"
    assert gate.document["info"]["version"] == "1.0.0"
    assert gate.document["servers"] == [{"url": "/api/v1"}]


async def test_every_operation_and_status_is_described(gate: Bench):
    described = {
        (method.upper(), path): {int(status) for status in operation["responses"]}
        for path, methods in gate.document["paths"].items()
        for method, operation in methods.items()
    }
    for operation, statuses in ISSUED_OPERATIONS.items():
        assert described[operation] == statuses, operation


async def test_the_description_is_of_what_is_routed(gate: Bench):
    declared = {(one.method, one.path) for one in all_operations()}
    described = {
        (method.upper(), path)
        for path, methods in gate.document["paths"].items()
        for method in methods
    }
    assert declared == described
    ids = [one.operation_id for one in all_operations()]
    assert len(ids) == len(set(ids))
    for one in all_operations():
        path = re.sub(r"\{\w+\}", "nothing", one.path)
        response = await gate.client.request(one.method, path)
        assert response.status_code != 405, one


async def test_security_follows_who_may_call(gate: Bench):
    assert gate.document["security"] == [{"bearer": []}]
    assert gate.document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for one in all_operations():
        operation = gate.document["paths"][one.path][one.method.lower()]
        public = operation.get("security") == [{}, {"bearer": []}]
        assert public == (one.access is Access.PUBLIC)
        assert ("403" in operation["responses"]) >= (one.access is Access.MANAGEMENT)


async def test_every_reference_leads_somewhere_and_nothing_is_left_over(gate: Bench):
    schemas = gate.document["components"]["schemas"]
    used = {reference.rpartition("/")[2] for reference in references(gate.document)}
    assert used == set(schemas)
    for schema in schemas.values():
        assert set(schema["required"]) <= set(schema["properties"])
        assert "anyOf" not in schema


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        found = {value["$ref"]} if "$ref" in value else set()
        return found.union(*(references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(references(item) for item in value))
    return set()
