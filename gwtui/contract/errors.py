"""The error body and the messages that the contract documents: "Errors", extended section 0."""

from __future__ import annotations

from typing import Any

from gwtui.contract.response import ResponseModel, wire

INVALID_REQUEST = "Invalid request parameters"
MISSING_AUTHENTICATION = "Missing Authentication header"
MANAGEMENT_KEY_NEEDED = "Only management keys can perform this operation"
NOT_FOUND = "Resource not found"
RATE_LIMITED = "Rate limit exceeded"
SERVER_ERROR = "Internal Server Error"


class ErrorDetail(ResponseModel):
    """What went wrong, for people."""

    code: int | None = wire("the HTTP status")
    message: str | None = wire("plain message")
    metadata: dict[str, Any] | None = wire("details", nullable=True, optional=True)


class ErrorBody(ResponseModel):
    """The body of every refusal."""

    error: ErrorDetail | None = wire("the error")
    service_metadata: dict[str, Any] | None = wire("service details", nullable=True, optional=True)
    user_id: str | None = wire("user of the key", nullable=True, optional=True)
