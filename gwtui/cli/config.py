"""``gwtui config``: the person's preferences, shown and changed; no gateway is asked."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.command import COLUMNS, ROWS_OUTPUT, Argument, Command, Run
from gwtui.cli.exits import CommandError
from gwtui.cli.output import data_on_stdout, narrate, print_rows
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


def _of_file(work: Callable[[SettingsFile, argparse.Namespace], None]) -> Run:
    """A verb that works on the settings file."""

    def run(arguments: argparse.Namespace) -> int:
        try:
            work(preferences_file(Paths.of_user().config / FILE_NAME), arguments)
        except SettingsError as error:
            raise CommandError(str(error), exits.USAGE) from None
        return exits.OK

    return run


def _setting(name: str) -> Setting:
    """The setting of that name. Raises CommandError."""
    found = next((one for one in SETTINGS if one.means(name)), None)
    if found is None:
        raise CommandError(f"{name}: {unknown_setting(name, SETTINGS)}", exits.USAGE)
    return found


def _get(file: SettingsFile, arguments: argparse.Namespace) -> None:
    name = arguments.setting
    setting, value = _setting(name), file.read().known.get(name)
    if value is None:
        raise CommandError(f"{name} is not set: {setting.default}")
    _print(shown_value(value))


def _print(text: str) -> None:
    with data_on_stdout():
        print(safe_text(text, _LONGEST))


def _set(file: SettingsFile, arguments: argparse.Namespace) -> None:
    name = arguments.setting
    setting = _setting(name)
    try:
        value = setting.parsed(arguments.value)
        problem = setting.problem(name, value, thorough=True)
    except WrongSettingError as error:
        problem = str(error)
    if problem:
        raise CommandError(f"{name}: {problem}", exits.USAGE)
    file.change({name: value})
    narrate(f"{name} is {shown_value(value)} now")


def _unset(file: SettingsFile, arguments: argparse.Namespace) -> None:
    name = arguments.setting
    present = file.read().known
    chosen = [one for one in present if one == name or one.startswith(f"{name}.")]
    if chosen:
        file.change(dict.fromkeys(chosen))
        narrate(f"{name} is not set any more")
        return
    if not any(one.startswith(f"{name}.") for setting in SETTINGS for one in setting.names):
        _setting(name)
    narrate(f"{name} is not set")


def _checked(file: SettingsFile) -> dict[str, TomlValue]:
    """Every setting of the file; says which are unknown. Raises SettingsError."""
    found = file.read(thorough=True)
    for name, problem in found.unknown.items():
        narrate(f"ignored: {file.path}: {safe_text(name)}: {problem}")
    return found.known


def _list(file: SettingsFile, arguments: argparse.Namespace) -> None:
    found = _checked(file)
    rows = [_row(name, value) for name, value in sorted(found.items())]
    rows += [
        {"setting": one.name, "value": None, "default": one.default, "help": one.help}
        for one in SETTINGS
        if one.name not in found
    ]
    print_rows(rows, arguments, _COLUMNS)


def _row(name: str, value: TomlValue) -> dict[str, object]:
    setting = _setting(name)
    return {
        "setting": name,
        "value": shown_value(value),
        "default": setting.default,
        "help": setting.help,
    }


def _edit(file: SettingsFile, _arguments: argparse.Namespace) -> None:
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


_SETTING = Argument(
    "setting",
    offers=(name for one in SETTINGS for name in one.names),
    help="its name, such as lists.keys.sort",
)
_VALUE = Argument("value", help="lists are joined by commas; flags are true and false")
COMMAND = Command(
    verbs=(
        Command("get", "print what a setting is set to", _of_file(_get), (_SETTING,)),
        Command("set", "set it", _of_file(_set), (_SETTING, _VALUE)),
        Command("unset", "remove a setting, or all below a name", _of_file(_unset), (_SETTING,)),
        Command(
            "list",
            "print every setting there is, with what is set",
            _of_file(_list),
            (ROWS_OUTPUT, COLUMNS),
        ),
        Command("edit", "open the file in your editor, and check it", _of_file(_edit)),
        Command(
            "path",
            "print where the file is",
            _of_file(lambda file, _arguments: _print(str(file.path))),
        ),
    )
)
