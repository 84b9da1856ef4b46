"""Request bodies: bounded, strict JSON, then the contract's request model."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.contract.values import BAD_PATTERN
from gwtui.embedded.responses import Refusal, invalid

MAX_BODY_BYTES = 1024 * 1024
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
        raise invalid(problems(error), metadata=_metadata(error)) from None


def _metadata(error: ValidationError) -> dict[str, JsonValue] | None:
    """The contract's own name of what is wrong, where it has one."""
    types = {detail["type"] for detail in error.errors(include_input=False, include_url=False)}
    return {"error_type": BAD_PATTERN} if BAD_PATTERN in types else None


def _refused(message: str) -> Refusal:
    return invalid([Problem("", message)])
