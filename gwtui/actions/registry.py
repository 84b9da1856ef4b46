"""The one registry of what a user can do: bindings, hints, help and commands are read here."""

from __future__ import annotations

from collections.abc import Iterable

from gwtui.actions import (
    activity,
    alerts,
    assignments,
    board,
    budgets,
    byok,
    credits,
    figures,
    general,
    generation,
    guardrails,
    keys,
    members,
    models,
    organization,
    recovery,
    workspaces,
)
from gwtui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    *general.ACTIONS,
    *keys.ACTIONS,
    *workspaces.ACTIONS,
    *budgets.ACTIONS,
    *members.ACTIONS,
    *organization.ACTIONS,
    *credits.ACTIONS,
    *board.ACTIONS,
    *models.ACTIONS,
    *guardrails.ACTIONS,
    *assignments.ACTIONS,
    *byok.ACTIONS,
    *activity.ACTIONS,
    *alerts.ACTIONS,
    *generation.ACTIONS,
    *figures.ACTIONS,
    *recovery.ACTIONS,
)

_BY_ID = {action.id: action for action in ACTIONS}


def by_id(action_id: str) -> Action:
    """The action of that id; KeyError when there is none."""
    return _BY_ID[action_id]


def for_scope(scope: str) -> tuple[Action, ...]:
    """The actions of one scope (APP, LIST or a resource id), in the order of the registry."""
    return tuple(action for action in ACTIONS if action.scope == scope)


def for_scopes(scopes: Iterable[str]) -> tuple[Action, ...]:
    """The actions of several scopes, those of the first scope first."""
    return tuple(action for scope in scopes for action in for_scope(scope))
