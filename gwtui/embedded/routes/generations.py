"""Generations: metadata, content, feedback. Extended contract section 8."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.contract.usage import FeedbackRequest, Generation, GenerationContent
from gwtui.embedded import queries
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import not_found, one, plain, record, wire_value
from gwtui.embedded.simulator.endpoint_figures import live_figures
from gwtui.embedded.simulator.seeded_random import between, fraction, hex_text, pick
from gwtui.embedded.store import generations, keys, served_requests
from gwtui.embedded.store.generations import GenerationRecord
from gwtui.embedded.store.kinds import WORKSPACES
from gwtui.embedded.store.usage import from_pico, to_micros

if TYPE_CHECKING:
    from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint

_API_TYPES: Mapping[str, str] = {
    "text_generation": "completions",
    "embeddings": "embeddings",
    "rerank": "rerank",
    "decisions": "decisions",
    "image_generation": "image",
    "video_generation": "video",
    "tts": "tts",
    "stt": "stt",
}
_CANCELLED_SHARE = 0.02
_STREAMED_SHARE = 0.7
_FINISHES = ("stop", "stop", "stop", "stop", "stop", "stop", "length", "tool_calls")
_USER_AGENTS = ("python-httpx/0.28.1", "node", "Go-http-client/2.0", None)
_QUESTIONS = (
    "Summarise the attached report in five sentences.",
    "Which of these tickets are about billing?",
    "Write a unit test for the function below.",
    "Translate this paragraph into plain English.",
)


@dataclass(frozen=True, slots=True)
class _Run:
    """How one request went; everything follows from its identifier."""

    catalog: Catalog
    record: GenerationRecord
    endpoint: CatalogEndpoint

    @property
    def api_type(self) -> str | None:
        return _API_TYPES.get(self.endpoint.workloads[0])

    @property
    def is_chat(self) -> bool:
        return self.api_type == "completions"

    def chance(self, *parts: object) -> float:
        return fraction(self.catalog.seed, self.record.request.id, *parts)

    @property
    def cancelled(self) -> bool:
        return self.is_chat and self.chance("cancelled") < _CANCELLED_SHARE

    @property
    def finish_reason(self) -> str | None:
        if not self.is_chat or self.cancelled:
            return None
        return pick(_FINISHES, self.catalog.seed, self.record.request.id, "finish")

    def latency(self) -> int:
        """Milliseconds, around what the endpoint showed at the time."""
        figures = live_figures(self.catalog, self.endpoint.key, self.record.request.moment)
        stats = figures["latency_last_30m"]
        typical = self.endpoint.latency_ms if stats is None else stats["p50"]
        return round(typical * between(0.6, 1.7, self.catalog.seed, self.record.request.id))

    def generation_time(self) -> int | None:
        """Milliseconds of writing tokens; None where none are written one by one."""
        speed = self.endpoint.throughput
        if not self.is_chat or not speed:
            return None
        return round(self.record.request.completion_tokens / speed * 1000)


def generation_data(
    catalog: Catalog, record: GenerationRecord, *, external_user: str | None
) -> dict[str, JsonValue]:
    """The metadata. Amounts are USD, times milliseconds."""
    request, stream = record.request, record.request.stream
    run = _Run(catalog, record, catalog.endpoint(stream.endpoint_key))
    cost = wire_value(from_pico(request.cost))
    upstream_id = f"up-{hex_text(16, catalog.seed, request.id, 'upstream')}"
    return {
        "id": request.id,
        "request_id": f"req-{hex_text(32, catalog.seed, request.id, 'request')}",
        "created_at": timestamp_text(request.moment),
        "model": stream.model,
        "provider_name": stream.provider,
        "usage": 0.0 if stream.byok else cost,
        "total_cost": 0.0 if stream.byok else cost,
        "upstream_inference_cost": cost if stream.byok else None,
        "cache_discount": None,
        "is_byok": stream.byok,
        "origin": "https://clients.example/",
        "data_region": "global",
        "workspace_id": record.actor.workspace_id,
        "external_user": external_user,
        **_tokens(run),
        **_course(run),
        **_client(run),
        "upstream_id": upstream_id,
        "provider_responses": [_attempt(run, upstream_id)],
    }


def _tokens(run: _Run) -> dict[str, JsonValue]:
    prompt, completion = run.record.request.prompt_tokens, run.record.request.completion_tokens
    image, audio = run.api_type == "image", run.api_type == "stt"
    return {
        "tokens_prompt": prompt,
        "tokens_completion": completion,
        "native_tokens_prompt": prompt,
        "native_tokens_completion": completion,
        "native_tokens_reasoning": run.endpoint.reasoning_tokens(completion),
        "native_tokens_cached": run.endpoint.cached_tokens(prompt),
        "native_tokens_completion_images": 1 if image else None,
        "num_media_prompt": None,
        "num_media_completion": 1 if image else None,
        "num_input_audio_prompt": 1 if audio else None,
        "num_search_results": None,
        "num_fetches": None,
        "web_search_engine": None,
    }


def _course(run: _Run) -> dict[str, JsonValue]:
    return {
        "api_type": run.api_type,
        "streamed": run.is_chat and run.chance("streamed") < _STREAMED_SHARE,
        "cancelled": run.cancelled,
        "finish_reason": run.finish_reason,
        "native_finish_reason": run.finish_reason,
        "latency": run.latency(),
        "generation_time": run.generation_time(),
        "moderation_latency": None,
        "router": None,
        "service_tier": run.endpoint.wire["service_tier"],
    }


def _client(run: _Run) -> dict[str, JsonValue]:
    return {
        "app_id": None,
        "user_agent": pick(_USER_AGENTS, run.catalog.seed, run.record.request.key_hash, "agent"),
        "http_referer": None,
        "preset_id": None,
    }


def _attempt(run: _Run, upstream_id: str) -> dict[str, JsonValue]:
    """One try. Of what is not known the contract leaves the field out, but for the status."""
    wire_object = run.endpoint.wire
    attempt = {
        "status": 200,
        "provider_name": wire_object["provider_name"],
        "latency": run.latency(),
        "id": upstream_id,
        "is_byok": run.record.request.stream.byok,
        "endpoint_id": run.endpoint.id,
        "model_permaslug": wire_object["model_id"],
        "routed_service_tier": wire_object["service_tier"],
    }
    return {name: value for name, value in attempt.items() if value is not None}


def generation_content(catalog: Catalog, record: GenerationRecord) -> dict[str, Any]:
    """What was read and written, as far as a simulated request has any of it."""
    run = _Run(catalog, record, catalog.endpoint(record.request.stream.endpoint_key))
    question = pick(_QUESTIONS, catalog.seed, record.request.id, "question")
    if not run.is_chat:
        return {
            "input": {"prompt": question},
            "output": {"completion": None, "reasoning": None},
            "error": None,
        }
    thought = run.endpoint.reasoning_tokens(record.request.completion_tokens)
    return {
        "input": {"messages": [{"role": "user", "content": question}]},
        "output": {
            "completion": None if run.cancelled else "A simulated answer: nothing was generated.",
            "reasoning": "A simulated thought." if thought else None,
        },
        "error": None,
    }


_ID = queries.needed_text("id", "identifier of the generation")


def _get(call: OperationRequest) -> JsonValue:
    known = served_requests.find(call.db, call.query["id"], call.now)
    if known is not None:
        return {"data": known.generation}
    found = _found(call, call.query["id"])
    key = keys.find(call.db, found.actor.key_hash, call.now)
    external_user = None if key is None else key.key.external_user
    return {"data": generation_data(call.site.catalog, found, external_user=external_user)}


def _get_content(call: OperationRequest) -> JsonValue:
    """Kept only where the workspace logs inputs and outputs."""
    known = served_requests.find(call.db, call.query["id"], call.now)
    if known is not None:
        if known.content is None:
            raise not_found()
        return {"data": json.loads(known.content)}
    found = _found(call, call.query["id"])
    workspace = WORKSPACES.get(call.db, found.actor.workspace_id)
    if workspace is None or not workspace.is_observability_io_logging_enabled:
        raise not_found()
    return {"data": generation_content(call.site.catalog, found)}


def _give_feedback(call: OperationRequest) -> JsonValue:
    request = call.body_as(FeedbackRequest)
    if served_requests.find(call.db, request.generation_id, call.now) is None:
        _found(call, request.generation_id)
    call.db.execute(
        "INSERT INTO feedback (generation_id, category, comment, given_by, given_at) "
        "VALUES (?, ?, ?, ?, ?)",
        (
            request.generation_id,
            request.category,
            request.comment,
            call.known_caller.user_id,
            to_micros(call.now),
        ),
    )
    return {"data": {"success": True}}


def _found(call: OperationRequest, generation_id: str) -> GenerationRecord:
    found = generations.find(call.db, call.site.profiles, generation_id, call.now)
    if found is None:
        raise not_found()
    return found


OPERATIONS = (
    Operation(
        method="GET",
        path="/generation",
        operation_id="getGeneration",
        summary="Get request and usage metadata for a generation",
        tag="Generations",
        access=Access.ANY_KEY,
        handler=_get,
        answer=one(Generation),
        query=(_ID,),
        refusals=(402, 403, 404, 429, 502, 524, 529),
    ),
    Operation(
        method="GET",
        path="/generation/content",
        operation_id="getGenerationContent",
        summary="Get what a generation read and wrote, where the workspace logs it",
        tag="Generations",
        access=Access.MANAGEMENT,
        handler=_get_content,
        answer=one(GenerationContent),
        query=(_ID,),
        refusals=(404,),
    ),
    Operation(
        method="POST",
        path="/generation/feedback",
        operation_id="giveFeedback",
        summary="Say what was wrong with a generation",
        tag="Generations",
        access=Access.MANAGEMENT,
        handler=_give_feedback,
        answer=plain("Taken", {"data": record({"success": {"const": True}})}),
        body=FeedbackRequest,
        refusals=(404,),
    ),
)
