"""Actions as the user interface offers them: the registry's, one per place, and their keys."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gwtui.crud.action import APP, Action
from gwtui.resources import actions as registry
from gwtui.resources.registry import KEYS, PLACES, TABS, TITLES

_GO = "go."
GO_TO = "Go to "
"""How the titles begin of the actions that open a place."""
_NUMBER_KEYS = 9


@cache
def tab_actions() -> tuple[Action, ...]:
    """One action per tab, on the number keys, in the order of the tabs."""
    return tuple(
        _go(tab, str(number) if number <= _NUMBER_KEYS else "")
        for number, tab in enumerate(TABS, start=1)
    )


@cache
def place_actions() -> tuple[Action, ...]:
    """One action per place that can be gone to: the tabs, then those without a tab."""
    return (*tab_actions(), *(_go(place, KEYS[place]) for place in PLACES if place not in TABS))


def _go(place: str, key: str = "") -> Action:
    title = TITLES[place]
    keys = (key,) if key else ()
    return Action(f"{_GO}{place}", f"{GO_TO}{title}", f"Show {title.lower()}", APP, keys)


def tab_of(action: Action) -> str | None:
    """The tab, or the place without one, that an action opens; None for every other action."""
    return action.id.removeprefix(_GO) if action.id.startswith(_GO) else None


def by_id(action_id: str) -> Action:
    """The action of that id, places included; KeyError when there is none."""
    for action in place_actions():
        if action.id == action_id:
            return action
    return registry.by_id(action_id)


def offered(scopes: Iterable[str]) -> tuple[Action, ...]:
    """Everything that can be done in these scopes, the frame's own actions included."""
    actions = registry.for_scopes(scopes)
    return (*actions, *place_actions()) if APP in scopes else actions


_KEYS = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "less_than_sign": "<",
    "asterisk": "*",
    "tilde": "~",
    "greater_than_sign": ">",
    "enter": "Enter",
    "escape": "Esc",
    "space": "Space",
    "backspace": "Backspace",
    "delete": "Del",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "full_stop": ".",
    "comma": ",",
    "exclamation_mark": "!",
    "at": "@",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def shown(key: str) -> str:
    """A key as people read it: Ctrl+P for "ctrl+p", ? for "question_mark"."""
    *modifiers, last = key.split("+")
    if not modifiers:
        return _KEYS.get(last, last)
    return "+".join([*(part.capitalize() for part in modifiers), _KEYS.get(last, last.upper())])


def shown_all(keys: tuple[str, ...]) -> str:
    """Every key of an action, for the help page: "Esc, Backspace"."""
    return ", ".join(shown(key) for key in keys)


def asked_by(action: Action) -> str:
    """How an action is asked for: its keys, else what is typed behind a colon, else the palette."""
    word = f":{action.words[0]}" if action.words else "palette"
    return shown_all(action.keys) or word
