"""Actions on screens that show one object."""

from __future__ import annotations

from gwtui.crud.action import Action

FIGURES = "figures"
"""Scope of every screen that shows the figures of one object."""

ACTIONS: tuple[Action, ...] = (
    Action(
        "figures.raw",
        "Raw JSON",
        "What is shown as the gateway sent it",
        FIGURES,
        ("v",),
        target=True,
        marked="cursor",
        footer=True,
    ),
)
