"""GET /activity: 30 completed UTC days, by endpoint. Extended contract section 8."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from gwtui.contract.request import Problem
from gwtui.contract.usage import ActivityRow, FeedbackRequest, Generation, GenerationContent
from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.requests import parameter
from gwtui.embedded.responses import invalid, many, not_found, one, plain, record, wire_value
from gwtui.embedded.store import generations, usage
from gwtui.embedded.store.documents import KEYS, WORKSPACES
from gwtui.embedded.store.usage import from_pico, to_day, to_micros

if TYPE_CHECKING:
    from gwtui.embedded.simulator.catalog import Catalog


_BY_WORKSPACE = "workspace"


def _activity(call: OperationRequest) -> JsonValue:
    key, workspace = call.query["api_key_hash"], call.query["workspace_id"]
    # A deleted key still has its history.
    oldest = to_day(call.now) - ACTIVITY_DAYS
    if key and not KEYS.get(call.db, key) and not usage.has_used(call.db, key, oldest):
        raise not_found()
    if workspace and WORKSPACES.get(call.db, workspace) is None:
        raise not_found()
    found = usage.activity(
        call.db,
        _days(call),
        key_hash=key,
        user_id=call.query["user_id"],
        workspace_id=workspace,
        by_workspace=call.query["group_by"] == _BY_WORKSPACE,
    )
    return {"data": [_row(call.site.catalog, row) for row in found]}


def _days(call: OperationRequest) -> tuple[int, int]:
    """The first and the last day that are asked for. Today is not over, so it is not shown."""
    last = to_day(call.now) - 1
    first = last - ACTIVITY_DAYS + 1
    day: date | None = call.query["date"]
    if day is None:
        return first, last
    if not first <= day.toordinal() <= last:
        span = f"{date.fromordinal(first)} to {date.fromordinal(last)}"
        message = f"must be one of the last {ACTIVITY_DAYS} completed UTC days, {span}"
        raise invalid([Problem("date", message)])
    return day.toordinal(), day.toordinal()


def _row(catalog: Catalog, row: Mapping[str, Any]) -> dict[str, JsonValue]:
    endpoint = catalog.endpoint(row["endpoint_key"])
    shown: dict[str, JsonValue] = {
        "date": date.fromordinal(row["day"]).isoformat(),
        "model": endpoint.model_id,
        "model_permaslug": str(endpoint.wire["model_id"]),
        "endpoint_id": endpoint.id,
        "provider_name": str(endpoint.wire["provider_name"]),
        "requests": row["requests"],
        "usage": wire_value(from_pico(row["usage_pico"])),
        "byok_usage_inference": wire_value(from_pico(row["byok_usage_pico"])),
        "prompt_tokens": row["prompt_tokens"],
        "completion_tokens": row["completion_tokens"],
        "reasoning_tokens": endpoint.reasoning_tokens(row["completion_tokens"]),
        "cached_tokens": endpoint.cached_tokens(row["prompt_tokens"]),
    }
    return shown if row["workspace_id"] is None else {**shown, "workspace_id": row["workspace_id"]}


_ID = parameter("id", "identifier of the generation", required=True, minLength=1)


def _generation(call: OperationRequest) -> JsonValue:
    details, _ = _found(call, call.query["id"])
    return {"data": details}


def _content(call: OperationRequest) -> JsonValue:
    """Kept only where the workspace logs inputs and outputs."""
    _, content = _found(call, call.query["id"])
    if content is None:
        raise not_found()
    return {"data": content}


def _give_feedback(call: OperationRequest) -> JsonValue:
    request = call.body_as(FeedbackRequest)
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


def _found(
    call: OperationRequest, generation_id: str
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The metadata and the content of a generation. Raises a 404."""
    found = generations.find(call.db, generation_id, call.now)
    if found is None:
        raise not_found()
    return found


OPERATIONS = (
    Operation(
        method="GET",
        path="/activity",
        operation_id="getActivity",
        summary=f"Activity by endpoint on the last {ACTIVITY_DAYS} completed UTC days",
        tag="Activity",
        access=Access.MANAGEMENT,
        handler=_activity,
        answer=many(ActivityRow),
        query=(
            parameter("date", "only this UTC day", format="date"),
            parameter("api_key_hash", "only requests of this key"),
            parameter("user_id", "only requests of keys that this user made"),
            parameter("workspace_id", "only requests of this workspace", format="uuid"),
            parameter("group_by", "tell workspaces apart", enum=[_BY_WORKSPACE]),
        ),
        refusals=(404,),
    ),
    Operation(
        method="GET",
        path="/generation",
        operation_id="getGeneration",
        summary="Get request and usage metadata for a generation",
        tag="Generations",
        access=Access.ANY_KEY,
        handler=_generation,
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
        handler=_content,
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
