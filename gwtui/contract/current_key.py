"""The key of the connection, and the budgets that apply to it: extended contract section 1."""

from __future__ import annotations

from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Timestamp, Whole

BUDGET_SCOPES = (
    "workspace_default_member",
    "workspace_default_key",
    "member",
    "api_key",
    "workspace",
    "key_limit",
)
"""Scopes of the budgets that apply to a key, in the order of the answer."""


class BudgetLayer(ResponseModel):
    """A budget that applies to the calling key. Amounts are USD."""

    scope: str | None = wire("where the budget comes from", known=BUDGET_SCOPES)
    limit_usd: Number | None = wire("what may be spent", unit="USD")
    spend_usd: Number | None = wire("spent in the current period", unit="USD")
    remaining_usd: Number | None = wire("limit minus spend; refused at 0 and below", unit="USD")
    reset_interval: str | None = wire(
        "reset schedule of the budget", nullable=True, known=("daily", "weekly", "monthly")
    )
    resets_at: Timestamp | None = wire("next start", nullable=True)
    include_byok: bool | None = wire("whether BYOK usage counts")
    budget_id: str | None = wire("workspace scope only", nullable=True)
    guardrail_id: str | None = wire("guardrail that sets the budget", nullable=True)


class FreeRequests(ResponseModel):
    """Today's requests to free model variants."""

    limit: Whole | None = wire("allowed today")
    used: Whole | None = wire("made today")
    remaining: Whole | None = wire("left today")


class LegacyRateLimit(ResponseModel):
    """An obsolete field without meaning: ``requests`` is always -1."""

    requests: Whole | None = wire("-1")
    interval: str | None = wire("interval")
    note: str | None = wire("why not to use it")


class CurrentKey(ResponseModel):
    """The rights and limits of the calling key (GET /key). Amounts are USD."""

    label: str | None = wire("masked form of the key")
    limit: Number | None = wire("spending limit", unit="USD", nullable=True)
    limit_remaining: Number | None = wire("remaining limit", unit="USD", nullable=True)
    limit_reset: str | None = wire("reset schedule of the limit", nullable=True)
    include_byok_in_limit: bool | None = wire("whether BYOK usage counts against the limit")
    expires_at: Timestamp | None = wire("when the key stops working", nullable=True, optional=True)
    creator_user_id: str | None = wire("user id of the creator", nullable=True)
    usage: Number | None = wire("usage, all time", unit="USD")
    usage_daily: Number | None = wire("usage this UTC day", unit="USD")
    usage_weekly: Number | None = wire("usage this UTC week", unit="USD")
    usage_monthly: Number | None = wire("usage this UTC month", unit="USD")
    byok_usage: Number | None = wire("BYOK usage, all time", unit="USD")
    byok_usage_daily: Number | None = wire("BYOK usage this UTC day", unit="USD")
    byok_usage_weekly: Number | None = wire("BYOK usage this UTC week", unit="USD")
    byok_usage_monthly: Number | None = wire("BYOK usage this UTC month", unit="USD")
    is_free_tier: bool | None = wire("whether the account never bought credits")
    is_management_key: bool | None = wire("whether management operations are allowed")
    is_provisioning_key: bool | None = wire("older name of is_management_key", optional=True)
    organization_id: str | None = wire("organization of the key", nullable=True, optional=True)
    workspace_id: str | None = wire("null when none resolves", nullable=True, optional=True)
    allowed_data_regions: list[str] | None = wire(
        "where data may go", optional=True, known=("global", "europe", "us")
    )
    free_model_daily_requests: FreeRequests | None = wire("free variants today", optional=True)
    budgets: list[BudgetLayer] | None = wire("every budget that binds the key", optional=True)
    effective_budget: BudgetLayer | None = wire(
        "first exhausted budget, else the tightest", nullable=True, optional=True
    )
    rate_limit: LegacyRateLimit | None = wire("legacy", optional=True)
