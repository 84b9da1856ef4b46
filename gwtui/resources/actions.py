"""The one registry of what a user can do: bindings, hints, help and commands are read here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain

from gwtui.crud.action import APP, Action
from gwtui.domain.safe_text import in_sentence
from gwtui.resources import frame_actions
from gwtui.resources.entries import ENTRIES
from gwtui.resources.registry import ALIASES, KEYS, PLACES, TABS, TITLES

_DECLARED: Mapping[str, tuple[Action, ...]] = {
    **frame_actions.ACTIONS,
    **{entry.id: entry.actions for entry in ENTRIES if entry.actions},
}
"""The declared actions by scope, with default keys."""

GO = "go."
"""The prefix of the ids of navigation actions."""
GO_TO = "Go to "
"""The prefix of their titles."""
QUIT = "app.quit"
ALWAYS_QUITS = "ctrl+c"
"""Leaves the program whatever a person chose."""
_NUMBER_KEYS = 9

_chosen: dict[str, tuple[str, ...]] = {}
"""Keys that a person chose, by the id of their action; for the whole program."""


def remap(keys: Mapping[str, tuple[str, ...]]) -> None:
    """From now on these actions have these keys, every other one its own."""
    if dict(keys) == _chosen:
        return
    _chosen.clear()
    _chosen.update(keys)
    if QUIT in keys:
        _chosen[QUIT] = tuple(dict.fromkeys((*keys[QUIT], ALWAYS_QUITS)))
    for kept in (all_actions, for_scope, tab_actions, place_actions, dialog_actions):
        kept.cache_clear()


def declared_keys(action: Action) -> tuple[str, ...]:
    """The default keys of an action."""
    if action.id not in _chosen:
        return action.keys
    if action.id.startswith(GO):
        return _place_keys(action.id.removeprefix(GO))
    every = chain(*_DECLARED.values(), *frame_actions.DIALOG_ACTIONS.values())
    return next(one.keys for one in every if one.id == action.id)


def chosen_keys() -> Mapping[str, tuple[str, ...]]:
    """The keys that replace default ones, by the id of their action."""
    return _chosen


def _with_own_keys(action: Action) -> Action:
    keys = _chosen.get(action.id)
    return action if keys is None else replace(action, keys=keys)


@cache
def all_actions() -> tuple[Action, ...]:
    """Every action, whatever its scope."""
    return tuple(chain.from_iterable(map(for_scope, _DECLARED)))


@cache
def dialog_actions() -> tuple[Action, ...]:
    """Those of forms and dialogs, which no screen and no palette offers."""
    return tuple(map(_with_own_keys, chain(*frame_actions.DIALOG_ACTIONS.values())))


@cache
def tab_actions() -> tuple[Action, ...]:
    """One action per tab, on the number keys, in the order of the tabs."""
    return tuple(map(_go, TABS))


@cache
def place_actions() -> tuple[Action, ...]:
    """One action per place that can be gone to: the tabs, then those without a tab."""
    return (*tab_actions(), *(_go(place) for place in PLACES if place not in TABS))


def _go(place: str) -> Action:
    title, keys = TITLES[place], _place_keys(place)
    keywords = " ".join(alias for alias, meant in ALIASES.items() if meant == place)
    return _with_own_keys(
        Action(
            f"{GO}{place}",
            f"{GO_TO}{title}",
            f"Show {in_sentence(title)}",
            APP,
            keys,
            keywords=keywords,
        )
    )


def _place_keys(place: str) -> tuple[str, ...]:
    """The number of a tab, else the key of the screen, if it has one."""
    if place not in TABS:
        return (KEYS[place],) if KEYS[place] else ()
    number = TABS.index(place) + 1
    return (str(number),) if number <= _NUMBER_KEYS else ()


def by_id(action_id: str) -> Action:
    """The action of that id, places included; KeyError when there is none."""
    if action_id.startswith(GO) and (place := _named(action_id, place_actions())) is not None:
        return place
    # Nearly every id begins with the scope of its action.
    likely = for_scope(action_id.partition(".")[0])
    found = (
        _named(action_id, likely)
        or _named(action_id, all_actions())
        or _named(action_id, dialog_actions())
    )
    if found is None:
        raise KeyError(action_id)
    return found


def _named(action_id: str, actions: Iterable[Action]) -> Action | None:
    return next((action for action in actions if action.id == action_id), None)


@cache
def for_scope(scope: str) -> tuple[Action, ...]:
    """The actions of one scope (APP, LIST or a resource id), in the order of the registry."""
    return tuple(map(_with_own_keys, _DECLARED.get(scope, ())))


def for_scopes(scopes: Iterable[str]) -> tuple[Action, ...]:
    """The actions of several scopes, those of the first scope first."""
    return tuple(action for scope in scopes for action in for_scope(scope))
