"""The text of the help page: every action of a screen, and what has no action of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.content import Content

from gwtui.actions.action import APP, LIST, Action
from gwtui.ui.keys import shown_all
from gwtui.ui.resources.spec import ResourceSpec
from gwtui.ui.tones import toned

_KEYS = 20

_TABLE_KEYS = (
    ("↑ ↓, j k", "move by a row"),
    ("PgUp PgDn", "move by a page"),
    ("Home End, g G", "first and last row"),
    ("← →", "scroll the columns"),
    ("Tab", "between the list and the detail pane"),
    ("click on a title", "sort by that column, again to reverse"),
)

_FILTER = (
    ("word", "rows that contain it in any column, capitals or not"),
    ("-word", "rows that do not"),
    ('"two words"', "exactly so, with the blank"),
    ("column:value", "rows whose column contains it, such as state:expired"),
    ("column>5 column<=5", "rows whose figure is above, at most, …"),
    ("column:null", "rows whose figure is unknown"),
)


def help_lines(
    actions: Sequence[Action], spec: ResourceSpec[Any] | None, *, read_only: bool
) -> list[Content]:
    """Every action by scope, then the keys of lists, the filter's language and the columns."""
    lines: list[Content] = []
    for title, scope in _groups(actions, spec):
        group = [action for action in actions if action.scope == scope]
        if group:
            lines += [_title(title), *(_action(action, read_only=read_only) for action in group)]
            lines.append(Content(""))
    if spec is not None:
        lines += [_title("In the list"), *(_line(*pair) for pair in _TABLE_KEYS), Content("")]
        lines += [_title("Filter"), *(_line(*pair) for pair in _FILTER), Content("")]
        lines.append(_title("Columns"))
        lines += [_line(column.id, column.help or column.title) for column in spec.columns]
        lines += [_line(facet, "further name for the filter") for facet in spec.facets]
        lines.append(Content(""))
    return lines


def _groups(actions: Sequence[Action], spec: ResourceSpec[Any] | None) -> list[tuple[str, str]]:
    own = [action.scope for action in actions if action.scope not in {APP, LIST}]
    groups = [(spec.title if spec is not None else scope.capitalize(), scope) for scope in own]
    return [*dict.fromkeys(groups), ("Lists", LIST), ("Everywhere", APP)]


def _title(text: str) -> Content:
    return toned(text, "accent", bold=True)


def _line(keys: str, text: str) -> Content:
    return Content.assemble("  ", toned(keys.ljust(_KEYS)), " ", toned(text, "muted"))


def _action(action: Action, *, read_only: bool) -> Content:
    held = "  (not while read-only)" if action.mutates and read_only else ""
    keys = shown_all(action.keys) or "palette"
    return Content.assemble(
        "  ",
        toned(keys.ljust(_KEYS), "muted" if held else "plain", bold=not held),
        " ",
        toned(f"{action.title}: ", "plain"),
        toned(f"{action.help}{held}", "muted"),
    )
