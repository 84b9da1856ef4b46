"""Every screen as a picture, at two sizes; each kind of widget in light colours too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from shared_runs import dark_and

from dashboard_kit import Demo, pressing

SnapCompare = Callable[..., bool]

SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "keys": ("keys", ()),
    "keys-moved": ("keys", ("down", "down", "down")),
    "keys-filtered": ("keys", ("slash", "type state:expired", "enter")),
    "keys-filter-mistake": ("keys", ("slash", "type limit>>")),
    "keys-sorted": ("keys", ("greater_than_sign", "S")),
    "keys-detail": ("keys", ("d",)),
    "keys-raw": ("keys", ("v",)),
    "keys-copy": ("keys", ("down", "y")),
    "keys-help": ("keys", ("question_mark",)),
    "keys-palette": ("keys", ("ctrl+p",)),
    "keys-sort-chooser": ("keys", ("s",)),
    "keys-workspace-chooser": ("keys", ("w",)),
    "keys-goto": ("keys", ("colon",)),
    "keys-themes": ("keys", ("t",)),
    "credits": ("credits", ()),
    "credits-week": ("credits", ("u",)),
    "models": ("models", ()),
    "models-detail": ("models", ("d",)),
    "endpoints": ("models/northwind/atlas-large", ()),
    "endpoints-detail": ("models/northwind/atlas-large", ("d",)),
    "endpoints-price": ("models/northwind/atlas-large", ("p",)),
    "workspaces": ("workspaces", ()),
    "workspaces-detail": ("workspaces", ("d",)),
    "members": ("workspaces", ("m",)),
    "people": ("organization", ()),
    "guardrails": ("guardrails", ()),
    "guardrails-detail": ("guardrails", ("d",)),
    "guardrails-assigned": ("guardrails", ("m",)),
    "guardrails-remaining": ("guardrails", ("o",)),
    "assignments": ("assignments", ()),
    "models-guardrails": ("models", ("R",)),
    "byok": ("byok", ()),
    "byok-detail": ("byok", ("d",)),
    "activity": ("activity", ()),
    "activity-by-key": ("activity", ("b", "b", "b")),
    "activity-tokens": ("activity", ("m", "m", "m")),
    "generation": ("generation", ()),
    "zdr": ("zdr", ()),
    "current-key": ("key", ()),
    "providers": ("providers", ()),
}

LIGHT = {
    "keys",
    "keys-filter-mistake",
    "keys-detail",
    "keys-raw",
    "keys-help",
    "keys-palette",
    "keys-sort-chooser",
    "keys-themes",
    "credits",
    "credits-week",
    "endpoints-price",
    "guardrails-remaining",
    "activity-by-key",
    "current-key",
}


@pytest.mark.one_app({name: (start, pressing(*keys)) for name, (start, keys) in SCREENS.items()})
@pytest.mark.parametrize(("theme", "size", "name"), dark_and(LIGHT, SCREENS))
def test_screen(
    name: str, theme: str, size: tuple[int, int], demo: Demo, snap_compare: SnapCompare
) -> None:
    start, keys = SCREENS[name]
    app = demo.app(start, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))
