"""The OpenAPI 3.1 document of the gateway, written from the declared operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, JsonValue
from pydantic.json_schema import models_json_schema

from gwtui.contract.dialects import Dialect
from gwtui.contract.errors import ErrorBody
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import plain, reference

_TEMPLATE = "#/components/schemas/{model}"
_NULL = {"type": "null"}


def response_schemas(
    models: Sequence[type[BaseModel]], dialect: Dialect
) -> dict[str, dict[str, Any]]:
    """Schemas by name for response models and everything that they hold."""
    return {
        name: _object(name, schema, dialect, promised=True)
        for name, schema in _definitions(tuple(models))
    }


def request_schemas(
    models: Sequence[type[BaseModel]], dialect: Dialect
) -> dict[str, dict[str, Any]]:
    """Schemas by name for request models. Unknown fields are ignored, so they are allowed."""
    return {
        name: _object(name, schema, dialect, promised=False)
        for name, schema in _definitions(tuple(models))
    }


@cache
def _definitions(models: tuple[type[BaseModel], ...]) -> list[tuple[str, dict[str, Any]]]:
    """As pydantic writes them: dialects change copies of them."""
    if not models:
        return []
    _, document = models_json_schema(
        [(model, "validation") for model in models], ref_template=_TEMPLATE
    )
    return list(document.get("$defs", {}).items())


def _object(
    model: str, schema: Mapping[str, Any], dialect: Dialect, *, promised: bool
) -> dict[str, Any]:
    absent = dialect.absent_fields.get(model, frozenset())
    properties: Mapping[str, dict[str, Any]] = {
        name: field for name, field in schema.get("properties", {}).items() if name not in absent
    }
    if promised:
        required = [name for name, field in properties.items() if not field.get("x-optional")]
    else:
        required = list(schema.get("required", ()))
    written = {
        name: _promised(field) if promised else _plain(field) for name, field in properties.items()
    }
    return {
        "type": "object",
        "description": schema.get("description", ""),
        "properties": written,
        # Property names are translated with the rest of the answer; these are values, not names.
        "required": [dialect.renames.get(name, name) for name in required],
    }


def _promised(field: Mapping[str, Any]) -> dict[str, Any]:
    """One response field: null is legal only where the contract says so."""
    kept = _plain(field)
    nullable, _ = kept.pop("x-nullable", False), kept.pop("x-optional", None)
    if not kept.get("x-unit"):
        kept.pop("x-unit", None)
    branches = [branch for branch in kept.pop("anyOf", []) if branch != _NULL]
    if nullable and branches:
        kept["anyOf"] = [*branches, _NULL]
    elif len(branches) == 1:
        kept = {**branches[0], **kept}
    elif branches:
        kept["anyOf"] = branches
    return kept


def _plain(field: Mapping[str, Any]) -> dict[str, Any]:
    """A field without the titles and defaults that only mean something in Python."""
    return {name: value for name, value in field.items() if name not in {"title", "default"}}


VERSION = "1.0.0"
_SCHEME = "bearer"


def describe(operations: Sequence[Operation], dialect: Dialect) -> dict[str, Any]:
    """The document, in the field names of the dialect."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    responses = {model for operation in operations for model in operation.answer.models}
    requests = {operation.body for operation in operations if operation.body is not None}
    schemas = {
        **response_schemas(_by_name({*responses, ErrorBody}), dialect),
        **request_schemas(_by_name(requests), dialect),
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gateway Management and Model Catalog API",
            "version": VERSION,
            "description": "API keys, credits, workspaces and the model catalog of a gateway.",
        },
        "servers": [{"url": "/api/v1"}],
        "security": [{_SCHEME: []}],
        "tags": [{"name": tag} for tag in sorted({operation.tag for operation in operations})],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                _SCHEME: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Authorization: Bearer <API_KEY>",
                }
            },
        },
    }


def _by_name(models: Iterable[type[Any]]) -> list[type[Any]]:
    return sorted(models, key=lambda model: model.__name__)


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.operation_id,
        "summary": operation.summary,
        "description": f"Needs: {operation.access.value}."
        if operation.access is not Access.PUBLIC
        else "Public; with a key the answer may show more.",
        "tags": [operation.tag],
        "responses": _responses(operation),
    }
    parameters = [*_path_parameters(operation), *_query_parameters(operation)]
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        schema = dict(reference(operation.body))
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    if operation.access is Access.PUBLIC:
        described["security"] = [{}, {_SCHEME: []}]
    return described


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in operation.path_parameters
    ]


def _query_parameters(operation: Operation) -> list[dict[str, Any]]:
    return [
        {
            "name": parameter.name,
            "in": "query",
            "required": parameter.required,
            "description": parameter.description,
            "schema": dict(parameter.schema),
        }
        for parameter in operation.query
    ]


def _responses(operation: Operation) -> Mapping[str, Any]:
    responses = {
        str(operation.status): _response(operation.answer.description, operation.answer.schema)
    }
    if operation.streams is not None:
        responses[str(operation.status)]["content"]["text/event-stream"] = {
            "schema": _event(reference(operation.streams))
        }
    for status in operation.error_statuses:
        responses[str(status)] = _response(_phrase(status), reference(ErrorBody))
    return responses


def _event(data: Mapping[str, Any]) -> dict[str, Any]:
    """One event of a stream, whose data is JSON; only the last one's is the word [DONE]."""
    return {
        "type": "object",
        "description": "one event; the data of the last one is [DONE]",
        "properties": {
            "data": {
                "type": "string",
                "anyOf": [
                    {"contentMediaType": "application/json", "contentSchema": dict(data)},
                    {"const": "[DONE]"},
                ],
            }
        },
        "required": ["data"],
    }


_PHRASES = {524: "Provider Timeout", 529: "Provider Overloaded"}
"""Statuses of the contract that HTTP itself has no name for."""


def _phrase(status: int) -> str:
    return _PHRASES.get(status) or HTTPStatus(status).phrase


def _response(description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "headers": {
            "X-Request-Id": {
                "description": "identifies this answer",
                "schema": {"type": "string"},
            }
        },
        "content": {"application/json": {"schema": dict(schema)}},
    }


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
