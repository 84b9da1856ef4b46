"""GET /activity: 30 completed UTC days, by endpoint. Extended contract section 8."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from pydantic import JsonValue

from gwtui.contract.request import Problem
from gwtui.contract.usage import ActivityRow
from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded import queries
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import invalid, many, not_found, wire_value
from gwtui.embedded.store import usage
from gwtui.embedded.store.kinds import KEYS, WORKSPACES
from gwtui.embedded.store.usage import ActivityFilter, ActivitySum, from_pico, to_day

if TYPE_CHECKING:
    from gwtui.embedded.simulator.catalog import Catalog

_BY_WORKSPACE = "workspace"


def _list(call: OperationRequest) -> JsonValue:
    first, last = _days(call)
    matching = ActivityFilter(
        first_day=first,
        last_day=last,
        key_hash=call.query["api_key_hash"],
        user_id=call.query["user_id"],
        workspace_id=call.query["workspace_id"],
    )
    _refuse_unknown(call, matching)
    found = usage.activity(call.db, matching, by_workspace=call.query["group_by"] == _BY_WORKSPACE)
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


def _refuse_unknown(call: OperationRequest, matching: ActivityFilter) -> None:
    """Refuse an unknown workspace, and a key that never was: a deleted one has its history."""
    key, workspace = matching.key_hash, matching.workspace_id
    if key and not KEYS.get(call.db, key):
        oldest = to_day(call.now) - ACTIVITY_DAYS
        if not usage.has_used(call.db, key, oldest):
            raise not_found()
    if workspace and WORKSPACES.get(call.db, workspace) is None:
        raise not_found()


def _row(catalog: Catalog, row: ActivitySum) -> dict[str, JsonValue]:
    endpoint = catalog.endpoint(row.endpoint_key)
    shown: dict[str, JsonValue] = {
        "date": date.fromordinal(row.day).isoformat(),
        "model": endpoint.model_id,
        "model_permaslug": str(endpoint.wire["model_id"]),
        "endpoint_id": endpoint.id,
        "provider_name": str(endpoint.wire["provider_name"]),
        "requests": row.requests,
        "usage": wire_value(from_pico(row.usage_pico)),
        "byok_usage_inference": wire_value(from_pico(row.byok_usage_pico)),
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "reasoning_tokens": endpoint.reasoning_tokens(row.completion_tokens),
        "cached_tokens": endpoint.cached_tokens(row.prompt_tokens),
    }
    if row.workspace_id is not None:
        shown["workspace_id"] = row.workspace_id
    return shown


def _date(text: str) -> date:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise ValueError("must be a day, YYYY-MM-DD") from None


OPERATIONS = (
    Operation(
        method="GET",
        path="/activity",
        operation_id="getActivity",
        summary=f"Activity by endpoint on the last {ACTIVITY_DAYS} completed UTC days",
        tag="Activity",
        access=Access.MANAGEMENT,
        handler=_list,
        answer=many(ActivityRow),
        query=(
            queries.QueryParameter(
                "date", "only this UTC day", {"type": "string", "format": "date"}, _date
            ),
            queries.text("api_key_hash", "only requests of this key"),
            queries.text("user_id", "only requests of keys that this user made"),
            queries.uuid("workspace_id", "only requests of this workspace"),
            queries.choice("group_by", "tell workspaces apart", (_BY_WORKSPACE,)),
        ),
        refusals=(404,),
    ),
)
