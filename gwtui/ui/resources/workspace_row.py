"""What a list of workspaces holds: the workspace, and figures that take further readings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.workspaces import Workspace
from gwtui.domain import money
from gwtui.domain.key_state import NEAR_LIMIT
from gwtui.domain.resets import next_reset
from gwtui.domain.times import relative
from gwtui.ui.resources import cells
from gwtui.ui.resources.spec import Cell, Tone
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, Figures

PERIODS = {"daily": "today", "weekly": "this week", "monthly": "this month", "lifetime": "in all"}
"""The window of a budget, from now."""
_SHORT = {"daily": "day", "weekly": "week", "monthly": "month", "lifetime": "life"}


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace of the list; ``figures`` is None until they were read.

    ``default`` is the id of the workspace that is meant where none is named, None while unknown.
    """

    workspace: Workspace
    figures: Figures | None = None
    default: str | None = None

    @property
    def identity(self) -> str:
        """The id; for a workspace that came without one, what else tells it from others."""
        space = self.workspace
        return space.id or f"?{space.slug}|{space.name}"

    @property
    def is_default(self) -> bool:
        """Whether operations that name no workspace mean this one, as far as can be told."""
        if self.default is None:
            return self.workspace.slug == DEFAULT_SLUG
        return self.workspace.id == self.default


def shown_name(space: Workspace) -> str:
    """What a workspace is called, fit to be shown."""
    return cells.text(space.name or space.slug or space.id).text


# How the figures read ---------------------------------------------------------------------------


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


def budget_uses(row: WorkspaceRow) -> tuple[BudgetUse, ...]:
    """The budgets from the shortest interval on; an interval the contract lacks comes last."""
    figures = row.figures
    if figures is None or figures.budgets is None:
        return ()
    known = [name for name in BUDGET_INTERVALS if name in figures.budgets]
    others = [name for name in figures.budgets if name not in BUDGET_INTERVALS]
    return tuple(
        BudgetUse(name, figures.budgets[name].limit_usd, figures.spent.get(name))
        for name in (*known, *others)
    )


def tightest(row: WorkspaceRow) -> BudgetUse | None:
    """The budget of which most is spent; the first one when no share is known."""
    uses = budget_uses(row)
    known = [use for use in uses if use.share is not None]
    return max(known, key=lambda use: use.share or Decimal(0)) if known else next(iter(uses), None)


def share_tone(share: Decimal) -> Tone:
    """How a spent share stands."""
    if share >= 1:
        return "bad"
    return "warn" if share >= NEAR_LIMIT else "plain"


def budget_cell(row: WorkspaceRow) -> Cell:
    """The tightest budget: "week 83%", or its size when its share is not known."""
    figures = row.figures
    if figures is None or figures.budgets is None:
        return _not_read(row)
    use = tightest(row)
    if use is None:
        return Cell("none", "muted")
    word = _SHORT.get(use.interval, cells.text(use.interval).text)
    if use.share is None:
        return Cell(f"{word} {money.usd(use.limit)}")
    return Cell(f"{word} {money.percent(use.share, places=0)}", share_tone(use.share))


def resets_words(interval: str, now: datetime) -> str:
    """When a budget starts over: "resets 2026-12-01, in 10 days"; always at 00:00 UTC."""
    moment = next_reset(interval, now)
    if moment is None:
        return "never starts over" if interval == "lifetime" else "resets unknown"
    return f"resets {moment:%Y-%m-%d}, {relative(moment, now)}"


def active_keys_cell(row: WorkspaceRow, now: datetime) -> Cell:
    """How many keys are active."""
    keys = None if row.figures is None else row.figures.keys
    if keys is None:
        return _not_read(row)
    active = keys.active(now)
    return Cell(money.grouped(active), "plain" if active else "muted")


def members_cell(row: WorkspaceRow) -> Cell:
    """How many members there are."""
    members = None if row.figures is None else row.figures.members
    return _not_read(row) if members is None else cells.count(members)


def _not_read(row: WorkspaceRow) -> Cell:
    """A figure that is still being read, or one that could not be."""
    return Cell("…", "muted") if row.figures is None else cells.NOTHING
