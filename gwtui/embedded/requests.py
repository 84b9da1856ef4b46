"""Reading requests: query parameters and bodies, validated strictly."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.contract.values import BAD_PATTERN, DEFAULT_PAGE, MAX_PAGE
from gwtui.embedded.responses import Refusal, invalid

MAX_BODY_BYTES = 1024 * 1024
_DRAINED_BYTES = 16 * MAX_BODY_BYTES
"""A body that is too large is still read this far, so that its sender gets to see the answer."""
_NUMBERS = {"integer": re.compile("-?[0-9]+"), "number": re.compile(r"\d+(\.\d+)?([eE][+-]?\d+)?")}
_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MOST_ROWS = 2**63 - 1
"""The largest number that the database takes."""


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter, which is read and documented by its JSON schema."""

    name: str
    description: str
    schema: Mapping[str, Any]
    required: bool = False
    is_list: bool = False
    """Whether it holds names separated by commas, which are read as a set."""

    @property
    def default(self) -> Any:
        """Its value where it is not given."""
        default = self.schema.get("default")
        return self.read(default or "") if self.is_list else default

    def read(self, given: str) -> Any:
        """The value of a text. Raises ValueError with what is wrong."""
        if self.is_list:
            return frozenset(part.strip() for part in given.split(",") if part.strip())
        kind, choices = self.schema["type"], self.schema.get("enum")
        if kind in _NUMBERS:
            return self._number(given)
        if kind == "boolean" and given not in {"true", "false"}:
            raise ValueError("must be true or false")
        if choices and given not in choices:
            raise ValueError("must be one of " + ", ".join(choices))
        if len(given) < self.schema.get("minLength", 0):
            raise ValueError("must have at least 1 character")
        match self.schema.get("format"):
            case "uuid":
                if not _UUID.fullmatch(given):
                    raise ValueError("must be a UUID")
                return given.lower()
            case "date":
                try:
                    return datetime.strptime(given, "%Y-%m-%d").replace(tzinfo=UTC).date()
                except ValueError:
                    raise ValueError("must be a day, YYYY-MM-DD") from None
        return given == "true" if kind == "boolean" else given

    def _number(self, given: str) -> int | Decimal:
        """A number, which is not negative where it may have a fraction."""
        is_whole = self.schema["type"] == "integer"
        if not (given.isascii() and _NUMBERS[self.schema["type"]].fullmatch(given)):
            what = "a whole number" if is_whole else "a number, not negative"
            raise ValueError(f"must be {what}")
        try:
            number = Decimal(given)
        except InvalidOperation:
            number = Decimal(float(given))  # infinite or 0: no Decimal has such an exponent
        low, high = self.schema["minimum"], self.schema.get("maximum")
        if number < low or (high is not None and number > high):
            bounds = f"at least {low}" if high is None else f"from {low} to {high}"
            raise ValueError(f"must be {bounds}")
        return int(min(number, Decimal(_MOST_ROWS))) if is_whole else number


def parameter(
    name: str,
    description: str,
    kind: str = "string",
    *,
    required: bool = False,
    is_list: bool = False,
    **schema: Any,
) -> QueryParameter:
    """Declare a parameter by the parts of its JSON schema."""
    return QueryParameter(name, description, {"type": kind, **schema}, required, is_list)


OFFSET = parameter("offset", "entries to skip", "integer", minimum=0, default=0)
LIMIT = parameter(
    "limit", "entries in a page", "integer", minimum=1, maximum=MAX_PAGE, default=DEFAULT_PAGE
)
PAGING = (OFFSET, LIMIT)
"""Paging of every list that has a total_count."""
WORKSPACE = parameter("workspace_id", "the default workspace when not given", format="uuid")


def read_query(
    declared: Iterable[QueryParameter], given: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Values by name, defaults filled in; unknown parameters are ignored.

    Raises a 400 that names every parameter that is wrong. Of a repeated one the last counts.
    """
    last = dict(given)
    values: dict[str, Any] = {}
    found: list[Problem] = []
    for each in declared:
        if each.name not in last and each.required:
            found.append(Problem(each.name, "is required"))
            continue
        try:
            is_given = each.name in last
            values[each.name] = each.read(last[each.name]) if is_given else each.default
        except ValueError as error:
            found.append(Problem(each.name, str(error)))
    if found:
        raise invalid(found)
    return values


async def collect(chunks: AsyncIterator[bytes]) -> bytes:
    """Read a body. Raises a 400 when it is larger than ``MAX_BODY_BYTES``."""
    body = bytearray()
    seen = 0
    async for chunk in chunks:
        seen += len(chunk)
        if seen <= MAX_BODY_BYTES:
            body += chunk
        elif seen > _DRAINED_BYTES:
            break
    if seen > MAX_BODY_BYTES:
        raise _refused(f"the request body is larger than {MAX_BODY_BYTES} bytes")
    return bytes(body)


def parse(
    body: bytes, content_type: str | None, model: type[RequestModel], dialect: Dialect
) -> RequestModel:
    """The validated request. Unknown fields are ignored; every other fault is a 400."""
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
        types = {each["type"] for each in error.errors(include_input=False, include_url=False)}
        # The contract has a name of its own for one of the faults.
        metadata: dict[str, JsonValue] | None = (
            {"error_type": BAD_PATTERN} if BAD_PATTERN in types else None
        )
        raise invalid(problems(error), metadata=metadata) from None


def _refused(message: str) -> Refusal:
    return invalid([Problem("", message)])
