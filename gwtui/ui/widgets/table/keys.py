"""The keys inside the table. Ids let a keymap change them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

_KEYS: tuple[tuple[str, str, str], ...] = (
    ("up,k", "cursor_up", "Row up"),
    ("down,j", "cursor_down", "Row down"),
    ("pageup,ctrl+b", "page_up", "Page up"),
    ("pagedown,ctrl+f", "page_down", "Page down"),
    ("home,g,ctrl+home", "first", "First row"),
    ("end,G,ctrl+end", "last", "Last row"),
    ("left", "columns_left", "Columns to the left"),
    ("right", "columns_right", "Columns to the right"),
    ("space", "toggle_mark", "Mark"),
    ("enter", "open", "Open"),
)

BINDINGS: list[BindingType] = [
    Binding(keys, action, description, show=False, id=f"table.{action}")
    for keys, action, description in _KEYS
]
