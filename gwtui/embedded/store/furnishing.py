"""What the simulated world has beyond workspaces and keys, one step for each kind of thing.

A step runs once in the life of a database: when it is founded, or when a version that knows the
step opens it for the first time. So a database of an earlier version gains what came since, and
what somebody deleted never comes back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

from gwtui.embedded.simulator import World
from gwtui.embedded.store import account, activity, budgets, members, organization, workspaces
from gwtui.embedded.store.budgets import BudgetRecord

Step = Callable[[sqlite3.Connection, World], None]


def furnish(db: sqlite3.Connection, world: World, *, simulated: bool) -> None:
    """Take the steps that this database has not seen yet.

    An account without a simulated past has its people all the same: they come from the outside,
    no operation makes one.
    """
    for name, step in _STEPS.items():
        if account.setting(db, f"furnished {name}") is None:
            if simulated or name in _ALWAYS:
                step(db, world)
            account.remember(db, f"furnished {name}", "yes")


def _people(db: sqlite3.Connection, world: World) -> None:
    for user in world.users:
        organization.add(
            db,
            organization.Person(user.id, user.email, user.first_name, user.last_name, user.role),
        )


def _members(db: sqlite3.Connection, world: World) -> None:
    for member in world.members:
        if _standing(db, member.workspace_id):
            members.found(db, member.id, member.workspace_id, member.user_id, member.created_at)


def _budgets(db: sqlite3.Connection, world: World) -> None:
    for seed in world.budgets:
        if _standing(db, seed.workspace_id):
            record = BudgetRecord(
                id=seed.id,
                workspace_id=seed.workspace_id,
                interval=seed.interval,
                limit=seed.limit,
                created_at=seed.created_at,
                updated_at=seed.updated_at,
            )
            budgets.found(db, record)
    for workspace in world.workspaces:
        included = workspace.include_byok_in_budgets
        workspaces.count_byok_in_budgets(db, workspace.id, included=included)


def _standing(db: sqlite3.Connection, workspace_id: str) -> bool:
    return workspaces.get(db, workspace_id) is not None


_STEPS: Mapping[str, Step] = {
    "people": _people,
    "members": _members,
    "budgets": _budgets,
    "activity": activity.remember,
}
_ALWAYS = frozenset({"people"})
