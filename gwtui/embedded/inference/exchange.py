"""The common part of chat and embeddings: filters, routing, attempts and charging.

Simulated latencies and failures follow the live figures of each endpoint. See sections 4, 6 and 7
of the inference contract.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.models import Pricing
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.values import GENERATION_ID
from gwtui.domain.pricing import CostLine, RequestCost, Usage, is_charged, request_cost
from gwtui.domain.routing import Route, RouteAttempt
from gwtui.embedded.inference.policy import KeyPolicy, select_endpoints
from gwtui.embedded.inference.request_input import (
    FilterHit,
    ParsedRequest,
    apply_filters,
    merge_filters,
    pipeline_steps,
    with_texts,
)
from gwtui.embedded.messages import Refusal, wire_value, without_none
from gwtui.embedded.operations import OperationRequest
from gwtui.embedded.simulator.catalog import CatalogEndpoint, failure_share
from gwtui.embedded.simulator.seeded_random import between, fraction, pick
from gwtui.embedded.simulator.usage import UsageSlice
from gwtui.embedded.store import account, generations, keys
from gwtui.embedded.store.account import Actor, from_pico, to_micros, to_pico

PROVIDER_ERROR = "Provider returned error"
WRITTEN_AFTER = timedelta(seconds=1)
"""How long after the end of a request its generation can be read."""
_MS = 1000
_KEPT_HEADERS = ("user-agent", "http-referer", "origin", "x-session-id")
_LONGEST_HEADER = 256
_ANSWER_PRICES = frozenset({"completion", "internal_reasoning", "audio_output", "image_output"})
_FAILURES: tuple[tuple[int, dict[str, JsonValue]], ...] = (
    (502, {"error_type": "provider_unavailable", "raw": '{"error":"upstream connect error"}'}),
    (
        429,
        {
            "error_type": "rate_limit_exceeded",
            "raw": '{"error":"rate limit of the shared pool"}',
            "limit_source": "upstream_provider_shared_pool",
        },
    ),
    (503, {"error_type": "provider_overloaded", "raw": '{"error":"overloaded"}'}),
)
"""Status and error metadata of each simulated failure of a provider."""


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """An answer of a model, as tokens of its reasoning (``thoughts``) and its content."""

    thoughts: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    finish_reason: str | None = None
    shows_thoughts: bool = True

    @property
    def tokens(self) -> int:
        """Number of tokens, with reasoning."""
        return len(self.thoughts) + len(self.content)

    @property
    def text(self) -> str:
        """The content as one text."""
        return "".join(self.content)

    @property
    def reasoning(self) -> str | None:
        """The reasoning as one text; None without reasoning, or if the request excludes it."""
        return "".join(self.thoughts) if self.thoughts and self.shows_thoughts else None

    def cut(self, tokens: int, finish_reason: str | None = None) -> SimulatedAnswer:
        """Return the answer cut to its first ``tokens`` tokens."""
        thoughts = self.thoughts[:tokens]
        content = self.content[: tokens - len(thoughts)]
        return SimulatedAnswer(thoughts, content, finish_reason, self.shows_thoughts)


@dataclass(frozen=True, slots=True)
class ServingEndpoint:
    """The endpoint that serves a request, with its latency and speed for this request."""

    attempt: RouteAttempt
    item: CatalogEndpoint
    latency_ms: float
    """Milliseconds to the first token, or to the complete result of embeddings."""
    tokens_per_second: float | None

    @property
    def first_token_s(self) -> float:
        """Seconds to the first token."""
        return self.latency_ms / _MS

    def generation_s(self, tokens: int) -> float:
        """Return the seconds needed to generate ``tokens`` tokens; 0 if the speed is unknown."""
        return tokens / self.tokens_per_second if self.tokens_per_second else 0.0

    def cached_tokens(self, parsed: ParsedRequest) -> int:
        """Return the number of prompt tokens that are read from a cache; audio is never cached."""
        text = parsed.prompt_tokens - parsed.audio_tokens
        return min(self.item.cached_tokens(parsed.prompt_tokens), text)


class InferenceExchange:
    """A request to a model, from filters to charging; ``id`` is the id of its generation."""

    def __init__(self, call: OperationRequest, policy: KeyPolicy, parsed: ParsedRequest) -> None:
        self.site = call.site
        self.policy = policy
        self.parsed = parsed
        self.now = call.now
        self.id = f"gen-{int(call.now.timestamp())}-{secrets.token_hex(10)}"
        self._headers = {
            name: call.headers[name][:_LONGEST_HEADER]
            for name in _KEPT_HEADERS
            if name in call.headers
        }
        wants_metadata = call.headers.get(call.site.dialect.metadata_header.lower(), "")
        self._wants_metadata = wants_metadata.strip().lower() == "enabled"
        self._hits: list[FilterHit] = []
        self._route: Route | None = None
        self._taken: RouteAttempt | None = None
        """The attempt that succeeded."""
        self._attempts: list[tuple[str, dict[str, JsonValue]]] = []
        """The model and the outcome of each attempt."""

    async def reach_endpoint(self) -> ServingEndpoint:
        """Try the endpoints in order; return the first that accepts the request.

        Raises the Refusal of the last attempt if none does.
        """
        try:
            filters = merge_filters(self.policy.binding)
            texts = await apply_filters(self.parsed.texts, filters, self._hits)
            self.parsed = with_texts(self.parsed, texts)
            self._route = select_endpoints(self.site, self.policy, self.parsed, self.now)
            return self._first_that_takes(self._route)
        except Refusal as refusal:
            if self._wants_metadata:
                refusal.service_metadata = self._metadata(None)
            raise

    def _first_that_takes(self, route: Route) -> ServingEndpoint:
        failures: list[tuple[RouteAttempt, Refusal]] = []
        for attempt in route.attempts:
            try:
                return self._try(attempt)
            except Refusal as refusal:
                failures.append((attempt, refusal))
        *before, (_, last) = failures
        if before:
            previous: list[JsonValue] = [
                {
                    "code": refusal.status,
                    "message": refusal.message,
                    "provider_name": attempt.endpoint.provider_name,
                }
                for attempt, refusal in before
            ]
            last.metadata = {**(last.metadata or {}), "previous_errors": previous}
        if self._attempts:
            last.headers[GENERATION_ID] = self.id
        raise last

    def _try(self, attempt: RouteAttempt) -> ServingEndpoint:
        # The timing varies around the live figures of the endpoint.
        self.policy.check_payment(attempt, self.parsed, self.now)
        endpoint = attempt.endpoint
        item = self.site.catalog.endpoint(f"{attempt.model.id}|{endpoint.tag}")
        latency, speed = endpoint.latency_last_30m, endpoint.throughput_last_30m
        delay = float(latency.p50) if latency and latency.p50 is not None else item.latency_ms
        rate = float(speed.p50) if speed and speed.p50 is not None else item.throughput
        spread = between(0.8, 1.25, self.site.seed, self.id, item.key)
        taken = ServingEndpoint(attempt, item, delay * spread, rate / spread if rate else None)
        try:
            self.policy.check_credential(attempt, self.site.secrets)
            self._check_accepted(attempt, item)
        except Refusal as refusal:
            self._note(taken, refusal.status)
            raise
        self._note(taken, 200, id=f"up-{secrets.token_hex(8)}")
        self._taken = attempt
        return taken

    def _note(self, taken: ServingEndpoint, status: int, **more: JsonValue) -> None:
        item, attempt = taken.item, taken.attempt
        details = {
            "status": status,
            "provider_name": attempt.endpoint.provider_name,
            "latency": round(taken.latency_ms),
            **more,
            "is_byok": attempt.credential is not None,
            "endpoint_id": item.id,
            "model_permaslug": str(item.wire["model_id"]),
            "routed_service_tier": item.wire["service_tier"],
        }
        self._attempts.append((item.model_id, without_none(details)))

    def _check_accepted(self, attempt: RouteAttempt, item: CatalogEndpoint) -> None:
        if self.site.clock.chance() < failure_share(self.site.seed, item, self.now.timestamp()):
            status, details = pick(_FAILURES, self.site.seed, item.key, self.now.isoformat())
            metadata = {
                **details,
                "provider_name": attempt.endpoint.provider_name,
                "is_byok": attempt.credential is not None,
            }
            raise Refusal(status, PROVIDER_ERROR, metadata=metadata)

    def charge(
        self,
        taken: ServingEndpoint,
        answer: SimulatedAnswer | None,
        generated_s: float | None,
    ) -> RequestCost:
        """Charge the request, store its generation, and return its cost.

        ``answer`` and ``generated_s``, the seconds to generate its tokens, are None for embeddings.
        """
        seconds = taken.first_token_s + (generated_s or 0)
        ended = max(self.site.clock.now(), self.now + timedelta(seconds=seconds))
        cost = self._cost(taken, answer)
        details = self._details(taken, answer or SimulatedAnswer(), generated_s, cost)
        content = json.dumps(self._content(answer)) if self._is_logged() else None

        with self.site.database.write() as db:
            key, workspace_id = self.policy.record.key, self.policy.workspace["id"]
            used = UsageSlice(
                moment=self.now,
                endpoint_key=taken.item.key,
                requests=1,
                prompt_tokens=self.parsed.prompt_tokens,
                completion_tokens=answer.tokens if answer else 0,
                usd=cost.cost or Decimal(0),
                byok_usd=cost.upstream_cost or Decimal(0),
            )
            account.book(db, Actor(key["hash"], workspace_id, key["creator_user_id"]), [used])
            keys.record_use(db, key["hash"], self.now)
            generations.store(
                db,
                id=self.id,
                key_hash=key["hash"],
                workspace_id=workspace_id,
                endpoint_key=taken.item.key,
                is_byok=taken.attempt.credential is not None,
                created_at=to_micros(self.now),
                shown_from=to_micros(ended + WRITTEN_AFTER),
                details=json.dumps(details),
                content=content,
            )
        return cost

    def _cost(self, taken: ServingEndpoint, answer: SimulatedAnswer | None) -> RequestCost:
        # The cost is rounded down to pico-USD.
        attempt, simulated = taken.attempt, answer or SimulatedAnswer()
        quote = request_cost(
            attempt.endpoint.pricing or Pricing.model_validate({"prompt": "0", "completion": "0"}),
            Usage(
                prompt_tokens=self.parsed.prompt_tokens,
                completion_tokens=simulated.tokens,
                moment=self.now,
                parts={
                    "image": self.parsed.images,
                    "audio": self.parsed.audio_tokens,
                    "input_cache_read": taken.cached_tokens(self.parsed),
                    "internal_reasoning": len(simulated.thoughts),
                },
            ),
            byok=self.policy.byok_use(attempt),
            data_discount=self.policy.workspace["is_data_discount_logging_enabled"],
            charged=answer is None or is_charged(answer.finish_reason, answer.tokens),
        )
        cost, upstream = (
            from_pico(to_pico(usd or Decimal(0))) for usd in (quote.cost, quote.upstream_cost)
        )
        return replace(quote, cost=cost, upstream_cost=upstream if attempt.credential else None)

    def _is_logged(self) -> bool:
        workspace = self.policy.workspace
        keys_logged = workspace["io_logging_api_key_ids"]
        return (
            workspace["is_observability_io_logging_enabled"]
            and (keys_logged is None or self.policy.record.number in keys_logged)
            and fraction(0, "sample", self.id) < (workspace["io_logging_sampling_rate"] or 1)
        )

    def _content(self, answer: SimulatedAnswer | None) -> dict[str, JsonValue]:
        return {
            "input": self.parsed.logged,
            "output": {
                "completion": answer.text if answer else None,
                "reasoning": answer.reasoning if answer else None,
            },
            "error": None,
        }

    def _details(
        self,
        taken: ServingEndpoint,
        answer: SimulatedAnswer,
        generated_s: float | None,
        cost: RequestCost,
    ) -> dict[str, JsonValue]:
        # The response of GET /generation follows section 8 of the extended contract.
        item, parsed, headers = taken.item, self.parsed, self._headers
        media = parsed.images + len(parsed.modalities - {"image", "audio"})
        return {
            "id": self.id,
            "created_at": timestamp_text(self.now),
            "model": item.model_id,
            "provider_name": str(item.wire["provider_name"]),
            "usage": wire_value(cost.cost),
            "total_cost": wire_value(cost.cost),
            "upstream_inference_cost": wire_value(cost.upstream_cost),
            "is_byok": taken.attempt.credential is not None,
            **generations.UNKNOWN_FIELDS,
            "origin": headers.get("origin") or headers.get("http-referer") or "",
            "data_region": "global",
            "workspace_id": self.policy.workspace["id"],
            "external_user": parsed.user or self.policy.record.key["external_user"],
            "session_id": parsed.session_id or headers.get("x-session-id"),
            "tokens_prompt": parsed.prompt_tokens,
            "tokens_completion": answer.tokens,
            "native_tokens_prompt": parsed.prompt_tokens,
            "native_tokens_completion": answer.tokens,
            "native_tokens_reasoning": len(answer.thoughts),
            "native_tokens_cached": taken.cached_tokens(parsed),
            "num_media_prompt": media or None,
            "num_input_audio_prompt": 1 if parsed.audio_tokens else None,
            "api_type": parsed.api,
            "streamed": parsed.streamed,
            "cancelled": parsed.api == "completions" and answer.finish_reason is None,
            "finish_reason": answer.finish_reason,
            "native_finish_reason": answer.finish_reason,
            "latency": round(taken.latency_ms),
            "generation_time": None if generated_s is None else round(generated_s * _MS),
            "service_tier": item.wire["service_tier"],
            "user_agent": headers.get("user-agent"),
            "http_referer": headers.get("http-referer"),
            "upstream_id": str(self._attempts[-1][1].get("id")),
            "provider_responses": [entry for _, entry in self._attempts],
        }

    def metadata_field(self, generated_s: float | None) -> dict[str, JsonValue]:
        """Return ``service_metadata`` as a field of the response; empty unless requested."""
        return {"service_metadata": self._metadata(generated_s)} if self._wants_metadata else {}

    def _metadata(self, generated_s: float | None) -> dict[str, JsonValue]:
        # The format follows section 4 of the inference contract.
        taken, tried = self._taken, len(self._attempts)
        is_byok = taken is not None and taken.credential is not None
        summary = f"no provider answered in {tried} tries" if tried else "no provider was reached"
        if taken is not None:
            whose = " on a BYOK credential" if is_byok else ""
            summary = f"answered by {taken.endpoint.provider_name}{whose} at try {tried}"
        available: list[JsonValue] = [
            {
                "provider": attempt.endpoint.provider_name,
                "model": attempt.model.id,
                "selected": attempt is taken,
            }
            for attempt in (self._route.attempts if self._route else ())
        ]
        return {
            "requested": self.parsed.models[0],
            "strategy": "fallback" if len(self.parsed.models) > 1 else "direct",
            "region": "global",
            "summary": summary,
            "attempt": tried,
            "is_byok": is_byok,
            "endpoints": {
                "total": self._route.endpoint_count if self._route else 0,
                "available": available,
            },
            "attempts": [
                {"provider": entry.get("provider_name"), "model": model, "status": entry["status"]}
                for model, entry in self._attempts
            ],
            "pipeline": pipeline_steps(self._hits),
            **({} if generated_s is None else {"generation_time": round(generated_s * _MS)}),
        }


def cost_fields(cost: RequestCost) -> dict[str, JsonValue]:
    """Return the fields of ``usage`` about the cost, in USD."""
    lines = cost.lines
    return {
        "cost": wire_value(cost.cost),
        "is_byok": cost.upstream_cost is not None,
        "cost_details": {
            "upstream_inference_cost": wire_value(cost.upstream_cost),
            "upstream_inference_prompt_cost": _total(
                line for line in lines if line.key not in _ANSWER_PRICES
            ),
            "upstream_inference_completions_cost": _total(
                line for line in lines if line.key in _ANSWER_PRICES
            ),
        },
    }


def _total(lines: Iterable[CostLine]) -> float:
    return float(sum((line.amount or Decimal(0) for line in lines), Decimal(0)))
