"""What can be done with BYOK provider credentials."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "byok"

ACTIONS: tuple[Action, ...] = (
    Action(
        "byok.create",
        "New credential",
        "Store a provider key of your own",
        RESOURCE,
        ("n",),
        mutates=True,
        footer=True,
    ),
    Action(
        "byok.edit",
        "Edit",
        "Change name, restrictions and role of the selected credential",
        RESOURCE,
        ("e",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "byok.rotate",
        "Rotate",
        "Replace the key of the selected credential in place; the old one is gone",
        RESOURCE,
        ("R",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "byok.toggle",
        "On/off",
        "Leave the selected credential out of routing, or use it again",
        RESOURCE,
        ("x",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "byok.delete",
        "Delete",
        "Delete the selected credential and wipe its key",
        RESOURCE,
        ("D", "delete"),
        mutates=True,
        target=True,
        footer=True,
    ),
)
