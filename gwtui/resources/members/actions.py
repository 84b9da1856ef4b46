"""What can be done with the members of a workspace."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "members"

ACTIONS: tuple[Action, ...] = (
    Action(
        "members.add",
        "Add members",
        "Add members of the organization to this workspace",
        RESOURCE,
        ("n",),
        mutates=True,
        footer=True,
    ),
    Action(
        "members.remove",
        "Remove",
        "Remove the marked members, or the selected one, from this workspace",
        RESOURCE,
        ("D", "delete"),
        mutates=True,
        target=True,
        marked="all",
        footer=True,
        also="delete",
    ),
    Action(
        "members.people",
        "People",
        "Everybody in the organization, and the workspaces they are in",
        RESOURCE,
        ("o",),
        footer=True,
    ),
    Action(
        "members.assign",
        "Assign guardrail",
        "Assign a guardrail to the marked members, or the selected one; replaces the one each has",
        RESOURCE,
        ("A",),
        mutates=True,
        target=True,
        marked="all",
    ),
)
