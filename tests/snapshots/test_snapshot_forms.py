"""Pictures of forms, confirmations and the new key; none shows the value of a key."""

from __future__ import annotations

import pytest
from pictures import DARK, SIZES, Pictures

from harness import Harness, pressing

NAME = "type nightly"
KEY_FORMS: dict[str, tuple[str, ...]] = {
    "create": ("n",),
    "create-filled": ("n", NAME, "tab", "type 25", "tab", "right", "right"),
    "create-refused": ("n", "tab", "type -5x", "ctrl+s"),
    "create-leaving": ("n", NAME, "escape"),
    "edit": ("e",),
    "disable": ("x",),
    "delete": ("D",),
    "disable-many": ("home", *["space"] * 4, "up", "x"),
    # These tests come last, because their resources stay.
    "created": ("n", NAME, "tab", "type 25", "ctrl+s"),
    "created-leaving": ("n", NAME, "tab", "type 25", "ctrl+s", "escape"),
}


RESOURCE_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "workspace-create": ("workspaces", ("n", "type My Team")),
    "workspace-edit": ("workspaces", ("e",)),
    "workspace-budgets": ("workspaces", ("b",)),
    "workspace-delete": ("workspaces", ("D",)),
    "members-add": ("workspaces", ("m", "n")),
    "members-remove": ("workspaces", ("m", "D")),
    "guardrail-create": ("guardrails", ("n",)),
    "guardrail-edit": ("guardrails", ("e",)),
    "guardrail-assign-keys": ("guardrails", ("A",)),
    "guardrail-delete": ("guardrails", ("D",)),
    "byok-create": ("byok", ("n",)),
    "byok-edit": ("byok", ("e",)),
    "byok-replace-key": ("byok", ("N",)),
    "byok-delete": ("byok", ("D",)),
}

LIGHT = {
    "create-filled",
    "create-refused",
    "created",
    "delete",
    "workspace-budgets",
    "members-add",
    "guardrail-assign-keys",
    "byok-create",
}


@pytest.mark.timeout(300)
async def test_form(demo: Harness, pictures: Pictures) -> None:
    places = {name: (start, pressing(*keys)) for name, (start, keys) in RESOURCE_FORMS.items()}
    await pictures.walk(demo.make_app("workspaces"), places, LIGHT)


@pytest.mark.timeout(300)
async def test_key_form(demo: Harness, pictures: Pictures) -> None:
    places = {name: ("keys", pressing(*keys)) for name, keys in KEY_FORMS.items()}
    restarted = ("create", "create-filled", "create-refused", "create-leaving")
    await pictures.walk(demo.make_app("keys"), places, LIGHT, restarted)


async def test_bulk_results(demo: Harness, pictures: Pictures) -> None:
    """One refused, one applied, one whose response was lost; the rest was not sent."""
    async with demo.make_app("keys").run_test(size=SIZES[0], notifications=True) as pilot:
        await pressing("home", *["space"] * 6, "up", "x")(pilot)
        demo.write_faults = ["409", "", "502"]
        await pressing("y")(pilot)
        await pictures.take(pilot, DARK, "{size}")
