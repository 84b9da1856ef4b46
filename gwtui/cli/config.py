"""``gwtui config``: the person's preferences, shown and changed; no gateway is asked."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.exits import CommandError
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.cli.rows import add_row_options, print_rows
from gwtui.domain.safe_text import safe_text
from gwtui.local.paths import Paths
from gwtui.local.private_file import PrivateDirectoryError, ensure_private
from gwtui.local.settings_file import (
    Setting,
    SettingsError,
    SettingsFile,
    shown_value,
    unknown_setting,
)
from gwtui.local.tokens import TOKEN_VARIABLE, TRY_KEY_VARIABLE
from gwtui.local.toml_file import TomlValue, WrongSettingError
from gwtui.resources.preferences import FILE_NAME, SETTINGS, preferences_file

_COLUMNS = ("setting", "value", "default", "help")
_EDITORS = ("VISUAL", "EDITOR")
_SECRETS = (TOKEN_VARIABLE, TRY_KEY_VARIABLE)
_PRIVATE = 0o600
_LONGEST = 10_000
"""Characters of a value that is printed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``get``, ``set``, ``unset``, ``list``, ``edit`` and ``path``."""
    commands = parser.add_subparsers(dest="config_command", metavar="COMMAND", required=True)
    get = commands.add_parser("get", help="print what a setting is set to")
    put = commands.add_parser("set", help="set it")
    unset = commands.add_parser("unset", help="remove a setting, or all below a name")
    for one in (get, put, unset):
        one.add_argument("setting", metavar="SETTING", help="its name, such as lists.keys.sort")
    put.add_argument(
        "value", metavar="VALUE", help="lists are joined by commas; flags are true and false"
    )
    every = commands.add_parser("list", help="print every setting there is, with what is set")
    add_row_options(every)
    commands.add_parser("edit", help="open the file in your editor, and check it")
    commands.add_parser("path", help="print where the file is")


def run(arguments: argparse.Namespace) -> int:
    """Show or change; returns an exit code."""
    path = Paths.of_user().config / FILE_NAME
    file = preferences_file(path)
    try:
        match arguments.config_command:
            case "get":
                return _get(file, arguments.setting)
            case "set":
                return _set(file, arguments.setting, arguments.value)
            case "unset":
                return _unset(file, arguments.setting)
            case "list":
                return _list(file, arguments.output, arguments.columns)
            case "edit":
                return _edit(file)
            case _:
                _print(str(path))
                return exits.OK
    except SettingsError as error:
        raise CommandError(str(error), exits.USAGE) from None


def _setting(name: str) -> Setting:
    """The setting of that name. Raises CommandError."""
    found = next((one for one in SETTINGS if one.means(name)), None)
    if found is None:
        raise CommandError(f"{name}: {unknown_setting(name, SETTINGS)}", exits.USAGE)
    return found


def _get(file: SettingsFile, name: str) -> int:
    setting, value = _setting(name), file.read().known.get(name)
    if value is None:
        narrate(f"{name} is not set: {setting.default}")
        return exits.FAILED
    _print(shown_value(value))
    return exits.OK


def _print(text: str) -> None:
    with data_on_stdout():
        print(safe_text(text, _LONGEST))


def _set(file: SettingsFile, name: str, typed: str) -> int:
    setting = _setting(name)
    try:
        value = setting.parsed(typed)
        problem = setting.problem(name, value, thorough=True)
    except WrongSettingError as error:
        problem = str(error)
    if problem:
        raise CommandError(f"{name}: {problem}", exits.USAGE)
    file.change({name: value})
    narrate(f"{name} is {shown_value(value)} now")
    return exits.OK


def _unset(file: SettingsFile, name: str) -> int:
    present = file.read().known
    chosen = [one for one in present if one == name or one.startswith(f"{name}.")]
    if not chosen:
        if not any(one.startswith(f"{name}.") for setting in SETTINGS for one in setting.names):
            _setting(name)
        narrate(f"{name} is not set")
        return exits.OK
    file.change(dict.fromkeys(chosen))
    narrate(f"{name} is not set any more")
    return exits.OK


def _checked(file: SettingsFile) -> dict[str, TomlValue]:
    """Every setting of the file; says which are unknown. Raises SettingsError."""
    found = file.read(thorough=True)
    for name, problem in found.unknown.items():
        narrate(f"ignored: {file.path}: {safe_text(name)}: {problem}")
    return found.known


def _list(file: SettingsFile, form: str, columns: str | None) -> int:
    found = _checked(file)
    rows = [_row(name, value) for name, value in sorted(found.items())]
    rows += [
        {"setting": one.name, "value": None, "default": one.default, "help": one.help}
        for one in SETTINGS
        if one.name not in found
    ]
    print_rows(
        rows,
        form,
        known=_COLUMNS,
        usual=dict(zip(_COLUMNS, _COLUMNS, strict=True)),
        columns=columns,
    )
    return exits.OK


def _row(name: str, value: TomlValue) -> dict[str, object]:
    setting = _setting(name)
    return {
        "setting": name,
        "value": shown_value(value),
        "default": setting.default,
        "help": setting.help,
    }


def _edit(file: SettingsFile) -> int:
    path = file.path
    editor = next(filter(None, (os.environ.get(name) for name in _EDITORS)), None)
    if editor is None:
        raise CommandError(f"no editor: set EDITOR, or open {path}", exits.USAGE)
    _begin(path)
    try:
        words = [*shlex.split(editor), str(path)]
        ended = subprocess.run(words, env=_environment(), check=False)  # noqa: S603 - their own
    except (OSError, ValueError) as error:
        raise CommandError(f"the editor {editor!r} cannot be started: {error}") from None
    _checked(file)
    if ended.returncode:
        raise CommandError(f"the editor ended with {ended.returncode}")
    return exits.OK


def _environment() -> Mapping[str, str]:
    """Without the keys: an editor and its plugins need none of them."""
    return {name: value for name, value in os.environ.items() if name not in _SECRETS}


def _begin(path: Path) -> None:
    """Make a file of comments that list every setting, where there is no file yet."""
    lines = ["# Preferences of gwtui. Without a setting its default holds.", ""]
    for one in SETTINGS:
        lines += [f"# {one.name}: {one.help}. Default: {one.default}."]
    try:
        ensure_private(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, _PRIVATE), "w") as file:
            file.write("\n".join([*lines, ""]))
    except FileExistsError:
        return
    except (OSError, PrivateDirectoryError) as error:
        raise CommandError(f"{path}: cannot be made: {error}") from None
