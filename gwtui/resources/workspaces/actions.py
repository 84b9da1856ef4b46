"""What can be done with workspaces."""

from __future__ import annotations

from gwtui.crud.action import (
    Action,
    create_action,
    delete_action,
    edit_action,
    try_action,
)

RESOURCE = "workspaces"

ACTIONS: tuple[Action, ...] = (
    create_action(RESOURCE, "New workspace", "Create a workspace"),
    edit_action(RESOURCE, "Change fields of the selected workspace, or what the marked ones share"),
    delete_action(
        RESOURCE,
        "Delete the selected workspace with its budgets and guardrails",
        marked="refuse",
    ),
    try_action(RESOURCE, "Send a request as one of the selected workspace's keys"),
    Action(
        "workspaces.members",
        "Members",
        "Who is in the selected workspace; add and remove people there",
        RESOURCE,
        ("m",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "workspaces.keys",
        "Keys",
        "Narrow the lists to the selected workspace and show its keys",
        RESOURCE,
        ("K",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "workspaces.guardrails",
        "Guardrails",
        "Narrow the lists to the selected workspace and show its guardrails",
        RESOURCE,
        ("R",),
        target=True,
        marked="cursor",
    ),
    Action(
        "workspaces.byok",
        "Credentials",
        "Narrow the lists to the selected workspace and show its provider credentials",
        RESOURCE,
        ("B",),
        target=True,
        marked="cursor",
    ),
    Action(
        "workspaces.people",
        "People",
        "Everybody in the organization, and the workspaces they are in",
        RESOURCE,
        ("o",),
    ),
)
