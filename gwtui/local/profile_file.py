"""Writing ``profiles.toml``: the person's own file, so only the lines that change are touched.

How that is done without losing anything is in ``user_file``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gwtui.domain.suggestions import among
from gwtui.local.profile_text import parse_profiles
from gwtui.local.profiles import ProfileError
from gwtui.local.toml_editor import TomlEditError, TomlEditor, Value
from gwtui.local.user_file import UserFileError, edit_user_file

_PROFILES = "profiles"
_DEFAULT = "default"


def put_profile(
    path: Path, name: str, values: Mapping[str, Value | None], *, default: bool = False
) -> None:
    """Add a profile or change these fields of it; None removes a field.

    With ``default``, it becomes the profile that a start without a name means. Raises ProfileError
    and then leaves the file as it was.
    """

    def change(editor: TomlEditor) -> None:
        table = (_PROFILES, name)
        for field, value in values.items():
            if value is None:
                editor.drop(table, field)
            else:
                editor.put(table, field, value)
        if default:
            editor.put((), _DEFAULT, name)

    _edit(path, change)


def remove_profile(path: Path, name: str) -> None:
    """Remove a profile, and the default when that is what it was. Raises ProfileError."""

    def change(editor: TomlEditor) -> None:
        _require(editor, name)
        editor.drop_table((_PROFILES, name))
        if editor.data.get(_DEFAULT) == name:
            editor.drop((), _DEFAULT)

    _edit(path, change)


def set_default(path: Path, name: str) -> None:
    """Make a profile the one that a start without a name means. Raises ProfileError."""

    def change(editor: TomlEditor) -> None:
        _require(editor, name)
        editor.put((), _DEFAULT, name)

    _edit(path, change)


def _require(editor: TomlEditor, name: str) -> None:
    tables = editor.data.get(_PROFILES, {})
    if not isinstance(tables, dict):
        raise TomlEditError(f"{_PROFILES} is not a table")
    if name not in tables:
        raise ProfileError(f"there is no profile {name!r}{among(name, tables)}")


def _edit(path: Path, change: Callable[[TomlEditor], None]) -> None:
    try:
        edit_user_file(
            path, change, lambda text: parse_profiles(path.resolve(), text, keep_unknown=True)
        )
    except UserFileError as error:
        raise ProfileError(str(error)) from None
