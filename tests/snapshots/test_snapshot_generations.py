"""One generation and what can be done with it, one model, a guardrail for marked keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dashboard_kit import MOMENT, Demo, pressing
from gateway_facts import requests_made

SnapCompare = Callable[..., bool]

SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "generation-shown": ("generation", ()),
    "generation-content": ("generation", ("c",)),
    "endpoints-model": ("models/northwind/atlas-deep", ("i",)),
    "keys-assign": ("keys", ("space", "down", "space", "A")),
    "keys-assign-plan": ("keys", ("space", "down", "space", "A", "enter")),
}


def _logged_generation(demo: Demo) -> str:
    """A request of a chat model in a workspace that logs what is said."""
    made = requests_made(demo.gateway, MOMENT, days=1)
    return next(each.id for each in made if each.is_logged and "atlas" in each.details["model"])


@pytest.mark.parametrize("name", SCREENS)
def test_generation(
    name: str, size: tuple[int, int], demo: Demo, snap_compare: SnapCompare
) -> None:
    start, keys = SCREENS[name]
    if start == "generation":
        start = f"generation/{_logged_generation(demo)}"
    app = demo.app(start, theme="gwtui-dark")
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))
