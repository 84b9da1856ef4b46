"""Budgets of workspaces, and every budget that the requests of a key count in.

Extended contract sections 1 and 3.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.contract.budgets import BUDGET_INTERVALS, BudgetInterval
from gwtui.embedded.store import usage, workspaces
from gwtui.embedded.store.guardrails import Binding, GuardrailRecord
from gwtui.embedded.store.keys import KeyRecord
from gwtui.embedded.store.table import Table, from_pico
from gwtui.embedded.store.usage import Spend, UsageWindows, window_days
from gwtui.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class BudgetRecord:
    """A cap on the spending of a workspace, in USD per interval."""

    id: str
    workspace_id: str
    interval: BudgetInterval
    limit_usd: Decimal
    created_at: datetime
    updated_at: datetime

    @property
    def reset_interval(self) -> str | None:
        """When it starts over: the interval, None for a lifetime budget."""
        return None if self.interval == "lifetime" else self.interval


BUDGETS = Table("workspace_budgets", BudgetRecord)


def of_workspace(db: sqlite3.Connection, workspace_id: str) -> dict[BudgetInterval, BudgetRecord]:
    """The budgets of a workspace by interval, the shortest first."""
    stored = BUDGETS.select(db, "workspace_id = ?", (workspace_id,))
    found = {budget.interval: budget for budget in stored}
    return {interval: found[interval] for interval in BUDGET_INTERVALS if interval in found}


def put(
    db: sqlite3.Connection,
    workspace_id: str,
    interval: BudgetInterval,
    limit: Decimal,
    at: datetime,
) -> None:
    """Create or replace a budget. One that stays as it is keeps its ``updated_at``."""
    current = of_workspace(db, workspace_id).get(interval)
    if current is None:
        add(db, BudgetRecord(str(uuid.uuid4()), workspace_id, interval, limit, at, at))
    elif current.limit_usd != limit:
        BUDGETS.update(db, {"limit_usd": limit, "updated_at": at}, "id = ?", current.id)


def add(db: sqlite3.Connection, budget: BudgetRecord) -> None:
    """Store a budget, unless the workspace has one for the interval."""
    BUDGETS.insert(db, budget, conflict="ON CONFLICT DO NOTHING")


def remove(db: sqlite3.Connection, workspace_id: str, interval: BudgetInterval) -> None:
    """Take a budget away; nothing happens when there is none."""
    db.execute(
        "DELETE FROM workspace_budgets WHERE workspace_id = ? AND interval = ?",
        (workspace_id, interval),
    )


def spent(db: sqlite3.Connection, workspace_id: str, now: datetime) -> UsageWindows:
    """What a workspace spent, all time and in the UTC periods that contain ``now``.

    Keys that were deleted or moved away since are still in it.
    """
    starts: Mapping[str, int] = {"all_time": 0, **window_days(now)}
    sums = {name: spent_since(db, workspace_id, day) for name, day in starts.items()}
    return UsageWindows(
        **{name: Spend(from_pico(usage), from_pico(byok)) for name, (usage, byok) in sums.items()}
    )


def spent_since(db: sqlite3.Connection, workspace_id: str, first_day: int) -> tuple[int, int]:
    """Pico-USD (credits, BYOK) that a workspace spent from a day on; day 0 is all time."""
    usage, byok = db.execute(
        "SELECT coalesce(sum(usage_pico), 0), coalesce(sum(byok_usage_pico), 0) "
        "FROM workspace_usage_days WHERE workspace_id = ? AND day >= ?",
        (workspace_id, first_day),
    ).fetchone()
    return int(usage), int(byok)


@dataclass(frozen=True, slots=True)
class AppliedBudget:
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


def applied_budgets(
    db: sqlite3.Connection, key: KeyRecord, binding: Binding, now: datetime
) -> list[AppliedBudget]:
    """The budgets of a key, outermost first."""
    return [*_caps(db, key, binding, now), *_of_workspace(db, key, now), *_own_limit(key)]


def effective_budget(found: Sequence[AppliedBudget]) -> AppliedBudget | None:
    """The budget that decides: the first exhausted one, else the one with least left."""
    exhausted = next((layer for layer in found if layer.remaining <= 0), None)
    return exhausted or min(found, key=lambda layer: layer.remaining, default=None)


def _caps(
    db: sqlite3.Connection, key: KeyRecord, binding: Binding, now: datetime
) -> Iterator[AppliedBudget]:
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


def _cap(scope: str, guardrail: GuardrailRecord, spent: UsageWindows) -> Iterator[AppliedBudget]:
    policy = guardrail.policy
    if policy.limit_usd is not None:
        yield AppliedBudget(
            scope=scope,
            limit=policy.limit_usd,
            spend=spent.of(policy.reset_interval).counted(
                include_byok=policy.include_byok_in_budgets
            ),
            reset_interval=policy.reset_interval,
            include_byok=policy.include_byok_in_budgets,
            guardrail_id=guardrail.id,
        )


def _of_workspace(db: sqlite3.Connection, key: KeyRecord, now: datetime) -> Iterator[AppliedBudget]:
    workspace = workspaces.get(db, key.workspace_id) if key.workspace_id else None
    if workspace is None:
        return
    with_byok = workspace.include_byok_in_budgets
    used = spent(db, workspace.id, now)
    for budget in of_workspace(db, workspace.id).values():
        yield AppliedBudget(
            scope="workspace",
            limit=budget.limit_usd,
            spend=used.of(budget.reset_interval).counted(include_byok=with_byok),
            reset_interval=budget.reset_interval,
            include_byok=with_byok,
            budget_id=budget.id,
        )


def _own_limit(key: KeyRecord) -> Iterator[AppliedBudget]:
    if key.limit is not None:
        yield AppliedBudget(
            scope="key_limit",
            limit=key.limit,
            spend=key.limit_spend,
            reset_interval=key.limit_reset,
            include_byok=key.include_byok_in_limit,
        )
