"""Actions on credits: all of them read."""

from __future__ import annotations

from gwtui.crud.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "credits.window",
        "Today/week/month",
        "Rank keys by usage today, this week or this month (UTC)",
        "credits",
        ("u",),
        footer=True,
    ),
)
