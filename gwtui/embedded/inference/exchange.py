"""What chat and embeddings have in common: filters, routing, tries, and the booking at the end."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta

from pydantic import JsonValue

from gwtui.contract.values import GENERATION_ID
from gwtui.domain.clock import Clock
from gwtui.domain.request_cost import RequestCost
from gwtui.domain.routing import RouteAttempt
from gwtui.embedded.inference import accounting, upstream
from gwtui.embedded.inference.accounting import RequestOutcome
from gwtui.embedded.inference.answers import SimulatedAnswer
from gwtui.embedded.inference.content_filters import BlockedByFilter, FilterHit, pipeline, screen
from gwtui.embedded.inference.endpoint_selection import EndpointSelection, select_endpoints
from gwtui.embedded.inference.key_policy import KeyPolicy
from gwtui.embedded.inference.parsed_request import ParsedRequest, with_texts
from gwtui.embedded.inference.upstream import Pace
from gwtui.embedded.operations import DeferredResponse, Responder, Site
from gwtui.embedded.responses import Refusal
from gwtui.embedded.simulator.catalog import CatalogEndpoint
from gwtui.embedded.store import served_requests
from gwtui.lazy_dataclass import dataclass

_MS = 1000


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Who asks, when and how. The identifier is that of the generation to come."""

    site: Site
    policy: KeyPolicy
    now: datetime
    id: str
    headers: Mapping[str, str]

    @property
    def wants_metadata(self) -> bool:
        """Whether the answer is to tell how it was handled."""
        given = self.headers.get(self.site.dialect.metadata_header.lower(), "")
        return given.strip().lower() == "enabled"


@dataclass(slots=True)
class RequestProgress:
    """A request on its way: what was found out so far."""

    parsed: ParsedRequest
    hits: tuple[FilterHit, ...] = ()
    selection: EndpointSelection | None = None
    attempt: RouteAttempt | None = None
    tries: list[tuple[str, dict[str, JsonValue]]] = field(default_factory=list)
    """The model of each try, and what came of it."""
    paused: float = 0.0
    """Seconds that the tries before this one took."""


@dataclass(frozen=True, slots=True)
class ServingEndpoint:
    """An endpoint that takes the request."""

    parsed: ParsedRequest
    attempt: RouteAttempt
    item: CatalogEndpoint
    pace: Pace


