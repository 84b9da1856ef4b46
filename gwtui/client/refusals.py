"""Kind, details and remedy of a refused request to a model.

See section 5 of the inference contract. The status is not enough: a 403 can be a spent limit, a
spent budget, a guardrail, or a provider's moderation. Results contain text of the service: escape
it for display.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

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
from gwtui.contract.errors import (
    FILTER_BY_GUARDRAIL,
    FILTER_BY_PARAMETERS,
    FILTER_BY_PROVIDERS,
    Availability,
    ErrorMetadata,
)

RefusalKind = Literal[
    "blocked by a guardrail",
    "no endpoint left",
    "key limit used up",
    "budget used up",
    "credits needed",
    "key not usable",
    "unknown model",
    "wrong operation",
    "prompt too long",
    "refused by moderation",
    "too many requests",
    "provider failed",
    "read-only",
    "not connected",
    "response lost",
    "refused",
]

_BLOCKED = re.compile(r"request blocked\b|blocked pii detected\b", re.IGNORECASE)
_KEY_LIMIT = re.compile(r"key limit exceeded", re.IGNORECASE)
_BUDGET = re.compile(r"budget\b.*\b(exceeded|limit)|budget limit", re.IGNORECASE)
_NO_MODEL = re.compile(r"not a valid model|model\b.*\b(not found|does not exist)", re.IGNORECASE)
_OTHER_WORK = re.compile(r"does not (serve|support) this|wrong endpoint", re.IGNORECASE)
_TOO_LONG = re.compile(r"context[ _]length|maximum context|too many tokens", re.IGNORECASE)
_ENDPOINTS = re.compile(r"\bendpoints?\b", re.IGNORECASE)


def metadata_of(error: GatewayError) -> ErrorMetadata:
    """The metadata of a refusal; empty if there is none."""
    metadata = error.metadata if isinstance(error, StatusError) else {}
    return ErrorMetadata.model_validate(dict(metadata))


def refusal_kind(error: GatewayError) -> RefusalKind:
    """Classify a refusal by its status, metadata and message."""
    if isinstance(error, ForbiddenError):
        return _forbidden(error)
    if isinstance(error, BadRequestError | TooLargeError):
        return _bad_request(error)
    if isinstance(error, NotFoundError):
        return _not_found(error)
    return next((kind for types, kind in _KINDS if isinstance(error, types)), "refused")


_KINDS: tuple[tuple[type[GatewayError], RefusalKind], ...] = (
    (UnauthorizedError, "key not usable"),
    (PaymentRequiredError, "credits needed"),
    (RateLimitedError, "too many requests"),
    (ServerError, "provider failed"),
    (ReadOnlyError, "read-only"),
    (ConnectFailedError, "not connected"),
    (NoAnswerError, "response lost"),
)


def _forbidden(error: ForbiddenError) -> RefusalKind:
    metadata = metadata_of(error)
    if _BLOCKED.search(error.message) or metadata.patterns:
        return "blocked by a guardrail"
    if _KEY_LIMIT.search(error.message):
        return "key limit used up"
    if _BUDGET.search(error.message):
        return "budget used up"
    if metadata.reasons or metadata.flagged_input:
        return "refused by moderation"
    return "refused"


def _bad_request(error: StatusError) -> RefusalKind:
    metadata = metadata_of(error)
    available = Availability.model_validate(dict(error.availability))
    if available.code == "model_not_found" or _NO_MODEL.search(error.message):
        return "unknown model"
    if available.code == "wrong_endpoint" or _OTHER_WORK.search(error.message):
        return "wrong operation"
    if metadata.error_type == "context_length_exceeded" or _TOO_LONG.search(error.message):
        return "prompt too long"
    return "refused"


def _not_found(error: NotFoundError) -> RefusalKind:
    metadata = metadata_of(error)
    routed = (
        metadata.failed_routing_step
        or metadata.ineligibility_reasons
        or metadata.input_endpoint_count
    )
    if routed or error.availability or _ENDPOINTS.search(error.message):
        return "no endpoint left"
    return "unknown model"


_DETAILS = {
    "failed_routing_step": "no endpoint left after the step",
    "requested_providers": "requested providers",
    "available_providers": "available providers",
    "patterns": "patterns found",
    "reasons": "moderation",
    "provider_name": "provider",
    "provider_words": "provider message",
    "limit_source": "limit of",
}
"""Labels of the fields of ErrorMetadata that hold a text or a list of texts."""


def refusal_details(error: GatewayError) -> tuple[str, ...]:
    """The details of a refusal, one line each: reasons, routing steps, patterns, limits."""
    metadata = metadata_of(error)
    lines = []
    for reason in metadata.ineligibility_reasons or ():
        count = "?" if reason.endpoint_count is None else reason.endpoint_count
        where = f", set at {reason.configure_url}" if reason.configure_url else ""
        lines.append(f"{count} endpoints: {reason.reason or 'no reason given'}{where}")
    lines += [
        f"after {step.step or 'a step'}: {step.endpoint_count} endpoints left"
        for step in metadata.routing_funnel or ()
    ]
    for name, label in _DETAILS.items():
        if value := getattr(metadata, name):
            lines.append(f"{label}: {', '.join(value) if isinstance(value, list) else value}")
    lines += [f"{name}: {value}" for name, value in (metadata.headers or {}).items()]
    lines += [
        f"tried before: {prior.provider_name or 'a provider'}: {prior.code} {prior.message}"
        for prior in metadata.previous_errors or ()
    ]
    available = error.availability if isinstance(error, StatusError) else {}
    if models := Availability.model_validate(dict(available)).fallback_models:
        lines.append(f"fallback models: {', '.join(models)}")
    return tuple(lines)


_STEPS: Mapping[str, str] = {
    FILTER_BY_GUARDRAIL: "a guardrail or data policy leaves no endpoint: gwtui model-guardrails "
    "list --model MODEL says which one, or choose another model",
    FILTER_BY_PROVIDERS: "none of the providers that were asked for serves this model: leave out "
    "--provider, or see gwtui endpoints list MODEL",
    FILTER_BY_PARAMETERS: "no endpoint supports every parameter of the request: leave some out",
}

_REMEDIES: Mapping[RefusalKind, str] = {
    "blocked by a guardrail": "nothing was sent to a model",
    "no endpoint left": "see gwtui endpoints list MODEL, and the key's guardrails",
    "key limit used up": "raise the key's limit, or wait for its reset, if any: gwtui keys get KEY",
    "budget used up": "raise the budget or wait until it resets: gwtui budgets list",
    "credits needed": "buy credits, or ask for fewer tokens with --max-tokens",
    "key not usable": "use an inference key that exists, is enabled and has not expired; a "
    "management key cannot send requests to models",
    "unknown model": "check its name, author/slug: gwtui models list --filter WORD",
    "wrong operation": "the model does something else: gwtui try chat needs one that answers in "
    "text, gwtui try embed one that gives vectors",
    "prompt too long": "shorten the prompt, or choose a model with a larger context",
    "refused by moderation": "the provider refused the content: reword it or choose another model",
    "too many requests": "wait and try again",
    "provider failed": "try again, or choose another provider with --provider",
    "read-only": "nothing was sent; --allow-tries sends it anyway; it costs money",
    "not connected": "nothing was sent: check the address and the network",
    "response lost": "it may be billed nevertheless: look at the key's usage before trying again",
    "refused": "change what the message names, and try again",
}


def refusal_remedy(error: GatewayError) -> str:
    """Return what the user can do, as one sentence: the service's own advice if it gives any."""
    metadata = metadata_of(error)
    if metadata.remedy_hint:
        return metadata.remedy_hint
    kind = refusal_kind(error)
    if kind == "no endpoint left" and (step := _STEPS.get(metadata.failed_routing_step or "")):
        return step
    if kind == "too many requests" and error.retry_after:
        return f"wait {error.retry_after:g} s and try again"
    return _REMEDIES[kind]
