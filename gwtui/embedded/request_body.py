"""Request bodies: bounded, strict JSON, then the contract's request model."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from decimal import Decimal
from typing import Any, NoReturn

from pydantic import JsonValue, ValidationError

from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.contract.values import BAD_PATTERN
from gwtui.embedded.responses import invalid

MAX_BODY_BYTES = 1024 * 1024
HALF_A_CHARACTER = "holds half a character"
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""How half a character is spelled; two that belong together are spelled like that, too."""
_MOST_DIGITS = 1000
"""Of a whole number as an int: Python does not make one of a few thousand digits."""
_DRAINED_BYTES = 16 * MAX_BODY_BYTES
"""A body that is too large is still read this far, so that its sender gets to see the answer."""


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
    if content_type is not None:
        media_type = content_type.partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise _refused("the Content-Type must be application/json")
    try:
        given = dialect.from_wire(_load(body))
    except RecursionError:
        raise _refused("the request body is nested too deeply") from None
    if not isinstance(given, dict):
        raise _refused("the request body must be a JSON object")
    absent = dialect.absent_fields.get(model.__name__, frozenset())
    known = {name: value for name, value in given.items() if name not in absent}
    try:
        request = model.model_validate(known, extra="ignore")
        if _HALF.search(body):
            _check_characters({name: known.get(name) for name in request.model_fields_set})
    except ValidationError as error:
        raise invalid(problems(error), metadata=_metadata(error)) from None
    except RecursionError:
        raise _refused("the request body is nested too deeply") from None
    return request


def _check_characters(given: Mapping[str, Any]) -> None:
    """Raise a 400 for half a character, which JSON can spell and no answer could repeat."""
    for name, value in given.items():
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
        except UnicodeEncodeError:
            raise invalid([Problem(name, HALF_A_CHARACTER)]) from None


def _metadata(error: ValidationError) -> dict[str, JsonValue] | None:
    """The contract's own name of what is wrong, where it has one."""
    types = {detail["type"] for detail in error.errors(include_input=False, include_url=False)}
    return {"error_type": BAD_PATTERN} if BAD_PATTERN in types else None


def _load(body: bytes) -> Any:
    if not body.strip():
        raise _refused("the request body is empty, a JSON object is needed")
    try:
        return json.loads(
            body.decode("utf-8"), parse_int=_whole_number, parse_constant=_no_constant
        )
    except UnicodeDecodeError:
        raise _refused("the request body is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _refused(f"the request body is not valid JSON ({where})") from None


def _whole_number(text: str) -> int | Decimal:
    """A number of any length, for the field's own limits to judge."""
    return int(text) if len(text) <= _MOST_DIGITS else Decimal(text)


def _no_constant(name: str) -> NoReturn:
    raise _refused(f"the request body is not valid JSON: {name} is not a JSON number")


def _refused(message: str) -> Exception:
    return invalid([Problem("", message)])
