"""One generation and what can be done with it, one model, a guardrail for marked keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from dashboard_kit import MOMENT, Demo, pressing
from gwtui.embedded.store import generations
from gwtui.embedded.store.generations import latest_requests
from gwtui.embedded.store.kinds import WORKSPACES

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
    profiles = demo.gateway.profiles
    with demo.gateway._database.read() as db:
        for request in latest_requests(profiles.values(), MOMENT - timedelta(days=1), MOMENT):
            found = generations.find(db, profiles, request.id, MOMENT)
            space = found and WORKSPACES.get(db, found.actor.workspace_id)
            if (
                space
                and space.is_observability_io_logging_enabled
                and "atlas" in (request.stream.model)
            ):
                return request.id
    raise AssertionError("no workspace logs anything")


@pytest.mark.parametrize("name", SCREENS)
def test_generation(
    name: str, size: tuple[int, int], demo: Demo, snap_compare: SnapCompare
) -> None:
    start, keys = SCREENS[name]
    if start == "generation":
        start = f"generation/{_logged_generation(demo)}"
    app = demo.app(start, theme="gwtui-dark")
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))
