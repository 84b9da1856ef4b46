"""After a request: its cost, and what is written down of it. Inference contract sections 6, 7."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.models import Pricing
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.pricing import Usage
from gwtui.domain.request_cost import RequestCost, is_charged, request_cost
from gwtui.domain.routing import RouteAttempt
from gwtui.embedded.inference.key_policy import KeyPolicy
from gwtui.embedded.inference.parsed_request import ParsedRequest
from gwtui.embedded.responses import wire_value
from gwtui.embedded.simulator.catalog import CatalogEndpoint
from gwtui.embedded.simulator.seeded_random import fraction
from gwtui.embedded.simulator.usage import UsageSlice
from gwtui.embedded.store.served_requests import ServedRequest
from gwtui.embedded.store.usage import from_pico, to_micros, to_pico

WRITTEN_AFTER = timedelta(seconds=1)
"""How long after its end a generation can be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOutcome:
    """How a request went. Times are milliseconds."""

    id: str
    began: datetime
    ended: datetime
    latency: float
    generation_time: float | None
    streamed: bool
    cancelled: bool
    finish_reason: str | None
    completion_tokens: int
    reasoning_tokens: int
    output: Mapping[str, JsonValue]
    error: Mapping[str, JsonValue] | None
    tries: tuple[Mapping[str, JsonValue], ...]
    headers: Mapping[str, str]


def cost_of(
    policy: KeyPolicy,
    parsed: ParsedRequest,
    attempt: RouteAttempt,
    item: CatalogEndpoint,
    outcome: RequestOutcome,
) -> RequestCost:
    """What a request cost, cut to whole pico-USD, as it is booked."""
    prompt = parsed.prompt_tokens
    charged = parsed.api == "embeddings" or is_charged(
        outcome.finish_reason, outcome.completion_tokens
    )
    found = request_cost(
        attempt.endpoint.pricing or Pricing.model_validate({"prompt": "0", "completion": "0"}),
        Usage(
            prompt_tokens=prompt,
            completion_tokens=outcome.completion_tokens,
            moment=outcome.began,
            images=parsed.images,
            audio_tokens=parsed.audio_tokens,
            cached_tokens=cached_of(parsed, item),
            reasoning_tokens=outcome.reasoning_tokens,
        ),
        byok=policy.byok_use(attempt),
        data_discount=bool(policy.workspace.is_data_discount_logging_enabled),
        charged=charged,
    )
    own = attempt.credential is not None
    upstream = (found.upstream_cost or Decimal(0)) if own else None
    return replace(
        found,
        cost=_whole_pico(found.cost or Decimal(0)),
        upstream_cost=None if upstream is None else _whole_pico(upstream),
    )


def cached_of(parsed: ParsedRequest, item: CatalogEndpoint) -> int:
    """Prompt tokens that come from a cache, as many as activity says of the endpoint."""
    text = parsed.prompt_tokens - parsed.audio_tokens
    return min(item.cached_tokens(parsed.prompt_tokens), text)


def _whole_pico(usd: Decimal) -> Decimal:
    return from_pico(to_pico(usd))


def entries(
    policy: KeyPolicy,
    parsed: ParsedRequest,
    attempt: RouteAttempt,
    item: CatalogEndpoint,
    outcome: RequestOutcome,
    cost: RequestCost,
) -> tuple[ServedRequest, UsageSlice]:
    """What is booked of a request."""
    key = policy.key
    served = ServedRequest(
        id=outcome.id,
        key_hash=str(key.hash),
        workspace_id=str(policy.workspace.id),
        user_id=key.creator_user_id,
        endpoint_key=item.key,
        is_byok=attempt.credential is not None,
        created_at=to_micros(outcome.began),
        shown_from=to_micros(outcome.ended + WRITTEN_AFTER),
        details=json.dumps(_details(policy, parsed, attempt, item, outcome, cost)),
        content=json.dumps(_content(parsed, outcome)) if _is_logged(policy, outcome.id) else None,
    )
    used = UsageSlice(
        moment=outcome.began,
        model=item.model_id,
        model_permaslug=str(item.wire["model_id"]),
        provider=str(item.wire["provider_name"]),
        endpoint_key=item.key,
        requests=1,
        prompt_tokens=parsed.prompt_tokens,
        completion_tokens=outcome.completion_tokens,
        usd=cost.cost or Decimal(0),
        byok_usd=cost.upstream_cost or Decimal(0),
    )
    return served, used


