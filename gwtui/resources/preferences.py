"""What the dashboard remembers of a person's choices, in ``preferences.toml``.

    theme = "gwtui-light"

    [lists.keys]
    sort = "used:desc"
    columns = ["name", "used", "limit", "expires"]
    widths.name = 30

    [views.spenders]
    list = "keys"
    filter = "used>80%"

    [keys]
    keys.delete = ["X"]

``SETTINGS`` is the one table of what there can be: the file, ``gwtui config`` and the dashboard
read it. Nothing in here is about a gateway, and nothing is a secret.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gwtui.domain.lookup import among
from gwtui.local.settings_file import (
    Name,
    Placeholder,
    Setting,
    Settings,
    SettingsError,
    SettingsSchema,
    change_settings,
    read_settings,
)
from gwtui.local.toml_file import TomlValue
from gwtui.resources.registry import RESOURCES

FILE_NAME = "preferences.toml"
THEME_NAMES = ("gwtui-dark", "gwtui-light", "gwtui-contrast", "gwtui-terminal")
WIDTHS = range(3, 201)
"""Cells that a column may be given."""
DETAIL_WIDTHS = range(20, 81)
"""Percent of the terminal that the detail pane may be given."""

VIEWS = "views"
KEYS = "keys"
_DIRECTIONS = ("asc", "desc")
VIEW_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)


def _theme(_name: Name, value: str) -> str:
    return "" if value in THEME_NAMES else f"there is no theme {value!r}{among(value, THEME_NAMES)}"


def _no_column(resource: str, column: str) -> str:
    known = [one.id for one in RESOURCES[resource].columns]
    return "" if column in known else f"there is no column {column!r}{among(column, known)}"


def _direction(_name: Name, value: str) -> str:
    column, _, direction = value.partition(":")
    if not column:
        return "must be COLUMN or COLUMN:desc"
    return "" if direction in ("", *_DIRECTIONS) else f"{direction!r} is neither asc nor desc"


def _sort_column(name: Name, value: str) -> str:
    return _no_column(name[1], sorting(value)[0])


def _each_once(_name: Name, value: list[str]) -> str:
    if not value:
        return "must name a column at least; without it the usual ones are shown"
    return "" if len(set(value)) == len(value) else "must name each column once"


def _columns(name: Name, value: list[str]) -> str:
    return next(filter(None, (_no_column(name[1], one) for one in value)), "")


def _width(_name: Name, value: int) -> str:
    return "" if value in WIDTHS else f"must be from {WIDTHS.start} to {WIDTHS[-1]} cells"


def _width_column(name: Name, _value: int) -> str:
    return _no_column(name[1], name[-1])


def _percent(_name: Name, value: int) -> str:
    return (
        ""
        if value in DETAIL_WIDTHS
        else f"must be from {DETAIL_WIDTHS.start} to {DETAIL_WIDTHS[-1]} percent"
    )


def _list(_name: Name, value: str) -> str:
    return "" if value in RESOURCES else f"there is no list {value!r}{among(value, RESOURCES)}"


def _action_keys(name: Name, value: list[str]) -> str:
    from gwtui.resources.key_choices import problem_of  # noqa: PLC0415 - few need it

    return problem_of(name[-1], value)


_LIST = Placeholder("LIST", known=lambda: tuple(RESOURCES))
_COLUMN = Placeholder("COLUMN")
_VIEW = Placeholder("NAME", rule=VIEW_NAME)
_ACTION = Placeholder("ACTION", rest=True)

SETTINGS: tuple[Setting, ...] = (
    Setting(("theme",), "text", f"colours: {', '.join(THEME_NAMES)}", THEME_NAMES[0], _theme),
    Setting(
        ("lists", _LIST, "sort"),
        "text",
        "order of the rows: COLUMN, or COLUMN:desc",
        "the list's own",
        _direction,
        _sort_column,
    ),
    Setting(
        ("lists", _LIST, "columns"),
        "names",
        "columns that are shown, in their order; called as for --columns",
        "what matters most, as many as fit",
        _each_once,
        _columns,
    ),
    Setting(
        ("lists", _LIST, "widths", _COLUMN),
        "number",
        "cells of a column",
        "the column's own",
        _width,
        _width_column,
    ),
    Setting(
        ("lists", _LIST, "detail"),
        "flag",
        "whether the detail pane stands beside the list",
        "shown where there is room",
    ),
    Setting(
        ("lists", _LIST, "detail_width"),
        "number",
        "width of the detail pane, percent of the terminal",
        "40, between 44 and 80 cells",
        _percent,
    ),
    Setting((VIEWS, _VIEW, "list"), "text", "the list that the view is of", "needed", _list),
    Setting((VIEWS, _VIEW, "filter"), "text", "rows that it shows, as behind /", "every row"),
    Setting(
        (VIEWS, _VIEW, "sort"), "text", "its order: COLUMN, or COLUMN:desc", "as ever", _direction
    ),
    Setting(
        (VIEWS, _VIEW, "columns"),
        "names",
        "its columns, in their order",
        "those of the list",
        _each_once,
    ),
    Setting(
        (KEYS, _ACTION),
        "names",
        "keys of an action, called by its id: X, ?, ctrl+p, f2; the first one is shown",
        "the action's own",
        _action_keys,
    ),
)


def _together(settings: Settings, thorough: bool) -> Iterator[tuple[Name, str]]:
    chosen = _keys_of(settings)
    if chosen:
        from gwtui.resources.key_choices import conflicts  # noqa: PLC0415 - few need it

        yield from (((KEYS, action_id), problem) for action_id, problem in conflicts(chosen))
    for view in views_of(settings).values():
        where = (VIEWS, view.name)
        if not view.list:
            yield where, f"needs a list: {VIEWS}.{view.name}.list"
        elif thorough:
            sort = () if view.sort is None else (view.sort[0],)
            for part, columns in (("sort", sort), ("columns", view.columns or ())):
                problems = (_no_column(view.list, column) for column in columns)
                yield from (((*where, part), problem) for problem in filter(None, problems))
            if problem := _filter_problem(view):
                yield (*where, "filter"), problem


def _filter_problem(view: View) -> str:
    from gwtui.crud.resource import filter_headings, filter_kinds  # noqa: PLC0415 - seldom
    from gwtui.domain.filters import parse  # noqa: PLC0415 - seldom

    spec = RESOURCES[view.list]
    kinds = filter_kinds(spec.columns, spec.facets)
    return parse(view.filter).checked(kinds, filter_headings(spec.columns, spec.facets)).error or ""


def _keys_of(settings: Settings) -> dict[str, list[str]]:
    """Keys as they are written, by the id of their action."""
    return {
        name[1]: value
        for name, value in settings.items()
        if name[0] == KEYS and isinstance(value, list)
    }


def views_of(settings: Settings) -> dict[str, View]:
    """Every saved view by its name."""
    names = dict.fromkeys(name[1] for name in settings if name[0] == VIEWS)
    found: dict[str, View] = {}
    for name in names:
        of_view: dict[str, Any] = {
            one[2]: value for one, value in settings.items() if one[:2] == (VIEWS, name)
        }
        sort, columns = of_view.get("sort"), of_view.get("columns")
        found[name] = View(
            name,
            of_view.get("list", ""),
            of_view.get("filter", ""),
            sorting(sort) if sort else None,
            tuple(columns) if columns else None,
        )
    return found


PREFERENCES = SettingsSchema(SETTINGS, _together)


def sorting(text: str) -> tuple[str, bool]:
    """Column and whether descending, of "used:desc"."""
    column, _, direction = text.partition(":")
    return column, direction == "desc"


def sorting_text(column: str, descending: bool) -> str:
    """The text of a sorting, as ``sorting`` reads it."""
    return f"{column}:desc" if descending else column


@dataclass(frozen=True, slots=True)
class ListPreferences:
    """What was chosen for a list; None and empty where nothing was."""

    sort: tuple[str, bool] | None = None
    columns: tuple[str, ...] | None = None
    widths: Mapping[str, int] = field(default_factory=dict)
    detail: bool | None = None
    detail_width: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A way to look at a list, under a name; None is as the list is without it."""

    name: str
    list: str
    filter: str = ""
    sort: tuple[str, bool] | None = None
    columns: tuple[str, ...] | None = None

    @property
    def settings(self) -> dict[Name, TomlValue]:
        """The settings that store it in the file."""
        found: dict[str, TomlValue | None] = {
            "list": self.list,
            "filter": self.filter or None,
            "sort": None if self.sort is None else sorting_text(*self.sort),
            "columns": None if self.columns is None else [*self.columns],
        }
        return {
            (VIEWS, self.name, part): value for part, value in found.items() if value is not None
        }

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        sort = () if self.sort is None else (f"by {sorting_text(*self.sort)}",)
        columns = () if self.columns is None else (f"{len(self.columns)} columns",)
        return " · ".join(filter(None, (self.list, self.filter, *sort, *columns)))


