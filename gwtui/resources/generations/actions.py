"""What can be done with a generation that was looked up."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "generation"

ACTIONS: tuple[Action, ...] = (
    Action(
        "generation.lookup",
        "Look up",
        "Type the id of another generation",
        RESOURCE,
        ("slash", "i"),
        footer=True,
    ),
    Action(
        "generation.content",
        "Content",
        "What it read and wrote, where its workspace logs that",
        RESOURCE,
        ("c",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "generation.feedback",
        "Feedback",
        "Say what was wrong with it",
        RESOURCE,
        ("f",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "generation.model",
        "Model",
        "Go to the endpoints of its model",
        RESOURCE,
        ("o",),
        target=True,
        marked="cursor",
    ),
)
