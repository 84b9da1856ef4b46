"""``gwtui config``: print and change preferences, without a gateway."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from gwtui.cli import exits
from gwtui.cli.command import COLUMNS, ROWS_OUTPUT, Argument, Command, Run
from gwtui.cli.output import data_on_stdout, narrate, print_rows
from gwtui.domain.safe_text import safe_text
from gwtui.local.paths import Paths
from gwtui.local.settings_file import (
    Setting,
    SettingsError,
    SettingsFile,
    shown_value,
    unknown_setting,
)
from gwtui.local.toml_file import TomlValue, WrongSettingError
from gwtui.resources.preferences import FILE_NAME, SETTINGS, preferences_file

_COLUMNS = ("setting", "value", "default", "help")
_LONGEST = 10_000
"""Maximum length of a printed value."""


def _of_file(work: Callable[[SettingsFile, argparse.Namespace], None]) -> Run:
    @exits.reporting(SettingsError)
    def run(arguments: argparse.Namespace) -> int:
        work(preferences_file(Paths.of_user().config / FILE_NAME), arguments)
        return exits.OK

    return run


def _setting(name: str) -> Setting:
    setting = next((declared for declared in SETTINGS if declared.matches(name)), None)
    if setting is None:
        raise exits.CommandError(f"{name}: {unknown_setting(name, SETTINGS)}", exits.USAGE)
    return setting


def _get(file: SettingsFile, arguments: argparse.Namespace) -> None:
    name = arguments.setting
    setting, value = _setting(name), file.read().known.get(name)
    if value is None:
        raise exits.CommandError(f"{name} is not set: {setting.default}")
    _print(shown_value(value))


def _print(text: str) -> None:
    with data_on_stdout():
        print(safe_text(text, _LONGEST))


def _set(file: SettingsFile, arguments: argparse.Namespace) -> None:
    name = arguments.setting
    setting = _setting(name)
    try:
        value = setting.parse(arguments.value)
        problem = setting.problem(name, value, thorough=True)
    except WrongSettingError as error:
        problem = str(error)
    if problem:
        raise exits.CommandError(f"{name}: {problem}", exits.USAGE)
    file.change({name: value})
    narrate(f"{name} is now {shown_value(value)}")


def _unset(file: SettingsFile, arguments: argparse.Namespace) -> None:
    name = arguments.setting
    present = file.read().known
    chosen = [key for key in present if key == name or key.startswith(f"{name}.")]
    if chosen:
        file.change(dict.fromkeys(chosen))
        narrate(f"{name} was removed; its default applies")
        return
    if not any(key.startswith(f"{name}.") for setting in SETTINGS for key in setting.names):
        _setting(name)
    narrate(f"{name} is not set")


def _checked(file: SettingsFile) -> dict[str, TomlValue]:
    settings = file.read(thorough=True)
    for name, problem in settings.unknown.items():
        narrate(f"ignored: {file.path}: {safe_text(name)}: {problem}")
    return settings.known


def _list(file: SettingsFile, arguments: argparse.Namespace) -> None:
    settings = _checked(file)
    rows = [_row(name, value) for name, value in sorted(settings.items())]
    rows += [
        {"setting": setting.name, "value": None, "default": setting.default, "help": setting.help}
        for setting in SETTINGS
        if setting.name not in settings
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


_SETTING = Argument(
    "setting",
    offers=(name for setting in SETTINGS for name in setting.names),
    help="name of the setting, such as lists.keys.sort",
)
_VALUE = Argument("value", help="new value; separate list entries with commas")
COMMAND = Command(
    verbs=(
        Command("get", "print the value of a setting", _of_file(_get), (_SETTING,)),
        Command("set", "set a setting", _of_file(_set), (_SETTING, _VALUE)),
        Command(
            "unset",
            "reset a setting, or all settings whose names begin with SETTING, to the default",
            _of_file(_unset),
            (_SETTING,),
        ),
        Command(
            "list",
            "list all settings with their values and defaults",
            _of_file(_list),
            (ROWS_OUTPUT, COLUMNS),
        ),
        Command(
            "path",
            "print the path of the preferences file",
            _of_file(lambda file, _arguments: _print(str(file.path))),
        ),
    )
)
