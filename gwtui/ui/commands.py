"""Actions as the user interface offers them, and the text of their keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from gwtui.crud.action import APP, Action
from gwtui.resources import actions as registry
from gwtui.resources.actions import by_id

if TYPE_CHECKING:
    from textual.widget import Widget

_NAMED = re.compile(r"\{([a-z]+(?:-[a-z]+)*\.[a-z_-]+)\}", re.ASCII)
"""A placeholder for an action in a sentence: {keys.create}."""
_CLAUSE_END = re.compile(r"(?<=[,:;]) ")
_NO_KEY = "no-key"
"""A key name that nobody can type: with an empty name Textual would keep the default keys."""
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
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "vertical_line": "|",
    "at": "@",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}


def tab_of(action: Action) -> str | None:
    """The place, such as "keys", that a "go to" action opens; None for any other action."""
    return action.id.removeprefix(registry.GO) if action.id.startswith(registry.GO) else None


def offered(scopes: Iterable[str]) -> tuple[Action, ...]:
    """All actions of these scopes; with the app scope, also the "go to" action of each place."""
    actions = registry.for_scopes(scopes)
    return (*actions, *registry.place_actions()) if APP in scopes else actions


def key_label(key: str) -> str:
    """The display form of a key: "Ctrl+P" for "ctrl+p", "?" for "question_mark"."""
    *modifiers, last = key.split("+")
    if not modifiers:
        return _KEYS.get(last, last)
    return "+".join([*(part.capitalize() for part in modifiers), _KEYS.get(last, last.upper())])


def key_labels(keys: tuple[str, ...]) -> str:
    """The display form of all keys of an action: "Esc, Backspace"."""
    return ", ".join(key_label(key) for key in keys)


def trigger_text(action: Action) -> str:
    """How to start an action: all its keys, else its command word, else "palette"."""
    word = f":{action.command_words[0]}" if action.command_words else "palette"
    return key_labels(action.keys) or word


def key_of(action_id: str) -> str:
    """The first key of an action, for a sentence; without keys, the text of ``trigger_text``."""
    action = by_id(action_id)
    return key_label(action.keys[0]) if action.keys else trigger_text(action)


def with_keys(text: str, held_back: Callable[[Action], object] = lambda _action: False) -> str:
    """Replace placeholders such as {keys.create} by the keys of these actions.

    Clauses that name an action for which ``held_back`` is true are left out.
    """
    if "{" not in text:
        return text
    clauses = _CLAUSE_END.split(text)
    kept = [clause for clause in clauses if not any(map(held_back, _actions_in(clause)))]
    if len(kept) < len(clauses):
        text = " ".join(kept).rstrip(",:;") + ("." if kept and text.endswith(".") else "")
    return _NAMED.sub(lambda match: _key_or_text(match[1], match[0]), text)


def _actions_in(text: str) -> Iterator[Action]:
    for action_id in _NAMED.findall(text):
        with suppress(KeyError):
            yield by_id(action_id)


def _key_or_text(action_id: str, text: str) -> str:
    try:
        return key_of(action_id)
    except KeyError:
        return text


def focus_keys(focused: Widget | None) -> str:
    """The text ``FOCUS_KEYS`` of the focused widget or of its nearest ancestor that has one.

    Empty if there is none.
    """
    nodes = () if focused is None else focused.ancestors_with_self
    return next((keys for node in nodes if (keys := getattr(node, "FOCUS_KEYS", ""))), "")


def keymap() -> dict[str, str]:
    """The user's keys for dialog bindings, by binding id, for ``App.set_keymap``."""
    return {id: ",".join(keys) or _NO_KEY for id, keys in registry.chosen_keys().items()}
