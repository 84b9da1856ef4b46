"""A single generation with all of its fields, and feedback on it.

See section 8 of the extended contract. Unknown fields are displayed as unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.usage import FeedbackRequest, Generation
from gwtui.crud import cells
from gwtui.crud.cells import count_column, flag_column, moment_column, text_column, usd_column
from gwtui.crud.fields import Field, Fields, PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.resource import Cell, Column, DetailRow, DetailTable, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import own_drift_sections
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.activity import generation_feed

_SECOND = 1000
_TRY = ("provider", "status", "latency", "BYOK", "model", "tier")
_NOT_USED = "none"

CATEGORIES = {
    "latency": "latency",
    "incoherence": "incoherence",
    "incorrect_response": "incorrect response",
    "formatting": "formatting",
    "billing": "billing",
    "api_error": "API error",
    "other": "other",
}


def shown_name(generation: Generation) -> str:
    """Return the id of a generation."""
    return f"Generation {cells.text(generation.id).text}"


def _flag(generation: Generation, name: str) -> Cell:
    return cells.yes_no(getattr(generation, name))


def _token_table(generation: Generation, _now: datetime) -> Sequence[DetailTable]:
    figures = (
        ("prompt", generation.tokens_prompt, generation.native_tokens_prompt),
        ("completion", generation.tokens_completion, generation.native_tokens_completion),
        ("reasoning", None, generation.native_tokens_reasoning),
        ("cached", None, generation.native_tokens_cached),
        ("images", None, generation.native_tokens_completion_images),
    )
    return [
        DetailTable(
            ("tokens", "normalised", "provider's own"),
            tuple(
                (Cell(label, "muted"), cells.count(ours), cells.count(theirs))
                for label, ours, theirs in figures
            ),
        )
    ]


def _time_rows(generation: Generation, _now: datetime) -> Sequence[DetailRow]:
    rate = _speed(generation)
    return [
        DetailRow("first token", cells.milliseconds_or_seconds(generation.latency)),
        DetailRow("generation", cells.milliseconds_or_seconds(generation.generation_time)),
        DetailRow("moderation", cells.milliseconds_or_seconds(generation.moderation_latency)),
        DetailRow("speed", cells.NOTHING)
        if rate is None
        else DetailRow("speed", Cell(f"{rate:,.1f} tokens/s"), "calculated"),
    ]


def _speed(generation: Generation) -> Decimal | None:
    count = generation.native_tokens_completion
    if count is None:
        count = generation.tokens_completion
    if count is None or not generation.generation_time or generation.generation_time < 0:
        return None
    return Decimal(count) * _SECOND / generation.generation_time


def _tries(generation: Generation, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    tries = generation.provider_responses
    if not tries:
        none = cells.missing(generation, "provider_responses", _NOT_USED)
        return [DetailRow("", none if tries is None else cells.names(()))]
    return [DetailTable(_TRY, tuple(_try(attempt) for attempt in tries))]


def _try(attempt: dict[str, Any]) -> tuple[Cell, ...]:
    status = attempt.get("status")
    good = isinstance(status, int) and 200 <= status < 300  # noqa: PLR2004 - HTTP
    latency = attempt.get("latency")
    number = isinstance(latency, int | float | Decimal) and not isinstance(latency, bool)
    byok = attempt.get("is_byok")
    return (
        _any(attempt.get("provider_name")),
        Cell(safe_line(status, 20), "good" if good else "bad") if status else cells.NOTHING,
        cells.milliseconds_or_seconds(Decimal(str(latency))) if number else cells.NOTHING,
        cells.yes_no(byok) if isinstance(byok, bool) else cells.NOTHING,
        _any(attempt.get("model_permaslug")),
        _any(attempt.get("routed_service_tier")),
    )


def _any(value: object) -> Cell:
    return cells.NOTHING if value is None else cells.text(value)


SECTIONS: tuple[Section[Generation], ...] = (
    Section(
        "Request",
        lambda generation, now: [
            DetailRow("id", cells.text(generation.id)),
            cells.moment_row("began", generation.created_at, now),
            DetailRow("model", cells.text(generation.model)),
            DetailRow("provider", cells.text(generation.provider_name)),
            DetailRow("API", cells.text_or(generation, "api_type", _NOT_USED)),
            DetailRow("streamed", _flag(generation, "streamed")),
            DetailRow("workspace", cells.text_or(generation, "workspace_id", _NOT_USED)),
            DetailRow("data region", cells.text(generation.data_region)),
        ],
    ),
    Section(
        "Outcome",
        lambda generation, _now: [
            DetailRow("finish reason", cells.text_or(generation, "finish_reason", _NOT_USED)),
            DetailRow(
                "provider's reason", cells.text_or(generation, "native_finish_reason", _NOT_USED)
            ),
            DetailRow("cancelled by caller", _flag(generation, "cancelled")),
        ],
    ),
    Section(
        "Cost",
        lambda generation, _now: [
            DetailRow("cost", cells.usd(generation.total_cost)),
            DetailRow("credits spent", cells.usd(generation.usage)),
            DetailRow("BYOK credential", _flag(generation, "is_byok")),
            DetailRow("provider's price", cells.usd(generation.upstream_inference_cost)),
            DetailRow(
                "cache discount",
                cells.usd(generation.cache_discount),
                "saved by caching" if generation.cache_discount else "",
            ),
        ],
    ),
    Section("Tokens", _token_table),
    Section("Time", _time_rows),
    Section(
        "Routing",
        lambda generation, _now: [
            DetailRow("router", cells.text_or(generation, "router", _NOT_USED)),
            DetailRow("service tier", cells.text_or(generation, "service_tier", "standard")),
            DetailRow("preset", cells.text_or(generation, "preset_id", _NOT_USED)),
            DetailRow("provider's id", cells.text_or(generation, "upstream_id", _NOT_USED)),
            DetailRow(
                "from cache of", cells.text_or(generation, "response_cache_source_id", _NOT_USED)
            ),
        ],
    ),
    Section("Every try", _tries),
    Section(
        "Caller",
        lambda generation, _now: [
            DetailRow("origin", cells.text(generation.origin)),
            DetailRow("client", cells.text_or(generation, "user_agent", _NOT_USED)),
            DetailRow("client's page", cells.text_or(generation, "http_referer", _NOT_USED)),
            DetailRow("application", cells.count(generation.app_id)),
            DetailRow("external user", cells.text_or(generation, "external_user", _NOT_USED)),
            DetailRow("request", cells.text_or(generation, "request_id", _NOT_USED)),
            DetailRow("session", cells.text_or(generation, "session_id", _NOT_USED)),
        ],
    ),
    Section(
        "Extras",
        lambda generation, _now: [
            DetailRow("media in", cells.count(generation.num_media_prompt)),
            DetailRow("media out", cells.count(generation.num_media_completion)),
            DetailRow("audio clips in", cells.count(generation.num_input_audio_prompt)),
            DetailRow("search results", cells.count(generation.num_search_results)),
            DetailRow("pages fetched", cells.count(generation.num_fetches)),
            DetailRow("search engine", cells.text_or(generation, "web_search_engine", _NOT_USED)),
        ],
    ),
    *own_drift_sections(Generation),
)

COLUMNS: tuple[Column[Generation], ...] = (
    text_column("id", "Generation", lambda generation: generation.id, 36, help="its id", grow=True),
    moment_column("began", "Began", lambda generation: generation.created_at, 11, "when it began"),
    text_column(
        "model", "Model", lambda generation: generation.model, 28, help="model that was asked"
    ),
    text_column(
        "provider", "Provider", lambda generation: generation.provider_name, 16, help="who ran it"
    ),
    usd_column("cost", "Cost", lambda generation: generation.total_cost, 10, "what it cost"),
    count_column(
        "in",
        "Tokens in",
        lambda generation: generation.tokens_prompt,
        9,
        "normalised tokens of the prompt",
    ),
    count_column(
        "out",
        "Tokens out",
        lambda generation: generation.tokens_completion,
        10,
        "normalised tokens of the completion",
    ),
    text_column(
        "finished",
        "Finish reason",
        lambda generation: generation.finish_reason,
        13,
        help="why it ended",
    ),
    flag_column(
        "byok", "BYOK", lambda generation: generation.is_byok, 4, "a BYOK credential was used"
    ),
)

ONE_GENERATION: ResourceSpec[Generation] = ResourceSpec(
    id="generation",
    title="Generation",
    singular="generation",
    identity=lambda generation: generation.id or "",
    name=shown_name,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=generation_feed,
    raw=lambda generation: generation.raw,
    read_by=lambda generation: ReadBy("generations.get", (generation.id or "",)),
    empty="The gateway said nothing about it.",
    default_sort=("id", False),
)


def _category(value: str, _context: PlanContext) -> str:
    return CATEGORIES.get(value) or safe_line(value, 200)


FIELDS = Fields(
    Field("generation_id", "Generation"),
    Field("category", "What was wrong", _category),
    Field("comment", "Comment"),
)


def plan_feedback(request: FeedbackRequest, context: PlanContext) -> Plan[None]:
    """Plan one POST /generation/feedback. The comment is not recorded: it may quote a prompt."""
    return Plan(
        action="generation.feedback",
        title=f"Send feedback on generation {safe_line(request.generation_id, 60)}",
        resource="generation",
        identity=request.generation_id,
        send=lambda client: client.generations.give_feedback(request),
        changes=tuple(
            replace(change, private=change.field == FIELDS.labels["comment"])
            for change in FIELDS.creation_changes(request, context)
        ),
        effects=("It is sent as it is: this cannot be undone.",),
        summary={"category": request.category, "commented": request.comment is not None},
    )
