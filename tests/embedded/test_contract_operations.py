"""Every operation, in both dialects, against the served document, by a validator not ours."""

from __future__ import annotations

from typing import Any

import pytest
from gateway_kit import Bench, bench
from jsonschema import Draft202012Validator
from operations_kit import walked
from response_validator import Witness

from gwtui.contract.dialects import DIALECTS
from gwtui.embedded.operations import Access
from gwtui.embedded.routes import all_operations

pytestmark = pytest.mark.xdist_group("contract walk")


@pytest.fixture(params=sorted(DIALECTS), scope="module")
def witness(request: pytest.FixtureRequest) -> Witness:
    """What was seen on one whole walk."""
    return walked(request.param)


def test_every_answer_is_what_the_document_says(witness: Witness):
    assert witness.faults == []


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


async def test_the_witness_notices():
    """A wrong answer of each kind is a fault."""
    async with bench(content="empty") as gate:
        assert await faults(gate, {"data": {"total_credits": 0, "total_usage": 0}}) == []
        for body in ({"data": {"total_credits": "0", "total_usage": 0}}, {"data": {}}, {}, []):
            assert await faults(gate, body)
        assert await faults(gate, {}, status=418)


async def faults(gate: Bench, body: Any, *, status: int = 200) -> list[str]:
    witness = Witness(gate.document)
    response = await gate.client.get("/credits")
    altered = type(response)(status, json=body, request=response.request)
    witness.check("GET", "/api/v1/credits", altered)
    return witness.faults
