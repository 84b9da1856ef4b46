"""Actions on models and their endpoints: all of them read."""

from __future__ import annotations

from gwtui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "models.price",
        "Price",
        "What a request would cost at every endpoint of this model, cheapest first",
        "models",
        ("p",),
        target=True,
        footer=True,
    ),
    Action(
        "endpoints.price",
        "Price",
        "What a request would cost here and at the other endpoints, cheapest first",
        "endpoints",
        ("p",),
        target=True,
        footer=True,
    ),
)
