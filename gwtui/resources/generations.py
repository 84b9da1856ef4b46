"""A single generation with all of its fields, and feedback on it.

Extended contract section 8. Unknown fields are displayed as unknown.
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


def _ms(value: Decimal | None) -> Cell:
    if value is None:
        return cells.NOTHING
    if value >= _SECOND:
        return Cell(f"{value / _SECOND:,.2f} s")
    return Cell(f"{value:,.0f} ms")


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
        DetailRow("first token", _ms(generation.latency)),
        DetailRow("generation", _ms(generation.generation_time)),
        DetailRow("moderation", _ms(generation.moderation_latency)),
        DetailRow(
            "speed", cells.NOTHING if rate is None else Cell(f"{rate:,.1f} tokens/s"), "worked out"
        ),
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
    return [DetailTable(_TRY, tuple(_try(each) for each in tries))]


def _try(each: dict[str, Any]) -> tuple[Cell, ...]:
    status = each.get("status")
    good = isinstance(status, int) and 200 <= status < 300  # noqa: PLR2004 - HTTP
    latency = each.get("latency")
    number = isinstance(latency, int | float | Decimal) and not isinstance(latency, bool)
    byok = each.get("is_byok")
    return (
        _any(each.get("provider_name")),
        Cell(safe_line(status, 20), "good" if good else "bad") if status else cells.NOTHING,
        _ms(Decimal(str(latency))) if number else cells.NOTHING,
        cells.yes_no(byok) if isinstance(byok, bool) else cells.NOTHING,
        _any(each.get("model_permaslug")),
        _any(each.get("routed_service_tier")),
    )


def _any(value: object) -> Cell:
    return cells.NOTHING if value is None else cells.text(value)


SECTIONS: tuple[Section[Generation], ...] = (
    Section(
        "Request",
        lambda one, now: [
            DetailRow("id", cells.text(one.id)),
            cells.moment_row("began", one.created_at, now),
            DetailRow("model", cells.text(one.model)),
            DetailRow("provider", cells.text(one.provider_name)),
            DetailRow("API", cells.text_or(one, "api_type", _NOT_USED)),
            DetailRow("streamed", _flag(one, "streamed")),
            DetailRow("workspace", cells.text_or(one, "workspace_id", _NOT_USED)),
            DetailRow("data region", cells.text(one.data_region)),
        ],
    ),
    Section(
        "Outcome",
        lambda one, _now: [
            DetailRow("finished", cells.text_or(one, "finish_reason", _NOT_USED)),
            DetailRow("provider's word", cells.text_or(one, "native_finish_reason", _NOT_USED)),
            DetailRow("cancelled", _flag(one, "cancelled"), "by the caller"),
        ],
    ),
    Section(
        "Cost",
        lambda one, _now: [
            DetailRow("cost", cells.usd(one.total_cost)),
            DetailRow("credits spent", cells.usd(one.usage)),
            DetailRow("BYOK credential", _flag(one, "is_byok")),
            DetailRow("provider's price", cells.usd(one.upstream_inference_cost)),
            DetailRow("cache discount", cells.usd(one.cache_discount), "saved by caching"),
        ],
    ),
    Section("Tokens", _token_table),
    Section("Time", _time_rows),
    Section(
        "Routing",
        lambda one, _now: [
            DetailRow("router", cells.text_or(one, "router", _NOT_USED)),
            DetailRow("service tier", cells.text_or(one, "service_tier", "standard")),
            DetailRow("preset", cells.text_or(one, "preset_id", _NOT_USED)),
            DetailRow("provider's id", cells.text_or(one, "upstream_id", _NOT_USED)),
            DetailRow("from cache of", cells.text_or(one, "response_cache_source_id", _NOT_USED)),
        ],
    ),
    Section("Every try", _tries),
    Section(
        "Caller",
        lambda one, _now: [
            DetailRow("origin", cells.text(one.origin)),
            DetailRow("client", cells.text_or(one, "user_agent", _NOT_USED)),
            DetailRow("client's page", cells.text_or(one, "http_referer", _NOT_USED)),
            DetailRow("application", cells.count(one.app_id)),
            DetailRow("external user", cells.text_or(one, "external_user", _NOT_USED)),
            DetailRow("request", cells.text_or(one, "request_id", _NOT_USED)),
            DetailRow("session", cells.text_or(one, "session_id", _NOT_USED)),
        ],
    ),
    Section(
        "Extras",
        lambda one, _now: [
            DetailRow("media in", cells.count(one.num_media_prompt)),
            DetailRow("media out", cells.count(one.num_media_completion)),
            DetailRow("audio clips in", cells.count(one.num_input_audio_prompt)),
            DetailRow("search results", cells.count(one.num_search_results)),
            DetailRow("pages fetched", cells.count(one.num_fetches)),
            DetailRow("search engine", cells.text_or(one, "web_search_engine", _NOT_USED)),
        ],
    ),
    *own_drift_sections(Generation),
)

COLUMNS: tuple[Column[Generation], ...] = (
    text_column("id", "Generation", lambda one: one.id, 36, help="its id", grow=True),
    moment_column("began", "Began", lambda one: one.created_at, 11, "when it began"),
    text_column("model", "Model", lambda one: one.model, 28, help="model that was asked"),
    text_column("provider", "Provider", lambda one: one.provider_name, 16, help="who ran it"),
    usd_column("cost", "Cost", lambda one: one.total_cost, 10, "what it cost"),
    count_column(
        "in", "Tokens in", lambda one: one.tokens_prompt, 9, "normalised tokens of the prompt"
    ),
    count_column(
        "out",
        "Tokens out",
        lambda one: one.tokens_completion,
        10,
        "normalised tokens of the completion",
    ),
    text_column("finished", "Finished", lambda one: one.finish_reason, 10, help="why it ended"),
    flag_column("byok", "BYOK", lambda one: one.is_byok, 4, "a BYOK credential was used"),
)

ONE_GENERATION: ResourceSpec[Generation] = ResourceSpec(
    id="generation",
    title="Generation",
    singular="generation",
    identity=lambda one: one.id or "",
    name=shown_name,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=generation_feed,
    raw=lambda one: one.raw,
    read_by=lambda one: ReadBy("generations.get", (one.id or "",)),
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
            for change in FIELDS.first_values(request, context)
        ),
        effects=("It is sent as it is: this cannot be undone.",),
        summary={"category": request.category, "commented": request.comment is not None},
    )
