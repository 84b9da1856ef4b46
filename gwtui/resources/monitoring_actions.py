"""Actions for monitoring models and the gateway, by scope.

The catalog and its endpoints, the board and its past, alerts, findings, and single generations.
"""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.crud.action import (
    Action,
    on_selected,
    scoped_action,
    show_action,
    try_action,
)


def _figures(resource: str) -> Action:
    return scoped_action(
        f"{resource}.figures",
        "Compare figures",
        "Prices, limits, speed and parameters of 2 to 6 marked rows side by side; sends nothing",
        "equals_sign",
        target=True,
        marked="all",
    )


ACTIONS: Mapping[str, tuple[Action, ...]] = {
    "board": (
        scoped_action(
            "board.page",
            "Panel",
            "Show the next part: endpoints, credits and limits, changes; all at "
            "once from 160x44 on",
            "l",
            footer=True,
        ),
        scoped_action(
            "board.zoom_in",
            "Zoom",
            "A shorter span: 30 days, 7 days, 24 hours, 1 hour",
            "plus",
            "equals_sign",
            footer=True,
        ),
        scoped_action("board.zoom_out", "Zoom out", "A longer span", "minus"),
        scoped_action(
            "board.earlier",
            "Back in time",
            "Show the curves and figures that were recorded a step earlier",
            "comma",
            footer=True,
        ),
        scoped_action("board.later", "Forward", "Move the time cursor a step forward", "full_stop"),
        scoped_action(
            "board.leap_back", "Leap back", "Move the time cursor ten steps back", "less_than_sign"
        ),
        scoped_action(
            "board.leap_forward",
            "Leap forward",
            "Move the time cursor ten steps forward",
            "greater_than_sign",
        ),
        scoped_action(
            "board.jump",
            "Jump",
            "Type the moment to show, such as 2026-11-20 18:00, yesterday 18:00 or 3h ago",
            "at",
            footer=True,
        ),
        scoped_action("board.live", "Live", "Show the present again", "L"),
        scoped_action(
            "board.measure",
            "Figure",
            "Draw the next figure of the endpoint: latency, throughput, uptime",
            "i",
            footer=True,
        ),
        scoped_action("board.order", "Order", "By model, or the worst first", "s"),
        scoped_action(
            "board.watch",
            "Watch a model",
            "Record the endpoints of one more model, on this machine",
            "n",
            footer=True,
        ),
        scoped_action(
            "board.unwatch",
            "Watch no more",
            "Remove the selected model from the board; its history stays",
            "W",
            target=True,
        ),
        show_action("board.open", "Open", "Show every figure of the selected endpoint"),
        scoped_action(
            "board.changes",
            "Changes",
            "What changed between two moments: prices, uptime, credits, keys, guardrails",
            "c",
        ),
    ),
    "changes": (
        scoped_action(
            "changes.between", "Moments", "Type the two moments to compare", "at", footer=True
        ),
        scoped_action(
            "changes.each",
            "Net/each",
            "The difference between the two moments, or every change on the way",
            "l",
            footer=True,
        ),
    ),
    "models": (
        scoped_action(
            "models.watch",
            "Watch",
            "Add the selected model to the board, or remove it",
            "W",
            target=True,
            keywords="record monitor board",
        ),
        show_action(
            "models.price",
            "Price",
            "What a request would cost at every endpoint of this model, cheapest first",
            "p",
            footer=True,
            keywords="cost calculate estimate",
        ),
        show_action(
            "models.guardrails",
            "Guardrails",
            "Effect of each guardrail on this model, blocking ones first",
            "R",
        ),
        scoped_action(
            "models.all-endpoints",
            "All endpoints",
            "The endpoints of all models in one list, the cheapest first",
            "E",
            footer=True,
            keywords="find cheapest providers",
        ),
        _figures("models"),
        try_action("models", "Send a request to the selected model"),
    ),
    "endpoints": (
        show_action(
            "endpoints.price",
            "Price",
            "What a request would cost here and at the other endpoints, cheapest first",
            "p",
            footer=True,
        ),
        _figures("endpoints"),
        try_action("endpoints", "Send a request to the selected endpoint only"),
        scoped_action(
            "endpoints.model",
            "About the model",
            "Catalog entry of this model, even if no list shows it",
            "o",
            footer=True,
        ),
    ),
    "all-endpoints": (
        show_action(
            "all-endpoints.model",
            "Its model",
            "The endpoints of the selected row's model, with their last 24 hours",
            "o",
            footer=True,
        ),
        show_action(
            "all-endpoints.price",
            "Price",
            "What a request would cost here and at the model's other endpoints, cheapest first",
            "p",
            footer=True,
        ),
        _figures("all-endpoints"),
        try_action("all-endpoints", "Send a request to the selected endpoint only"),
    ),
    "model-guardrails": (
        show_action(
            "model-guardrails.go", "Guardrail", "Go to the selected guardrail", "R", footer=True
        ),
    ),
    "key": (
        scoped_action(
            "key.models",
            "Models",
            "Models that remain under the guardrails of this key",
            "E",
            footer=True,
        ),
    ),
    "alerts": (
        scoped_action(
            "alerts.acknowledge",
            "Acknowledge",
            "Acknowledge the selected or marked alerts",
            "h",
            target=True,
            marked="all",
            footer=True,
        ),
        scoped_action(
            "alerts.silence",
            "Silence",
            "Silence the selected or marked alerts for a time, or end the silence",
            "x",
            target=True,
            marked="all",
            footer=True,
            keywords="mute snooze",
        ),
        show_action(
            "alerts.go", "Subject", "Go to what the selected alert is about", "o", footer=True
        ),
        scoped_action("alerts.rules", "Rules", "Show and edit the alert rules", "e", footer=True),
        scoped_action("alerts.history", "History", "Past alert events", "H", footer=True),
    ),
    "alert-history": (
        show_action(
            "alert-history.go",
            "Subject",
            "Go to what the selected event is about",
            "o",
            footer=True,
        ),
    ),
    "alert-rules": (
        scoped_action(
            "alert-rules.create",
            "New",
            "Make a rule",
            "n",
            footer=True,
            keywords="create add alert",
        ),
        scoped_action(
            "alert-rules.edit",
            "Edit",
            "Edit the selected rule, with a preview of the alerts it would have raised",
            "e",
            target=True,
            footer=True,
        ),
        scoped_action(
            "alert-rules.toggle",
            "On/off",
            "Switch the selected rule on or off",
            "x",
            target=True,
            footer=True,
            keywords="disable enable deactivate activate",
        ),
        scoped_action(
            "alert-rules.delete",
            "Delete",
            "Delete the selected rule; a built-in rule returns to its defaults",
            "D",
            "delete",
            target=True,
            keywords="remove",
        ),
        scoped_action(
            "alert-rules.effects",
            "Channels",
            "Notification channels: notice, title, bell, your own command",
            "C",
            footer=True,
        ),
    ),
    "findings": (
        on_selected(
            "findings.fix",
            "Fix",
            "Plan the fix of the selected finding; nothing is sent before you confirm",
            "f",
        ),
        show_action(
            "findings.go", "Subject", "Go to what the selected finding is about", "o", footer=True
        ),
    ),
    "generation": (
        scoped_action(
            "generation.lookup",
            "Look up",
            "Type the id of another generation",
            "slash",
            footer=True,
        ),
        show_action(
            "generation.content",
            "Content",
            "Prompt and answer, if the workspace logs them",
            "I",
            footer=True,
        ),
        show_action("generation.model", "Model", "Go to the endpoints of its model", "o"),
    ),
}
"""By scope; those of one scope stand in the order in which its screen offers them."""
