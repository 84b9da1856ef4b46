"""The saved preferences of the dashboard, in ``preferences.toml``.

    theme = "gwtui-light"

    [lists.keys]
    sort = "used:desc"
    columns = ["name", "used", "limit", "expires"]

    [keys]
    keys.delete = ["X"]

``SETTINGS`` defines all settings for the file, ``gwtui config`` and the dashboard. No setting
depends on a gateway or is a secret.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwtui.domain.lookup import among
from gwtui.local.settings_file import Setting, Settings, SettingsError, SettingsFile
from gwtui.local.toml_file import TomlValue
from gwtui.resources.registry import RESOURCES

FILE_NAME = "preferences.toml"
THEME_NAMES = ("gwtui-dark", "gwtui-light", "gwtui-contrast", "gwtui-terminal")

KEYS = "keys"
_LISTS = tuple(RESOURCES)


def _theme(_name: str, value: str) -> str:
    return "" if value in THEME_NAMES else f"there is no theme {value!r}{among(value, THEME_NAMES)}"


def _no_column(name: str, column: str) -> str:
    known = [listed.id for listed in RESOURCES[name.split(".")[1]].columns]
    return "" if column in known else f"there is no column {column!r}{among(column, known)}"


def _direction(_name: str, value: str) -> str:
    column, _, direction = value.partition(":")
    if not column:
        return "must be COLUMN or COLUMN:desc"
    return "" if direction in ("", "asc", "desc") else f"{direction!r} is neither asc nor desc"


def _sort_column(name: str, value: str) -> str:
    return _no_column(name, parse_sort_order(value)[0])


def _each_once(_name: str, value: list[str]) -> str:
    if not value:
        return "must name at least one column; unset it to show the default columns"
    return "" if len(set(value)) == len(value) else "must name each column once"


def _columns(name: str, value: list[str]) -> str:
    return next(filter(None, (_no_column(name, column) for column in value)), "")


def _action_keys(name: str, value: list[str]) -> str:
    from gwtui.resources.key_choices import problem_of  # noqa: PLC0415 - few need it

    return problem_of(_action(name), value)


def _action(name: str) -> str:
    return name.removeprefix(f"{KEYS}.")


SETTINGS: tuple[Setting, ...] = (
    Setting("theme", "text", f"colors: {', '.join(THEME_NAMES)}", THEME_NAMES[0], _theme),
    Setting(
        "lists.LIST.sort",
        "text",
        "sort order: COLUMN, or COLUMN:desc",
        "the list's own",
        _direction,
        _sort_column,
        lists=_LISTS,
    ),
    Setting(
        "lists.LIST.columns",
        "names",
        "visible columns, in this order; names as in --columns",
        "the most important ones that fit",
        _each_once,
        _columns,
        lists=_LISTS,
    ),
    Setting(
        "lists.LIST.detail",
        "flag",
        "whether the detail pane is shown beside the list",
        "shown where there is room",
        lists=_LISTS,
    ),
    Setting(
        f"{KEYS}.ACTION",
        "names",
        "keys of an action, by its id: X, ?, ctrl+p, f2; the first one is shown",
        "the action's own",
        _action_keys,
    ),
)


def _key_conflicts(settings: Settings) -> Iterator[tuple[str, str]]:
    if chosen := _keys_of(settings):
        from gwtui.resources.key_choices import conflicts  # noqa: PLC0415 - few need it

        yield from ((f"{KEYS}.{action_id}", why) for action_id, why in conflicts(chosen))


def _keys_of(settings: Settings) -> dict[str, list[str]]:
    return {
        _action(name): value
        for name, value in settings.items()
        if name.startswith(f"{KEYS}.") and isinstance(value, list)
    }


def preferences_file(path: Path) -> SettingsFile:
    """Return the preferences file at this path."""
    return SettingsFile(path, SETTINGS, _key_conflicts)


def parse_sort_order(text: str) -> tuple[str, bool]:
    """Parse a sort order such as "used:desc"; return the column and whether the order descends."""
    column, _, direction = text.partition(":")
    return column, direction == "desc"


def format_sort_order(column: str, descending: bool) -> str:
    """Return a sort order as text, such as "used:desc"."""
    return f"{column}:desc" if descending else column


@dataclass(frozen=True, slots=True)
class ListPreferences:
    """The preferences of a list; None for its defaults. ``sort`` is as in ``parse_sort_order``."""

    sort: tuple[str, bool] | None = None
    columns: tuple[str, ...] | None = None
    detail: bool | None = None


class Preferences:
    """The settings of a file, as loaded and with the changes since.

    With ``file`` None, changes are lost at the end of the run. An invalid file gives no settings
    and is never written; ``problem`` says why.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = None if file is None else preferences_file(file)
        self._settings: dict[str, TomlValue] = {}
        self._unwritten: dict[str, TomlValue | None] = {}
        self._lock = threading.Lock()
        self.problem = ""
        if self._file is not None:
            try:
                self._settings = self._file.read().known
            except SettingsError as error:
                self.problem = str(error)

    @property
    def theme(self) -> str | None:
        """The theme; None for the default."""
        theme = self._settings.get("theme")
        return theme if isinstance(theme, str) else None

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """Custom keys by action id."""
        chosen = _keys_of(self._settings)
        if not chosen:
            return {}
        from gwtui.resources.key_choices import parse_keys  # noqa: PLC0415 - few need it

        return {action_id: parse_keys(keys) for action_id, keys in chosen.items()}

    def of_list(self, resource: str) -> ListPreferences:
        """Return the preferences of a list."""
        sort, columns, detail = (
            self._settings.get(f"lists.{resource}.{name}") for name in ("sort", "columns", "detail")
        )
        settings: Any = (
            parse_sort_order(str(sort)) if sort else None,
            tuple(columns) if isinstance(columns, list) else None,
            detail,
        )
        return ListPreferences(*settings)

    def remember(self, changes: Mapping[str, TomlValue | None]) -> bool:
        """Change settings in memory; None removes one. Returns whether a ``write`` is needed."""
        different = {
            name: value for name, value in changes.items() if self._settings.get(name) != value
        }
        kept = {**self._settings, **different}
        self._settings = {name: value for name, value in kept.items() if value is not None}
        if self._file is None or self.problem:
            return False
        with self._lock:
            self._unwritten.update(different)
            return bool(self._unwritten)

    def write(self) -> None:
        """Write the changed settings to the file; may be called in another thread.

        Raises SettingsError: the next ``write`` then tries again.
        """
        with self._lock:
            changes, self._unwritten = self._unwritten, {}
        if self._file is None or not changes:
            return
        try:
            self._file.change(changes)
        except SettingsError:
            with self._lock:
                self._unwritten = {**changes, **self._unwritten}
            raise
