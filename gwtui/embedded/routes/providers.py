"""GET /providers. Extended contract section 7."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.models import Provider
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import many


def _list(call: OperationRequest) -> JsonValue:
    return {"data": [dict(provider) for provider in call.site.catalog.providers]}


OPERATIONS = (
    Operation(
        method="GET",
        path="/providers",
        operation_id="listProviders",
        summary="List providers",
        tag="Providers",
        access=Access.PUBLIC,
        handler=_list,
        answer=many(Provider),
    ),
)
