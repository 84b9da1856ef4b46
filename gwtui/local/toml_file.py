"""Reads and edits TOML files that people maintain, keeping comments and unknown keys.

An edit locks the file, reads it again and replaces it atomically, keeping its mode; a symbolic link
stays, and the file behind it changes. The edited text is parsed again before it is written. Invalid
files, and forms that tomlkit cannot edit reliably, are left untouched.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Generic, TypeVar

from gwtui.domain.safe_text import safe_line
from gwtui.local.private_file import (
    UnusableFileError,
    ensure_private,
    open_locked,
    read_owned,
    replace_file,
)

T = TypeVar("T")

TomlPath = tuple[str, ...]
"""The name of a key, preceded by the names of the tables around it."""
TomlValue = str | bool | int | Decimal | list[str]

_PRIVATE = 0o600
_MAX_BYTES = 1024 * 1024
_WORLD_WRITABLE = 0o002
_NAME = 120


class TomlFileError(Exception):
    """A file cannot be used; the message is the reason, without the name of the file."""


class WrongSettingError(TomlFileError):
    """A setting has an invalid value, which the message does not repeat."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{safe_line(name, _NAME)}: {message}" if name else message)
        self.name = name
        self.message = message

    def inside(self, table: str) -> WrongSettingError:
        """The same error, with ``table`` in front of the name of the setting."""
        return WrongSettingError(".".join(filter(None, (table, self.name))), self.message)


@dataclass(frozen=True, slots=True)
class TomlFile(Generic[T]):
    """A file with a typed content.

    ``parse`` converts the parsed TOML to that content and raises WrongSettingError. Every
    problem is raised as ``error``, with a message that starts with the path.
    """

    path: Path
    parse: Callable[[dict[str, Any]], T]
    error: type[Exception]

    def read(self) -> T:
        """Read the content; a missing file is empty."""
        with self._faults():
            return self._meaning(_text(self.path))

    def change(self, edit: Callable[[str], str]) -> T:
        """Edit the text of the file and return the new content.

        The file is created if needed, and stays as it was on an error.
        """
        with self._faults():
            if not self.path.parent.is_dir():
                ensure_private(self.path.parent)
            # The lock is a separate file, because every edit replaces the file itself.
            with open_locked(self.path.with_name(f".{self.path.name}.lock")):
                return self._replaced(self.path.resolve(), edit)

    def _replaced(self, path: Path, edit: Callable[[str], str]) -> T:
        before = path.stat() if path.exists() else None
        if before is not None and before.st_uid != os.geteuid():
            raise TomlFileError("belongs to another user")
        text = _text(path)
        self._meaning(text)
        changed = edit(text)
        meaning = self._meaning(changed)
        if changed == text:
            return meaning
        mode, group = _PRIVATE, None
        if before is not None:
            mode, group = stat.S_IMODE(before.st_mode), before.st_gid
        replace_file(path, changed.encode(), mode=mode, group=group)
        return meaning

    def _meaning(self, text: str) -> T:
        return self.parse(tomllib.loads(text, parse_float=Decimal))

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except tomllib.TOMLDecodeError as error:
            why = f"is not valid TOML: {error}"
        except TomlFileError as error:
            why = str(error)
        except OSError as error:
            why = error.strerror or "cannot be used"
        else:
            return
        raise self.error(f"{self.path}: {why}") from None


def with_values(text: str, values: Mapping[TomlPath, TomlValue | None]) -> str:
    """Return the text with these keys set, or removed if None. Raises TomlFileError."""
    import tomlkit  # noqa: PLC0415 - only for who edits
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        document = tomlkit.parse(text)
        for path, value in values.items():
            _put(document, path, value)
        changed = tomlkit.dumps(document)
    except (TOMLKitError, ValueError, TypeError):
        raise _not_here() from None
    if "\r\n" in text:
        changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
    return _checked(changed, document.unwrap())


def _put(document: Any, path: TomlPath, value: TomlValue | None) -> None:
    import tomlkit  # noqa: PLC0415

    *above, name = path
    table = document
    for part in above:
        if part not in table:
            table[part] = tomlkit.table()
        table = table[part]
    if value is None:
        table.pop(name, None)
    if value is None or table.get(name) == value:
        return
    # Comments at the end of a table belong to the next one, so a new key goes above them.
    body = (document if table is document else table.value).body
    comments = []
    while body and body[-1][0] is None:
        comments.append(body.pop())
    table[name] = value
    body.extend(reversed(comments))


def without_table(text: str, group: str, name: str) -> str:
    """The text without the table ``[group.name]``, keeping the comments around it.

    Raises TomlFileError.
    """
    kept: list[str] = []
    comments: list[str] = []
    is_inside = False
    for line in text.splitlines(keepends=True):
        header = _header(line)
        if header:
            is_inside = header[:2] == (group, name)
        if not is_inside:
            kept += [*comments, line]
            comments = []
        elif not line.strip() or line.lstrip().startswith("#"):
            comments.append(line)
        else:
            comments = []
    changed = "".join([*kept, *comments])
    expected = tomllib.loads(text)
    expected.get(group, {}).pop(name, None)
    return _checked(changed, expected)


def _header(line: str) -> TomlPath:
    if not line.lstrip().startswith("["):
        return ()
    try:
        inner: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(inner.items()))
        path.append(name)
    return tuple(path)


def _checked(changed: str, expected: Mapping[str, Any]) -> str:
    try:
        is_right = _pruned(tomllib.loads(changed)) == _pruned(expected)
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise _not_here()
    return changed


def _pruned(value: Any) -> Any:
    # An empty table means the same as none.
    if not isinstance(value, dict):
        return value
    inner = {name: _pruned(inner_value) for name, inner_value in value.items()}
    return {name: inner_value for name, inner_value in inner.items() if inner_value != {}}


def _not_here() -> TomlFileError:
    return TomlFileError("is written in a form that cannot be edited here; change it by hand")


def _text(path: Path) -> str:
    # Whoever can write the file can have a command run, so it must not belong to another user.
    try:
        return read_owned(path, _MAX_BYTES, forbidden=_WORLD_WRITABLE).decode()
    except FileNotFoundError:
        return ""
    except UnusableFileError as error:
        raise TomlFileError(str(error)) from None
    except UnicodeDecodeError:
        raise TomlFileError("is not UTF-8 text") from None
