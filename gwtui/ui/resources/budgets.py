"""Budgets of one workspace as a list, for commands: extended contract section 3.

The dashboard shows them with their workspace. Amounts are USD.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.contract.budgets import BUDGET_INTERVALS, Budget
from gwtui.domain.resets import next_reset
from gwtui.ui.resources import cells
from gwtui.ui.resources.columns import figure_column, moment_column, text_column, usd_column
from gwtui.ui.resources.gaps import honesty_sections
from gwtui.ui.resources.spec import (
    Cell,
    Column,
    Completion,
    DetailRow,
    ResourceSpec,
    Scope,
    Section,
)
from gwtui.ui.resources.workspace_row import BudgetUse, resets_words
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.workspaces import Figures, figures_of
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

_NEVER = Cell("never", "muted")


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


async def _fetch(client: GatewayClient, workspace_id: str) -> Sequence[BudgetRow]:
    return tuple(BudgetRow(one) for one in (await client.workspaces.budgets(workspace_id)).items)


def budgets_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[BudgetRow]]:
    """The budgets of the workspace that the scope names as parent. ValueError without one."""
    workspace_id = _workspace(scope)
    name = f"budgets:{workspace_id}"
    return hub.feed(name, lambda client: _fetch(client, workspace_id), cadence.WORKSPACES)


def _spent_feed(hub: FeedHub, scope: Scope) -> Feed[Figures]:
    workspace_id = _workspace(scope)

    async def fetch(client: GatewayClient) -> Figures:
        return await figures_of(client, await client.workspaces.get(workspace_id))

    return hub.feed(f"workspaces:figures:{workspace_id}", fetch, cadence.WORKSPACES)


def _workspace(scope: Scope) -> str:
    if scope.parent is None:
        raise ValueError("budgets are listed for one workspace")
    return scope.parent


def _complete(row: BudgetRow, figures: Figures) -> BudgetRow:
    return replace(row, spent=figures.spent.get(row.interval))


def _place(row: BudgetRow) -> int:
    known = BUDGET_INTERVALS
    return [*known].index(row.interval) if row.interval in known else len(known)


COLUMNS: tuple[Column[BudgetRow], ...] = (
    Column(
        "interval",
        "Interval",
        lambda row, _now: cells.text(row.interval),
        lambda row, _now: _place(row),
        10,
        0,
        help="how long it lasts",
        export=lambda row, _now: row.interval,
        kind="number",
    ),
    usd_column("limit", "Limit", lambda row: row.budget.limit_usd, 12, 1, "the cap, USD"),
    usd_column(
        "spent", "Spent", lambda row: row.spent, 12, 2, "what the present keys spent of it, USD"
    ),
    figure_column(
        "share",
        "Spent %",
        lambda row: cells.in_percent(row.use.share),
        8,
        3,
        show=lambda row: cells.share(row.use.share),
        help="the same in percent",
    ),
    Column(
        "resets",
        "Resets",
        lambda row, now: cells.ago(next_reset(row.interval, now), now, _NEVER),
        lambda row, now: next_reset(row.interval, now),
        12,
        4,
        help="when it starts over",
        kind="moment",
    ),
    moment_column(
        "created", "Created", lambda row: row.budget.created_at, 12, 5, "when it was made"
    ),
    text_column("id", "Id", lambda row: row.budget.id, 36, 6, help="identifier"),
)


def _rows(row: BudgetRow, now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("limit", cells.usd(row.budget.limit_usd)),
        DetailRow("spent", cells.usd(row.spent), "by the present keys"),
        DetailRow("share", cells.share(row.use.share)),
        DetailRow("resets", Cell(resets_words(row.interval, now))),
        cells.moment_row("created", row.budget.created_at, now),
        cells.moment_row("changed", row.budget.updated_at, now),
        DetailRow("id", cells.text(row.budget.id)),
    ]


BUDGETS: ResourceSpec[BudgetRow] = ResourceSpec(
    id="budgets",
    title="Budgets",
    singular="budget",
    identity=lambda row: row.interval,
    name=lambda row: f"{cells.text(row.interval).text.capitalize()} budget",
    columns=COLUMNS,
    sections=(Section("Budget", _rows), *honesty_sections(lambda row: row.budget)),
    feed=budgets_feed,
    raw=lambda row: row.budget.raw,
    empty="The workspace has no budget.",
    default_sort=("interval", False),
    facets={"interval": lambda row, _now: row.interval},
    completion=Completion(_spent_feed, _complete, columns=frozenset({"spent", "share"})),
)
