"""The exceptions of the client.

    GatewayError
    +- NotSentError          nothing reached the gateway: refused locally, or no connection
    |  +- ReadOnlyError      a write on a read-only connection
    |  +- InvalidRequestError the request breaks the contract; holds the problems by field
    |  +- ConnectFailedError no connection could be made
    +- NoAnswerError         sent, but the response was lost: timeout, reset, incomplete body
    +- UnreadableAnswerError the response does not match the contract
    +- StatusError           the gateway answered with an error status
       +- BadRequestError 400, UnauthorizedError 401, PaymentRequiredError 402,
          ForbiddenError 403, NotFoundError 404, ConflictError 409, TooLargeError 413,
          RateLimitedError 429, ServerError 5xx

``effect`` is what a failed write may have changed: "none" or "unknown". Messages never contain a
token, a body or a secret. Contract: "Errors".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from gwtui.contract.request import Problem

Effect = Literal["none", "unknown"]


class GatewayError(Exception):
    """Base class of all errors; ``message`` can be shown to a person."""

    effect: ClassVar[Effect] = "unknown"
    status: int | None = None
    retry_after: float | None = None

    def __init__(self, message: str, *, request_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.request_id = request_id


class NotSentError(GatewayError):
    """Nothing was sent to the gateway, so nothing has changed."""

    effect = "none"


class ReadOnlyError(NotSentError):
    """A write was blocked because the connection is read-only."""


class InvalidRequestError(NotSentError):
    """The request breaks the contract; nothing was sent."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


class ConnectFailedError(NotSentError):
    """No connection could be made; ``temporary`` if another attempt may succeed."""

    def __init__(self, message: str, *, temporary: bool = True) -> None:
        super().__init__(message)
        self.temporary = temporary


class NoAnswerError(GatewayError):
    """The request was sent, but the response was lost."""


class UnreadableAnswerError(GatewayError):
    """The gateway answered, but not as described in the contract."""


class StatusError(GatewayError):
    """The gateway answered with an error status.

    ``retry_after`` is the requested wait in seconds, None if the response has none. ``metadata``
    and ``availability`` are the fields of the error object (see section 5 of the inference
    contract), empty if absent.
    """

    effect: ClassVar[Effect] = "none"
    availability: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, request_id=request_id)
        if status is not None:
            self.status = status
        self.metadata = metadata or {}
        self.retry_after = retry_after


class BadRequestError(StatusError):
    """400: the gateway refuses the request as invalid."""


class UnauthorizedError(StatusError):
    """401: the key is missing, unknown, disabled or expired."""


class PaymentRequiredError(StatusError):
    """402: credits are needed."""


class ForbiddenError(StatusError):
    """403: the key is valid but not allowed to do this."""


class NotFoundError(StatusError):
    """404: the resource does not exist."""


class ConflictError(StatusError):
    """409: the resource has changed in the meantime."""


class TooLargeError(StatusError):
    """413: the request is too large."""


class RateLimitedError(StatusError):
    """429: too many requests."""

    status = 429


class ServerError(StatusError):
    """5xx: the gateway failed; a write may or may not have been applied."""

    effect = "unknown"
