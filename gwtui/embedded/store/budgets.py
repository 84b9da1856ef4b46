"""Budgets of workspaces, and what was spent of them. Extended contract section 3."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from gwtui.contract.budgets import BUDGET_INTERVALS, BudgetInterval
from gwtui.embedded.store.table import Table, from_pico
from gwtui.embedded.store.usage import Spend, UsageWindows, window_days
from gwtui.records import dataclass


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
