"""Response schemas, refusals, and the strict parsing of queries and bodies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from pydantic_core import from_json

from gwtui.contract import errors
from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.contract.response import ResponseModel
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.values import BAD_PATTERN, DEFAULT_PAGE, MAX_PAGE

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """The schema of a successful response, and the models that it references."""

    description: str
    schema: Schema
    models: tuple[type[ResponseModel], ...] = ()


def reference(model: type[BaseModel]) -> Schema:
    """Return a JSON Schema ``$ref`` to a model in the components of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def record(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object whose properties are all required."""
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def data_schema(
    model: type[ResponseModel], extra: Mapping[str, Schema] | None = None
) -> ResponseSchema:
    """Return the schema of ``{"data": model}``; ``extra`` adds top-level properties."""
    return ResponseSchema(
        model.__name__, record({"data": reference(model), **(extra or {})}), (model,)
    )


def list_schema(
    model: type[ResponseModel], extra: Mapping[str, Schema] | None = None
) -> ResponseSchema:
    """Return the schema of ``{"data": [model]}``; ``extra`` adds top-level properties."""
    models = {"type": "array", "items": reference(model)}
    properties = {"data": models, **(extra or {})}
    return ResponseSchema(f"List of {model.__name__}", record(properties), (model,))


def page_schema(
    model: type[ResponseModel], extra: Mapping[str, Schema] | None = None
) -> ResponseSchema:
    """Return the schema of ``{"data": [model], "total_count": n}``.

    ``total_count`` is the number of items on all pages; ``extra`` adds top-level properties.
    """
    return list_schema(model, {"total_count": {"type": "integer"}, **(extra or {})})


def object_schema(description: str, properties: Mapping[str, Schema]) -> ResponseSchema:
    """Return the schema of an object without a ``ResponseModel``; all properties are required."""
    return ResponseSchema(description, record(properties))


DELETED = object_schema("Deleted", {"deleted": {"const": True}})


_MOST_NAMES = 10
_LONGEST_NAME = 100


class Refusal(Exception):  # noqa: N818 - the contract calls it a refusal
    """An error response: HTTP status, message, and optional metadata and headers."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        metadata: Mapping[str, JsonValue] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.metadata = metadata
        self.headers = dict(headers or {})
        self.service_metadata: Mapping[str, JsonValue] | None = None


def not_found() -> Refusal:
    """Return a 404: the resource does not exist."""
    return Refusal(404, errors.NOT_FOUND)


def invalid(
    problems: Sequence[Problem], *, metadata: Mapping[str, JsonValue] | None = None
) -> Refusal:
    """Return a 400 that names every invalid field or parameter."""
    message = "; ".join(str(problem) for problem in problems) or errors.INVALID_REQUEST
    return Refusal(400, message, metadata=metadata)


def join_names(entries: Sequence[str]) -> str:
    """Join the first ten entries for a message, each cut to 100 characters."""
    shown = ", ".join(entry[:_LONGEST_NAME] for entry in entries[:_MOST_NAMES])
    more = len(entries) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def refuse_unknown(field: str, unknown: Sequence[str]) -> None:
    """Raise a 400 that names the ``unknown`` values of a field, if there are any."""
    if unknown:
        raise invalid([Problem(field, f"not in this account: {join_names(unknown)}")])


def unauthenticated(message: str = errors.MISSING_AUTHENTICATION) -> Refusal:
    """Return a 401: no key, or an invalid one."""
    return Refusal(401, message, headers={"WWW-Authenticate": "Bearer"})


def error_body(
    status: int, message: str, *, metadata: Mapping[str, JsonValue] | None = None, **beside: Any
) -> dict[str, Any]:
    """Return the documented error body, without optional parts that are None."""
    error = without_none({"code": status, "message": message, "metadata": metadata})
    return {"error": error, **without_none(beside)}


def without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the fields that are None."""
    return {name: value for name, value in fields.items() if value is not None}


def wire_value(stored: Any) -> JsonValue:
    """Convert a stored value to JSON: amounts to floats, moments to ISO 8601 in UTC."""
    if isinstance(stored, datetime):
        return timestamp_text(stored)
    value: JsonValue = float(stored) if isinstance(stored, Decimal) else stored
    return value


MAX_BODY_BYTES = 1024 * 1024
_DRAINED_BYTES = 16 * MAX_BODY_BYTES
"""Oversized bodies are read up to this size, so that the client receives the response."""


Flag = Annotated[
    Literal["true", "false"],
    AfterValidator(lambda text: text == "true"),
    WithJsonSchema({"type": "boolean"}),
]
Identifier = Annotated[UUID, AfterValidator(str)]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""A whole number that the database can store."""
Names = Annotated[
    str,
    AfterValidator(lambda text: frozenset(filter(None, map(str.strip, text.split(","))))),
]
"""A comma-separated list, parsed as a set."""


class QueryParameter(NamedTuple):
    """A query parameter of an operation; ``type`` is the pydantic type that parses its text."""

    name: str
    description: str
    type: Any = str
    default: str | None = None
    """The default as text."""
    required: bool = False

    @property
    def schema(self) -> Schema:
        """The JSON Schema of its values."""
        return TypeAdapter(self.type).json_schema()


OFFSET = QueryParameter("offset", "entries to skip", Count, default="0")
LIMIT = QueryParameter(
    "limit",
    "entries in a page",
    Annotated[int, Field(ge=1, le=MAX_PAGE)],
    default=str(DEFAULT_PAGE),
)
PAGING = (OFFSET, LIMIT)
"""Paging parameters of every list with a total_count."""
WORKSPACE = QueryParameter("workspace_id", "the default workspace when not given", Identifier)


@cache
def _query_model(declared: tuple[QueryParameter, ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        query.name: (query.type, ... if query.required else None) for query in declared
    }
    return create_model("Query", **fields)


def read_query(
    declared: tuple[QueryParameter, ...], given: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Parse a query; return the values by name, with defaults. Unknown parameters are ignored.

    The last value of a repeated parameter is used. Raises a 400 that names every invalid parameter.
    """
    defaults = without_none({query.name: query.default for query in declared})
    try:
        query = _query_model(declared).model_validate_strings({**defaults, **dict(given)})
    except ValidationError as error:
        raise invalid(problems(error)) from None
    return dict(query)


async def read_body(chunks: AsyncIterator[bytes]) -> bytes:
    """Read a body. Raises a 400 if it is larger than ``MAX_BODY_BYTES``."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > _DRAINED_BYTES:
            break
    if len(body) > MAX_BODY_BYTES:
        raise _refused(f"the request body is larger than {MAX_BODY_BYTES} bytes")
    return bytes(body)


def parse(
    body: bytes, content_type: str | None, model: type[RequestModel], dialect: Dialect
) -> RequestModel:
    """Parse and validate a body. Unknown fields are ignored; anything else invalid is a 400."""
    given_type = "application/json" if content_type is None else content_type
    if given_type.partition(";")[0].strip().lower() != "application/json":
        raise _refused("the Content-Type must be application/json")
    try:
        given = dialect.from_wire(from_json(body, allow_inf_nan=False))
    except ValueError as error:
        raise _refused(f"the request body is not valid JSON: {error}") from None
    if not isinstance(given, dict):
        raise _refused("the request body must be a JSON object")
    absent = dialect.absent_fields.get(model.__name__, frozenset())
    known = {name: value for name, value in given.items() if name not in absent}
    try:
        return model.model_validate(known, extra="ignore")
    except ValidationError as error:
        types = {
            problem["type"] for problem in error.errors(include_input=False, include_url=False)
        }
        # The contract names one error type.
        metadata: dict[str, JsonValue] | None = (
            {"error_type": BAD_PATTERN} if BAD_PATTERN in types else None
        )
        raise invalid(problems(error), metadata=metadata) from None


def _refused(message: str) -> Refusal:
    return invalid([Problem("", message)])