class InferenceExchange(DeferredResponse):
    """What chat and embeddings have in common."""

    def __init__(self, context: RequestContext, parsed: ParsedRequest) -> None:
        self._at = context
        self._progress = RequestProgress(parsed)

    @property
    def _clock(self) -> Clock:
        return self._at.site.clock

    async def _reach(self) -> ServingEndpoint:
        """The first endpoint that takes the request. Raises Refusal, the last one of all tries."""
        at, progress = self._at, self._progress
        try:
            screened = await screen(progress.parsed.texts, at.policy.filters)
            progress.hits = screened.hits
            progress.parsed = with_texts(progress.parsed, screened.texts)
            chance = at.site.clock.chance
            progress.selection = select_endpoints(
                at.site, at.policy, progress.parsed, at.now, chance
            )
            return await self._first_that_takes(progress.selection)
        except Refusal as refusal:
            if isinstance(refusal, BlockedByFilter):
                progress.hits = (refusal.hit,)
            if at.wants_metadata:
                refusal.service_metadata = self._metadata(None)
            raise

    async def _first_that_takes(self, selection: EndpointSelection) -> ServingEndpoint:
        progress, failures = self._progress, []
        for attempt in selection.route.attempts:
            try:
                return await self._try(attempt)
            except Refusal as refusal:
                failures.append((attempt, refusal))
        attempt, last = failures[-1]
        previous: list[JsonValue] = [
            {
                "code": refusal.status,
                "message": refusal.message,
                "provider_name": before.endpoint.provider_name,
            }
            for before, refusal in failures[:-1]
        ]
        metadata = dict(last.metadata or {})
        if previous:
            metadata["previous_errors"] = previous
        headers = {**last.headers, GENERATION_ID: self._at.id} if progress.tries else last.headers
        raise Refusal(last.status, last.message, metadata=metadata, headers=headers) from last

    async def _try(self, attempt: RouteAttempt) -> ServingEndpoint:
        at, progress = self._at, self._progress
        catalog, parsed = at.site.catalog, progress.parsed
        item = catalog.endpoint(f"{attempt.model.id}|{attempt.endpoint.tag}")
        at.policy.check_payment(attempt, parsed.prompt_tokens, parsed.max_tokens, at.now)
        pace = upstream.pace_of(catalog, item, attempt, at.id)
        await self._clock.sleep(pace.accepted_after)
        try:
            upstream.check_accepted(catalog, item, attempt, at.now, self._clock.chance)
        except Refusal as refusal:
            latency = pace.accepted_after * _MS
            failed = accounting.one_try(attempt, item, refusal.status, latency)
            progress.tries.append((item.model_id, failed))
            progress.paused += pace.accepted_after
            raise
        upstream_id = f"up-{secrets.token_hex(8)}"
        found = accounting.one_try(attempt, item, 200, pace.latency_ms, upstream_id)
        progress.tries.append((item.model_id, found))
        progress.attempt = attempt
        return ServingEndpoint(parsed, attempt, item, pace)

    def _outcome(
        self,
        taken: ServingEndpoint,
        answer: SimulatedAnswer | None,
        writing: float | None,
        *,
        streamed: bool,
    ) -> RequestOutcome:
        """How it went; ``writing`` is how many seconds the tokens took."""
        latency = self._progress.paused * _MS + taken.pace.latency_ms
        took = latency / _MS + (writing or 0)
        return RequestOutcome(
            id=self._at.id,
            began=self._at.now,
            ended=max(self._clock.now(), self._at.now + timedelta(seconds=took)),
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
            tries=tuple(each for _, each in self._progress.tries),
            headers=self._at.headers,
        )

    async def _book(
        self, responder: Responder, taken: ServingEndpoint, outcome: RequestOutcome
    ) -> RequestCost:
        """Book the request, whoever leaves meanwhile; gives what it cost."""
        at = self._at
        whose = (at.policy, taken.parsed, taken.attempt, taken.item, outcome)
        cost = accounting.cost_of(*whose)
        request, used = accounting.entries(*whose, cost)
        await responder.carry_out(lambda db: served_requests.book(db, request, used))
        return cost

    def _metadata_field(self, generation_ms: float | None) -> dict[str, JsonValue]:
        """The field of an answer that tells how it was handled; nothing unless asked for."""
        if not self._at.wants_metadata:
            return {}
        return {"service_metadata": self._metadata(generation_ms)}

    def _metadata(self, generation_ms: float | None) -> dict[str, JsonValue]:
        """How the request was handled: inference contract section 4."""
        progress, selection = self._progress, self._progress.selection
        attempt = progress.attempt
        tried = len(progress.tries)
        shown: list[JsonValue] = [
            {
                "provider": each.endpoint.provider_name,
                "model": each.model.id,
                "selected": each is attempt,
            }
            for each in (selection.route.attempts if selection else ())
        ]
        found: dict[str, JsonValue] = {
            "requested": progress.parsed.models[0],
            "strategy": "fallback" if len(progress.parsed.models) > 1 else "direct",
            "region": "global",
            "summary": _summary(attempt, tried),
            "attempt": tried,
            "is_byok": attempt is not None and attempt.credential is not None,
            "endpoints": {"total": selection.route.total if selection else 0, "available": shown},
            "attempts": accounting.tries_shown(progress.tries),
            "pipeline": [dict(step) for step in pipeline(progress.hits)],
        }
        if generation_ms is not None:
            found["generation_time"] = round(generation_ms)
        return found


def _summary(attempt: RouteAttempt | None, tried: int) -> str:
    if attempt is None:
        return f"no provider answered in {tried} tries" if tried else "no provider was reached"
    whose = " on an own provider key" if attempt.credential is not None else ""
    return f"answered by {attempt.endpoint.provider_name}{whose} at try {tried}"
