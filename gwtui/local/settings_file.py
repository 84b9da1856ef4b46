"""A TOML file of settings, read by one table of declarations.

A setting is called by its place in the file: ``sort`` in the table ``[lists.keys]`` is
``lists.keys.sort``. A wrong value is an error that names the file, the line and the setting; an
unknown setting is ignored. Changes touch only the lines they are about and are made under a lock
(``toml_file``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gwtui.domain.lookup import among, did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.local.toml_file import (
    TablePath,
    TomlEditor,
    TomlValue,
    UserFileError,
    edit_user_file,
    line_of,
    not_toml,
    read_user_text,
)

Name = tuple[str, ...]
"""A setting, or a table of some: the parts of its name from the outermost inwards."""
Settings = Mapping[Name, TomlValue]
Kind = Literal["text", "flag", "number", "names"]
"""What a value is: any text, true or false, a whole number, a list of texts."""

_KINDS: Mapping[Kind, str] = {
    "text": "a text",
    "flag": "true or false",
    "number": "a whole number",
    "names": "a list of texts",
}
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NAME = 120


class SettingsError(Exception):
    """The settings cannot be read or changed; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A part of a name that stands for many: ``known`` gives them where they can be listed.

    ``rest`` takes the further parts as well, joined by dots.
    """

    title: str
    known: Callable[[], Sequence[str]] | None = None
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, or one for each of many things.

    ``check`` gets name and value and says what is wrong with them, "" for nothing; ``look_up`` the
    same of what takes longer to find out: it is asked when something is set or listed, not at
    every start. ``default`` is how it is without it, in words.
    """

    parts: tuple[str | Placeholder, ...]
    kind: Kind
    help: str
    default: str
    check: Callable[[Name, Any], str] = lambda _name, _value: ""
    look_up: Callable[[Name, Any], str] = lambda _name, _value: ""

    @property
    def pattern(self) -> str:
        """The name of the setting with its placeholders: ``lists.LIST.sort``."""
        return ".".join(part if isinstance(part, str) else part.title for part in self.parts)


@dataclass(frozen=True, slots=True)
class SettingsSchema:
    """Every setting of a file.

    ``together`` says what is wrong with settings beside each other.
    """

    settings: tuple[Setting, ...]
    together: Callable[[Settings], Iterator[tuple[Name, str]]] = lambda _settings: iter(())

    def named(self, name: Sequence[str]) -> tuple[Setting, Name]:
        """The setting of this name, its parts as they are kept. Raises SettingsError."""
        for setting in self.settings:
            found = _matched(setting, name)
            if found is not None:
                return setting, found
        raise SettingsError(self._unknown(name))

    def is_table(self, name: Name) -> bool:
        """Whether the name is that of a table of settings rather than of one setting."""
        return any(
            (len(setting.parts) > len(name) or _takes_rest(setting))
            and _fits(setting.parts[: len(name)], name)
            for setting in self.settings
        )

    def parse_name(self, text: str) -> Name:
        """The parts of a name as it is typed. Raises SettingsError when there is no such one."""
        return self.named(text.split("."))[1]

    def parse_value(self, setting: Setting, text: str) -> TomlValue:
        """A value as it is typed. Raises SettingsError."""
        match setting.kind:
            case "flag" if text.lower() in _FLAGS:
                return _FLAGS[text.lower()]
            case "number" if re.fullmatch(r"[0-9]{1,6}", text, re.ASCII):
                return int(text)
            case "names":
                return [part.strip() for part in text.split(",") if part.strip()]
            case "text":
                return text
        raise SettingsError(f"must be {_KINDS[setting.kind]}")

    def problem(self, name: Name, value: object, *, thorough: bool = False) -> str:
        """What is wrong with a value, "" for nothing."""
        setting, name = self.named(name)
        if not _is_kind(setting.kind, value):
            return f"must be {_KINDS[setting.kind]}"
        return setting.check(name, value) or (setting.look_up(name, value) if thorough else "")

    def _unknown(self, name: Sequence[str]) -> str:
        """Why there is no such setting: the first unknown part, and what is like it."""
        for depth in range(1, len(name) + 1):
            before, part = name[: depth - 1], name[depth - 1]
            candidates = [
                setting.parts[depth - 1]
                for setting in self.settings
                if len(setting.parts) >= depth and _fits(setting.parts[: depth - 1], before)
            ]
            if any(_fits((one,), (part,)) for one in candidates):
                continue
            ruled = [one for one in candidates if isinstance(one, Placeholder) and one.known]
            known = [one for one in candidates if isinstance(one, str)]
            for one in ruled:
                known += one.known() if one.known else ()
            if known:
                return f"is not a known setting{among(part, dict.fromkeys(known))}"
            titles = {one.title for one in candidates if isinstance(one, Placeholder)}
            return f"{', '.join(sorted(titles)) or 'it'} cannot be called so"
        whole = ".".join(name)
        below = [one.pattern for one in self.settings if one.pattern.startswith(f"{name[0]}.")]
        return f"is not a setting but a table{did_you_mean(whole, below)}"


