"""Budgets of one workspace and what is spent of them: extended section 3. Amounts are USD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from gwtui.contract.budgets import Budget
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.reads import budgets_of
from gwtui.watch.feeds.workspaces import Figures, figures_of
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.shared import FeedKey, PoolReader


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """One budget and what is known to be spent of it."""

    interval: str
    limit: Decimal | None
    spent: Decimal | None

    @property
    def share(self) -> Decimal | None:
        """Share of the budget that is spent, 0..1 and above."""
        if self.limit is None or self.limit <= 0 or self.spent is None:
            return None
        return self.spent / self.limit


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A budget, and what the workspace's present keys spent of it as far as that was read."""

    budget: Budget
    spent: Decimal | None = None

    @property
    def interval(self) -> str:
        """The interval as paths name it; for an unreadable one, what else tells the budget."""
        return self.budget.interval or f"?{self.budget.id}"

    @property
    def use(self) -> BudgetUse:
        """What is known of its use."""
        return BudgetUse(self.interval, self.budget.limit_usd, self.spent)


async def _budgets(reader: PoolReader, workspace_id: str) -> Sequence[BudgetRow]:
    return tuple(BudgetRow(one) for one in await reader.fresh(budgets_of(workspace_id)))


def budgets_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[BudgetRow]]:
    """The budgets of the workspace that the scope names as parent. ValueError without one."""
    workspace_id = _workspace(scope)
    return hub.derive(
        FeedKey("budgets", (workspace_id,)),
        lambda reader: _budgets(reader, workspace_id),
        cadence.WORKSPACES,
    )


def spent_feed(hub: FeedHub, scope: Scope) -> Feed[Figures]:
    """What belongs to the workspace that the scope names as parent. ValueError without one."""
    workspace_id = _workspace(scope)

    async def read(reader: PoolReader) -> Figures:
        return await figures_of(reader, await reader.client.workspaces.get(workspace_id))

    key: FeedKey[Figures] = FeedKey("workspaces", ("figures", workspace_id))
    return hub.derive(key, read, cadence.WORKSPACES, passing=True)


def _workspace(scope: Scope) -> str:
    if scope.parent is None:
        raise ValueError("budgets are listed for one workspace")
    return scope.parent
