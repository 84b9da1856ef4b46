"""What the simulated world has beyond workspaces and keys, one step for each kind of thing.

A step runs once in the life of a database: when it is founded, or when a version that knows the
step opens it for the first time. So a database of an earlier version gains what came since, and
what somebody deleted never comes back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

from gwtui.embedded.simulator import World
from gwtui.embedded.store import (
    account,
    activity,
    assignments,
    budgets,
    byok,
    guardrails,
    keys,
    members,
    organization,
    workspaces,
)
from gwtui.embedded.store.assignments import Assigner
from gwtui.embedded.store.budgets import BudgetRecord
from gwtui.embedded.store.byok import NewCredential, Terms
from gwtui.embedded.store.guardrails import GuardrailRecord, Policy

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


def _guardrails(db: sqlite3.Connection, world: World) -> None:
    for seed in world.guardrails:
        if not _standing(db, seed.workspace_id) or guardrails.find(db, seed.id):
            continue
        guardrails.add(
            db,
            GuardrailRecord(
                id=seed.id,
                workspace_id=seed.workspace_id,
                policy=Policy(name=seed.name, **seed.settings),
                created_at=seed.created_at,
                updated_at=seed.updated_at,
            ),
        )
        by = Assigner(seed.assigned_by, seed.assigned_at)
        known = keys.ids_of(db, seed.key_hashes)
        bound = [known[key_hash] for key_hash in seed.key_hashes if key_hash in known]
        assignments.assign_keys(db, seed.id, bound, by)
        assignments.assign_members(db, seed.id, seed.user_ids, by)


def _credentials(db: sqlite3.Connection, world: World) -> None:
    for seed in world.credentials:
        if _standing(db, seed.workspace_id):
            new = NewCredential(
                id=seed.id,
                workspace_id=seed.workspace_id,
                provider=seed.provider,
                label=seed.label,
                terms=Terms(**seed.terms),
                created_at=seed.created_at,
            )
            byok.add(db, new, None)


def _standing(db: sqlite3.Connection, workspace_id: str) -> bool:
    return workspaces.get(db, workspace_id) is not None


_STEPS: Mapping[str, Step] = {
    "people": _people,
    "members": _members,
    "budgets": _budgets,
    "activity": activity.remember,
    "guardrails": _guardrails,
    "credentials": _credentials,
}
_ALWAYS = frozenset({"people"})