def _fits(parts: Sequence[str | Placeholder], name: Sequence[str]) -> bool:
    for part, word in zip(parts, name, strict=False):
        if isinstance(part, str):
            if part != word:
                return False
        elif part.known is not None and not part.rest and word not in part.known():
            return False
    return True


def _takes_rest(setting: Setting) -> bool:
    last = setting.parts[-1]
    return isinstance(last, Placeholder) and last.rest


def _matched(setting: Setting, name: Sequence[str]) -> Name | None:
    if _takes_rest(setting) and len(name) > len(setting.parts):
        at = len(setting.parts) - 1
        name = (*name[:at], ".".join(name[at:]))
    if len(name) != len(setting.parts) or not _fits(setting.parts, name):
        return None
    return tuple(name)


def _is_kind(kind: Kind, value: object) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "flag":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, int) and not isinstance(value, bool)
        case "names":
            return isinstance(value, list) and all(isinstance(one, str) for one in value)


def shown_value(value: TomlValue) -> str:
    """A value as it is typed for ``parse_value``."""
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return ",".join(value)
        case _:
            return str(value)


def read_settings(
    path: Path, declared: SettingsSchema, *, thorough: bool = False
) -> dict[Name, TomlValue]:
    """Every setting of the file; an absent one has none. Raises SettingsError."""
    try:
        text = read_user_text(path)
    except UserFileError as error:
        raise SettingsError(str(error)) from None
    return parse_settings(path, text, declared, thorough=thorough)


def parse_settings(
    path: Path, text: str, declared: SettingsSchema, *, thorough: bool = False
) -> dict[Name, TomlValue]:
    """What the text of the file at ``path`` sets. Raises SettingsError."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(not_toml(path, text, error)) from None
    found: dict[Name, TomlValue] = {}
    places: dict[Name, Name] = {}
    for place, value in _leaves(content):
        if value == {} and declared.is_table(place):
            continue
        try:
            name = declared.named(place)[1]
        except SettingsError:
            continue  # of another version, or mistyped: ``unknown_settings`` names it
        problem = declared.problem(name, value, thorough=thorough)
        if problem:
            raise _fault(path, text, place, problem)
        found[name], places[name] = value, place
    for name, problem in declared.together(found):
        raise _fault(path, text, places.get(name, name), problem)
    return found


def unknown_settings(path: Path, declared: SettingsSchema) -> list[str]:
    """The settings of a readable file that do not exist, with their lines and similar names."""
    text = read_user_text(path)
    unknown: list[str] = []
    for place, value in _leaves(tomllib.loads(text)):
        try:
            if value != {} or not declared.is_table(place):
                declared.named(place)
        except SettingsError as error:
            unknown.append(str(_fault(path, text, place, str(error))))
    return unknown


def change_settings(
    path: Path, changes: Mapping[Name, TomlValue | None], declared: SettingsSchema
) -> dict[Name, TomlValue]:
    """Give settings values; None removes a setting, or a table of them. Gives back all there are.

    Raises SettingsError and then leaves the file as it was.
    """
    understood: dict[Name, TomlValue] = {}

    def change(editor: TomlEditor) -> None:
        for name, value in changes.items():
            table, last = _place(editor, name)
            if value is not None:
                editor.put(table, last, value)
            elif declared.is_table(name):
                editor.drop_table(name)
            else:
                editor.drop(table, last)

    def understand(text: str) -> None:
        nonlocal understood
        understood = parse_settings(path, text, declared)

    try:
        edit_user_file(path, change, understand)
    except UserFileError as error:
        raise SettingsError(str(error)) from None
    return understood


def _place(editor: TomlEditor, name: Name) -> tuple[TablePath, str]:
    """The table and the key: a name with dots may be written as tables within tables."""
    nested = (*name[:-1], *name[-1].split("."))
    found: Any = editor.data
    for part in nested:
        found = found.get(part) if isinstance(found, Mapping) else None
    return (name[:-1], name[-1]) if found is None else (nested[:-1], nested[-1])


def _leaves(content: Mapping[str, Any], above: Name = ()) -> Iterator[tuple[Name, Any]]:
    for key, value in content.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


def _fault(path: Path, text: str, place: Name, message: str) -> SettingsError:
    line = line_of(text, place)
    where = f"{path}:{line}" if line else str(path)
    return SettingsError(f"{where}: {safe_line('.'.join(place), _NAME)}: {message}")