class Preferences:
    """The settings of a file, as they were at the start and as they were changed since.

    ``file`` None keeps them for this run only. A file that cannot be understood gives no settings
    and is never written: ``problem`` says why.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._settings: dict[Name, TomlValue] = {}
        self._unwritten: dict[Name, TomlValue | None] = {}
        self._lock = threading.Lock()
        self.problem = ""
        if file is not None:
            try:
                self._settings = read_settings(file, PREFERENCES)
            except SettingsError as error:
                self.problem = str(error)

    @property
    def theme(self) -> str | None:
        """The theme, None for the usual one."""
        return self._text(("theme",))

    @property
    def views(self) -> dict[str, View]:
        """Every saved view by its name."""
        return views_of(self._settings)

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """Keys that were chosen, by the id of their action."""
        chosen = _keys_of(self._settings)
        if not chosen:
            return {}
        from gwtui.resources.key_choices import key_names  # noqa: PLC0415 - few need it

        return {action_id: key_names(keys) for action_id, keys in chosen.items()}

    def of_list(self, resource: str) -> ListPreferences:
        """What was chosen for a list."""
        found = {
            name[2:]: value
            for name, value in self._settings.items()
            if name[:2] == ("lists", resource)
        }
        sort: Any = found.get(("sort",))
        columns: Any = found.get(("columns",))
        widths: Any = {name[1]: found[name] for name in found if name[0] == "widths"}
        detail: Any = found.get(("detail",))
        wide: Any = found.get(("detail_width",))
        return ListPreferences(
            sorting(sort) if sort else None,
            tuple(columns) if columns else None,
            widths,
            detail,
            wide,
        )

    def remember(self, changes: Mapping[Name, TomlValue | None]) -> bool:
        """Change settings; None removes one, or a table. Whether ``write`` has something to do."""
        different = {name: value for name, value in changes.items() if self._differs(name, value)}
        for name, value in different.items():
            for below in [one for one in self._settings if one[: len(name)] == name]:
                del self._settings[below]
            if value is not None:
                self._settings[name] = value
        if self._file is None or self.problem:
            return False
        with self._lock:
            self._unwritten.update(different)
            return bool(self._unwritten)

    def _differs(self, name: Name, value: TomlValue | None) -> bool:
        if value is None:
            return any(one[: len(name)] == name for one in self._settings)
        return self._settings.get(name) != value

    def write(self) -> None:
        """Write what was changed into the file; it may be called in another thread.

        Raises SettingsError: then the next ``write`` tries it again.
        """
        with self._lock:
            changes, self._unwritten = self._unwritten, {}
        if self._file is None or not changes:
            return
        try:
            change_settings(self._file, changes, PREFERENCES)
        except SettingsError:
            with self._lock:
                self._unwritten = {**changes, **self._unwritten}
            raise

    def _text(self, name: Name) -> str | None:
        found = self._settings.get(name)
        return found if isinstance(found, str) else None
