"""What can be done with the budgets of a workspace."""

from __future__ import annotations

from gwtui.actions.action import Action

RESOURCE = "budgets"

ACTIONS: tuple[Action, ...] = (
    Action(
        "budgets.put",
        "Set",
        "Set the budget of the selected interval",
        RESOURCE,
        ("e",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "budgets.delete",
        "Remove",
        "Take the budget of the selected interval away",
        RESOURCE,
        ("D", "delete"),
        mutates=True,
        target=True,
        footer=True,
    ),
)
