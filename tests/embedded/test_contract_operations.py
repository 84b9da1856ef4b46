"""Every operation, in both dialects, against the served document, by a validator not ours."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from gateway_kit import Bench
from jsonschema import Draft202012Validator
from operations_kit import walked
from response_validator import Witness

from gwtui.contract.dialects import DIALECTS
from gwtui.embedded.operations import Access
from gwtui.embedded.routes import all_operations


@pytest.fixture(params=sorted(DIALECTS), scope="module")
def witness(request: pytest.FixtureRequest) -> Witness:
    """What was seen on one whole walk."""
    return walked(request.param)


def test_every_operation_was_carried_out(witness: Witness):
    done = {operation for operation, status in witness.seen if status in {200, 201}}
    assert done == {operation.operation_id for operation in all_operations()}


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_every_refusal_was_given(witness: Witness, status: int):
    given = {operation for operation, seen in witness.seen if seen == status}
    for operation in all_operations():
        expected = {
            400: operation.body is not None,
            401: True,
            403: operation.access is Access.MANAGEMENT,
            404: bool(operation.path_parameters) and operation.body is None,
        }
        if expected[status]:
            assert operation.operation_id in given, operation.path


def test_nothing_failed(witness: Witness):
    assert [seen for seen in witness.seen if seen[1] >= 500] == []


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
async def test_the_bench_notices_a_wrong_answer(gate: Bench, body: Any, status: int):
    response = await gate.client.get("/credits", headers={"Authorization": f"Bearer {gate.token}"})
    gate.check("GET", "/credits", response)
    altered = httpx.Response(
        status, json=body, request=response.request, headers={"x-request-id": "req-" + "0" * 32}
    )
    with pytest.raises((AssertionError, AttributeError)):
        gate.check("GET", "/credits", altered)
