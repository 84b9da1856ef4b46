"""The account: credits, organization, the calling key, activity and generations.

See "GET /credits" in the contract and sections 1, 4 and 8 of the extended contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from gwtui.contract.keys import CurrentKey
from gwtui.contract.organization import (
    OrganizationMember,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
)
from gwtui.contract.request import Problem
from gwtui.contract.usage import (
    ActivityRow,
    Credits,
    FeedbackRequest,
    Generation,
    GenerationContent,
)
from gwtui.contract.values import ACTIVITY_DAYS, REGIONS
from gwtui.domain.times import next_reset
from gwtui.embedded.messages import (
    PAGING,
    Identifier,
    QueryParameter,
    data_schema,
    invalid,
    list_schema,
    not_found,
    object_schema,
    page_schema,
    record,
    wire_value,
)
from gwtui.embedded.operations import EVERY, Access, Operation, OperationRequest, page_of
from gwtui.embedded.simulator.catalog import Catalog
from gwtui.embedded.store import account, generations, keys
from gwtui.embedded.store.account import from_pico, to_day
from gwtui.embedded.store.documents import KEYS, PEOPLE, WORKSPACES
from gwtui.embedded.store.keys import (
    Cap,
    applied_budgets,
    binding_of,
    effective_budget,
)

_FILTERED = "is_filtered_model_catalog_enabled"


def _credits(call: OperationRequest) -> JsonValue:
    present = account.get(call.db)
    names = ("total_credits", "total_usage")
    return {"data": {name: wire_value(getattr(present, name)) for name in names}}


def _members(call: OperationRequest) -> JsonValue:
    organization_id(call)
    return page_of(call, PEOPLE, EVERY)


def _settings(call: OperationRequest) -> JsonValue:
    enabled = bool(account.setting(call.db, _FILTERED))
    return {"data": {"id": organization_id(call), _FILTERED: enabled}}


def _update_settings(call: OperationRequest) -> JsonValue:
    organization_id(call)
    request: UpdateOrganizationSettingsRequest = call.body
    account.change(call.db, **request.model_dump())
    return _settings(call)


def organization_id(call: OperationRequest) -> str:
    """Return the id of the account's organization. Raises a 404 if it belongs to none."""
    identity = account.setting(call.db, "organization_id")
    if identity is None:
        raise not_found()
    return str(identity)


def _current_key(call: OperationRequest) -> JsonValue:
    record = keys.find(call.db, call.known_caller["hash"], call.now)
    if record is None:
        raise not_found()
    key, owner, binding = record.key, account.get(call.db), binding_of(call.db, record.key)
    layers = applied_budgets(call.db, key, binding, call.now)
    deciding = effective_budget(layers)
    regions = [set(guardrail["allowed_data_regions"] or REGIONS) for guardrail in binding.values()]
    free = generations.free_use(call.db, owner.total_credits, call.now)
    data: dict[str, JsonValue] = {
        "label": key["label"],
        "limit": key["limit"],
        "limit_remaining": wire_value(record.limit_remaining),
        "limit_reset": key["limit_reset"],
        "include_byok_in_limit": key["include_byok_in_limit"],
        "expires_at": key["expires_at"],
        "creator_user_id": key["creator_user_id"],
        **record.usage,
        "is_free_tier": owner.total_credits == 0,
        "is_management_key": record.is_management,
        "is_provisioning_key": record.is_management,
        "organization_id": owner.organization_id,
        "workspace_id": key["workspace_id"],
        "allowed_data_regions": [
            region for region in REGIONS if all(region in some for some in regions)
        ],
        "free_model_daily_requests": {
            "limit": free.limit,
            "used": free.today,
            "remaining": max(0, free.limit - free.today),
        },
        "budgets": [_layer(layer, call.now) for layer in layers],
        "effective_budget": None if deciding is None else _layer(deciding, call.now),
        "rate_limit": {
            "requests": -1,
            "interval": "10s",
            "note": "This field is deprecated and safe to ignore.",
        },
    }
    return {"data": data}


