"""Actions on alerts and their rules: changes on this machine, none of them at the gateway."""

from __future__ import annotations

from gwtui.crud.action import Action

ALERTS = "alerts"
HISTORY = "alert-history"
RULES = "alert-rules"

ACTIONS: tuple[Action, ...] = (
    Action(
        "alerts.acknowledge",
        "Acknowledge",
        "Say that you know of the selected or marked alerts",
        ALERTS,
        ("a",),
        target=True,
        marked="all",
        footer=True,
    ),
    Action(
        "alerts.silence",
        "Silence",
        "Tell nobody of the selected or marked alerts for a time, or tell again",
        ALERTS,
        ("z",),
        target=True,
        marked="all",
        footer=True,
        also="mute snooze",
    ),
    Action(
        "alerts.go",
        "Subject",
        "Go to what the selected alert is about",
        ALERTS,
        ("o",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action("alerts.rules", "Rules", "What is watched", ALERTS, ("R",), footer=True),
    Action("alerts.history", "History", "What happened with alerts", ALERTS, ("H",), footer=True),
    Action(
        "alert-history.go",
        "Subject",
        "Go to what the selected event is about",
        HISTORY,
        ("o",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "alert-rules.create",
        "New",
        "Make a rule",
        RULES,
        ("n",),
        footer=True,
        also="create add alert",
    ),
    Action(
        "alert-rules.edit",
        "Edit",
        "Change the selected rule, with a look at what it would have told",
        RULES,
        ("e",),
        target=True,
        footer=True,
    ),
    Action(
        "alert-rules.toggle",
        "On/off",
        "Switch the selected rule on or off",
        RULES,
        ("x",),
        target=True,
        footer=True,
        also="disable enable deactivate activate",
    ),
    Action(
        "alert-rules.delete",
        "Delete",
        "Delete the selected rule; a built-in one is as it was made",
        RULES,
        ("D", "delete"),
        target=True,
        also="remove",
    ),
    Action(
        "alert-rules.effects",
        "Effects",
        "What an alert does: notice, title, bell, a command of yours",
        RULES,
        ("E",),
        footer=True,
    ),
)