def _is_logged(policy: KeyPolicy, generation_id: str) -> bool:
    """Whether the workspace logs this request: for all keys or some, and for a sample of them."""
    workspace = policy.workspace
    if not workspace.is_observability_io_logging_enabled:
        return False
    keys = workspace.io_logging_api_key_ids
    if keys is not None and policy.key_number not in keys:
        return False
    return fraction(0, "sample", generation_id) < float(workspace.io_logging_sampling_rate or 1)


def _content(parsed: ParsedRequest, outcome: RequestOutcome) -> dict[str, Any]:
    error = outcome.error
    return {
        "input": parsed.logged,
        "output": dict(outcome.output),
        "error": None
        if error is None
        else {
            "message": error.get("message"),
            "status": error.get("code"),
            "provider_name": None,
            "raw": None,
            "previous_errors": [],
        },
    }


def _details(
    policy: KeyPolicy,
    parsed: ParsedRequest,
    attempt: RouteAttempt,
    item: CatalogEndpoint,
    outcome: RequestOutcome,
    cost: RequestCost,
) -> dict[str, JsonValue]:
    """The answer of GET /generation: extended contract section 8."""
    amount = wire_value(cost.cost)
    return {
        "id": outcome.id,
        "created_at": timestamp_text(outcome.began),
        "model": item.model_id,
        "provider_name": str(item.wire["provider_name"]),
        "usage": amount,
        "total_cost": amount,
        "upstream_inference_cost": wire_value(cost.upstream_cost),
        "cache_discount": None,
        "is_byok": attempt.credential is not None,
        "origin": outcome.headers.get("origin") or outcome.headers.get("http-referer") or "",
        "data_region": "global",
        "workspace_id": policy.workspace.id,
        "external_user": parsed.user or policy.key.external_user,
        "session_id": parsed.session_id or outcome.headers.get("x-session-id"),
        **_tokens(parsed, item, outcome),
        "api_type": parsed.api,
        "streamed": outcome.streamed,
        "cancelled": outcome.cancelled,
        "finish_reason": outcome.finish_reason,
        "native_finish_reason": outcome.finish_reason,
        "latency": round(outcome.latency),
        "generation_time": None
        if outcome.generation_time is None
        else round(outcome.generation_time),
        "moderation_latency": None,
        "router": None,
        "service_tier": item.wire["service_tier"],
        "app_id": None,
        "user_agent": outcome.headers.get("user-agent"),
        "http_referer": outcome.headers.get("http-referer"),
        "preset_id": None,
        "upstream_id": str(outcome.tries[-1].get("id")),
        "provider_responses": [dict(each) for each in outcome.tries],
    }


def _tokens(
    parsed: ParsedRequest, item: CatalogEndpoint, outcome: RequestOutcome
) -> dict[str, JsonValue]:
    media = parsed.images + len(parsed.modalities - {"image", "audio"})
    return {
        "tokens_prompt": parsed.prompt_tokens,
        "tokens_completion": outcome.completion_tokens,
        "native_tokens_prompt": parsed.prompt_tokens,
        "native_tokens_completion": outcome.completion_tokens,
        "native_tokens_reasoning": outcome.reasoning_tokens,
        "native_tokens_cached": cached_of(parsed, item),
        "native_tokens_completion_images": None,
        "num_media_prompt": media or None,
        "num_media_completion": None,
        "num_input_audio_prompt": 1 if parsed.audio_tokens else None,
        "num_search_results": None,
        "num_fetches": None,
        "web_search_engine": None,
    }


def one_try(
    attempt: RouteAttempt, item: CatalogEndpoint, status: int, latency: float, upstream_id: str = ""
) -> dict[str, JsonValue]:
    """One try. Of what is not known the contract leaves the field out, but for the status."""
    found: dict[str, JsonValue] = {
        "status": status,
        "provider_name": attempt.endpoint.provider_name,
        "latency": round(latency),
        "id": upstream_id or None,
        "is_byok": attempt.credential is not None,
        "endpoint_id": item.id,
        "model_permaslug": str(item.wire["model_id"]),
        "routed_service_tier": item.wire["service_tier"],
    }
    return {name: value for name, value in found.items() if value is not None or name == "status"}
