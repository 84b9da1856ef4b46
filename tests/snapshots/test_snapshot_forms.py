"""Forms, confirmations and the new key, as pictures. A value of a key is never in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from shared_runs import SIZES, dark_and
from textual.pilot import Pilot

from dashboard_kit import Demo, pressing

SnapCompare = Callable[..., bool]

NAME = "type nightly"
FORMS: dict[str, tuple[str, ...]] = {
    "create": ("n",),
    "create-filled": ("n", NAME, "tab", "type 25", "tab", "right", "right"),
    "create-refused": ("n", "tab", "type -5x", "ctrl+s"),
    "create-leaving": ("n", NAME, "escape"),
    "edit": ("e",),
    "disable": ("x",),
    "delete": ("D",),
    "disable-many": ("home", *["shift+down"] * 3, "x", "enter"),
    # What is made here stays, so that these come last.
    "created": ("n", NAME, "tab", "type 25", "ctrl+s"),
    "created-leaving": ("n", NAME, "tab", "type 25", "ctrl+s", "escape"),
}


OTHERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "workspace-create": ("workspaces", ("n", "type My Team")),
    "workspace-edit": ("workspaces", ("e",)),
    "workspace-budgets": ("workspaces", ("b",)),
    "workspace-delete": ("workspaces", ("D",)),
    "members-add": ("workspaces", ("m", "n")),
    "members-remove": ("workspaces", ("m", "D")),
    "guardrail-create": ("guardrails", ("n",)),
    "guardrail-edit": ("guardrails", ("e",)),
    "guardrail-assign-keys": ("guardrails", ("a",)),
    "guardrail-delete": ("guardrails", ("D",)),
    "byok-create": ("byok", ("n",)),
    "byok-edit": ("byok", ("e",)),
    "byok-rotate": ("byok", ("R",)),
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


@pytest.mark.one_app({name: (start, pressing(*keys)) for name, (start, keys) in OTHERS.items()})
@pytest.mark.parametrize(("theme", "size", "name"), dark_and(LIGHT, OTHERS))
def test_form(
    name: str, theme: str, size: tuple[int, int], demo: Demo, snap_compare: SnapCompare
) -> None:
    start, keys = OTHERS[name]
    app = demo.app(start, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))


@pytest.mark.one_app({name: ("keys", pressing(*keys)) for name, keys in FORMS.items()})
@pytest.mark.parametrize(("theme", "size", "name"), dark_and(LIGHT, FORMS))
def test_key_form(
    name: str, theme: str, size: tuple[int, int], demo: Demo, snap_compare: SnapCompare
) -> None:
    app = demo.app("keys", theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=pressing(*FORMS[name]))


@pytest.mark.parametrize("size", SIZES)
def test_results_of_many(size: tuple[int, int], demo: Demo, snap_compare: SnapCompare) -> None:
    """One refused, one applied, one whose answer was lost: the rest was not sent."""
    app = demo.app("keys")

    async def steps(pilot: Pilot[Any]) -> None:
        await pressing("home", *["shift+down"] * 5, "x", "enter")(pilot)
        demo.write_faults = ["409", "", "502"]
        await pressing("y")(pilot)

    assert snap_compare(app, terminal_size=size, run_before=steps)
