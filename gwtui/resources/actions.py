"""The registry of all actions. Key bindings, help and the command palette read it.

``entries`` has the actions of each resource. This module has those of the application frame, of
every list, and of forms and dialogs. Dialogs handle their own keys: their actions are not in the
palette, and while a dialog is open, only its keys and those of ``ANYWHERE`` work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain

from gwtui.crud.action import APP, COPY, LIST, Action, scoped_action, show_action
from gwtui.domain.safe_text import in_sentence
from gwtui.resources.entries import ENTRIES
from gwtui.resources.registry import ALIASES, KEYS, PLACES, TABS, TITLES

FIGURES = "figures"
"""Scope of the screens that display the figures of one object."""

FRAME_ACTIONS: Mapping[str, tuple[Action, ...]] = {
    APP: (
        scoped_action(
            "app.help",
            "Help",
            "All keyboard shortcuts of this screen",
            "question_mark",
            footer=True,
            command_words=("help", "h", "?"),
            keywords="shortcuts manual",
        ),
        scoped_action(
            "app.first_steps",
            "First steps",
            "Introduction: what to try and where to find help",
            command_words=("welcome",),
        ),
        scoped_action(
            "app.palette", "Commands", "Find an action by its name", "ctrl+p", footer=True
        ),
        scoped_action(
            "app.goto",
            "Go to",
            "Open a resource by its path, such as keys or models/author/slug",
            "colon",
        ),
        scoped_action(
            "app.profile",
            "Switch profile",
            "Switch to the gateway of another profile",
            "P",
            command_words=("ctx", "context", "profile", "profiles"),
            keywords="login",
        ),
        scoped_action(
            "app.workspace",
            "Workspace",
            "Choose the workspace that all lists are limited to",
            "w",
            keywords="scope project",
        ),
        scoped_action(
            "app.refresh", "Refresh", "Reload the shown data now", "r", keywords="reload"
        ),
        scoped_action(
            "app.redraw",
            "Redraw",
            "Redraw the screen after another program wrote on it",
            "ctrl+l",
        ),
        scoped_action(
            "app.theme",
            "Theme",
            "Choose colors: dark, light, high contrast, terminal",
            "t",
            command_words=("theme",),
            keywords="colors appearance",
        ),
        scoped_action(
            "app.undo",
            "Undo",
            "Undo the last change, within ten minutes and if nobody changed the resource since",
            "U",
            "ctrl+z",
            mutates=True,
            keywords="revert restore",
        ),
        scoped_action(
            "app.back",
            "Back",
            "Close what is open, or return to the previous screen",
            "escape",
            "backspace",
        ),
        scoped_action(
            "app.quit",
            "Quit",
            "Leave the dashboard",
            "q",
            "ctrl+q",
            "ctrl+c",
            footer=True,
            command_words=("q", "quit", "exit", "q!"),
        ),
    ),
    LIST: (
        scoped_action(
            "list.filter",
            "Filter",
            "Narrow the list while typing",
            "slash",
            footer=True,
            keywords="search find",
        ),
        show_action("list.open", "Open", "Open the selected row", "enter", footer=True),
        scoped_action(
            "list.sort", "Sort", "Choose the column to sort by", "s", footer=True, keywords="order"
        ),
        scoped_action("list.reverse", "Reverse", "Reverse the sort order", "S"),
        scoped_action(
            "list.columns",
            "Columns",
            "Show, hide and move columns; your choice is saved",
            "vertical_line",
        ),
        show_action(
            "list.detail",
            "Detail",
            "Show or hide everything known about the selected row",
            "d",
            footer=True,
            keywords="inspect describe details",
        ),
        show_action("list.raw", "Raw JSON", "The selected row as the gateway sent it", "v"),
        scoped_action(
            "list.mark",
            "Mark",
            "Mark or unmark the selected row",
            "space",
            keywords="tick check",
        ),
        scoped_action(
            "list.mark_range",
            "Mark range",
            "Mark from the last marked row to the selected row",
            "V",
        ),
        scoped_action(
            "list.mark_all", "Mark all", "Mark every row that matches the filter", "asterisk"
        ),
        scoped_action("list.unmark", "Unmark all", "Unmark all rows, including hidden ones", "u"),
    ),
    COPY: (
        Action(
            "list.copy",
            "Copy",
            "Copy id, name, cell, JSON, curl or link of the row; or those of all that are marked",
            COPY,
            ("y",),
            target=True,
            marked="all",
        ),
        Action(
            "list.export",
            "Export",
            "The listed rows as CSV, JSON or NDJSON, to the clipboard or a file",
            COPY,
            ("Y",),
        ),
    ),
    FIGURES: (
        show_action(
            "figures.raw", "Raw JSON", "The object as the gateway sent it", "v", footer=True
        ),
    ),
}
"""Actions by scope: everywhere (APP), in lists (LIST), on copyable data (COPY), on one object
(FIGURES).
"""

FORM = "form"
"""Scope of forms, and of screens that edit one value of a form."""
QUESTION = "question"
"""Scope of plans and other dialogs that ask for a decision."""
NEW_KEY = "new-key"
"""Scope of the dialog that displays the value of a new key once."""
DIALOG_SCOPES = (FORM, QUESTION, NEW_KEY)

ANYWHERE = frozenset({"app.quit", "app.redraw"})
"""Ids of frame actions whose control keys also work in forms and dialogs."""

DIALOG_ACTIONS: Mapping[str, tuple[Action, ...]] = {
    FORM: (
        scoped_action(
            "form.send",
            "Send",
            "Plan and send the form; in an editor of one value, keep the value",
            "ctrl+s",
        ),
        scoped_action(
            "form.leave", "Cancel", "Close the form; asks before it discards changes", "escape"
        ),
        scoped_action("form.next_field", "Next field", "To the next field, as Tab does", "down"),
        scoped_action(
            "form.previous_field",
            "Previous field",
            "To the previous field, as Shift+Tab does",
            "up",
        ),
        scoped_action("form.next_part", "Next part", "To the next part of a long form", "pagedown"),
        scoped_action(
            "form.previous_part", "Previous part", "To the previous part of a long form", "pageup"
        ),
        scoped_action("form.choices", "List choices", "List the choices of a field", "ctrl+o"),
        scoped_action("form.add", "Add", "Add a pattern to the content filters", "ctrl+n"),
    ),
    QUESTION: (
        scoped_action(
            "question.yes", "Yes", "Confirm, except for a change that cannot be undone", "y"
        ),
        scoped_action("question.no", "No", "Close without doing anything", "escape", "n", "q"),
        scoped_action("question.next", "Next button", "To the next button", "right", "down"),
        scoped_action(
            "question.previous", "Previous button", "To the previous button", "left", "up"
        ),
    ),
    NEW_KEY: (
        scoped_action("new-key.copy", "Copy", "Copy the value of the new key", "y"),
        scoped_action("new-key.show", "Show", "Show the value, or hide it again", "v"),
        scoped_action("new-key.save", "Save", "Save the value to a private file", "s"),
    ),
}
"""Actions of forms and dialogs by scope."""

TABLE_KEYS: tuple[tuple[str, str, str], ...] = (
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
"""Built-in keys of a table: keys, name and effect."""


# The registry -------------------------------------------------------------------------------------

_DECLARED: Mapping[str, tuple[Action, ...]] = {
    **FRAME_ACTIONS,
    **{entry.id: entry.actions for entry in ENTRIES if entry.actions},
}
"""The declared actions by scope, with default keys."""

GO = "go."
"""The prefix of the ids of navigation actions."""
GO_TO = "Go to "
"""The prefix of the titles of navigation actions."""
QUIT = "app.quit"
ALWAYS_QUITS = "ctrl+c"
"""This key quits even if the user assigned other keys to quitting."""
_NUMBER_KEYS = 9

_chosen: dict[str, tuple[str, ...]] = {}
"""Custom keys by action id, for the whole program."""


def remap(keys: Mapping[str, tuple[str, ...]]) -> None:
    """Apply custom keys by action id; all other actions get their default keys."""
    if dict(keys) == _chosen:
        return
    _chosen.clear()
    _chosen.update(keys)
    if QUIT in keys:
        _chosen[QUIT] = tuple(dict.fromkeys((*keys[QUIT], ALWAYS_QUITS)))
    for kept in (all_actions, for_scope, tab_actions, place_actions, _every_action):
        kept.cache_clear()


def declared_keys(action: Action) -> tuple[str, ...]:
    """Return the default keys of an action."""
    if action.id not in _chosen:
        return action.keys
    if action.id.startswith(GO):
        return _place_keys(action.id.removeprefix(GO))
    every = chain(*_DECLARED.values())
    return next(declared.keys for declared in every if declared.id == action.id)


def chosen_keys() -> Mapping[str, tuple[str, ...]]:
    """Return the custom keys by action id."""
    return _chosen


def _with_own_keys(action: Action) -> Action:
    keys = _chosen.get(action.id)
    return action if keys is None else replace(action, keys=keys)


@cache
def all_actions() -> tuple[Action, ...]:
    """Return the actions of all scopes, without those of forms and dialogs."""
    return tuple(chain.from_iterable(map(for_scope, _DECLARED)))


def dialog_actions() -> tuple[Action, ...]:
    """Return the actions of forms and dialogs. Screens and the palette do not offer them."""
    return tuple(chain(*DIALOG_ACTIONS.values()))


@cache
def tab_actions() -> tuple[Action, ...]:
    """Return one navigation action for each tab, in tab order, on the number keys."""
    return tuple(map(_go, TABS))


@cache
def place_actions() -> tuple[Action, ...]:
    """Return one navigation action for each screen: the tabs, then screens without a tab."""
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
    if place not in TABS:
        return (KEYS[place],) if KEYS[place] else ()
    number = TABS.index(place) + 1
    return (str(number),) if number <= _NUMBER_KEYS else ()


def by_id(action_id: str) -> Action:
    """Return the action with this id, navigation included. Raises KeyError."""
    return _every_action()[action_id]


@cache
def _every_action() -> Mapping[str, Action]:
    actions = (*all_actions(), *place_actions(), *dialog_actions())
    return {action.id: action for action in actions}


@cache
def for_scope(scope: str) -> tuple[Action, ...]:
    """Return the actions of one scope (APP, LIST or a resource id), in registry order."""
    return tuple(map(_with_own_keys, _DECLARED.get(scope, ())))


def for_scopes(scopes: Iterable[str]) -> tuple[Action, ...]:
    """Return the actions whose ``scope`` is one of ``scopes``, in the order of the scopes."""
    return tuple(action for scope in scopes for action in for_scope(scope))
