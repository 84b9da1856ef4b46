"""What can be done with guardrails."""

from __future__ import annotations

from gwtui.crud.action import Action, try_action

RESOURCE = "guardrails"

ACTIONS: tuple[Action, ...] = (
    Action(
        "guardrails.create",
        "New guardrail",
        "Create a guardrail; it enforces nothing until it is assigned",
        RESOURCE,
        ("n",),
        mutates=True,
        footer=True,
        also="create add make",
    ),
    Action(
        "guardrails.edit",
        "Edit",
        "Change the rules of the selected guardrail",
        RESOURCE,
        ("e",),
        mutates=True,
        target=True,
        footer=True,
        also="change update modify rename budget limit",
    ),
    Action(
        "guardrails.assign_keys",
        "Assign to keys",
        "Assign the selected guardrail to keys; replaces the one each has",
        RESOURCE,
        ("a",),
        mutates=True,
        target=True,
        footer=True,
    ),
    Action(
        "guardrails.assign_members",
        "Assign to members",
        "Assign the selected guardrail to members; replaces the one each has",
        RESOURCE,
        ("A",),
        mutates=True,
        target=True,
    ),
    Action(
        "guardrails.assigned",
        "Assigned to",
        "The keys and members that the selected guardrail is assigned to",
        RESOURCE,
        ("m",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "guardrails.remaining",
        "What remains",
        "Which endpoints of each model the selected guardrail leaves",
        RESOURCE,
        ("o",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "guardrails.samples",
        "Test with samples",
        "Send sample prompts, and compare what the selected guardrail does with what it should",
        RESOURCE,
        ("p",),
        target=True,
        bills=True,
    ),
    try_action(RESOURCE, "Send a request to a model, and see what the guardrail does to it"),
    Action(
        "guardrails.all_assigned",
        "All assignments",
        "The assignments of every guardrail",
        RESOURCE,
        ("M",),
    ),
    Action(
        "guardrails.delete",
        "Delete",
        "Delete the selected or marked guardrails for good",
        RESOURCE,
        ("D", "delete"),
        mutates=True,
        target=True,
        marked="all",
        footer=True,
        also="remove",
    ),
)
