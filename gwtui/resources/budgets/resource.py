"""Budgets of one workspace as a list, for commands: extended contract section 3.

The dashboard shows them with their workspace. Amounts are USD.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.crud import cells
from gwtui.crud.columns import figure_column, moment_column, text_column, usd_column
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain.resets import next_reset
from gwtui.resources.workspaces.view import resets_words
from gwtui.watch.feeds.workspaces import BudgetRow, Figures, budgets_feed, spent_feed

_NEVER = Cell("never", "muted")


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
    sections=(Section("Budget", _rows), *drift_sections(lambda row: row.budget)),
    feed=budgets_feed,
    raw=lambda row: row.budget.raw,
    empty="The workspace has no budget.",
    default_sort=("interval", False),
    facets={"interval": lambda row, _now: row.interval},
    completion=Completion(spent_feed, _complete, columns=frozenset({"spent", "share"})),
)
