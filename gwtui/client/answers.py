"""Turn the bytes and headers of a response into JSON or a typed error, and JSON into models.

A field that cannot be read becomes None; an envelope (``data``) that cannot be read is an error.
JSON gets the field names of the reference dialect (``contract/dialects.py``). No HTTP library.

The response to a creation contains a new key, and crash reports could show the local variables of a
traceback. Functions that get bytes therefore return errors instead of raising them, and functions
that raise have no local variable with a part of the response.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from http import HTTPStatus
from http.client import responses
from typing import Any, TypeVar

from gwtui.client.call import Answer, retry_after_seconds
from gwtui.client.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PaymentRequiredError,
    RateLimitedError,
    ServerError,
    StatusError,
    TooLargeError,
    UnauthorizedError,
    UnreadableAnswerError,
)
from gwtui.contract.dialects import Dialect
from gwtui.contract.response import ResponseModel
from gwtui.contract.scalars import MAX_DIGITS, decimal_of
from gwtui.contract.values import GENERATION_ID

ModelT = TypeVar("ModelT", bound=ResponseModel)
R = TypeVar("R")

# Up to these amounts the work takes at most a few hundredths of a second, and stays in the loop.
LARGE_BODY = 256 * 1024
"""Bytes above which a response is parsed in a thread."""
LARGE_LIST = 2_000
"""Number of rows above which models are built in a thread."""

MAX_MESSAGE = 500
"""Maximum number of characters of an error message from a gateway."""
MAX_DEPTH = 64
"""Maximum nesting of lists and objects in a response; the contract needs fewer than ten.

Keeps recursive code from exceeding the stack of the program.
"""
MAX_PARTS = 100_000
"""Maximum number of lists and objects in a response; more would freeze a user interface."""
MAX_VALUES = 2_000_000
"""Maximum number of values in a response, for the same reason."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""Finds ``\\ud83d`` and the like: JSON can only contain surrogates as escapes."""
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(?P<half>u[dD][89a-fA-F]\w\w)|.)", re.DOTALL
)
_MAX_REQUEST_ID = 128
_REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-correlation-id", "cf-ray")
_STATUS_ERRORS: Mapping[int, type[StatusError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    402: PaymentRequiredError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    422: BadRequestError,
    429: RateLimitedError,
}
_NOT_JSON = "the response is not JSON"
_TOO_DEEP = "the response is nested too deeply"


async def run_by_size(work: Callable[[], R], size: int, limit: int) -> R:
    """Return ``work()``, called in a thread if ``size`` is above ``limit``.

    A thread keeps a user interface responsive, but costs more than it saves for a small response.
    ``work`` must not use anything that other code changes meanwhile.
    """
    return await asyncio.to_thread(work) if size > limit else work()


def read_json(raw: bytes, headers: Mapping[str, str], dialect: Dialect) -> Any:
    """Parse a response with a JSON content type; on failure, return an UnreadableAnswerError."""
    request_id = request_id_of(headers)
    if not _is_json(headers):
        return UnreadableAnswerError(
            f"{_NOT_JSON}: is the base URL that of the API?", request_id=request_id
        )
    return parse_json(raw, dialect, request_id)


def parse_json(raw: bytes, dialect: Dialect, request_id: str | None = None) -> Any:
    """Parse JSON and rename its fields; on failure, return an UnreadableAnswerError."""
    try:
        answer = _loads(_replacing_halves(raw) if _HALF.search(raw) else raw)
        why = _too_much(answer)
        if not why:
            return dialect.from_wire(answer)
    except RecursionError:
        why = _TOO_DEEP
    except UnicodeDecodeError:
        why = f"{_NOT_JSON}: it is not valid UTF-8"
    except ValueError:
        why = f"{_NOT_JSON}: it is malformed or cut off"
    return UnreadableAnswerError(why, request_id=request_id)


def error_of(
    status: int,
    body: Any,
    headers: Mapping[str, str],
    *,
    now: datetime,
    redact: Callable[[str], str],
) -> StatusError:
    """Make the error for a status of 400 or above.

    ``body`` is parsed JSON. If it is not the error object of the contract, the message only names
    the status.
    """
    detail = body.get("error") if isinstance(body, dict) else None
    detail = detail if isinstance(detail, dict) else {}
    message = detail.get("message")
    if not isinstance(message, str) or not message.strip():
        message = _plain_message(status, is_api=bool(detail))
    metadata = detail.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    known: dict[str, Any] = {
        "status": status,
        "request_id": request_id_of(headers) or _clean_id(metadata.get("request_id")),
        "metadata": redacted(metadata, redact),
    }
    error = _typed(status, redact(message), known, retry_after_seconds(headers, now))
    available = detail.get("availability")
    if isinstance(available, dict):
        error.availability = redacted(available, redact)
    return error


def _typed(status: int, message: str, known: dict[str, Any], wait: float | None) -> StatusError:
    message = message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"
    usual = ServerError if status >= HTTPStatus.INTERNAL_SERVER_ERROR else StatusError
    return _STATUS_ERRORS.get(status, usual)(message, retry_after=wait, **known)


def redirect_error(headers: Mapping[str, str], status: int) -> UnreadableAnswerError:
    """Make the error for a redirect. Redirects are not followed: they would leak the token."""
    return UnreadableAnswerError(
        f"the gateway responded with a redirect ({status}); redirects are refused, "
        "check the base URL (http instead of https, or a wrong path)",
        request_id=request_id_of(headers),
    )


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """The id that the gateway gave to the request; None if it gave none."""
    return next(
        (_clean_id(headers.get(name)) for name in _REQUEST_ID_HEADERS if headers.get(name)), None
    )


def generation_id_of(headers: Mapping[str, str]) -> str | None:
    """The id of the generation that the request created; None if there is none."""
    return _clean_id(headers.get(GENERATION_ID.lower()))


def redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """A copy of JSON data with ``redact`` applied to every text in it, including object keys."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(name): redacted(item, redact) for name, item in value.items()}
    if isinstance(value, list):
        return [redacted(item, redact) for item in value]
    return value


def _loads(raw: bytes) -> Any:
    """Parse JSON, with or without a byte order mark. NaN, Infinity and huge numbers become text."""
    return json.loads(
        raw.decode("utf-8-sig"), parse_float=_number, parse_int=_whole, parse_constant=str
    )


def _replacing_halves(raw: bytes) -> bytes:
    """Replace lone surrogates in JSON with U+FFFD, because UTF-8 cannot hold them."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match["half"] else match[0], raw)


def _too_much(answer: Any) -> str:
    """Why a response is too large or too deeply nested to process; "" if it can be processed."""
    level = [answer] if isinstance(answer, dict | list) else []
    parts = values = 0
    for _ in range(MAX_DEPTH):
        parts += len(level)
        values += sum(map(len, level))
        if not level:
            return ""
        if parts > MAX_PARTS or values > MAX_VALUES:
            return "the response has more parts than can be shown"
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, dict | list)
        ]
    return _TOO_DEEP if level else ""


