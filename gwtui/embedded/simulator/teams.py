"""Who works in which workspace, and what each may spend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.contract.budgets import BudgetInterval
from gwtui.embedded.simulator.chance import fraction, uuid_text
from gwtui.embedded.simulator.people import WorkspaceSlug
from gwtui.embedded.simulator.world import SeedBudget, SeedMember, SeedUser, SeedWorkspace

_MEMBERS: Mapping[WorkspaceSlug, tuple[int, ...]] = {
    "production": (0, 1, 2, 3, 4, 5, 6),
    "research": (3, 4, 5, 6, 7),
    "data-pipelines": (1, 4, 5),
    "partner-portal": (0, 2),
}
"""Indexes of people. The default workspace needs none: the whole organization is in it."""

_BUDGETS: Mapping[WorkspaceSlug, Mapping[BudgetInterval, str]] = {
    "production": {"daily": "90", "weekly": "400", "monthly": "1300"},
    "research": {"weekly": "190", "monthly": "700"},
    "data-pipelines": {"monthly": "550"},
    "partner-portal": {"daily": "5", "lifetime": "100"},
}
"""USD. Those of busy workspaces leave room above what the simulated keys use."""

_JOINING = timedelta(days=60)
"""Over how long a team gathers after its workspace was made."""
_REVISED = 0.4
"""Share of budgets that were changed once."""


def build_members(
    seed: int, now: datetime, users: Sequence[SeedUser], workspaces: Sequence[SeedWorkspace]
) -> tuple[SeedMember, ...]:
    """The members of each workspace but the default one, in the order they joined."""
    members = [
        SeedMember(
            id=uuid_text(seed, "member", workspace.slug, index),
            workspace_id=workspace.id,
            user_id=users[index].id,
            created_at=_after(workspace, now, fraction(seed, "joined", workspace.slug, index)),
        )
        for workspace in workspaces
        for slug, indexes in _MEMBERS.items()
        if slug == workspace.slug
        for index in indexes
    ]
    return tuple(sorted(members, key=lambda member: member.created_at))


def build_budgets(
    seed: int, now: datetime, workspaces: Sequence[SeedWorkspace]
) -> tuple[SeedBudget, ...]:
    """The budgets of each workspace that has any."""
    return tuple(
        _budget(seed, now, workspace, interval, limit)
        for workspace in workspaces
        for slug, limits in _BUDGETS.items()
        if slug == workspace.slug
        for interval, limit in limits.items()
    )


def _budget(
    seed: int, now: datetime, workspace: SeedWorkspace, interval: BudgetInterval, limit: str
) -> SeedBudget:
    what = (workspace.slug, interval)
    made = _after(workspace, now, fraction(seed, "budget made", *what))
    changed = made + (now - made) * fraction(seed, "budget changed", *what)
    revised = fraction(seed, "budget revised", *what) < _REVISED
    return SeedBudget(
        id=uuid_text(seed, "budget", *what),
        workspace_id=workspace.id,
        interval=interval,
        limit=Decimal(limit),
        created_at=made,
        updated_at=changed.replace(microsecond=0) if revised else made,
    )


def _after(workspace: SeedWorkspace, now: datetime, share: float) -> datetime:
    """A moment in the first weeks of a workspace, to the second."""
    span = min(_JOINING, now - workspace.created_at)
    return (workspace.created_at + span * share).replace(microsecond=0)
