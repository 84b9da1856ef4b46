"""What chat and embeddings have in common: filters, routing, tries, and the booking at the end."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue
from starlette.responses import Response

from gwtui.contract.values import GENERATION_ID
from gwtui.domain.request_cost import RequestCost
from gwtui.domain.routing import Route, RouteAttempt
from gwtui.embedded.inference import accounting, upstream
from gwtui.embedded.inference.accounting import RequestOutcome
from gwtui.embedded.inference.answers import SimulatedAnswer
from gwtui.embedded.inference.content_filters import BlockedByFilter, FilterHit, pipeline, screen
from gwtui.embedded.inference.endpoint_selection import select_endpoints
from gwtui.embedded.inference.key_policy import KeyPolicy
from gwtui.embedded.inference.parsed_request import ParsedRequest, with_texts
from gwtui.embedded.inference.upstream import Pace
from gwtui.embedded.operations import OperationRequest, Responder
from gwtui.embedded.responses import Refusal
from gwtui.embedded.simulator.catalog import CatalogEndpoint
from gwtui.embedded.store import served_requests

_MS = 1000
_KEPT_HEADERS = ("user-agent", "http-referer", "origin", "x-session-id")
_LONGEST_HEADER = 256
_ID_BYTES = 10


@dataclass(frozen=True, slots=True)
class ServingEndpoint:
    """An endpoint that takes the request."""

    attempt: RouteAttempt
    item: CatalogEndpoint
    pace: Pace


class InferenceExchange(ABC):
    """A request on its way to its answer: what chat and embeddings have in common.

    ``id`` is that of the generation to come. What the exchange finds out on the way is None, empty
    or 0 before.
    """

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
        self._tries: list[tuple[str, dict[str, JsonValue]]] = []
        """The model of each try, and what came of it."""
        self._paused = 0.0
        """Seconds that the tries that failed took."""

    @abstractmethod
    async def answer(self, responder: Responder) -> Response:
        """The answer. Raises Refusal."""

    async def _reach(self) -> ServingEndpoint:
        """The first endpoint that takes the request. Raises Refusal, the last one of all tries."""
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
        headers = {**last.headers, **({GENERATION_ID: self.id} if self._tries else {})}
        raise Refusal(last.status, last.message, metadata=metadata, headers=headers) from last

    async def _try(self, attempt: RouteAttempt) -> ServingEndpoint:
        catalog, parsed = self.site.catalog, self.parsed
        item = catalog.endpoint(f"{attempt.model.id}|{attempt.endpoint.tag}")
        self.policy.check_payment(attempt, parsed.prompt_tokens, parsed.max_tokens, self.now)
        pace = upstream.pace_of(catalog, item, attempt, self.id)
        await self.clock.sleep(pace.accepted_after)
        try:
            self.policy.check_credential(attempt, self.site.secrets)
            upstream.check_accepted(catalog, item, attempt, self.now, self.clock.chance)
        except Refusal as refusal:
            latency = pace.accepted_after * _MS
            failed = accounting.one_try(attempt, item, refusal.status, latency)
            self._tries.append((item.model_id, failed))
            self._paused += pace.accepted_after
            raise
        upstream_id = f"up-{secrets.token_hex(8)}"
        found = accounting.one_try(attempt, item, 200, pace.latency_ms, upstream_id)
        self._tries.append((item.model_id, found))
        self._attempt = attempt
        return ServingEndpoint(attempt, item, pace)

    async def _book(
        self,
        responder: Responder,
        taken: ServingEndpoint,
        answer: SimulatedAnswer | None,
        writing: float | None,
        *,
        streamed: bool = False,
    ) -> RequestCost:
        """Book the request, whoever leaves meanwhile; gives what it cost.

        ``writing`` is how many seconds the tokens took.
        """
        latency = self._paused * _MS + taken.pace.latency_ms
        took = latency / _MS + (writing or 0)
        outcome = RequestOutcome(
            id=self.id,
            began=self.now,
            ended=max(self.clock.now(), self.now + timedelta(seconds=took)),
            latency=latency,
            generation_time=None if writing is None else writing * _MS,
            streamed=streamed,
            cancelled=answer is not None and answer.finish_reason is None,
            finish_reason=None if answer is None else answer.finish_reason,
            completion_tokens=0 if answer is None else answer.tokens,
            reasoning_tokens=0 if answer is None else len(answer.thoughts),
            output={
                "completion": None if answer is None else answer.text,
                "reasoning": None if answer is None else answer.reasoning,
            },
            error=None if answer is None else answer.error,
            tries=tuple(each for _, each in self._tries),
            headers=self.headers,
        )
        whose = (self.policy, self.parsed, taken.attempt, taken.item, outcome)
        cost = accounting.cost_of(*whose)
        request, used = accounting.entries(*whose, cost)
        await responder.carry_out(lambda db: served_requests.book(db, request, used))
        return cost

    def _metadata_field(self, writing: float | None) -> dict[str, JsonValue]:
        """The field of an answer that tells how it was handled; nothing unless asked for."""
        return {"service_metadata": self._metadata(writing)} if self._wants_metadata else {}

    def _metadata(self, writing: float | None) -> dict[str, JsonValue]:
        """How the request was handled: inference contract section 4."""
        attempt, tried = self._attempt, len(self._tries)
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
                for model, each in self._tries
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
