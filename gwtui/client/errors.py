"""The exceptions of the client.

    GatewayError
    +- NotSentError          nothing reached the gateway: refused locally, or no connection
    |  +- ReadOnlyError      the read-only gate held a write back
    |  +- InvalidRequestError the request breaks the contract; holds the problems by field
    |  +- ConnectFailedError no connection could be made
    +- NoAnswerError         sent, but the response was lost: time-out, reset, half a body
    +- UnreadableAnswerError an answer came, but it is not what the contract describes
    +- StatusError           the gateway answered with an error status
       +- BadRequestError 400, UnauthorizedError 401, PaymentRequiredError 402,
          ForbiddenError 403, NotFoundError 404, ConflictError 409, TooLargeError 413,
          RateLimitedError 429, ServerError 5xx

``effect`` says what a write that failed so may have done: "none" or "unknown".
Messages never hold a token, a body or a secret. Contract: "Errors".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from gwtui.contract.request import Problem

Effect = Literal["none", "unknown"]


class GatewayError(Exception):
    """Base of all; ``message`` is fit to show to a person."""

    effect: ClassVar[Effect] = "unknown"
    status: int | None = None

    def __init__(self, message: str, *, request_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.request_id = request_id


class NotSentError(GatewayError):
    """No request reached the gateway."""

    effect = "none"


class ReadOnlyError(NotSentError):
    """A write was blocked because the connection is read-only."""


class InvalidRequestError(NotSentError):
    """The request breaks the contract; nothing was sent."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


class ConnectFailedError(NotSentError):
    """No connection to the gateway could be made; ``temporary`` when trying again may help."""

    def __init__(
        self, message: str, *, request_id: str | None = None, temporary: bool = True
    ) -> None:
        super().__init__(message, request_id=request_id)
        self.temporary = temporary


class NoAnswerError(GatewayError):
    """The request was sent, but the response was lost."""


class UnreadableAnswerError(GatewayError):
    """An answer came, but not one that the contract describes."""


class StatusError(GatewayError):
    """The gateway answered with an error status.

    ``retry_after`` is the requested wait in seconds, or None. ``metadata`` and ``availability``
    hold the details of the refusal: inference contract section 5.
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
    """401: no key, or one that is unknown, disabled or expired."""


class PaymentRequiredError(StatusError):
    """402: credits are needed."""


class ForbiddenError(StatusError):
    """403: the key is valid but not allowed to do this."""


class NotFoundError(StatusError):
    """404: the resource does not exist."""


class ConflictError(StatusError):
    """409: the resource changed meanwhile."""


class TooLargeError(StatusError):
    """413: the request is too large."""


class RateLimitedError(StatusError):
    """429: too many requests."""

    status = 429


class ServerError(StatusError):
    """5xx: the gateway failed; a write may have happened or not."""

    effect = "unknown"
