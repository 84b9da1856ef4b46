"""GET /openapi.json: the description of the gateway."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import plain


def _describe(call: OperationRequest) -> JsonValue:
    return dict(call.site.description())


OPERATIONS = (
    Operation(
        method="GET",
        path="/openapi.json",
        operation_id="getDescription",
        summary="This document",
        tag="Description",
        access=Access.PUBLIC,
        handler=_describe,
        answer=plain(
            "OpenAPI 3.1 document",
            {
                "openapi": {"type": "string"},
                "info": {"type": "object"},
                "paths": {"type": "object"},
                "components": {"type": "object"},
            },
        ),
    ),
)
