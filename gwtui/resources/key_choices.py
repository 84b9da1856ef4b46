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
_TABLE = {
    key: f"is {what.lower()} in lists" for keys, _, what in TABLE_KEYS for key in keys.split(",")
}


def parse_key(text: str) -> str | None:
    """Return the internal name of a key of the keyboard; None if there is no such key.

    The internal names of "?", "Ctrl+P" and "X" are "question_mark", "ctrl+p" and "X".
    """
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


def parse_keys(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the internal name of each key of the keyboard in ``texts``; unknown keys are left out.

    ``texts`` are written as in the preferences file: "?", "Ctrl+P", "X".
    """
    return tuple(filter(None, map(parse_key, texts)))


def problem_of(action_id: str, keys: Sequence[str]) -> str:
    """Return the problem with the custom keys of an action, except conflicts; "" if none."""
    try:
        action = registry.by_id(action_id)
    except KeyError:
        known = [offered.id for offered in (*registry.all_actions(), *registry.place_actions())]
        return f"there is no action {action_id!r}{did_you_mean(action_id, known)}"
    if action.scope in DIALOG_SCOPES:
        return "the keys of forms and dialogs cannot be changed"
    return next(filter(None, (_problem_of_key(action, written) for written in keys)), "")


def _problem_of_key(action: Action, written: str) -> str:
    key = parse_key(written)
    if key is None:
        return f"there is no key {written!r}: use X, ?, ctrl+p, f2, pageup"
    if key in _SAME_AS:
        return f"a terminal sends {written} as {_SAME_AS[key]}"
    if key == ALWAYS_QUITS and action.id != QUIT:
        return f"{written} always leaves the program"
    taken = _FOCUS.get(key) or _TABLE.get(key)
    return f"{written} {taken}" if taken and key not in registry.declared_keys(action) else ""


def conflicts(chosen: KeyChoices) -> Iterator[tuple[str, str]]:
    """Yield (action id, problem) for each custom key that another action on the same screen has."""
    given = {action_id: parse_keys(keys) for action_id, keys in chosen.items()}
    for action_id, keys in chosen.items():
        for other in _met(registry.by_id(action_id)):
            other_keys = given.get(other.id, registry.declared_keys(other))
            for written in keys:
                key = parse_key(written)
                if key in other_keys and other.id != action_id and _reaches(key, other):
                    yield action_id, f"{written} is {other.title} there already ({other.id})"


def _reaches(key: str, other: Action) -> bool:
    # Frame actions get only control keys inside dialogs, so other keys do not conflict there.
    return other.scope not in DIALOG_SCOPES or key.startswith("ctrl+")


def _met(action: Action) -> Iterable[Action]:
    places, dialogs = registry.place_actions(), registry.dialog_actions()
    if action.id in ANYWHERE:
        return (*registry.all_actions(), *places, *dialogs)
    if action.scope in (APP, COPY, LIST, FIGURES):
        return (*(other for other in registry.all_actions() if _meet(action, other)), *places)
    beside = LIST if action.scope in RESOURCES else FIGURES
    return (*registry.for_scopes((action.scope, beside, COPY, APP)), *places)


def _meet(action: Action, other: Action) -> bool:
    scopes = {action.scope, other.scope}
    if scopes & {APP, COPY} or action.scope == other.scope:
        return EVIDENCE not in scopes or bool(scopes & {APP, COPY})
    of_list = other.scope == LIST or other.scope in RESOURCES
    return of_list == (action.scope == LIST)
