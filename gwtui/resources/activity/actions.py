"""Actions on activity and the links to it: all of them read."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "activity"

ACTIONS: tuple[Action, ...] = (
    Action(
        "activity.group",
        "Group",
        "Rank by the next of model, provider, workspace and key",
        RESOURCE,
        ("b",),
        footer=True,
    ),
    Action(
        "activity.measure",
        "Measure",
        "Draw and rank the next of spend, BYOK cost, requests and tokens",
        RESOURCE,
        ("m",),
        footer=True,
    ),
    Action(
        "activity.open",
        "Open",
        "Open the selected model, workspace or key",
        RESOURCE,
        ("enter",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "keys.activity",
        "Activity",
        "What the selected key did in the last 30 completed days",
        "keys",
        ("a",),
        target=True,
        marked="cursor",
    ),
    Action(
        "organization.activity",
        "Activity",
        "What the keys of the selected person did in the last 30 completed days",
        "organization",
        ("a",),
        target=True,
        marked="cursor",
    ),
)
