"""What can be done with the assignments of guardrails."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "assignments"

ACTIONS: tuple[Action, ...] = (
    Action(
        "assignments.guardrail",
        "Guardrail",
        "Go to the guardrail of the selected assignment",
        RESOURCE,
        ("R",),
        target=True,
        marked="cursor",
    ),
    Action(
        "assignments.key",
        "Key",
        "Go to the key of the selected assignment",
        RESOURCE,
        ("K",),
        target=True,
        marked="cursor",
    ),
    Action(
        "assignments.remove",
        "Unassign",
        "Take the guardrail from the marked keys and members, or the selected one",
        RESOURCE,
        ("D", "delete"),
        mutates=True,
        target=True,
        marked="all",
        footer=True,
    ),
)
