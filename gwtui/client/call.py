"""A request and its response in the field names of the reference dialect; retries of reads."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from gwtui.client.errors import (
    ConnectFailedError,
    GatewayError,
    InvalidRequestError,
    NoAnswerError,
    RateLimitedError,
    ServerError,
)
from gwtui.client.request_log import (
    allow_retries,
    count_request,
    http_date,
    may_retry,
    request_pending,
)
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.domain.clock import Clock

Query = dict[str, str | int | bool]
Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
RequestT = TypeVar("RequestT", bound=RequestModel)


@dataclass(frozen=True, slots=True)
class Call:
    """One request. Logs and notices show only the ``template``, which contains no identifier."""

    method: Method
    template: str
    segments: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | int | bool] = field(default_factory=dict)
    body: RequestModel | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers; never a secret."""
    known: bytes | None = None
    """Digest of the response that the caller already has, so that an equal one is not parsed again.

    Empty if the caller has no response yet; None if ``Answer.digest`` is not needed.
    """

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing and may be repeated."""
        return self.method == "GET"

    def target(self) -> str:
        """Return path and query below the base URL, percent-encoded.

        Raises InvalidRequestError for an identifier that would lead to another path (such as ".."),
        and for text with lone surrogates.
        """
        path = self.template
        for name, value in self.segments.items():
            # Dots alone would be resolved as path steps, even if percent-encoded.
            if value in {"", ".", ".."}:
                raise _unusable(name)
            path = path.replace(f"{{{name}}}", _quoted(name, value))
        pairs = (f"{name}={_quoted(name, _text(value))}" for name, value in self.query.items())
        return "?".join(filter(None, (path, "&".join(pairs))))


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful response. ``json`` has the reference field names and Decimals for fractions."""

    json: Any = field(repr=False)
    request_id: str | None = None
    generation_id: str | None = None
    """The id of the generation that the request created."""
    digest: bytes = b""
    """Digest of the body, if the call asked for it."""
    unchanged: bool = False
    """Whether the body has the digest ``Call.known``; ``json`` is then None."""
    size: int = 0
    """Size of the uncompressed body in bytes."""


class Caller(Protocol):
    """Sends calls for the services."""

    async def call(self, call: Call) -> Answer:
        """Send one call. Raises GatewayError."""
        ...


def validated(request: RequestT, model: type[RequestT]) -> RequestT:
    """Return a validated copy of a request, right before it is sent.

    Needed because models can be built or copied without validation. Raises InvalidRequestError.
    """
    if not isinstance(request, model):
        raise InvalidRequestError([Problem("", f"must be a {model.__name__}")])
    query_params = {name: getattr(request, name) for name in request.model_fields_set}
    try:
        return model.model_validate(query_params)
    except ValidationError as error:
        refusals = problems(error)
    raise InvalidRequestError(refusals)


def query_params(**values: str | int | bool | None) -> Query:
    """Drop the query parameters that are None."""
    return {name: value for name, value in values.items() if value is not None}


@lru_cache(maxsize=256)  # pages differ only in their offset
def _quoted(name: str, value: str) -> str:
    try:
        return quote(value, safe=":")
    except UnicodeEncodeError:
        raise _unusable(name) from None


def _unusable(name: str) -> InvalidRequestError:
    return InvalidRequestError([Problem(name, "cannot be sent")])


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


MAX_RETRIES = 3
"""Maximum number of attempts after the first."""
BASE_WAIT = 0.3
MAX_WAIT = 5.0
"""Maximum wait in seconds. The back-off doubles up to it, with full jitter."""
BUDGET = 30.0
"""Maximum seconds for a read with all retries and waits.

If the gateway asks for a longer wait, the read fails at once, with ``retry_after`` in the error.
"""
MAX_RETRY_AFTER = 86_400.0
"""Maximum seconds that a gateway can make the client wait: one day."""

_PASSING_STATUSES = frozenset({502, 503, 504})


class RetryingCaller:
    """Sends calls through another caller, and retries reads.

    ``on_retry`` is called with the reason before the wait for each retry.
    """

    def __init__(
        self,
        caller: Caller,
        clock: Clock,
        on_retry: Callable[[str], None],
        *,
        budget: float = BUDGET,
    ) -> None:
        self._caller = caller
        self._clock = clock
        self._on_retry = on_retry
        self._budget = budget

    async def call(self, call: Call) -> Answer:
        """Send a write once, a read up to four times. Raises the last GatewayError.

        Reads are only retried while ``request_log.may_retry()``.
        """
        with request_pending(read=call.is_read):
            return await (self._read_in_time(call) if call.is_read else self._send(call))

    async def _read_in_time(self, call: Call) -> Answer:
        try:
            async with asyncio.timeout(self._budget):
                return await self._read(call)
        except TimeoutError:
            pass  # what it interrupted holds the request and must not become the error's context
        raise NoAnswerError(f"the gateway did not respond completely within {self._budget:g} s")

    async def _read(self, call: Call) -> Answer:
        started = self._clock.monotonic()
        for attempt in range(1, MAX_RETRIES + 1):
            try:
                return await self._send(call)
            except GatewayError as error:
                if not (is_transient(error) and may_retry()):
                    raise
                wait = self._wait(attempt, error)
                if self._clock.monotonic() - started + wait > self._budget:
                    raise
                self._on_retry(error.message)
            await self._clock.sleep(wait)
        return await self._send(call)

    async def _send(self, call: Call) -> Answer:
        count_request()
        answer = await self._caller.call(call)
        allow_retries()
        return answer

    def _wait(self, attempt: int, error: GatewayError) -> float:
        # Full jitter keeps clients that failed together from retrying together.
        backoff = self._clock.chance() * min(MAX_WAIT, BASE_WAIT * 2.0 ** (attempt - 1))
        return (error.retry_after or 0.0) + backoff


def is_transient(error: GatewayError) -> bool:
    """Whether the same read may succeed a moment later."""
    if isinstance(error, ConnectFailedError):
        return error.temporary
    if isinstance(error, ServerError):
        return error.status in _PASSING_STATUSES
    return isinstance(error, NoAnswerError | RateLimitedError)


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Parse ``retry-after-ms`` or ``retry-after`` (seconds or HTTP date); returns seconds.

    Header names are in lower case. Unreadable values count as missing, past dates as 0. A date is
    compared with the response's own Date, because the clocks of the two machines may differ.
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return _bounded(millis / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return _bounded(seconds)
    moment = http_date(text)
    if moment is None:
        return None
    return _bounded((moment - (http_date(headers.get("date")) or now)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)
