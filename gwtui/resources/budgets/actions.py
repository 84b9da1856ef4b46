"""What can be done with the budgets of a workspace."""

from __future__ import annotations

from gwtui.crud.action import Action
from gwtui.resources.workspaces.actions import RESOURCE as WORKSPACES

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
        also="limit quota spending",
    ),
)
