"""GET /key: what the key that asks may do. Extended contract section 1."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.keys import CurrentKey
from gwtui.contract.values import REGIONS
from gwtui.domain.resets import next_reset
from gwtui.embedded import wire
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import not_found, one
from gwtui.embedded.store import account, activity, budgets, keys, usage, workspaces
from gwtui.embedded.store.guardrails import Binding, GuardrailRecord, binding_of
from gwtui.embedded.store.keys import KeyRecord
from gwtui.embedded.store.table import to_day
from gwtui.embedded.store.usage import UsageWindows


@dataclass(frozen=True, slots=True)
class Layer:
    """One budget and what was spent of it. Amounts are USD."""

    scope: str
    limit: Decimal
    spend: Decimal
    reset_interval: str | None
    include_byok: bool
    budget_id: str | None = None
    guardrail_id: str | None = None

    @property
    def remaining(self) -> Decimal:
        """What is left; at 0 and below, requests are refused."""
        return self.limit - self.spend


def layers(db: sqlite3.Connection, key: KeyRecord, binding: Binding, now: datetime) -> list[Layer]:
    """The budgets of a key, outermost first."""
    return [*_caps(db, key, binding, now), *_of_workspace(db, key, now), *_own_limit(key)]


def effective(found: list[Layer]) -> Layer | None:
    """The budget that decides: the first exhausted one, else the one with least left."""
    exhausted = next((layer for layer in found if layer.remaining <= 0), None)
    return exhausted or min(found, key=lambda layer: layer.remaining, default=None)


def layer_data(layer: Layer, now: datetime) -> dict[str, JsonValue]:
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


def _caps(
    db: sqlite3.Connection, key: KeyRecord, binding: Binding, now: datetime
) -> Iterator[Layer]:
    default, member = binding.of_workspace, key.creator_user_id
    if default is not None and member is not None:
        spent = usage.of_member(db, member, now, workspace_id=default.workspace_id)
        yield from _cap("workspace_default_member", default, spent)
    if default is not None:
        yield from _cap("workspace_default_key", default, key.usage)
    if binding.of_member is not None and member is not None:
        yield from _cap("member", binding.of_member, usage.of_member(db, member, now))
    if binding.of_key is not None:
        yield from _cap("api_key", binding.of_key, key.usage)


def _cap(scope: str, guardrail: GuardrailRecord, spent: UsageWindows) -> Iterator[Layer]:
    policy = guardrail.policy
    if policy.limit_usd is not None:
        yield Layer(
            scope=scope,
            limit=policy.limit_usd,
            spend=spent.of(policy.reset_interval).counted(
                include_byok=policy.include_byok_in_budgets
            ),
            reset_interval=policy.reset_interval,
            include_byok=policy.include_byok_in_budgets,
            guardrail_id=guardrail.id,
        )


def _of_workspace(db: sqlite3.Connection, key: KeyRecord, now: datetime) -> Iterator[Layer]:
    workspace = workspaces.get(db, key.workspace_id) if key.workspace_id else None
    if workspace is None:
        return
    with_byok = workspace.include_byok_in_budgets
    spent = budgets.spent(db, workspace.id, now)
    for budget in budgets.of_workspace(db, workspace.id).values():
        yield Layer(
            scope="workspace",
            limit=budget.limit_usd,
            spend=spent.of(budget.reset_interval).counted(include_byok=with_byok),
            reset_interval=budget.reset_interval,
            include_byok=with_byok,
            budget_id=budget.id,
        )


def _own_limit(key: KeyRecord) -> Iterator[Layer]:
    if key.limit is not None:
        yield Layer(
            scope="key_limit",
            limit=key.limit,
            spend=key.limit_spend,
            reset_interval=key.limit_reset,
            include_byok=key.include_byok_in_limit,
        )


_FREE_REQUESTS = 50
_FREE_REQUESTS_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)


def _get(call: OperationRequest) -> JsonValue:
    key = keys.find(call.db, call.known_caller.key_hash, call.now)
    if key is None:
        raise not_found()
    owner = account.get(call.db)
    binding = binding_of(call.db, key)
    found = layers(call.db, key, binding, call.now)
    deciding = effective(found)
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
