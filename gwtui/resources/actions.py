"""The one registry of what a user can do: bindings, hints, help and commands are read here.

The actions of a resource stand in ``entries``. Here are those of the frame, of every list, of forms
and of dialogs. Dialogs handle their keys themselves: those are not in the palette, and while a
dialog is open only they and the keys of ``ANYWHERE`` work.
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
"""Scope of every screen that shows the figures of one object."""

FRAME_ACTIONS: Mapping[str, tuple[Action, ...]] = {
    APP: (
        scoped_action(
            "app.help",
            "Help",
            "All keys of this screen",
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
            "Choose the workspace that lists are narrowed to",
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
            "app.screenshot",
            "Screenshot",
            "Save this screen or dialog as SVG or text, without secrets",
            "ctrl+g",
            command_words=("screenshot", "picture"),
        ),
        scoped_action(
            "app.theme",
            "Theme",
            "Choose colours: dark, light, high contrast, terminal",
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
            "Close what is open, else return to the screen before",
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
        scoped_action(
            "app.requests",
            "Requests",
            "Request rate of the last minute, and the cost of each reading",
        ),
    ),
    LIST: (
        show_action("list.open", "Open", "Open the selected row", "enter", footer=True),
        scoped_action(
            "list.filter",
            "Filter",
            "Narrow the list while typing",
            "slash",
            footer=True,
            keywords="search find",
        ),
        scoped_action(
            "list.sort", "Sort", "Choose the column to sort by", "s", footer=True, keywords="order"
        ),
        scoped_action(
            "list.sort_left", "Sort left", "Sort by the column to the left", "less_than_sign"
        ),
        scoped_action(
            "list.sort_right", "Sort right", "Sort by the column to the right", "greater_than_sign"
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
        scoped_action(
            "list.detail_wider",
            "Wider detail",
            "Give the detail pane more room beside the list; the width is saved",
            "left_square_bracket",
        ),
        scoped_action(
            "list.detail_narrower",
            "Narrower detail",
            "Give the list more room beside the detail pane; the width is saved",
            "right_square_bracket",
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
            "Mark the rows from the one marked last to the selected one; "
            "Shift+arrows extend the marks",
            "V",
        ),
        scoped_action(
            "list.mark_all", "Mark all", "Mark every row that the filter lets through", "asterisk"
        ),
        scoped_action(
            "list.invert_marks",
            "Invert marks",
            "Mark the listed rows that are not marked, and unmark the others",
            "tilde",
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
            "figures.raw", "Raw JSON", "What is shown as the gateway sent it", "v", footer=True
        ),
    ),
}
"""By scope: everywhere (APP), in every list (LIST), on what can be copied (COPY), on one object."""

FORM = "form"
"""Forms, and the screens that change one value of a form."""
QUESTION = "question"
"""Plans and questions that are agreed to or not."""
NEW_KEY = "new-key"
"""The dialog that shows the value of a new key once."""
DIALOG_SCOPES = (FORM, QUESTION, NEW_KEY)

ANYWHERE = frozenset({"app.quit", "app.redraw", "app.screenshot"})
"""Actions of the frame whose control keys work in forms and dialogs, too."""

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
        scoped_action(
            "form.next_part",
            "Next part",
            "To the next part of a long form",
            "pagedown",
            "ctrl+pagedown",
        ),
        scoped_action(
            "form.previous_part",
            "Previous part",
            "To the previous part of a long form",
            "pageup",
            "ctrl+pageup",
        ),
        scoped_action("form.choices", "List choices", "List the choices of a field", "ctrl+o"),
        scoped_action("form.add", "Add", "Add a pattern to the content filters", "ctrl+n"),
    ),
    QUESTION: (
        scoped_action("question.yes", "Yes", "Confirm, where a single key is enough", "y"),
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
        scoped_action("new-key.try", "Try", "Send a request with the new key", "T"),
    ),
}
"""By scope."""

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
    ("shift+down", "mark_down", "Mark and go down"),
    ("shift+up", "mark_up", "Mark and go up"),
    ("enter", "open", "Open"),
)
"""The built-in keys of a table: the keys, the binding's name, the effect."""


# The registry -------------------------------------------------------------------------------------

_DECLARED: Mapping[str, tuple[Action, ...]] = {
    **FRAME_ACTIONS,
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
    every = chain(*_DECLARED.values(), *DIALOG_ACTIONS.values())
    return next(one.keys for one in every if one.id == action.id)


def chosen_keys() -> Mapping[str, tuple[str, ...]]:
    """Custom key bindings, by action id."""
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
    return tuple(map(_with_own_keys, chain(*DIALOG_ACTIONS.values())))


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
