"""What can be done with the organization."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "organization"

ACTIONS: tuple[Action, ...] = (
    Action(
        "organization.edit",
        "Settings",
        "Change what holds for the whole organization",
        RESOURCE,
        ("e",),
        mutates=True,
        footer=True,
    ),
    Action(
        "organization.assign",
        "Assign guardrail",
        "Assign a guardrail to the marked people, or the selected one; replaces the one each has",
        RESOURCE,
        ("A",),
        mutates=True,
        target=True,
        marked="all",
    ),
)
