"""The one registry of what a user can do: bindings, hints, help and commands are read here."""

from __future__ import annotations

from collections.abc import Iterable

from gwtui.crud.action import Action
from gwtui.resources import board
from gwtui.resources import figure_actions as figures
from gwtui.resources import frame_actions as general
from gwtui.resources.activity import actions as activity
from gwtui.resources.alerts import actions as alerts
from gwtui.resources.assignments import actions as assignments
from gwtui.resources.budgets import actions as budgets
from gwtui.resources.byok import actions as byok
from gwtui.resources.credits import actions as credits
from gwtui.resources.generations import actions as generation
from gwtui.resources.guardrails import actions as guardrails
from gwtui.resources.keys import actions as keys
from gwtui.resources.members import actions as members
from gwtui.resources.models import actions as models
from gwtui.resources.organization import actions as organization
from gwtui.resources.recovery import actions as recovery
from gwtui.resources.workspaces import actions as workspaces

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
