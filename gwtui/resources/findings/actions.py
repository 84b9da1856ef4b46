"""What can be done with findings: mend one, go to what it is about."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "findings"

ACTIONS: tuple[Action, ...] = (
    Action(
        "findings.fix",
        "Fix",
        "Plan what mends the selected finding; nothing is sent before you agree",
        RESOURCE,
        ("f",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "findings.go",
        "Subject",
        "Go to what the selected finding is about",
        RESOURCE,
        ("o",),
        target=True,
        marked="cursor",
        footer=True,
    ),
)
