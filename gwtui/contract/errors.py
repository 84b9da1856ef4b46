"""The error body and the documented error messages.

See "Errors" in the contract and section 0 of the extended contract, and for the metadata
of a failed model request section 5 of the inference contract.
"""

from __future__ import annotations

from typing import Any

from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Whole

INVALID_REQUEST = "Invalid request parameters"
MISSING_AUTHENTICATION = "Missing Authentication header"
MANAGEMENT_KEY_NEEDED = "Only management keys can perform this operation"
NOT_FOUND = "Resource not found"
RATE_LIMITED = "Rate limit exceeded"
SERVER_ERROR = "Internal Server Error"

ERROR_TYPES = (
    "context_length_exceeded",
    "invalid_request",
    "authentication",
    "permission_denied",
    "payment_required",
    "not_found",
    "rate_limit_exceeded",
    "provider_overloaded",
    "provider_unavailable",
    "content_policy_violation",
    "timeout",
    "server",
    "unmapped",
)
"""Known values of ``metadata.error_type``; the service may send others."""
FILTER_BY_GUARDRAIL = "Filter by Guardrails"
FILTER_BY_PROVIDERS = "Filter by Allowed Providers"
FILTER_BY_PARAMETERS = "Filter by Parameters"
INELIGIBILITY_REASONS = (
    "model-ignored-by-guardrail",
    "provider-not-allowed-by-guardrail",
    "zdr-violation-by-account",
    "zdr-violation-by-guardrail",
    "paid-model-training-violation-by-account",
    "paid-model-training-violation-by-guardrail",
    "free-model-training-violation-by-account",
    "free-model-training-violation-by-guardrail",
)
"""Known values of ``metadata.ineligibility_reasons[].reason``."""


class IneligibleEndpoints(ResponseModel):
    """The number of endpoints that cannot serve a request, and the reason."""

    reason: str | None = wire("why", known=INELIGIBILITY_REASONS)
    endpoint_count: Whole | None = wire("how many")
    configure_url: str | None = wire("where that is set", nullable=True, optional=True)


class RoutingStep(ResponseModel):
    """The number of endpoints that remain after one routing step."""

    step: str | None = wire("name of the step")
    endpoint_count: Whole | None = wire("how many were left")


class PriorError(ResponseModel):
    """The error of an endpoint that was tried earlier."""

    code: Whole | None = wire("the status", optional=True)
    message: str | None = wire("plain message", optional=True)
    provider_name: str | None = wire("display name of the provider", nullable=True, optional=True)


class ErrorMetadata(ResponseModel):
    """The metadata of a failed model request. See section 5 of the inference contract.

    Every field may be absent. Read it with ``ErrorMetadata.model_validate(error.metadata)``.
    """

    error_type: str | None = wire("kind of error", optional=True, known=ERROR_TYPES)
    provider_code: str | None = wire("the provider's code", nullable=True, optional=True)
    patterns: list[str] | None = wire("what looked like an injection", optional=True)
    reasons: list[str] | None = wire("why a provider's moderation refused", optional=True)
    flagged_input: str | None = wire("what it refused", nullable=True, optional=True)
    provider_name: str | None = wire("display name of the provider", nullable=True, optional=True)
    model_slug: str | None = wire("model identifier", nullable=True, optional=True)
    input_endpoint_count: Whole | None = wire("endpoints before any filter", optional=True)
    ineligibility_reasons: list[IneligibleEndpoints] | None = wire(
        "why endpoints were left out", optional=True
    )
    routing_funnel: list[RoutingStep] | None = wire("what each step left", optional=True)
    failed_routing_step: str | None = wire(
        "the step that left nothing",
        optional=True,
        known=(FILTER_BY_GUARDRAIL, FILTER_BY_PROVIDERS, FILTER_BY_PARAMETERS),
    )
    requested_providers: list[str] | None = wire("what the request allows", optional=True)
    available_providers: list[str] | None = wire("what there is", optional=True)
    headers: dict[str, str] | None = wire("limits, as header fields", optional=True)
    limit_source: str | None = wire("whose limit was met", nullable=True, optional=True)
    remedy_hint: str | None = wire("what to do", nullable=True, optional=True)
    is_byok: bool | None = wire("whether a BYOK credential was used", optional=True)
    previous_errors: list[PriorError] | None = wire(
        "what other endpoints responded before", nullable=True, optional=True
    )

    @property
    def provider_words(self) -> str | None:
        """The provider's own error text; ``raw`` on the wire."""
        words = self.raw.get("raw")
        return words if isinstance(words, str) else None


class Availability(ResponseModel):
    """Why a model cannot serve a request, and the alternatives.

    See section 5 of the inference contract.
    """

    code: str | None = wire("kind of obstacle")
    retryable: bool | None = wire("whether trying again may help")
    requested_models: list[str] | None = wire("what was asked for")
    docs_url: str | None = wire("where it is explained")
    retry_after: Number | None = wire("seconds to wait", unit="s", nullable=True, optional=True)
    affected_providers: list[str] | None = wire("providers", nullable=True, optional=True)
    excluded_by: Any = wire("what leaves them out", nullable=True, optional=True)
    fallback_models: list[str] | None = wire("models that could", nullable=True, optional=True)
    constraint: Any = wire("what cannot be met", nullable=True, optional=True)


class ErrorDetail(ResponseModel):
    """The error code and message."""

    code: Whole | None = wire("the HTTP status")
    message: str | None = wire("plain message")
    metadata: dict[str, Any] | None = wire("details", nullable=True, optional=True)
    availability: Availability | None = wire(
        "why the model cannot serve it", nullable=True, optional=True
    )


class ErrorBody(ResponseModel):
    """The body of every error response."""

    error: ErrorDetail | None = wire("the error")
    service_metadata: dict[str, Any] | None = wire("service details", nullable=True, optional=True)
    user_id: str | None = wire("user of the key", nullable=True, optional=True)
