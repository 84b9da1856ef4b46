"""GET /credits. Contract "GET /credits"."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.credits import Credits
from gwtui.embedded import wire
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import one
from gwtui.embedded.store import account


def _get(call: OperationRequest) -> JsonValue:
    found = account.get(call.db)
    return {
        "data": {
            "total_credits": wire.number(found.total_credits),
            "total_usage": wire.number(found.total_usage),
        }
    }


OPERATIONS = (
    Operation(
        method="GET",
        path="/credits",
        operation_id="getCredits",
        summary="Get remaining credits",
        tag="Credits",
        access=Access.MANAGEMENT,
        handler=_get,
        answer=one(Credits),
    ),
)
