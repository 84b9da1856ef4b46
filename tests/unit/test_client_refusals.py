"""Refused model requests: their kind, message and advice."""

from __future__ import annotations

from typing import Any

import pytest

from gwtui.client.errors import (
    BadRequestError,
    ConnectFailedError,
    ForbiddenError,
    GatewayError,
    NoAnswerError,
    NotFoundError,
    PaymentRequiredError,
    RateLimitedError,
    ReadOnlyError,
    ServerError,
    StatusError,
    TooLargeError,
    UnauthorizedError,
)
from gwtui.client.refusals import refusal_details, refusal_kind, refusal_remedy
from gwtui.contract.completion import ServiceMetadata
from gwtui.domain.guardrail_effect import GuardrailOutcome, verdict_of


def refused(kind: type[StatusError], message: str, status: int, **metadata: Any) -> StatusError:
    return kind(message, status=status, metadata=metadata)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (refused(ForbiddenError, "Request blocked by content filter: Email", 403), "blocked"),
        (refused(ForbiddenError, "Blocked PII detected: PERSON", 403), "blocked"),
        (
            refused(
                ForbiddenError,
                "Request blocked: prompt injection patterns detected",
                403,
                patterns=["ignore all"],
            ),
            "blocked",
        ),
        (refused(ForbiddenError, "Key limit exceeded (daily limit).", 403), "key limit"),
        (refused(ForbiddenError, "Budget limit exceeded (monthly limit).", 403), "budget"),
        (refused(ForbiddenError, "Org member budget limit exceeded", 403), "budget"),
        (refused(ForbiddenError, "Workspace monthly budget of $500.00 exceeded", 403), "budget"),
        (refused(ForbiddenError, "Flagged", 403, reasons=["violence"]), "refused by moderation"),
        (refused(ForbiddenError, "not in your country", 403), "refused"),
        (refused(BadRequestError, "foo/bar is not a valid model ID", 400), "unknown model"),
        (
            refused(BadRequestError, "a/b does not serve this operation: it gives vectors", 400),
            "wrong operation",
        ),
        (refused(NotFoundError, "Model foo not found", 404), "unknown model"),
        (
            refused(BadRequestError, "too much", 400, error_type="context_length_exceeded"),
            "prompt too long",
        ),
        (refused(TooLargeError, "This endpoint's maximum context length is 8192", 413), "prompt"),
        (refused(UnauthorizedError, "User not found.", 401), "key not usable"),
        (refused(PaymentRequiredError, "Insufficient credits", 402), "credits"),
        (refused(NotFoundError, "gone", 404, input_endpoint_count=3), "no endpoint"),
        (refused(NotFoundError, "No endpoints found for foo", 404), "no endpoint"),
        (RateLimitedError("slow"), "too many"),
        (ServerError("Provider returned error", status=502), "provider failed"),
        (ReadOnlyError("held back"), "read-only"),
        (ConnectFailedError("no connection"), "not connected"),
        (NoAnswerError("lost"), "response lost"),
        (StatusError("teapot", status=418), "refused"),
    ],
)
def test_each_refusal_has_a_kind_and_a_remedy(error: GatewayError, kind: str) -> None:
    assert refusal_kind(error).startswith(kind)
    assert refusal_remedy(error)


def test_refusals_by_routing_list_their_steps() -> None:
    error = refused(
        NotFoundError,
        "0 endpoints out of 3 requested are available",
        404,
        ineligibility_reasons=[{"reason": "model-ignored-by-guardrail", "endpoint_count": 3}],
        routing_funnel=[{"step": "Filter by Guardrails", "endpoint_count": 0}],
        failed_routing_step="Filter by Guardrails",
        available_providers=["one", "two"],
    )
    assert refusal_details(error) == (
        "3 endpoints: model-ignored-by-guardrail",
        "after Filter by Guardrails: 0 endpoints left",
        "no endpoint left after the step: Filter by Guardrails",
        "available providers: one, two",
    )
    assert "model-guardrails" in refusal_remedy(error)


def test_refusals_by_providers_list_their_details() -> None:
    error = refused(
        RateLimitedError,
        "Provider returned error",
        429,
        raw="slow down",
        provider_name="One",
        previous_errors=[{"code": 502, "message": "gone", "provider_name": "Two"}],
        headers={"X-RateLimit-Reset": "1790000000000"},
        remedy_hint="add your own key",
    )
    assert refusal_details(error) == (
        "provider: One",
        "provider message: slow down",
        "X-RateLimit-Reset: 1790000000000",
        "tried before: Two: 502 gone",
    )
    assert refusal_remedy(error) == "add your own key"
    assert refusal_remedy(RateLimitedError("slow", retry_after=7.0)) == "wait 7 s and try again"


def test_metadata_of_any_shape_is_survived() -> None:
    error = refused(NotFoundError, "x", 404, ineligibility_reasons="odd", routing_funnel=[1, None])
    assert refusal_kind(error)
    assert refusal_details(error) == ()


@pytest.mark.parametrize(
    ("pipeline", "outcome"),
    [
        (None, "pass"),
        ([], "pass"),
        ([{"type": "guardrail", "name": "f", "data": {"action": "redact", "count": 1}}], "redact"),
        ([{"type": "guardrail", "name": "f", "data": {"matches": [{"action": "flag"}]}}], "flag"),
        ([{"type": "guardrail", "name": "f", "data": {"redacted": 0, "flagged": 2}}], "flag"),
        ([{"type": "guardrail", "name": "f", "data": {"actions": ["flag", "redact"]}}], "redact"),
        ([{"type": "guardrail", "name": "f", "data": {"flagged": False}}], "pass"),
        ([{"type": "guardrail", "name": "f", "summary": "Redacted 1 email"}], "redact"),
        ([{"type": "guardrail", "name": "f", "summary": "nothing found"}], "pass"),
        ([{"type": "plugin", "name": "web", "data": {"action": "redact"}}], "pass"),
        (
            [
                {"type": "guardrail", "name": "a", "data": {"action": "redact"}},
                {"type": "guardrail", "name": "b", "data": {"action": "flag"}},
            ],
            "redact",
        ),
    ],
)
def test_the_verdict_is_the_strictest_action(pipeline: Any, outcome: GuardrailOutcome) -> None:
    result = verdict_of(ServiceMetadata.model_validate({"pipeline": pipeline}))
    assert result.outcome == outcome


def test_a_missing_pipeline_gives_no_verdict() -> None:
    assert verdict_of(None) is None
