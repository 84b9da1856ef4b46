"""Actions as the user interface offers them: the registry's, and one per tab."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gwtui.actions import registry
from gwtui.actions.action import APP, Action
from gwtui.ui.resources.registry import TABS, TITLES

_GO = "go."
_NUMBER_KEYS = 9


@cache
def tab_actions() -> tuple[Action, ...]:
    """One action per tab, on the number keys, in the order of the tabs."""
    return tuple(
        Action(
            f"{_GO}{tab}",
            f"Go to {TITLES[tab]}",
            f"Show {TITLES[tab].lower()}",
            APP,
            (str(number),) if number <= _NUMBER_KEYS else (),
        )
        for number, tab in enumerate(TABS, start=1)
    )


def tab_title(tab: str) -> str:
    """What a tab is called."""
    return TITLES[tab]


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
