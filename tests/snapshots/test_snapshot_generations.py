"""Pictures of a generation and its actions, and a guardrail for marked keys."""

from __future__ import annotations

from datetime import timedelta

from pictures import Pictures

from gateway_facts import made_request
from harness import MOMENT, Harness, pressing

SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "generation-shown": ("generation", ()),
    "generation-content": ("generation", ("I",)),
    "keys-assign": ("keys", ("space", "down", "space", "A")),
    "keys-assign-plan": ("keys", ("space", "down", "space", "A", "enter")),
}


async def test_generation(demo: Harness, pictures: Pictures) -> None:
    moment = MOMENT - timedelta(seconds=15, microseconds=538_531)
    generation = f"generation/{made_request(demo.gateway, moment)}"
    places = {
        name: (generation if start == "generation" else start, pressing(*keys))
        for name, (start, keys) in SCREENS.items()
    }
    await pictures.walk(demo.make_app(generation), places, called="{size}-")
