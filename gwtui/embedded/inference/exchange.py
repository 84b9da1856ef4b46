"""What chat and embeddings have in common: filters, routing, attempts, and booking at the end.

The simulated providers take as long and fail as often as the live figures of their endpoints say.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from pydantic import JsonValue

from gwtui.contract.values import GENERATION_ID
from gwtui.domain.request_cost import RequestCost
from gwtui.domain.routing import Route, RouteAttempt
from gwtui.embedded.inference import accounting
from gwtui.embedded.inference.accounting import RequestOutcome, SimulatedAnswer
from gwtui.embedded.inference.content_filters import BlockedByFilter, FilterHit, pipeline, screen
from gwtui.embedded.inference.endpoint_selection import select_endpoints
from gwtui.embedded.inference.key_policy import KeyPolicy
from gwtui.embedded.inference.parsed_request import ParsedRequest, with_texts
from gwtui.embedded.operations import OperationRequest
from gwtui.embedded.responses import Refusal
from gwtui.embedded.simulator.catalog import CatalogEndpoint
from gwtui.embedded.simulator.endpoint_figures import EndpointHealth
from gwtui.embedded.simulator.seeded_random import between, fraction

if TYPE_CHECKING:
    from gwtui.embedded.app import Responder

PROVIDER_ERROR = "Provider returned error"
_MS = 1000
_KEPT_HEADERS = ("user-agent", "http-referer", "origin", "x-session-id")
_LONGEST_HEADER = 256
_ID_BYTES = 10
_ACCEPTED_AFTER = 0.3
"""Share of the time to the first token after which an endpoint says whether it answers at all."""
_BREAKS_OFF = 0.25
"""Share of the failures that happen in the middle of an answer."""
_FAILURES: tuple[tuple[float, int, dict[str, JsonValue]], ...] = (
    (0.6, 502, {"error_type": "provider_unavailable", "raw": '{"error":"upstream connect error"}'}),
    (
        0.85,
        429,
        {
            "error_type": "rate_limit_exceeded",
            "raw": '{"error":"rate limit of the shared pool"}',
            "limit_source": "upstream_provider_shared_pool",
        },
    ),
    (1.0, 503, {"error_type": "provider_overloaded", "raw": '{"error":"overloaded"}'}),
)
"""How often a failure is of which status, as running sums, with the metadata of the refusal."""


@dataclass(frozen=True, slots=True)
class ServingEndpoint:
    """An endpoint that a request is sent to, and how fast it takes this one."""

    attempt: RouteAttempt
    item: CatalogEndpoint
    latency_ms: float
    """To the first token, or to the whole result where there are no tokens."""
    tokens_per_second: float | None

    @property
    def accepted_after(self) -> float:
        """Seconds until it says whether it answers."""
        return self.latency_ms / _MS * _ACCEPTED_AFTER

    @property
    def thinks_for(self) -> float:
        """Seconds from there to the first token."""
        return self.latency_ms / _MS * (1 - _ACCEPTED_AFTER)

    def writing(self, tokens: int) -> float:
        """Seconds it takes to write this many tokens."""
        return tokens / self.tokens_per_second if self.tokens_per_second else 0.0


class InferenceExchange:
    """A request on its way to its answer. ``id`` is that of the generation to come."""

    def __init__(self, call: OperationRequest, policy: KeyPolicy, parsed: ParsedRequest) -> None:
        self.site = call.site
        self.clock = call.site.clock
        self.policy = policy
        self.parsed = parsed
        self.now = call.now
        self.id = f"gen-{int(call.now.timestamp())}-{secrets.token_hex(_ID_BYTES)}"
        metadata_header = call.site.dialect.metadata_header.lower()
        self.headers = {
            name: call.headers[name][:_LONGEST_HEADER]
            for name in (*_KEPT_HEADERS, metadata_header)
            if name in call.headers
        }
        self._wants_metadata = self.headers.get(metadata_header, "").strip().lower() == "enabled"
        self._hits: tuple[FilterHit, ...] = ()
        self._route: Route | None = None
        self._attempt: RouteAttempt | None = None
        """The attempt that succeeded."""
        self._attempts: list[tuple[str, Mapping[str, JsonValue]]] = []
        """The model of each attempt, and what came of it."""
        self._paused = 0.0
        """Seconds that the failed attempts took."""

    async def _reach(self) -> ServingEndpoint:
        """The first endpoint that takes the request. Raises the Refusal of the last attempt."""
        try:
            screened = await screen(self.parsed.texts, self.policy.filters)
            self._hits = screened.hits
            self.parsed = with_texts(self.parsed, screened.texts)
            self._route = select_endpoints(
                self.site, self.policy, self.parsed, self.now, self.clock.chance
            )
            return await self._first_that_takes(self._route)
        except Refusal as refusal:
            if isinstance(refusal, BlockedByFilter):
                self._hits = (refusal.hit,)
            if self._wants_metadata:
                refusal.service_metadata = self._metadata(None)
            raise

    async def _first_that_takes(self, route: Route) -> ServingEndpoint:
        failures: list[tuple[RouteAttempt, Refusal]] = []
        for attempt in route.attempts:
            try:
                return await self._try(attempt)
            except Refusal as refusal:
                failures.append((attempt, refusal))
        *before, (_, last) = failures
        metadata = dict(last.metadata or {})
        if before:
            metadata["previous_errors"] = [
                {
                    "code": refusal.status,
                    "message": refusal.message,
                    "provider_name": attempt.endpoint.provider_name,
                }
                for attempt, refusal in before
            ]
        headers = {**last.headers, **({GENERATION_ID: self.id} if self._attempts else {})}
        raise Refusal(last.status, last.message, metadata=metadata, headers=headers) from last

    async def _try(self, attempt: RouteAttempt) -> ServingEndpoint:
        item = self.site.catalog.endpoint(f"{attempt.model.id}|{attempt.endpoint.tag}")
        self.policy.check_payment(
            attempt, self.parsed.prompt_tokens, self.parsed.max_tokens, self.now
        )
        taken = self._paced(attempt, item)
        await self.clock.sleep(taken.accepted_after)
        try:
            self.policy.check_credential(attempt, self.site.secrets)
            self._check_accepted(attempt, item)
        except Refusal as refusal:
            self._note(attempt, item, refusal.status, taken.accepted_after * _MS)
            self._paused += taken.accepted_after
            raise
        self._note(attempt, item, 200, taken.latency_ms, f"up-{secrets.token_hex(8)}")
        self._attempt = attempt
        return taken

    def _note(
        self,
        attempt: RouteAttempt,
        item: CatalogEndpoint,
        status: int,
        latency: float,
        upstream_id: str = "",
    ) -> None:
        details = accounting.attempt_details(attempt, item, status, latency, upstream_id)
        self._attempts.append((item.model_id, details))

    def _paced(self, attempt: RouteAttempt, item: CatalogEndpoint) -> ServingEndpoint:
        """The pace of this request, around what the endpoint's figures show."""
        latency, speed = attempt.endpoint.latency_last_30m, attempt.endpoint.throughput_last_30m
        delay = float(latency.p50) if latency and latency.p50 is not None else item.latency_ms
        rate = float(speed.p50) if speed and speed.p50 is not None else item.throughput
        spread = between(0.8, 1.25, self.site.seed, self.id, item.key)
        return ServingEndpoint(attempt, item, delay * spread, rate / spread if rate else None)

    def _fails(self, item: CatalogEndpoint, share: float = 1.0) -> bool:
        """Whether the endpoint fails now; ``share`` of its failures are meant."""
        health = EndpointHealth(self.site.seed, item.key, item.condition)
        return self.clock.chance() < health.failures(self.now.timestamp()) * share

    def _check_accepted(self, attempt: RouteAttempt, item: CatalogEndpoint) -> None:
        """Raise a 429, 502 or 503 when the endpoint does not take the request."""
        if self._fails(item):
            kind = fraction(self.site.seed, "failure", item.key, self.now.isoformat())
            _, status, known = next(each for each in _FAILURES if kind < each[0])
            metadata = {
                **known,
                "provider_name": attempt.endpoint.provider_name,
                "is_byok": attempt.credential is not None,
            }
            raise Refusal(status, PROVIDER_ERROR, metadata=metadata)

    def _breaks_off(self, item: CatalogEndpoint) -> bool:
        """Whether the endpoint fails in the middle of its answer."""
        return self._fails(item, _BREAKS_OFF)

    async def _book(
        self,
        responder: Responder,
        taken: ServingEndpoint,
        answer: SimulatedAnswer | None,
        writing: float | None,
        *,
        streamed: bool = False,
    ) -> RequestCost:
        """Book the request, even when the client leaves meanwhile. Returns its cost.

        ``writing`` is how many seconds the tokens took.
        """
        latency = self._paused * _MS + taken.latency_ms
        took = latency / _MS + (writing or 0)
        outcome = RequestOutcome(
            id=self.id,
            began=self.now,
            ended=max(self.clock.now(), self.now + timedelta(seconds=took)),
            latency=latency,
            generation_time=None if writing is None else writing * _MS,
            streamed=streamed,
            answer=answer,
            attempts=tuple(each for _, each in self._attempts),
            headers=self.headers,
        )
        whose = (self.policy, self.parsed, taken, outcome)
        cost = accounting.cost_of(*whose)
        await responder.carry_out(lambda db: accounting.book(db, *whose, cost))
        return cost

    def _metadata_field(self, writing: float | None) -> dict[str, JsonValue]:
        """The field of an answer that tells how it was handled; nothing unless asked for."""
        return {"service_metadata": self._metadata(writing)} if self._wants_metadata else {}

    def _metadata(self, writing: float | None) -> dict[str, JsonValue]:
        """How the request was handled: inference contract section 4."""
        attempt, tried = self._attempt, len(self._attempts)
        available: list[JsonValue] = [
            {
                "provider": each.endpoint.provider_name,
                "model": each.model.id,
                "selected": each is attempt,
            }
            for each in (self._route.attempts if self._route else ())
        ]
        found: dict[str, JsonValue] = {
            "requested": self.parsed.models[0],
            "strategy": "fallback" if len(self.parsed.models) > 1 else "direct",
            "region": "global",
            "summary": _summary(attempt, tried),
            "attempt": tried,
            "is_byok": attempt is not None and attempt.credential is not None,
            "endpoints": {
                "total": self._route.total if self._route else 0,
                "available": available,
            },
            "attempts": [
                {"provider": each.get("provider_name"), "model": model, "status": each["status"]}
                for model, each in self._attempts
            ],
            "pipeline": [dict(step) for step in pipeline(self._hits)],
        }
        if writing is not None:
            found["generation_time"] = round(writing * _MS)
        return found


def _summary(attempt: RouteAttempt | None, tried: int) -> str:
    if attempt is None:
        return f"no provider answered in {tried} tries" if tried else "no provider was reached"
    whose = " on an own provider key" if attempt.credential is not None else ""
    return f"answered by {attempt.endpoint.provider_name}{whose} at try {tried}"
