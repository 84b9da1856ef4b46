"""GET /endpoints/zdr: the endpoints that zero data retention leaves. Extended section 7."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.models import Endpoint
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import many
from gwtui.embedded.routes.endpoints import as_seen_by
from gwtui.embedded.simulator.traits import zero_retention_endpoints


def _list(call: OperationRequest) -> JsonValue:
    found = zero_retention_endpoints(call.site.catalog, call.now)
    return {"data": as_seen_by(call.caller, found)}


OPERATIONS = (
    Operation(
        method="GET",
        path="/endpoints/zdr",
        operation_id="listZdrEndpoints",
        summary="Preview zero data retention: list the endpoints that remain",
        tag="Models",
        access=Access.PUBLIC,
        handler=_list,
        answer=many(Endpoint),
        refusals=(403,),
    ),
)
