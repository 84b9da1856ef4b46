"""Writing ``profiles.toml``: the person's own file, so only the lines that change are touched.

Every edit reads the file anew under a lock, so that two programs lose nothing of each other's, and
puts the new one in its place in one step. The mode stays; behind a symbolic link, it is the linked
file that changes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gwtui.local.durable import replace_file
from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.local.profile_text import parse_profiles, read_profile_text
from gwtui.local.profiles import ProfileError
from gwtui.local.toml_editor import TomlEditError, TomlEditor, Value

_PRIVATE = 0o600
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
        raise ProfileError(f"there is no profile {name!r}")


def _edit(path: Path, change: Callable[[TomlEditor], None]) -> None:
    try:
        if not path.parent.is_dir():
            ensure_private(path.parent)
        with _locked(path):
            _edit_locked(path.resolve(), change)
    except (PrivateDirectoryError, TomlEditError) as error:
        raise ProfileError(f"{path}: {error}; change it by hand") from None
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror or 'cannot be written'}") from None


def _edit_locked(path: Path, change: Callable[[TomlEditor], None]) -> None:
    before = _stat(path)
    if before is not None and before.st_uid != os.geteuid():
        raise ProfileError(f"{path}: belongs to another user")
    text = read_profile_text(path)
    try:
        editor = TomlEditor(text)
        change(editor)
        changed = editor.text()
    except (tomllib.TOMLDecodeError, TomlEditError):
        # Where it is the file that is broken, this says where.
        parse_profiles(path, text, keep_unknown=True)
        raise
    # Whatever stands in the file from now on is understood at the next start.
    parse_profiles(path, changed, keep_unknown=True)
    if changed == text:
        return
    if _version(_stat(path)) != _version(before):
        raise ProfileError(f"{path}: was changed by another program just now; try again")
    if before is None:
        replace_file(path, changed.encode(), mode=_PRIVATE)
    else:
        mode = stat.S_IMODE(before.st_mode)
        replace_file(path, changed.encode(), mode=mode, group=before.st_gid)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _version(found: os.stat_result | None) -> tuple[int, int, int] | None:
    return None if found is None else (found.st_ino, found.st_mtime_ns, found.st_size)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A file of its own carries the lock: the profile file is exchanged at every edit."""
    lock = path.with_name(f".{path.name}.lock")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(lock, flags, _PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
