"""Settings in a TOML file, read according to a table of declarations.

The name of a setting is its path in the file: ``sort`` in the table ``[lists.keys]`` is
``lists.keys.sort``. An invalid value raises an error that names the file and the setting. Unknown
settings are reported to the caller.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gwtui.domain.lookup import did_you_mean
from gwtui.local.toml_file import TomlFile, TomlPath, TomlValue, WrongSettingError, with_values

Settings = Mapping[str, TomlValue]
Check = Callable[[str, Any], str]
"""Returns the problem with the value of a setting, "" if there is none."""
Kind = Literal["text", "flag", "number", "amount", "names"]
"""The type of a setting; "names" is a list of texts."""

_KINDS: Mapping[Kind, str] = {
    "text": "text",
    "flag": "true or false",
    "number": "a whole number",
    "amount": "a number",
    "names": "a list of texts",
}
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_ACTION = "ACTION"
_LIST = "LIST"


class SettingsError(Exception):
    """The file cannot be read or changed; the message names the setting and the problem."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of a setting, or of several with a placeholder in their name.

    LIST stands for each of ``lists``, ACTION for any action. ``default`` describes the behaviour
    when it is not set. ``check`` tests a value. ``look_up`` is a slower test, which only runs when
    a setting is set or listed, not at every start.
    """

    name: str
    kind: Kind
    help: str = ""
    default: str = ""
    check: Check = lambda _name, _value: ""
    look_up: Check = lambda _name, _value: ""
    lists: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names that the declaration stands for: LIST is replaced with each of ``lists``."""
        return tuple(self.name.replace(_LIST, table) for table in self.lists) or (self.name,)

    def matches(self, name: str) -> bool:
        """Whether the setting with that name is declared here."""
        before, action, _ = self.name.partition(_ACTION)
        return name in self.names or bool(action and name.startswith(before))

    def problem(self, name: str, value: object, *, thorough: bool = False) -> str:
        """The problem with a value, "" if there is none; ``thorough`` also runs ``look_up``."""
        if not _is_kind(self.kind, value):
            return f"must be {_KINDS[self.kind]}"
        return self.check(name, value) or (self.look_up(name, value) if thorough else "")

    def parse(self, text: str) -> TomlValue:
        """Convert a typed text to a value. Raises WrongSettingError."""
        match self.kind:
            case "flag" if text.lower() in _FLAGS:
                return _FLAGS[text.lower()]
            case "number" if re.fullmatch(r"[0-9]{1,6}", text, re.ASCII):
                return int(text)
            case "amount" if re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,12})?", text, re.ASCII):
                return Decimal(text)
            case "names":
                return [part.strip() for part in text.split(",") if part.strip()]
            case "text":
                return text
        raise WrongSettingError("", f"must be {_KINDS[self.kind]}")


def _is_kind(kind: Kind, value: object) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "flag":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, int) and not isinstance(value, bool)
        case "amount":
            return isinstance(value, int | Decimal) and not isinstance(value, bool)
        case "names":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)


def one_of(choices: Iterable[str]) -> Check:
    """A check that only accepts these values."""
    *words, last = choices
    return lambda _name, value: (
        "" if value in (*words, last) else f"must be one of {', '.join(words)} or {last}"
    )


def shown_value(value: TomlValue) -> str:
    """A value as text that ``Setting.parse`` accepts."""
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return ",".join(value)
        case _:
            return str(value)


class ReadSettings(NamedTuple):
    """The settings of a file, by name.

    ``known`` has the values of the declared settings, ``places`` their paths in the file, and
    ``unknown`` an error message for each setting that is not declared.
    """

    known: dict[str, TomlValue]
    places: dict[str, TomlPath]
    unknown: dict[str, str]


def parse_settings(
    content: Mapping[str, Any], declared: Iterable[Setting], *, thorough: bool = False
) -> ReadSettings:
    """Read settings according to their declarations. Raises WrongSettingError."""
    settings = ReadSettings({}, {}, {})
    for place, value in _leaves(content):
        name = ".".join(place)
        setting = next((declaration for declaration in declared if declaration.matches(name)), None)
        if setting is None:
            settings.unknown[name] = unknown_setting(name, declared)
        elif problem := setting.problem(name, value, thorough=thorough):
            raise WrongSettingError(name, problem)
        else:
            settings.known[name], settings.places[name] = value, place
    return settings


def unknown_setting(name: str, declared: Iterable[Setting]) -> str:
    """The message for an unknown setting, with a suggestion."""
    known = [known for setting in declared for known in setting.names]
    tables = {path.rpartition(".")[0] for path in known}
    return f"unknown setting{did_you_mean(name, [*known, *filter(None, tables)])}"


def _leaves(content: Mapping[str, Any], above: TomlPath = ()) -> Iterator[tuple[TomlPath, Any]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings.

    ``find_conflicts`` is called with the values by name, once each of them is valid on its own. It
    yields (name, problem) for each setting that conflicts with another one.
    """

    path: Path
    declared: tuple[Setting, ...]
    find_conflicts: Callable[[Settings], Iterator[tuple[str, str]]]

    def read(self, *, thorough: bool = False) -> ReadSettings:
        """Read all settings. Raises SettingsError."""
        return self._file(thorough=thorough).read()

    def change(self, changes: Mapping[str, TomlValue | None]) -> None:
        """Store these values by name; None removes a setting. Raises SettingsError."""

        def edit(text: str) -> str:
            places = parse_settings(tomllib.loads(text), self.declared).places
            named = ((places.get(name, tuple(name.split("."))), changes[name]) for name in changes)
            return with_values(text, dict(named))

        self._file().change(edit)

    def _file(self, *, thorough: bool = False) -> TomlFile[ReadSettings]:
        def meaning(content: Mapping[str, Any]) -> ReadSettings:
            settings = parse_settings(content, self.declared, thorough=thorough)
            for name, problem in self.find_conflicts(settings.known):
                raise WrongSettingError(name, problem)
            return settings

        return TomlFile(self.path, meaning, SettingsError)
