"""One generation and what can be done with it, one model, a guardrail for marked keys."""

from __future__ import annotations

from pictures import Pictures

from gateway_facts import requests_made
from harness import MOMENT, Harness, pressing

SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "generation-shown": ("generation", ()),
    "generation-content": ("generation", ("I",)),
    "endpoints-model": ("models/northwind/atlas-deep", ("o",)),
    "keys-assign": ("keys", ("space", "down", "space", "A")),
    "keys-assign-plan": ("keys", ("space", "down", "space", "A", "enter")),
}


def _logged_generation(demo: Harness) -> str:
    """A request of a chat model in a workspace that logs what is said."""
    made = requests_made(demo.gateway, MOMENT, days=1)
    return next(each.id for each in made if each.is_logged and "atlas" in each.details["model"])


async def test_generation(demo: Harness, pictures: Pictures) -> None:
    generation = f"generation/{_logged_generation(demo)}"
    places = {
        name: (generation if start == "generation" else start, pressing(*keys))
        for name, (start, keys) in SCREENS.items()
    }
    await pictures.walk(demo.make_app(generation), places, called="{size}-")
