"""The one registry of what a user can do: bindings, hints, help and commands are read here.

The actions of a scope are loaded when it is first asked for: the first screen needs its own alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from gwtui.crud.action import APP, LIST, Action

MODULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gwtui.resources.frame_actions", (APP, LIST)),
    ("gwtui.resources.keys.actions", ("keys",)),
    ("gwtui.resources.workspaces.actions", ("workspaces",)),
    ("gwtui.resources.budgets.actions", ("workspaces",)),
    ("gwtui.resources.members.actions", ("members",)),
    ("gwtui.resources.organization.actions", ("organization",)),
    ("gwtui.resources.credits.actions", ("credits",)),
    ("gwtui.resources.board", (APP, "board", "changes", "models")),
    (
        "gwtui.resources.models.actions",
        ("models", "endpoints", "all-endpoints", "model-guardrails", "key"),
    ),
    ("gwtui.resources.guardrails.actions", ("guardrails",)),
    ("gwtui.resources.assignments.actions", ("assignments",)),
    ("gwtui.resources.byok.actions", ("byok",)),
    ("gwtui.resources.activity.actions", ("activity", "keys", "organization")),
    ("gwtui.resources.alerts.actions", ("alerts", "alert-history", "alert-rules")),
    ("gwtui.resources.findings.actions", ("findings",)),
    ("gwtui.resources.rotations.actions", ("rotations",)),
    ("gwtui.resources.generations.actions", ("generation",)),
    ("gwtui.resources.figure_actions", ("figures",)),
    ("gwtui.resources.recovery.actions", ("doubt",)),
)
"""Where actions are declared, and for which scopes; in the order in which they are offered."""


@cache
def actions_of(module: str) -> tuple[Action, ...]:
    """What a module declares as its ``ACTIONS``."""
    declared: tuple[Action, ...] = import_module(module).ACTIONS
    return declared


@cache
def all_actions() -> tuple[Action, ...]:
    """Every action, whatever its scope."""
    return tuple(action for module, _ in MODULES for action in actions_of(module))


def by_id(action_id: str) -> Action:
    """The action of that id; KeyError when there is none."""
    # Nearly every id begins with the scope of its action.
    likely = for_scope(action_id.partition(".")[0])
    found = _named(action_id, likely) or _named(action_id, all_actions())
    if found is None:
        raise KeyError(action_id)
    return found


def _named(action_id: str, actions: Iterable[Action]) -> Action | None:
    return next((action for action in actions if action.id == action_id), None)


@cache
def for_scope(scope: str) -> tuple[Action, ...]:
    """The actions of one scope (APP, LIST or a resource id), in the order of the registry."""
    return tuple(
        action
        for module, scopes in MODULES
        if scope in scopes
        for action in actions_of(module)
        if action.scope == scope
    )


def for_scopes(scopes: Iterable[str]) -> tuple[Action, ...]:
    """The actions of several scopes, those of the first scope first."""
    return tuple(action for scope in scopes for action in for_scope(scope))
