"""Answers: refusals, error bodies, and JSON schemas made from the response models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, JsonValue

from gwtui.contract import errors
from gwtui.contract.request import Problem
from gwtui.contract.response import ResponseModel
from gwtui.contract.scalars import timestamp_text

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """The body of a success: its schema, and the models that the schema refers to."""

    description: str
    schema: Schema
    models: tuple[type[ResponseModel], ...] = ()


def reference(model: type[BaseModel]) -> Schema:
    """A reference to a model among the document's components."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def record(properties: Mapping[str, Schema]) -> Schema:
    """An object whose properties are all required."""
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def one(model: type[ResponseModel], extra: Mapping[str, Schema] | None = None) -> ResponseSchema:
    """``{"data": model}``, and what stands beside it."""
    return ResponseSchema(
        model.__name__, record({"data": reference(model), **(extra or {})}), (model,)
    )


def many(model: type[ResponseModel], extra: Mapping[str, Schema] | None = None) -> ResponseSchema:
    """``{"data": [model]}``, and what stands beside it."""
    properties = {"data": _list_of(model), **(extra or {})}
    return ResponseSchema(f"List of {model.__name__}", record(properties), (model,))


def page(model: type[ResponseModel], extra: Mapping[str, Schema] | None = None) -> ResponseSchema:
    """``{"data": [model], "total_count": n}``; the count ignores the paging."""
    properties = {"data": _list_of(model), "total_count": {"type": "integer"}, **(extra or {})}
    return ResponseSchema(f"Page of {model.__name__}", record(properties), (model,))


def plain(description: str, properties: Mapping[str, Schema]) -> ResponseSchema:
    """An object that no model of the contract describes."""
    return ResponseSchema(description, record(properties))


DELETED = plain("Deleted", {"deleted": {"const": True}})


def _list_of(model: type[ResponseModel]) -> Schema:
    return {"type": "array", "items": reference(model)}


_MOST_NAMES = 10
_LONGEST_NAME = 100


class Refusal(Exception):  # noqa: N818 - the contract's own word for what is not a failure
    """An error answer: its HTTP status, its message and, seldom, details and headers."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        metadata: Mapping[str, JsonValue] | None = None,
        headers: Mapping[str, str] | None = None,
        service_metadata: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.metadata = metadata
        self.headers = dict(headers or {})
        self.service_metadata = service_metadata


def not_found() -> Refusal:
    """404: the identified resource does not exist."""
    return Refusal(404, errors.NOT_FOUND)


def invalid(
    problems: Sequence[Problem], *, metadata: Mapping[str, JsonValue] | None = None
) -> Refusal:
    """400 whose message names every field or parameter that is wrong."""
    message = "; ".join(str(problem) for problem in problems) or errors.INVALID_REQUEST
    return Refusal(400, message, metadata=metadata)


def named(entries: Sequence[str]) -> str:
    """Entries of a list as a message names them: no more, and none longer, than one can read."""
    shown = ", ".join(entry[:_LONGEST_NAME] for entry in entries[:_MOST_NAMES])
    more = len(entries) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def refuse_unknown(field: str, unknown: Sequence[str]) -> None:
    """Raise a 400 that names the given values that are not of this account, if any."""
    if unknown:
        raise invalid([Problem(field, f"not in this account: {named(unknown)}")])


def unauthenticated(message: str = errors.MISSING_AUTHENTICATION) -> Refusal:
    """401: no key, or one that does not open anything."""
    return Refusal(401, message, headers={"WWW-Authenticate": "Bearer"})


def management_key_needed() -> Refusal:
    """403: the key is valid but is not a management key."""
    return Refusal(403, errors.MANAGEMENT_KEY_NEEDED)


def error_body(
    status: int,
    message: str,
    *,
    metadata: Mapping[str, JsonValue] | None = None,
    user_id: str | None = None,
    service_metadata: Mapping[str, JsonValue] | None = None,
) -> dict[str, Any]:
    """The documented error body; optional parts appear only when there is something in them."""
    error: dict[str, Any] = {"code": status, "message": message}
    if metadata is not None:
        error["metadata"] = dict(metadata)
    body: dict[str, Any] = {"error": error}
    if service_metadata is not None:
        body["service_metadata"] = dict(service_metadata)
    if user_id is not None:
        body["user_id"] = user_id
    return body


def wire_value(stored: Any) -> JsonValue:
    """The JSON value of a stored one: amounts are doubles, moments ISO 8601 in UTC."""
    if isinstance(stored, datetime):
        return timestamp_text(stored)
    found: JsonValue = float(stored) if isinstance(stored, Decimal) else stored
    return found


class JsonText(str):
    """A part of an answer that is JSON text already: the value of a field at the top of it."""

    __slots__ = ()


def json_list(entries: Iterable[str]) -> JsonText:
    """The JSON text of a list, given those of its entries."""
    return JsonText(f"[{','.join(entries)}]")