def _layer(layer: Cap, now: datetime) -> dict[str, JsonValue]:
    return {
        "scope": layer.scope,
        "limit_usd": wire_value(layer.limit),
        "spend_usd": wire_value(layer.spend),
        "remaining_usd": wire_value(layer.remaining),
        "reset_interval": layer.reset_interval,
        "resets_at": wire_value(next_reset(layer.reset_interval, now)),
        "include_byok": layer.include_byok,
        "budget_id": layer.budget_id,
        "guardrail_id": layer.guardrail_id,
    }


def _activity(call: OperationRequest) -> JsonValue:
    key, workspace = call.query["api_key_hash"], call.query["workspace_id"]
    # The history of a deleted key remains.
    oldest = to_day(call.now) - ACTIVITY_DAYS
    if key and not KEYS.get(call.db, key) and not account.has_used(call.db, key, oldest):
        raise not_found()
    if workspace and WORKSPACES.get(call.db, workspace) is None:
        raise not_found()
    rows = account.activity(
        call.db,
        _days(call),
        key_hash=key,
        user_id=call.query["user_id"],
        workspace_id=workspace,
        by_workspace=call.query["group_by"] is not None,
    )
    return {"data": [_row(call.site.catalog, row) for row in rows]}


def _days(call: OperationRequest) -> tuple[int, int]:
    # The current day is incomplete, so it is excluded.
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


_ID = QueryParameter(
    "id", "identifier of the generation", Annotated[str, Field(min_length=1)], required=True
)


def _generation(call: OperationRequest) -> JsonValue:
    details, _ = _generation_of(call, call.query["id"])
    return {"data": details}


def _content(call: OperationRequest) -> JsonValue:
    # Content is stored only if the workspace logs inputs and outputs.
    _, content = _generation_of(call, call.query["id"])
    if content is None:
        raise not_found()
    return {"data": content}


def _give_feedback(call: OperationRequest) -> JsonValue:
    # Feedback is not stored, because no operation returns it.
    request: FeedbackRequest = call.body
    _generation_of(call, request.generation_id)
    return {"data": {"success": True}}


def _generation_of(
    call: OperationRequest, generation_id: str
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    generation = generations.find(call.db, generation_id, call.now)
    if generation is None:
        raise not_found()
    return generation


OPERATIONS = (
    Operation(
        method="GET",
        path="/credits",
        operation_id="getCredits",
        summary="Get remaining credits",
        tag="Credits",
        handler=_credits,
        answer=data_schema(Credits),
    ),
    Operation(
        method="GET",
        path="/organization/members",
        operation_id="listOrganizationMembers",
        summary="List the members of the organization",
        tag="Organization",
        handler=_members,
        answer=page_schema(OrganizationMember),
        query=PAGING,
        refusals=(404,),
    ),
    Operation(
        method="GET",
        path="/organization/settings",
        operation_id="getOrganizationSettings",
        summary="Get the settings of the organization",
        tag="Organization",
        handler=_settings,
        answer=data_schema(OrganizationSettings),
        refusals=(404,),
    ),
    Operation(
        method="PATCH",
        path="/organization/settings",
        operation_id="updateOrganizationSettings",
        summary="Change the settings of the organization",
        tag="Organization",
        handler=_update_settings,
        answer=data_schema(OrganizationSettings),
        body=UpdateOrganizationSettingsRequest,
        refusals=(404,),
    ),
    Operation(
        method="GET",
        path="/key",
        operation_id="getCurrentKey",
        summary="Get the key that asks",
        tag="API keys",
        access=Access.ANY_KEY,
        handler=_current_key,
        answer=data_schema(CurrentKey),
    ),
    Operation(
        method="GET",
        path="/activity",
        operation_id="getActivity",
        summary=f"Activity by endpoint on the last {ACTIVITY_DAYS} completed UTC days",
        tag="Activity",
        access=Access.MANAGEMENT,
        handler=_activity,
        answer=list_schema(ActivityRow),
        query=(
            QueryParameter("date", "only this UTC day", date),
            QueryParameter("api_key_hash", "only requests of this key"),
            QueryParameter("user_id", "only requests of keys that this user made"),
            QueryParameter("workspace_id", "only requests of this workspace", Identifier),
            QueryParameter("group_by", "tell workspaces apart", Literal["workspace"]),
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
        answer=data_schema(Generation),
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
        answer=data_schema(GenerationContent),
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
        answer=object_schema("Taken", {"data": record({"success": {"const": True}})}),
        body=FeedbackRequest,
        refusals=(404,),
    ),
)
