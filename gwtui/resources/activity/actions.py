"""Actions on activity and the links to it: all of them read."""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "activity"

ACTIONS: tuple[Action, ...] = (
    Action(
        "activity.group",
        "Group",
        "Rank by the next of model, provider, workspace, key and user",
        RESOURCE,
        ("b",),
        footer=True,
    ),
    Action(
        "activity.second",
        "And by",
        "Tell the lines of the ranking apart by one thing more: the next of those that are left",
        RESOURCE,
        ("B",),
    ),
    Action(
        "activity.keys",
        "By key",
        "Rank by key",
        RESOURCE,
        ("K",),
        also="who spent most",
    ),
    Action(
        "activity.days",
        "Days",
        "Type the days (UTC): yesterday, 7d, 2026-11-20, or from .. to; nothing is all of them",
        RESOURCE,
        ("at",),
        footer=True,
    ),
    Action(
        "activity.before",
        "Day before",
        "Select the bar to the left: its day alone is summed up and ranked; first the last day",
        RESOURCE,
        ("comma",),
        footer=True,
    ),
    Action(
        "activity.after",
        "Day after",
        "Select the bar to the right",
        RESOURCE,
        ("full_stop",),
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
        "Open the selected model, workspace, key or user",
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
        also="usage spending requests",
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
