"""The account: its credits, its organization with members and settings, and the key that asks.

Contract "GET /credits", extended sections 1 and 4.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from pydantic import JsonValue

from gwtui.contract.current_key import CurrentKey
from gwtui.contract.organization import (
    OrganizationMember,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
)
from gwtui.contract.usage import Credits
from gwtui.contract.values import REGIONS
from gwtui.domain.resets import next_reset
from gwtui.embedded.operations import EVERY, Access, Operation, OperationRequest, page_of
from gwtui.embedded.requests import PAGING
from gwtui.embedded.responses import not_found, one, page, refuse_unknown, wire_value
from gwtui.embedded.store import account, generations, keys
from gwtui.embedded.store.budgets import (
    Cap,
    applied_budgets,
    binding_of,
    effective_budget,
)
from gwtui.embedded.store.documents import PEOPLE, USAGE_FIELDS, in_list
from gwtui.embedded.store.usage import from_pico

_FILTERED = "is_filtered_model_catalog_enabled"


def _credits(call: OperationRequest) -> JsonValue:
    found = account.get(call.db)
    names = ("total_credits", "total_usage")
    return {"data": {name: wire_value(getattr(found, name)) for name in names}}


def refuse_outsiders(call: OperationRequest, field: str, user_ids: Sequence[str]) -> None:
    """Raise a 400 that names the users who are not in the organization, if any."""
    refuse_unknown(field, outsiders(call, user_ids))


def outsiders(call: OperationRequest, user_ids: Sequence[str]) -> list[str]:
    """Those of the users who are not in the organization, each once, in the order given."""
    people = PEOPLE.documents(call.db, in_list("id"), (json.dumps(list(user_ids)),))
    known = {person["id"] for person in people}
    return [user for user in dict.fromkeys(user_ids) if user not in known]


def _members(call: OperationRequest) -> JsonValue:
    organization_id(call)
    return page_of(call, PEOPLE, EVERY)


def _settings(call: OperationRequest) -> JsonValue:
    enabled = bool(account.setting(call.db, _FILTERED))
    return {"data": {"id": organization_id(call), _FILTERED: enabled}}


def _update_settings(call: OperationRequest) -> JsonValue:
    organization_id(call)
    request = call.body_as(UpdateOrganizationSettingsRequest)
    account.change(call.db, **request.model_dump())
    return _settings(call)


def organization_id(call: OperationRequest) -> str:
    """Raises a 404 for an account that belongs to no organization."""
    found = account.setting(call.db, "organization_id")
    if found is None:
        raise not_found()
    return str(found)


def _current_key(call: OperationRequest) -> JsonValue:
    found = keys.find(call.db, call.known_caller.key_hash, call.now)
    if found is None:
        raise not_found()
    key, owner, binding = found.key, account.get(call.db), binding_of(call.db, found.key)
    layers = applied_budgets(call.db, key, binding, call.now)
    deciding = effective_budget(layers)
    regions = [set(each.allowed_data_regions or REGIONS) for each in binding.values()]
    free = generations.free_use(call.db, owner.total_credits, call.now)
    sums = map(wire_value, map(from_pico, found.sums))
    data: dict[str, JsonValue] = {
        "label": key.label,
        "limit": wire_value(key.limit),
        "limit_remaining": wire_value(found.limit_remaining),
        "limit_reset": key.limit_reset,
        "include_byok_in_limit": key.include_byok_in_limit,
        "expires_at": wire_value(key.expires_at),
        "creator_user_id": key.creator_user_id,
        **dict(zip(USAGE_FIELDS, sums, strict=True)),
        "is_free_tier": owner.total_credits == 0,
        "is_management_key": found.is_management,
        "is_provisioning_key": found.is_management,
        "organization_id": owner.organization_id,
        "workspace_id": key.workspace_id,
        "allowed_data_regions": [each for each in REGIONS if all(each in some for some in regions)],
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


OPERATIONS = (
    Operation(
        method="GET",
        path="/credits",
        operation_id="getCredits",
        summary="Get remaining credits",
        tag="Credits",
        handler=_credits,
        answer=one(Credits),
    ),
    Operation(
        method="GET",
        path="/organization/members",
        operation_id="listOrganizationMembers",
        summary="List the members of the organization",
        tag="Organization",
        handler=_members,
        answer=page(OrganizationMember),
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
        answer=one(OrganizationSettings),
        refusals=(404,),
    ),
    Operation(
        method="PATCH",
        path="/organization/settings",
        operation_id="updateOrganizationSettings",
        summary="Change the settings of the organization",
        tag="Organization",
        handler=_update_settings,
        answer=one(OrganizationSettings),
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
        answer=one(CurrentKey),
    ),
)
