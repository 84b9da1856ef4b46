"""Key names as people read them."""

from __future__ import annotations

_SHOWN = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "less_than_sign": "<",
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
        return _SHOWN.get(last, last)
    return "+".join([*(part.capitalize() for part in modifiers), _SHOWN.get(last, last.upper())])


def shown_all(keys: tuple[str, ...]) -> str:
    """Every key of an action, for the help page: "Esc, Backspace"."""
    return ", ".join(shown(key) for key in keys)
