"""Actions on models and their endpoints: all of them read."""

from __future__ import annotations

from gwtui.crud.action import Action, compare_action, try_action


def _figures(resource: str) -> Action:
    return Action(
        f"{resource}.figures",
        "Compare figures",
        "Prices, limits, speed and parameters of 2 to 6 marked rows side by side; sends nothing",
        resource,
        ("equals_sign",),
        target=True,
        marked="all",
    )


ACTIONS: tuple[Action, ...] = (
    Action(
        "models.price",
        "Price",
        "What a request would cost at every endpoint of this model, cheapest first",
        "models",
        ("p",),
        target=True,
        marked="cursor",
        footer=True,
        also="cost calculate estimate",
    ),
    Action(
        "models.guardrails",
        "Guardrails",
        "What each guardrail leaves of this model, the ones that block it first",
        "models",
        ("R",),
        target=True,
        marked="cursor",
    ),
    Action(
        "models.all-endpoints",
        "All endpoints",
        "The endpoints of all models in one list, the cheapest first",
        "models",
        ("A",),
        footer=True,
        also="find cheapest providers",
    ),
    _figures("models"),
    try_action("models", "Send a request to the selected model"),
    compare_action("models", "Send one request to each of 2 to 4 marked models, side by side"),
    Action(
        "model-guardrails.go",
        "Guardrail",
        "Go to the selected guardrail",
        "model-guardrails",
        ("R",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "endpoints.price",
        "Price",
        "What a request would cost here and at the other endpoints, cheapest first",
        "endpoints",
        ("p",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    _figures("endpoints"),
    try_action("endpoints", "Send a request to the selected endpoint only"),
    compare_action(
        "endpoints", "Send one request to each of 2 to 4 marked endpoints, side by side"
    ),
    Action(
        "endpoints.model",
        "About the model",
        "What the catalog says of this model, also of one that no list shows",
        "endpoints",
        ("i",),
        footer=True,
    ),
    Action(
        "all-endpoints.model",
        "Its model",
        "The endpoints of the selected row's model, with their last 24 hours",
        "all-endpoints",
        ("o",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "all-endpoints.price",
        "Price",
        "What a request would cost here and at the model's other endpoints, cheapest first",
        "all-endpoints",
        ("p",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    _figures("all-endpoints"),
    try_action("all-endpoints", "Send a request to the selected endpoint only"),
    compare_action(
        "all-endpoints", "Send one request to each of 2 to 4 marked endpoints, side by side"
    ),
    Action(
        "key.models",
        "Models",
        "The models that the guardrails on this key leave",
        "key",
        ("m",),
        footer=True,
    ),
)
