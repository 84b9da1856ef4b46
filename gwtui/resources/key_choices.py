"""Custom keys of actions: their notation, and conflicts between them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gwtui.crud.action import APP, COPY, LIST, Action
from gwtui.domain.lookup import did_you_mean
from gwtui.resources import actions as registry
from gwtui.resources.actions import (
    ALWAYS_QUITS,
    ANYWHERE,
    DIALOG_SCOPES,
    FIGURES,
    FORM,
    NEW_KEY,
    QUESTION,
    QUIT,
    TABLE_KEYS,
)
from gwtui.resources.entries import EVIDENCE
from gwtui.resources.registry import RESOURCES

KeyChoices = Mapping[str, Sequence[str]]
"""Keys as they are written in the file, by the id of their action."""

_NAMES = frozenset(
    {
        *("escape", "enter", "tab", "space", "backspace", "delete", "insert", "home", "end"),
        *("pageup", "pagedown", "up", "down", "left", "right"),
        *(f"f{number}" for number in range(1, 13)),
    }
)
_MODIFIED = re.compile(r"(?:(?:ctrl|alt|shift)\+)+", re.ASCII)
_SIGN_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
_SAME_AS = {"ctrl+i": "Tab", "ctrl+m": "Enter", "ctrl+h": "Backspace", "ctrl+j": "Enter"}
"""Keys that terminals send as another one."""
_FOCUS = {"tab": "moves between the parts of a screen", "shift+tab": "moves between the parts"}
_PRESSES = frozenset({"enter", "space"})
_MOVES = frozenset({"backspace", "delete", "left", "right", "home", "end"})
"""Keys that move in what is typed, or take from it, with whatever is held beside them."""
_EDITS = frozenset(f"ctrl+{name}" for name in "acdefkuvwxyz")
"""Further ones that change what is typed."""
_SCROLLS = dict.fromkeys(("pageup", "pagedown"), "scrolls what is long there")
_FIXED = {
    FORM: {"f2": "shows what remains, in the form of a guardrail"},
    QUESTION: _SCROLLS,
    NEW_KEY: {
        **_SCROLLS,
        **dict.fromkeys(("left", "right", "up", "down"), "moves between the buttons there"),
        **dict.fromkeys(("escape", "q"), "leaves the dialog of a new key"),
    },
}
"""Keys of dialogs that cannot be chosen, by scope, and what they do."""
_TABLE = {
    key: f"is {what.lower()} in lists" for keys, _, what in TABLE_KEYS for key in keys.split(",")
}


def key_name(text: str) -> str | None:
    """A key as it is kept ("question_mark", "ctrl+p", "X"); None where there is no such key."""
    if len(text) == 1:
        return _sign(text)
    found = _MODIFIED.match(text.lower())
    if found is not None:
        modifiers, last = sorted(found[0].rstrip("+").split("+")), text[found.end() :]
        name = _sign(last.lower()) if len(last) == 1 else _named(last)
        return None if name is None else "+".join([*modifiers, name])
    return _named(text)


def _named(text: str) -> str | None:
    if text.lower() in _NAMES:
        return text.lower()
    signs = {_sign(chr(code)) for code in range(33, 127) if not chr(code).isalnum()}
    return text if text in signs else None


def _sign(char: str) -> str | None:
    if char == " ":
        return "space"
    if char.isalnum():
        return char
    if not char.isprintable():
        return None
    name = unicodedata.name(char, "").lower().replace("-", "_").replace(" ", "_")
    return _SIGN_NAMES.get(name, name) or None


def key_names(keys: Iterable[str]) -> tuple[str, ...]:
    """Keys as they are kept; what is none is left out."""
    return tuple(filter(None, map(key_name, keys)))


def problem_of(action_id: str, keys: Sequence[str]) -> str:
    """The problem with custom keys of an action, apart from conflicts; "" if none."""
    try:
        action = registry.by_id(action_id)
    except KeyError:
        every = (*registry.all_actions(), *registry.place_actions(), *registry.dialog_actions())
        known = [one.id for one in every]
        return f"there is no action {action_id!r}{did_you_mean(action_id, known)}"
    for written in keys:
        key = key_name(written)
        if key is None:
            return f"there is no key {written!r}: use X, ?, ctrl+p, f2, pageup"
        if key in _SAME_AS:
            return f"a terminal sends {written} as {_SAME_AS[key]}"
        if key == ALWAYS_QUITS and action_id != QUIT:
            return f"{written} always leaves the program"
        own = key in registry.declared_keys(action)
        if not own and (why := _taken(action, key)):
            return f"{written} {why}"
    return ""


def _taken(action: Action, key: str) -> str:
    """The fixed use of a key in the scopes of an action; "" if none."""
    if key in _FOCUS:
        return _FOCUS[key]
    if action.scope not in DIALOG_SCOPES:
        return _TABLE.get(key, "")
    if key in _PRESSES:
        return "presses what has the focus"
    if action.scope == FORM and not _is_beside_typing(key):
        return "is for what is typed into a field"
    return _FIXED[action.scope].get(key, "")


def _is_beside_typing(key: str) -> bool:
    """Whether a key does nothing in a field that is typed into."""
    if key.replace("shift+", "") in _EDITS or key.rpartition("+")[2] in _MOVES:
        return False
    return "ctrl+" in key or "alt+" in key or key in _NAMES - {"space"}


def conflicts(chosen: KeyChoices) -> Iterator[tuple[str, str]]:
    """Actions whose chosen key another one has on the same screen, each with what is wrong."""
    given = {action_id: key_names(keys) for action_id, keys in chosen.items()}
    for action_id, keys in chosen.items():
        for other in _met(registry.by_id(action_id)):
            other_keys = given.get(other.id, registry.declared_keys(other))
            for written in keys:
                key = key_name(written)
                if key in other_keys and other.id != action_id and _reach(key, action_id, other):
                    yield action_id, f"{written} is {other.title} there already ({other.id})"


def _reach(key: str, action_id: str, other: Action) -> bool:
    """Whether a key of both gets to both: of the frame's, only control keys get into dialogs."""
    scopes = {registry.by_id(action_id).scope, other.scope}
    return len(scopes) == 1 or not scopes & {*DIALOG_SCOPES} or key.startswith("ctrl+")


def _met(action: Action) -> Iterable[Action]:
    """The actions that are offered on a screen or in a dialog beside this one."""
    places, dialogs = registry.place_actions(), registry.dialog_actions()
    if action.scope in DIALOG_SCOPES:
        own = (one for one in dialogs if one.scope == action.scope)
        return (*own, *map(registry.by_id, sorted(ANYWHERE)))
    if action.id in ANYWHERE:
        return (*registry.all_actions(), *places, *dialogs)
    if action.scope in (APP, COPY, LIST, FIGURES):
        return (*(one for one in registry.all_actions() if _meet(action, one)), *places)
    beside = LIST if action.scope in RESOURCES else FIGURES
    return (*registry.for_scopes((action.scope, beside, COPY, APP)), *places)


def _meet(action: Action, other: Action) -> bool:
    """Whether a screen offers both; the first is of APP, COPY, LIST or FIGURES."""
    scopes = {action.scope, other.scope}
    if scopes & {APP, COPY} or action.scope == other.scope:
        return EVIDENCE not in scopes or bool(scopes & {APP, COPY})
    of_list = other.scope == LIST or other.scope in RESOURCES
    return of_list == (action.scope == LIST)
