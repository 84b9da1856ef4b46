"""Finds the handler of an action by its id.

The handlers of a module are loaded when an action of it is first asked for: forms and what they
need are most of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from typing import NamedTuple

from gwtui.crud.action import Action
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.commands import tab_of

BACKGROUND = frozenset({"app.refresh", "board.unwatch", "board.watch", "models.watch"})
"""Patient actions that ask nothing once they began: nobody's next key waits for their end."""

_TRIED = ("keys", "guardrails", "models", "endpoints", "all-endpoints", "byok", "workspaces")
_FIGURES = ("models", "endpoints", "all-endpoints")
MODULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("app", ("app",)),
    ("lists", ("app", "list", "figures")),
    ("output", ("app", "list")),
    (
        "links",
        (
            *("alerts", "alert-history", "assignments", "findings", "generation", "guardrails"),
            *("keys", "members", "model-guardrails", "models", "rotations", "workspaces"),
        ),
    ),
    ("activity", ("activity", "keys", "organization")),
    ("board", ("app", "board", "changes", "models")),
    ("first_steps", ("app",)),
    ("recovery", ("doubt",)),
    ("models", (*_FIGURES, "credits", "key")),
    ("keys", ("keys",)),
    ("workspaces", ("members", "workspaces")),
    ("budgets", ("budgets",)),
    ("guardrails", ("guardrails",)),
    ("assignments", ("assignments", "guardrails", "keys", "members", "organization")),
    ("crud", ("byok", "organization")),
    ("alerts", ("alerts", "alert-rules")),
    ("findings", ("findings",)),
    ("rotations", ("keys", "rotations")),
    ("sealed_keys", ("app",)),
    ("undo", ("app",)),
    ("generations", ("generation",)),
    ("tries", _TRIED),
)
"""Modules of handlers, each with what the ids of its actions begin with; the lightest first."""


class Handlers(NamedTuple):
    """The handlers of a module, by action id."""

    immediate: Mapping[str, Handler]
    """They never wait for a person: they run before the next key is read."""
    patient: Mapping[str, Handler]
    """They may wait for a person or the gateway: each runs in a worker."""


@cache
def handlers_of(module: str) -> Handlers:
    """What a module declares as ``IMMEDIATE``, and as ``PATIENT`` or ``HANDLERS``."""
    declared = vars(import_module(f"gwtui.ui.actions.{module}"))
    patient = {**declared.get("PATIENT", {}), **declared.get("HANDLERS", {})}
    return Handlers(declared.get("IMMEDIATE", {}), patient)


async def _go(tab: str, context: ActionContext) -> None:
    await context.app.navigation.show_tab(tab)


def handler(action: Action) -> tuple[Handler, bool]:
    """The handler of an action, and whether it is immediate. KeyError when it has none."""
    tab = tab_of(action)
    if tab is not None:
        return partial(_go, tab), True
    begins = action.id.partition(".")[0]
    for module, beginnings in MODULES:
        if begins in beginnings:
            immediate, patient = handlers_of(module)
            if action.id in immediate:
                return immediate[action.id], True
            if action.id in patient:
                return patient[action.id], False
    raise KeyError(action.id)
