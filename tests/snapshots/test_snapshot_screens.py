"""Pictures of every screen at two sizes; each kind of widget in the light theme too."""

from __future__ import annotations

import pytest
from pictures import Pictures

from harness import Harness, pressing

SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "keys": ("keys", ()),
    "keys-moved": ("keys", ("down", "down", "down")),
    "keys-filtered": ("keys", ("slash", "type state:expired", "enter")),
    "keys-filter-mistake": ("keys", ("slash", "type limit>>")),
    "keys-sorted": ("keys", ("s", "down", "enter", "S")),
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
    "credits-week": ("credits", ("at",)),
    "models": ("models", ()),
    "models-detail": ("models", ("d",)),
    "endpoints": ("models/northwind/atlas-large", ()),
    "endpoints-detail": ("models/northwind/atlas-large", ("d",)),
    "workspaces": ("workspaces", ()),
    "workspaces-detail": ("workspaces", ("d",)),
    "members": ("workspaces", ("m",)),
    "people": ("organization", ()),
    "guardrails": ("guardrails", ()),
    "guardrails-detail": ("guardrails", ("d",)),
    "guardrails-assigned": ("guardrails", ("m",)),
    "guardrails-remaining": ("guardrails", ("E",)),
    "assignments": ("assignments", ()),
    "models-guardrails": ("models", ("R",)),
    "byok": ("byok", ()),
    "byok-detail": ("byok", ("d",)),
    "activity": ("activity", ()),
    "activity-by-key": ("activity", ("l", "l", "l")),
    "activity-tokens": ("activity", ("i", "i", "i")),
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
    "credits",
    "credits-week",
    "guardrails-remaining",
    "activity-by-key",
    "current-key",
}


@pytest.mark.timeout(300)
async def test_screen(demo: Harness, pictures: Pictures) -> None:
    places = {name: (start, pressing(*keys)) for name, (start, keys) in SCREENS.items()}
    restarted = [name for name in places if name.endswith("-detail")]
    await pictures.walk(demo.make_app("keys"), places, LIGHT, restarted)
