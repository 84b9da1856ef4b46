"""GET /key: what the key that asks may do. Extended contract section 1."""

from __future__ import annotations

from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.keys import CurrentKey
from gwtui.contract.values import REGIONS
from gwtui.embedded import wire
from gwtui.embedded.answers import one
from gwtui.embedded.budget_layers import effective, layer_data, layers
from gwtui.embedded.operations import Access, Call, Operation
from gwtui.embedded.refusals import not_found
from gwtui.embedded.store import account, activity, keys
from gwtui.embedded.store.binding import Binding, of_key
from gwtui.embedded.store.columns import to_day

_FREE_REQUESTS = 50
_FREE_REQUESTS_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)


def _get(call: Call) -> JsonValue:
    key = keys.find(call.db, call.known_caller.key_hash, call.now)
    if key is None:
        raise not_found()
    owner = account.get(call.db)
    binding = of_key(call.db, key)
    found = layers(call.db, key, binding, call.now)
    deciding = effective(found)
    return {
        "data": {
            "label": key.label,
            "limit": wire.number_or_none(key.limit),
            "limit_remaining": wire.number_or_none(key.limit_remaining),
            "limit_reset": key.limit_reset,
            "include_byok_in_limit": key.include_byok_in_limit,
            "expires_at": wire.timestamp_or_none(key.expires_at),
            "creator_user_id": key.creator_user_id,
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


def _free_requests(call: Call, total_credits: Decimal) -> dict[str, JsonValue]:
    """The account's requests to free variants this UTC day."""
    limit = _FREE_REQUESTS_OF_A_BUYER if total_credits >= _BUYER_CREDITS else _FREE_REQUESTS
    used = activity.requests_to_variant(call.db, to_day(call.now), "free")
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
