"""What can be done with the rotations of keys."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "rotations"

ACTIONS: tuple[Action, ...] = (
    Action(
        "rotations.next",
        "Next step",
        "Plan what comes next: assign, show, disable or delete; nothing is sent before you agree",
        RESOURCE,
        ("n",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "rotations.old",
        "Old key",
        "Go to the key that is retired",
        RESOURCE,
        ("o",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "rotations.new",
        "Successor",
        "Go to the key that takes over",
        RESOURCE,
        ("K",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "rotations.forget",
        "Forget",
        "Follow the selected rotation no more; both keys stay as they are",
        RESOURCE,
        ("D", "delete"),
        target=True,
    ),
)
