"""GET /key: what the key that asks may do. Extended contract section 1."""

from __future__ import annotations

from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.keys import CurrentKey
from gwtui.domain.resets import next_reset
from gwtui.embedded import wire
from gwtui.embedded.answers import one
from gwtui.embedded.operations import Access, Call, Operation
from gwtui.embedded.refusals import not_found
from gwtui.embedded.store import account, keys
from gwtui.embedded.store.keys import KeyRecord

_FREE_REQUESTS = 50
_FREE_REQUESTS_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)


def _get(call: Call) -> JsonValue:
    key = keys.find(call.db, call.known_caller.key_hash, call.now)
    if key is None:
        raise not_found()
    owner = account.get(call.db)
    budget = _key_limit(call, key)
    usage = key.usage
    return {
        "data": {
            "label": key.label,
            "limit": wire.number_or_none(key.limit),
            "limit_remaining": wire.number_or_none(key.limit_remaining),
            "limit_reset": key.limit_reset,
            "include_byok_in_limit": key.include_byok_in_limit,
            "expires_at": wire.timestamp_or_none(key.expires_at),
            "creator_user_id": key.creator_user_id,
            "usage": wire.number(usage.all_time.usd),
            "usage_daily": wire.number(usage.daily.usd),
            "usage_weekly": wire.number(usage.weekly.usd),
            "usage_monthly": wire.number(usage.monthly.usd),
            "byok_usage": wire.number(usage.all_time.byok_usd),
            "byok_usage_daily": wire.number(usage.daily.byok_usd),
            "byok_usage_weekly": wire.number(usage.weekly.byok_usd),
            "byok_usage_monthly": wire.number(usage.monthly.byok_usd),
            "is_free_tier": owner.total_credits == 0,
            "is_management_key": key.is_management,
            "is_provisioning_key": key.is_management,
            "organization_id": owner.organization_id,
            "workspace_id": key.workspace_id,
            "allowed_data_regions": ["global", "europe", "us"],
            "free_model_daily_requests": _free_requests(owner.total_credits),
            "budgets": [] if budget is None else [budget],
            "effective_budget": budget,
            "rate_limit": {
                "requests": -1,
                "interval": "10s",
                "note": "This field is deprecated and safe to ignore.",
            },
        }
    }


def _key_limit(call: Call, key: KeyRecord) -> dict[str, JsonValue] | None:
    """The key's own limit as a budget layer."""
    if key.limit is None or key.limit_remaining is None:
        return None
    return {
        "scope": "key_limit",
        "limit_usd": wire.number(key.limit),
        "spend_usd": wire.number(key.limit_spend),
        "remaining_usd": wire.number(key.limit_remaining),
        "reset_interval": key.limit_reset,
        "resets_at": wire.timestamp_or_none(next_reset(key.limit_reset, call.now)),
        "include_byok": key.include_byok_in_limit,
        "budget_id": None,
        "guardrail_id": None,
    }


def _free_requests(total_credits: Decimal) -> dict[str, JsonValue]:
    limit = _FREE_REQUESTS_OF_A_BUYER if total_credits >= _BUYER_CREDITS else _FREE_REQUESTS
    return {"limit": limit, "used": 0, "remaining": limit}


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
