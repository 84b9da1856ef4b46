"""What can be done with API keys."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "keys"

ACTIONS: tuple[Action, ...] = (
    Action(
        "keys.create",
        "New key",
        "Create an API key; its value is shown once",
        RESOURCE,
        ("n",),
        mutates=True,
        footer=True,
    ),
    Action(
        "keys.edit",
        "Edit",
        "Change name, limit, reset, workspace of the selected key",
        RESOURCE,
        ("e",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "keys.toggle",
        "On/off",
        "Refuse requests with the selected key, or allow them again",
        RESOURCE,
        ("x",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "keys.guardrail",
        "Guardrail",
        "Go to the guardrail that binds the selected key",
        RESOURCE,
        ("R",),
        target=True,
        marked="cursor",
    ),
    Action(
        "keys.assign",
        "Assign guardrail",
        "Assign a guardrail to the marked keys, or the selected one; replaces the one each has",
        RESOURCE,
        ("A",),
        mutates=True,
        target=True,
        marked="all",
    ),
    Action(
        "keys.delete",
        "Delete",
        "Delete the selected key for good",
        RESOURCE,
        ("D", "delete"),
        mutates=True,
        target=True,
        footer=True,
    ),
)
