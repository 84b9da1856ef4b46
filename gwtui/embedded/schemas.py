"""JSON schemas of the contract's models, as they hold on the wire.

In Python every response field may be None, so that no reader forgets the case. On the wire the
contract promises more; that promise stands beside each field (``x-nullable``, ``x-optional``) and
is what the schema says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gwtui.contract.dialects import Dialect

_TEMPLATE = "#/components/schemas/{model}"
_NULL = {"type": "null"}


def response_schemas(
    models: Sequence[type[BaseModel]], dialect: Dialect
) -> dict[str, dict[str, Any]]:
    """Schemas by name for response models and everything that they hold."""
    return {
        name: _object(name, schema, dialect, promised=True) for name, schema in _definitions(models)
    }


def request_schemas(
    models: Sequence[type[BaseModel]], dialect: Dialect
) -> dict[str, dict[str, Any]]:
    """Schemas by name for request models. Unknown fields are ignored, so they are allowed."""
    return {
        name: _object(name, schema, dialect, promised=False)
        for name, schema in _definitions(models)
    }


def _definitions(models: Sequence[type[BaseModel]]) -> list[tuple[str, dict[str, Any]]]:
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