def _number(text: str) -> Decimal | str:
    try:
        return decimal_of(text)
    except ValueError:
        return text


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= MAX_DIGITS else text


def _is_json(headers: Mapping[str, str]) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def _plain_message(status: int, *, is_api: bool) -> str:
    phrase = responses.get(status, "unknown status")
    if status == HTTPStatus.NOT_FOUND and not is_api:
        return f"{status} {phrase}, and not from the API: check the base URL"
    return f"{status} {phrase}"


def _clean_id(text: Any) -> str | None:
    if isinstance(text, str) and 0 < len(text) <= _MAX_REQUEST_ID and text.isascii():
        return text if text.isprintable() else None
    return None


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of a list: unvalidated JSON values, and the number of rows on all pages.

    ``total`` is None if the response has none.
    """

    rows: list[Any]
    total: int | None


def read_one(answer: Answer, model: type[ModelT]) -> ModelT:
    """Build a model from the object in ``data``. Raises UnreadableAnswerError."""
    if not isinstance(_envelope(answer).get("data"), dict):
        raise unreadable(answer, "its data is not an object")
    return model.model_validate(answer.json["data"])


def read_whole(answer: Answer, model: type[ModelT]) -> ModelT:
    """Build a model from the whole response. Raises UnreadableAnswerError."""
    return model.model_validate(_envelope(answer))


def read_rows(answer: Answer) -> Rows:
    """Read the list in ``data`` and ``total_count``. Raises UnreadableAnswerError."""
    if not isinstance(_envelope(answer).get("data"), list):
        raise unreadable(answer, "its data is not a list")
    total = answer.json.get("total_count")
    is_count = isinstance(total, int) and not isinstance(total, bool) and total >= 0
    return Rows(answer.json["data"], total if is_count else None)


def confirm_deleted(answer: Answer) -> None:
    """Check that the response confirms the deletion. Raises UnreadableAnswerError."""
    if answer.json is None:
        return
    if _envelope(answer).get("deleted") is not True:
        raise unreadable(answer, "it does not confirm the deletion")


def read_count(answer: Answer, name: str) -> int:
    """Read the field ``name``, the count of a bulk write. Raises UnreadableAnswerError."""
    count = _envelope(answer).get(name)
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return count
    raise unreadable(answer, f"it has no {name}")


def _envelope(answer: Answer) -> dict[str, Any]:
    if isinstance(answer.json, dict):
        return answer.json
    raise unreadable(answer, "it is not a JSON object")


def unreadable(answer: Answer | None, why: str) -> UnreadableAnswerError:
    """Make the error for a response that does not match the contract; ``why`` ends its message."""
    return UnreadableAnswerError(
        f"the response is not what the API describes: {why}",
        request_id=answer.request_id if answer else None,
    )
