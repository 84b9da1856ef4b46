"""What can be done with the budgets of a workspace."""

from __future__ import annotations

from gwtui.actions.action import Action
from gwtui.actions.workspaces import RESOURCE as WORKSPACES

RESOURCE = "budgets"

ACTIONS: tuple[Action, ...] = (
    Action(
        "budgets.edit",
        "Budgets",
        "Set, change and remove the budgets of the selected workspace",
        WORKSPACES,
        ("b",),
        mutates=True,
        target=True,
        footer=True,
    ),
)
