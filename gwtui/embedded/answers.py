"""What an operation answers: JSON schema written from the contract's response models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gwtui.contract.response import ResponseModel

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The body of a success: its schema, and the models that the schema refers to."""

    description: str
    schema: Schema
    models: tuple[type[ResponseModel], ...] = ()


def reference(model: type[ResponseModel]) -> Schema:
    """A reference to a model among the document's components."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def record(properties: Mapping[str, Schema]) -> Schema:
    """An object whose properties are all required."""
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def one(model: type[ResponseModel], extra: Mapping[str, Schema] | None = None) -> Answer:
    """``{"data": model}``, and what stands beside it."""
    return Answer(model.__name__, record({"data": reference(model), **(extra or {})}), (model,))


def many(model: type[ResponseModel], extra: Mapping[str, Schema] | None = None) -> Answer:
    """``{"data": [model]}``, and what stands beside it."""
    properties = {"data": _list_of(model), **(extra or {})}
    return Answer(f"List of {model.__name__}", record(properties), (model,))


def page(model: type[ResponseModel], extra: Mapping[str, Schema] | None = None) -> Answer:
    """``{"data": [model], "total_count": n}``; the count ignores the paging."""
    properties = {"data": _list_of(model), "total_count": {"type": "integer"}, **(extra or {})}
    return Answer(f"Page of {model.__name__}", record(properties), (model,))


def plain(description: str, properties: Mapping[str, Schema]) -> Answer:
    """An object that no model of the contract describes."""
    return Answer(description, record(properties))


DELETED = plain("Deleted", {"deleted": {"const": True}})


def _list_of(model: type[ResponseModel]) -> Schema:
    return {"type": "array", "items": reference(model)}
