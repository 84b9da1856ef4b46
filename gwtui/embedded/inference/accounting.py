"""After a request: its cost, and what is recorded of it. Inference contract sections 4, 6 and 7."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from gwtui.contract.models import Pricing
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.pricing import Quote, Usage
from gwtui.domain.request_cost import RequestCost, is_charged, request_cost
from gwtui.domain.routing import RouteAttempt
from gwtui.embedded.inference.key_policy import KeyPolicy
from gwtui.embedded.inference.parsed_request import ParsedRequest
from gwtui.embedded.responses import wire_value
from gwtui.embedded.simulator.catalog import CatalogEndpoint
from gwtui.embedded.simulator.seeded_random import fraction
from gwtui.embedded.simulator.usage import UsageSlice
from gwtui.embedded.store import generations, keys, usage
from gwtui.embedded.store.usage import Actor, from_pico, to_micros, to_pico

if TYPE_CHECKING:
    from gwtui.embedded.inference.exchange import ServingEndpoint

WRITTEN_AFTER = timedelta(seconds=1)
"""How long after its end a generation can be looked up."""
_ANSWER_KEYS = frozenset({"completion", "internal_reasoning", "audio_output", "image_output"})


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """An answer in tokens. ``error`` is given when it broke off after them."""

    thoughts: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    finish_reason: str | None = None
    shows_thoughts: bool = True
    error: Mapping[str, JsonValue] | None = None

    @property
    def tokens(self) -> int:
        """Tokens that are charged."""
        return len(self.thoughts) + len(self.content)

    @property
    def text(self) -> str:
        """The content as one text."""
        return "".join(self.content)

    @property
    def reasoning(self) -> str | None:
        """The thoughts, None where there are none or they are not shown."""
        return "".join(self.thoughts) if self.thoughts and self.shows_thoughts else None

    def cut(
        self,
        tokens: int,
        finish_reason: str | None = None,
        error: Mapping[str, JsonValue] | None = None,
    ) -> SimulatedAnswer:
        """The first ``tokens`` tokens of the answer."""
        thoughts = self.thoughts[:tokens]
        content = self.content[: tokens - len(thoughts)]
        return SimulatedAnswer(thoughts, content, finish_reason, self.shows_thoughts, error)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOutcome:
    """The outcome of a request. Times are milliseconds."""

    id: str
    began: datetime
    ended: datetime
    latency: float
    generation_time: float | None
    """None where no tokens are written."""
    streamed: bool
    answer: SimulatedAnswer | None
    """None for embeddings."""
    attempts: tuple[Mapping[str, JsonValue], ...]
    headers: Mapping[str, str]


def cost_of(
    policy: KeyPolicy, parsed: ParsedRequest, taken: ServingEndpoint, outcome: RequestOutcome
) -> RequestCost:
    """The cost of a request, cut to whole pico-USD, as it is booked."""
    attempt, answer = taken.attempt, outcome.answer or SimulatedAnswer()
    charged = outcome.answer is None or is_charged(answer.finish_reason, answer.tokens)
    found = request_cost(
        attempt.endpoint.pricing or Pricing.model_validate({"prompt": "0", "completion": "0"}),
        Usage(
            prompt_tokens=parsed.prompt_tokens,
            completion_tokens=answer.tokens,
            moment=outcome.began,
            images=parsed.images,
            audio_tokens=parsed.audio_tokens,
            cached_tokens=cached_of(parsed, taken.item),
            reasoning_tokens=len(answer.thoughts),
        ),
        byok=policy.byok_use(attempt),
        data_discount=bool(policy.workspace.is_data_discount_logging_enabled),
        charged=charged,
    )
    upstream = _whole_pico(found.upstream_cost) if attempt.credential is not None else None
    return replace(found, cost=_whole_pico(found.cost), upstream_cost=upstream)


def cached_of(parsed: ParsedRequest, item: CatalogEndpoint) -> int:
    """Prompt tokens that come from a cache, as many as activity says of the endpoint."""
    text = parsed.prompt_tokens - parsed.audio_tokens
    return min(item.cached_tokens(parsed.prompt_tokens), text)


def _whole_pico(usd: Decimal | None) -> Decimal:
    return from_pico(to_pico(usd or Decimal(0)))


def book(
    db: sqlite3.Connection,
    policy: KeyPolicy,
    parsed: ParsedRequest,
    taken: ServingEndpoint,
    outcome: RequestOutcome,
    cost: RequestCost,
) -> None:
    """Enter a request with what it used, and keep its generation."""
    key_hash, workspace_id = str(policy.key.hash), str(policy.workspace.id)
    used = UsageSlice(
        moment=outcome.began,
        endpoint_key=taken.item.key,
        requests=1,
        prompt_tokens=parsed.prompt_tokens,
        completion_tokens=outcome.answer.tokens if outcome.answer else 0,
        usd=cost.cost or Decimal(0),
        byok_usd=cost.upstream_cost or Decimal(0),
    )
    usage.book(db, Actor(key_hash, workspace_id, policy.key.creator_user_id), [used])
    keys.use(db, key_hash, outcome.began)
    generations.store(
        db,
        id=outcome.id,
        key_hash=key_hash,
        workspace_id=workspace_id,
        endpoint_key=taken.item.key,
        is_byok=taken.attempt.credential is not None,
        created_at=to_micros(outcome.began),
        shown_from=to_micros(outcome.ended + WRITTEN_AFTER),
        details=json.dumps(_details(policy, parsed, taken, outcome, cost)),
        content=json.dumps(_content(parsed, outcome)) if _is_logged(policy, outcome.id) else None,
    )


def _is_logged(policy: KeyPolicy, generation_id: str) -> bool:
    """Whether the workspace logs this request: for all keys or some, and for a sample of them."""
    workspace, keys_logged = policy.workspace, policy.workspace.io_logging_api_key_ids
    return (
        bool(workspace.is_observability_io_logging_enabled)
        and (keys_logged is None or policy.key_number in keys_logged)
        and fraction(0, "sample", generation_id) < float(workspace.io_logging_sampling_rate or 1)
    )


def _content(parsed: ParsedRequest, outcome: RequestOutcome) -> dict[str, Any]:
    answer = outcome.answer
    error = answer.error if answer else None
    return {
        "input": parsed.logged,
        "output": {
            "completion": answer.text if answer else None,
            "reasoning": answer.reasoning if answer else None,
        },
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
    taken: ServingEndpoint,
    outcome: RequestOutcome,
    cost: RequestCost,
) -> dict[str, JsonValue]:
    """The answer of GET /generation: extended contract section 8."""
    item, answer, headers = taken.item, outcome.answer or SimulatedAnswer(), outcome.headers
    media = parsed.images + len(parsed.modalities - {"image", "audio"})
    writing = outcome.generation_time
    return {
        "id": outcome.id,
        "created_at": timestamp_text(outcome.began),
        "model": item.model_id,
        "provider_name": str(item.wire["provider_name"]),
        "usage": wire_value(cost.cost),
        "total_cost": wire_value(cost.cost),
        "upstream_inference_cost": wire_value(cost.upstream_cost),
        "is_byok": taken.attempt.credential is not None,
        **generations.UNKNOWN_FIELDS,
        "origin": headers.get("origin") or headers.get("http-referer") or "",
        "data_region": "global",
        "workspace_id": policy.workspace.id,
        "external_user": parsed.user or policy.key.external_user,
        "session_id": parsed.session_id or headers.get("x-session-id"),
        "tokens_prompt": parsed.prompt_tokens,
        "tokens_completion": answer.tokens,
        "native_tokens_prompt": parsed.prompt_tokens,
        "native_tokens_completion": answer.tokens,
        "native_tokens_reasoning": len(answer.thoughts),
        "native_tokens_cached": cached_of(parsed, item),
        "num_media_prompt": media or None,
        "num_input_audio_prompt": 1 if parsed.audio_tokens else None,
        "api_type": parsed.api,
        "streamed": outcome.streamed,
        "cancelled": outcome.answer is not None and answer.finish_reason is None,
        "finish_reason": answer.finish_reason,
        "native_finish_reason": answer.finish_reason,
        "latency": round(outcome.latency),
        "generation_time": None if writing is None else round(writing),
        "service_tier": item.wire["service_tier"],
        "user_agent": headers.get("user-agent"),
        "http_referer": headers.get("http-referer"),
        "upstream_id": str(outcome.attempts[-1].get("id")),
        "provider_responses": [dict(each) for each in outcome.attempts],
    }


def attempt_details(
    attempt: RouteAttempt, item: CatalogEndpoint, status: int, latency: float, upstream_id: str = ""
) -> dict[str, JsonValue]:
    """One attempt. The contract leaves out unknown fields, but for the status."""
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


def token_usage(
    prompt_tokens: int, cached: int, answer: SimulatedAnswer, cost: RequestCost
) -> dict[str, JsonValue]:
    """The usage object of an answer."""
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": answer.tokens,
        "total_tokens": prompt_tokens + answer.tokens,
        **cost_fields(cost),
        "prompt_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": 0,
            "audio_tokens": 0,
            "video_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": len(answer.thoughts),
            "audio_tokens": 0,
        },
    }


def cost_fields(cost: RequestCost) -> dict[str, JsonValue]:
    """The cost fields of a usage object. Amounts are USD."""
    prompt, answered = (_sum_of(cost.quote, of_answer=each) for each in (False, True))
    return {
        "cost": wire_value(cost.cost),
        "is_byok": cost.upstream_cost is not None,
        "cost_details": {
            "upstream_inference_cost": wire_value(cost.upstream_cost),
            "upstream_inference_prompt_cost": wire_value(prompt),
            "upstream_inference_completions_cost": wire_value(answered),
        },
    }


def _sum_of(quote: Quote, *, of_answer: bool) -> Decimal:
    lines = (line for line in quote.lines if (line.key in _ANSWER_KEYS) == of_answer)
    return sum((line.amount or Decimal(0) for line in lines), Decimal(0))
