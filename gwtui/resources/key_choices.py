"""Custom keys of actions: notation, validation and conflicts."""

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
"""Key names in file notation, by action id."""

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
"""Keys that terminals report as another key."""
_FOCUS = {"tab": "moves between the parts of a screen", "shift+tab": "moves between the parts"}
_PRESSES = frozenset({"enter", "space"})
_MOVES = frozenset({"backspace", "delete", "left", "right", "home", "end"})
"""Keys that move the cursor or delete text in an input, with any modifier."""
_EDITS = frozenset(f"ctrl+{name}" for name in "acdefkuvwxyz")
"""Further keys that edit text in an input."""
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
"""Fixed keys of dialogs and their function, by scope. They cannot be assigned."""
_TABLE = {
    key: f"is {what.lower()} in lists" for keys, _, what in TABLE_KEYS for key in keys.split(",")
}


def key_name(text: str) -> str | None:
    """Return the internal name of a key ("question_mark", "ctrl+p", "X"); None if unknown."""
    if len(text) == 1:
        return _sign(text)
    prefix = _MODIFIED.match(text.lower())
    if prefix is not None:
        modifiers, last = sorted(prefix[0].rstrip("+").split("+")), text[prefix.end() :]
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
    """Return the internal names of keys, without unknown ones."""
    return tuple(filter(None, map(key_name, keys)))


def problem_of(action_id: str, keys: Sequence[str]) -> str:
    """Return the problem with the custom keys of an action, except conflicts; "" if none."""
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
    if key.replace("shift+", "") in _EDITS or key.rpartition("+")[2] in _MOVES:
        return False
    return "ctrl+" in key or "alt+" in key or key in _NAMES - {"space"}


def conflicts(chosen: KeyChoices) -> Iterator[tuple[str, str]]:
    """Yield (action id, problem) for each custom key that another action on the same screen has."""
    given = {action_id: key_names(keys) for action_id, keys in chosen.items()}
    for action_id, keys in chosen.items():
        for other in _met(registry.by_id(action_id)):
            other_keys = given.get(other.id, registry.declared_keys(other))
            for written in keys:
                key = key_name(written)
                if key in other_keys and other.id != action_id and _reach(key, action_id, other):
                    yield action_id, f"{written} is {other.title} there already ({other.id})"


def _reach(key: str, action_id: str, other: Action) -> bool:
    # Frame actions get only control keys inside dialogs, so other keys do not conflict there.
    scopes = {registry.by_id(action_id).scope, other.scope}
    return len(scopes) == 1 or not scopes & {*DIALOG_SCOPES} or key.startswith("ctrl+")


def _met(action: Action) -> Iterable[Action]:
    places, dialogs = registry.place_actions(), registry.dialog_actions()
    if action.scope in DIALOG_SCOPES:
        own = (dialog for dialog in dialogs if dialog.scope == action.scope)
        return (*own, *map(registry.by_id, sorted(ANYWHERE)))
    if action.id in ANYWHERE:
        return (*registry.all_actions(), *places, *dialogs)
    if action.scope in (APP, COPY, LIST, FIGURES):
        return (*(one for one in registry.all_actions() if _meet(action, one)), *places)
    beside = LIST if action.scope in RESOURCES else FIGURES
    return (*registry.for_scopes((action.scope, beside, COPY, APP)), *places)


def _meet(action: Action, other: Action) -> bool:
    scopes = {action.scope, other.scope}
    if scopes & {APP, COPY} or action.scope == other.scope:
        return EVIDENCE not in scopes or bool(scopes & {APP, COPY})
    of_list = other.scope == LIST or other.scope in RESOURCES
    return of_list == (action.scope == LIST)
