"""Actions as the user interface offers them: the registry's, and one per tab."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from gwtui.actions import registry
from gwtui.actions.action import APP, Action
from gwtui.ui.resources.spec import ResourceSpec

_GO = "go."
_NUMBER_KEYS = 9


@cache
def tab_actions() -> tuple[Action, ...]:
    """One action per tab, on the number keys, in the order of the tabs."""
    # The resources name screens, and every screen needs its actions: only at run time is
    # there an order in which both exist.
    from gwtui.ui.resources.registry import RESOURCES, TABS  # noqa: PLC0415

    return tuple(
        Action(
            f"{_GO}{tab}",
            f"Go to {_title(tab, RESOURCES)}",
            f"Show {_title(tab, RESOURCES).lower()}",
            APP,
            (str(number),) if number <= _NUMBER_KEYS else (),
        )
        for number, tab in enumerate(TABS, start=1)
    )


def tab_title(tab: str) -> str:
    """What a tab is called."""
    from gwtui.ui.resources.registry import RESOURCES  # noqa: PLC0415

    return _title(tab, RESOURCES)


def _title(tab: str, resources: Mapping[str, ResourceSpec[Any]]) -> str:
    spec = resources.get(tab)
    return spec.title if spec is not None else tab.capitalize()


def tab_of(action: Action) -> str | None:
    """The tab that an action opens, None for every other action."""
    return action.id.removeprefix(_GO) if action.id.startswith(_GO) else None


def by_id(action_id: str) -> Action:
    """The action of that id, tabs included; KeyError when there is none."""
    for action in tab_actions():
        if action.id == action_id:
            return action
    return registry.by_id(action_id)


def offered(scopes: Iterable[str]) -> tuple[Action, ...]:
    """Everything that can be done in these scopes, the frame's own actions included."""
    actions = registry.for_scopes(scopes)
    return (*actions, *tab_actions()) if APP in scopes else actions
