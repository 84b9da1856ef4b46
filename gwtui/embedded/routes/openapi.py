"""The OpenAPI 3.1 document of the gateway, generated from the declared operations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gwtui.contract.dialects import Dialect
from gwtui.contract.errors import ErrorBody
from gwtui.embedded.messages import QueryParameter, object_schema, reference
from gwtui.embedded.operations import Access, Operation

VERSION = "1.0.0"
_SCHEME = "bearer"
_NULL = {"type": "null"}
_PHRASES = {524: "Provider Timeout", 529: "Provider Overloaded"}
"""Names of statuses that HTTP does not define."""


def describe(dialect: Dialect, operations: tuple[Operation, ...]) -> dict[str, Any]:
    """Return the OpenAPI document of operations in the field names of the dialect."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    answers = {model for operation in operations for model in operation.answer.models}
    bodies = {operation.body for operation in operations if operation.body is not None}
    schemas = {
        **_schemas({*answers, ErrorBody}, dialect, are_answers=True),
        **_schemas(bodies, dialect, are_answers=False),
    }
    scheme = {
        "type": "http",
        "scheme": "bearer",
        "description": "Authorization: Bearer <API_KEY>",
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
            "securitySchemes": {_SCHEME: scheme},
        },
    }


def _schemas(
    models: Iterable[type[BaseModel]], dialect: Dialect, *, are_answers: bool
) -> dict[str, dict[str, Any]]:
    # Response fields are required and not null, unless the contract says otherwise. Requests allow
    # unknown fields, because they are ignored.
    ordered = sorted(models, key=lambda model: model.__name__)
    _, document = models_json_schema(
        [(model, "validation") for model in ordered],
        ref_template="#/components/schemas/{model}",
    )
    schemas: dict[str, dict[str, Any]] = {}
    for name, schema in document["$defs"].items():
        absent = dialect.absent_fields.get(name, frozenset())
        fields = {
            field: described
            for field, described in schema.get("properties", {}).items()
            if field not in absent
        }
        required = schema.get("required", ())
        if are_answers:
            required = [field for field in fields if not fields[field].get("x-optional")]
        schemas[name] = {
            "type": "object",
            "description": schema.get("description", ""),
            "properties": {
                field: _answer_field(described) if are_answers else _field(described)
                for field, described in fields.items()
            },
            # Property names are translated with the rest of the response, but these are values.
            "required": [dialect.renames.get(field, field) for field in required],
        }
    return schemas


def _field(described: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name not in {"title", "default"}}


def _answer_field(described: Mapping[str, Any]) -> dict[str, Any]:
    field = _field(described)
    is_nullable, _ = field.pop("x-nullable", False), field.pop("x-optional", None)
    if not field.get("x-unit"):
        field.pop("x-unit", None)
    kinds = [kind for kind in field.pop("anyOf", []) if kind != _NULL]
    if len(kinds) == 1 and not is_nullable:
        return {**kinds[0], **field}
    if kinds:
        field["anyOf"] = [*kinds, _NULL] if is_nullable else kinds
    return field


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
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in operation.path_parameters
    ]
    parameters += [
        {
            "name": parameter.name,
            "in": "query",
            "required": parameter.required,
            "description": parameter.description,
            "schema": _parameter_schema(parameter),
        }
        for parameter in operation.query
    ]
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


def _parameter_schema(parameter: QueryParameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    default = parameter.default
    if default is not None:
        schema["default"] = default if schema["type"] == "string" else json.loads(default)
    return schema


def _responses(operation: Operation) -> Mapping[str, Any]:
    responses = {
        str(operation.status): _response(operation.answer.description, operation.answer.schema)
    }
    if operation.streams is not None:
        responses[str(operation.status)]["content"]["text/event-stream"] = {
            "schema": _event(reference(operation.streams))
        }
    for status in operation.error_statuses:
        phrase = _PHRASES.get(status) or HTTPStatus(status).phrase
        responses[str(status)] = _response(phrase, reference(ErrorBody))
    return responses


def _event(data: Mapping[str, Any]) -> dict[str, Any]:
    # The data of an event is JSON, or [DONE] in the last one.
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


def operation(all_operations: Callable[[], tuple[Operation, ...]]) -> Operation:
    """Return the operation that describes all operations."""
    described = cache(lambda dialect: describe(dialect, all_operations()))
    return Operation(
        method="GET",
        path="/openapi.json",
        operation_id="getDescription",
        summary="This document",
        tag="Description",
        access=Access.PUBLIC,
        handler=lambda call: described(call.site.dialect),
        answer=object_schema(
            "OpenAPI 3.1 document",
            {
                "openapi": {"type": "string"},
                "info": {"type": "object"},
                "paths": {"type": "object"},
                "components": {"type": "object"},
            },
        ),
    )
