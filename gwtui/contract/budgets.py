"""Spending budgets as GET /key reports them: extended contract section 1."""

from __future__ import annotations

from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Timestamp

BUDGET_SCOPES = (
    "workspace_default_member",
    "workspace_default_key",
    "member",
    "api_key",
    "workspace",
    "key_limit",
)
"""Where a budget that binds a key may come from, in the order they are reported."""


class BudgetLayer(ResponseModel):
    """One budget that binds the key that asks. Amounts are USD."""

    scope: str | None = wire("where the budget comes from", known=BUDGET_SCOPES)
    limit_usd: Number | None = wire("what may be spent", unit="USD")
    spend_usd: Number | None = wire("spent in the current period", unit="USD")
    remaining_usd: Number | None = wire("limit minus spend; refused at 0 and below", unit="USD")
    reset_interval: str | None = wire(
        "when the budget starts over", nullable=True, known=("daily", "weekly", "monthly")
    )
    resets_at: Timestamp | None = wire("next start", nullable=True)
    include_byok: bool | None = wire("whether BYOK usage counts")
    budget_id: str | None = wire("workspace scope only", nullable=True)
    guardrail_id: str | None = wire("guardrail that sets the budget", nullable=True)


class FreeRequests(ResponseModel):
    """Requests to free model variants, today."""

    limit: int | None = wire("allowed today")
    used: int | None = wire("made today")
    remaining: int | None = wire("left today")


class LegacyRateLimit(ResponseModel):
    """An older field that says nothing any more: requests is always -1."""

    requests: int | None = wire("-1")
    interval: str | None = wire("interval")
    note: str | None = wire("why not to use it")
