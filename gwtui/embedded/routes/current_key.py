"""GET /key: what the key that asks may do. Extended contract section 1."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.current_key import CurrentKey
from gwtui.contract.values import REGIONS
from gwtui.domain.resets import next_reset
from gwtui.embedded import wire
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import not_found, one
from gwtui.embedded.store import account, keys, served_requests
from gwtui.embedded.store.budgets import AppliedBudget, applied_budgets, effective_budget
from gwtui.embedded.store.guardrails import Binding, binding_of


def layer_data(layer: AppliedBudget, now: datetime) -> dict[str, JsonValue]:
    """The wire form of a budget layer."""
    return {
        "scope": layer.scope,
        "limit_usd": wire.value(layer.limit),
        "spend_usd": wire.value(layer.spend),
        "remaining_usd": wire.value(layer.remaining),
        "reset_interval": layer.reset_interval,
        "resets_at": wire.value(next_reset(layer.reset_interval, now)),
        "include_byok": layer.include_byok,
        "budget_id": layer.budget_id,
        "guardrail_id": layer.guardrail_id,
    }


def _get(call: OperationRequest) -> JsonValue:
    key = keys.find(call.db, call.known_caller.key_hash, call.now)
    if key is None:
        raise not_found()
    owner = account.get(call.db)
    binding = binding_of(call.db, key)
    found = applied_budgets(call.db, key, binding, call.now)
    deciding = effective_budget(found)
    return {
        "data": {
            **wire.data(key, "label", "limit", "limit_remaining", "limit_reset"),
            **wire.data(key, "include_byok_in_limit", "expires_at", "creator_user_id"),
            **wire.usage_figures(key.usage),
            "is_free_tier": owner.total_credits == 0,
            "is_management_key": key.is_management,
            "is_provisioning_key": key.is_management,
            "organization_id": owner.organization_id,
            "workspace_id": key.workspace_id,
            "allowed_data_regions": _data_regions(binding),
            "free_model_daily_requests": _free_requests(call, owner.total_credits),
            "budgets": [layer_data(layer, call.now) for layer in found],
            "effective_budget": None if deciding is None else layer_data(deciding, call.now),
            "rate_limit": {
                "requests": -1,
                "interval": "10s",
                "note": "This field is deprecated and safe to ignore.",
            },
        }
    }


def _data_regions(binding: Binding) -> JsonValue:
    """Where every guardrail lets data go."""
    allowed = [set(one.policy.allowed_data_regions or REGIONS) for one in binding.all]
    return [region for region in REGIONS if all(region in regions for regions in allowed)]


def _free_requests(call: OperationRequest, total_credits: Decimal) -> dict[str, JsonValue]:
    """The account's requests to free variants this UTC day."""
    limit = served_requests.free_daily_limit(total_credits)
    used = served_requests.free_used_today(call.db, call.now)
    return {"limit": limit, "used": used, "remaining": max(0, limit - used)}


OPERATIONS = (
    Operation(
        method="GET",
        path="/key",
        operation_id="getCurrentKey",
        summary="Get the key that asks",
        tag="API keys",
        access=Access.ANY_KEY,
        handler=_get,
        answer=one(CurrentKey),
    ),
)
