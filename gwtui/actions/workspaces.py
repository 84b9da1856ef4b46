"""What can be done with workspaces."""

from __future__ import annotations

from gwtui.actions.action import Action

RESOURCE = "workspaces"

ACTIONS: tuple[Action, ...] = (
    Action(
        "workspaces.create",
        "New workspace",
        "Create a workspace",
        RESOURCE,
        ("n",),
        mutates=True,
        footer=True,
    ),
    Action(
        "workspaces.edit",
        "Edit",
        "Change name, slug, defaults and logging of the selected workspace",
        RESOURCE,
        ("e",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "workspaces.delete",
        "Delete",
        "Delete the selected workspace with its budgets and guardrails",
        RESOURCE,
        ("D", "delete"),
        mutates=True,
        target=True,
        footer=True,
    ),
)
