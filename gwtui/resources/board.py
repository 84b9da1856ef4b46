"""Actions on the board and its past: none of them changes anything at the gateway."""

from __future__ import annotations

from gwtui.crud.action import APP, Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "board.page",
        "Panel",
        "Show the next part: endpoints, credits and limits, changes; all at once from 160x44 on",
        "board",
        ("p",),
        footer=True,
    ),
    Action(
        "board.zoom_in",
        "Zoom",
        "A shorter span: 30 days, 7 days, 24 hours, 1 hour",
        "board",
        ("plus", "equals_sign"),
        footer=True,
    ),
    Action("board.zoom_out", "Zoom out", "A longer span", "board", ("minus",)),
    Action(
        "board.earlier",
        "Back in time",
        "Replay: a step back; the panels show what was recorded as of that moment",
        "board",
        ("comma",),
        footer=True,
    ),
    Action("board.later", "Forward", "Replay: a step forward", "board", ("full_stop",)),
    Action("board.leap_back", "Leap back", "Replay: ten steps back", "board", ("less_than_sign",)),
    Action(
        "board.leap_forward",
        "Leap forward",
        "Replay: ten steps forward",
        "board",
        ("greater_than_sign",),
    ),
    Action(
        "board.jump",
        "Jump",
        "Replay: type a moment, such as 2026-11-20 18:00, yesterday 18:00 or 3h ago",
        "board",
        ("at",),
        footer=True,
    ),
    Action("board.live", "Live", "Leave the replay: the present again", "board", ("L",)),
    Action(
        "board.measure",
        "Figure",
        "Draw the next figure of the endpoint: latency, throughput, uptime",
        "board",
        ("m",),
        footer=True,
    ),
    Action("board.order", "Order", "By model, or the worst first", "board", ("s",)),
    Action(
        "board.zone", "UTC/local", "Moments in UTC, or in this machine's own time", "board", ("z",)
    ),
    Action(
        "board.watch",
        "Watch a model",
        "Record the endpoints of one more model, on this machine",
        "board",
        ("a",),
        footer=True,
    ),
    Action(
        "board.unwatch",
        "Watch no more",
        "Take the selected model off the board; what was recorded of it stays",
        "board",
        ("W",),
        target=True,
    ),
    Action(
        "board.open",
        "Open",
        "Show every figure of the selected endpoint",
        "board",
        target=True,
        marked="cursor",
    ),
    Action(
        "board.changes",
        "Changes",
        "What changed between two moments: prices, uptime, credits, keys, guardrails",
        "board",
        ("c",),
    ),
    Action(
        "changes.between",
        "Moments",
        "Type the two moments to compare",
        "changes",
        ("at", "c"),
        footer=True,
    ),
    Action(
        "changes.each",
        "Net/each",
        "The difference between the two moments, or every change on the way",
        "changes",
        ("e",),
        footer=True,
    ),
    Action(
        "models.watch",
        "Watch",
        "Put the selected model on the board, or take it off",
        "models",
        ("W",),
        target=True,
    ),
    Action(
        "app.requests",
        "Requests",
        "How many requests go out: the last minute, and what each reading costs",
        APP,
    ),
)
