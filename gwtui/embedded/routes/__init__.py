"""Every operation of the gateway: one module per resource, one line here."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import plain
from gwtui.embedded.routes import (
    account,
    activity,
    budgets,
    byok,
    catalog,
    current_key,
    generations,
    guardrails,
    inference,
    keys,
    workspaces,
)


def _describe(call: OperationRequest) -> JsonValue:
    return dict(call.site.description())


OPERATIONS: tuple[Operation, ...] = (
    *keys.OPERATIONS,
    *current_key.OPERATIONS,
    *account.OPERATIONS,
    *activity.OPERATIONS,
    *generations.OPERATIONS,
    *inference.OPERATIONS,
    *catalog.OPERATIONS,
    *workspaces.OPERATIONS,
    *budgets.OPERATIONS,
    *guardrails.OPERATIONS,
    *byok.OPERATIONS,
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
