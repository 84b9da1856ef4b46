"""A person's own TOML file: read strictly, changed only in the lines that an edit is about.

``TomlEditor`` changes a text, ``edit_user_file`` a file. An edit touches only the lines of its
statement: comments, order, blank lines and fields that this program does not know stay byte for
byte. The result is parsed again and compared with what the edit means before it is used.

A file is read anew under a lock for each edit, so that two programs lose nothing of each other's,
and replaced in one step. The mode stays; behind a symbolic link, the linked file changes.

tomlkit's own documents cannot do this: a comment between two tables belongs to the upper one there,
so that removing a table loses the comment above the next, and a new key lands below that comment;
added lines end in LF in a CRLF file, and nothing has a line number. Only single statements are
written with it.
"""

from __future__ import annotations

import contextlib
import copy
import fcntl
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gwtui.domain.safe_text import safe_line
from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.local.private_file import replace_file

_PRIVATE = 0o600
_MAX_BYTES = 1024 * 1024
_WORLD_WRITABLE = 0o002
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_HEADER = re.compile(r"\s*\[([^]#]{1,200})")
_KEY = re.compile(r"\s*([\w.\"'-]{1,200})\s*=")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

TablePath = tuple[str, ...]
"""Names from the outermost table inwards."""
TomlValue = str | bool | int | list[str]


class TomlEditError(Exception):
    """The text is written in a form that cannot be changed line by line."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A table header or an assignment; ``path`` counts from the root, lines from 0."""

    kind: Literal["table", "key"]
    path: TablePath
    first: int
    last: int


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line, from 1, where ``path`` is written, or the nearest table around it.

    None when nothing of it is there. ``text`` must be valid TOML.
    """
    found = list(_statements(_lines(text)))
    for depth in range(len(path), 0, -1):
        for statement in found:
            if statement.path[:depth] == tuple(path[:depth]):
                return statement.first + 1
    return None


class TomlEditor:
    """One text being changed. Raises tomllib.TOMLDecodeError for a text that is not TOML."""

    def __init__(self, text: str) -> None:
        self._expected: dict[str, Any] = tomllib.loads(text)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._lines = _lines(text)

    @property
    def data(self) -> Mapping[str, Any]:
        """What the text means, with the changes made so far."""
        return self._expected

    def text(self) -> str:
        """The changed text. Raises TomlEditError when it does not parse to what the edits mean."""
        text = "".join(self._lines)
        try:
            is_right = _pruned(tomllib.loads(text)) == _pruned(self._expected)
        except tomllib.TOMLDecodeError:
            is_right = False
        if not is_right:
            raise TomlEditError("it is written in a form that cannot be edited here")
        return text

    def put(self, table: TablePath, name: str, value: TomlValue) -> None:
        """Give a key of a table a value; the table is made at the end when there is none."""
        self._inner(table)[name] = copy.copy(value)
        present = self._key(table, name)
        if present is not None:
            self._replace(present, name, value)
        elif table and self._section(table) is None:
            beside = self._dotted(table)
            if beside is None:
                self._append(table, name, value)
            else:
                self._insert_dotted(beside, table, name, value)
        else:
            self._insert(table, name, value)

    def drop(self, table: TablePath, name: str) -> None:
        """Remove a key of a table with its lines; nothing happens when it is not there."""
        self._inner(table).pop(name, None)
        present = self._key(table, name)
        if present is not None:
            del self._lines[present.first : present.last + 1]

    def drop_table(self, table: TablePath) -> None:
        """Remove a table and those inside it. Comments before and after it stay."""
        self._inner(table[:-1]).pop(table[-1], None)
        doomed = [one for one in self._all() if one.path[: len(table)] == table]
        for statement in reversed(doomed):
            del self._lines[statement.first : statement.last + 1]
            self._join_blanks(statement.first)

    def _inner(self, table: TablePath) -> dict[str, Any]:
        """What is expected of a table; an empty one makes no difference."""
        inner = self._expected
        for part in table:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise TomlEditError(f"{part} is not a table")
        return inner

    # Lines --------------------------------------------------------------------------------------

    def _all(self) -> list[_Statement]:
        return list(_statements(self._lines))

    def _key(self, table: TablePath, name: str) -> _Statement | None:
        matches = (one for one in self._all() if one.path == (*table, name) and one.kind == "key")
        return next(matches, None)

    def _section(self, table: TablePath) -> _Statement | None:
        """The header of a table; None when it has none of its own."""
        headers = (one for one in self._all() if one.path == table and one.kind == "table")
        return next(headers, None)

    def _dotted(self, table: TablePath) -> tuple[_Statement, TablePath] | None:
        """The last dotted key of a table, and the table that it is written in."""
        around: TablePath = ()
        found: tuple[_Statement, TablePath] | None = None
        for statement in self._all():
            if statement.kind == "table":
                around = statement.path
            elif statement.path[:-1] == table and len(around) < len(table):
                found = statement, around
        return found

    def _insert_dotted(
        self, beside: tuple[_Statement, TablePath], table: TablePath, name: str, value: TomlValue
    ) -> None:
        tomlkit = _tomlkit()
        statement, around = beside
        key = tomlkit.key([*table[len(around) :], name]).as_string()
        written = f"{key} = {tomlkit.item(value).as_string()}{self._newline}"
        self._end_line(statement.last)
        self._lines.insert(statement.last + 1, self._indent(statement) + written)

    def _replace(self, present: _Statement, name: str, value: TomlValue) -> None:
        tomlkit = _tomlkit()
        written = tomlkit.parse("".join(self._lines[present.first : present.last + 1]))
        inner: Any = written
        while name not in inner:  # it is written with dots
            inner = next(iter(inner.values()))
        inner[name] = value
        self._lines[present.first : present.last + 1] = _lines(tomlkit.dumps(written))

    def _insert(self, table: TablePath, name: str, value: TomlValue) -> None:
        """Insert after the last key of the table: comments below it may be about the next one."""
        header = self._section(table)
        start = -1 if header is None else header.first
        last = header
        for statement in self._all():
            if statement.first <= start:
                continue
            if statement.kind == "table":
                break
            last = statement
        line = self._indent(last) + _written({name: value}, self._newline)
        if last is not None:
            self._end_line(last.last)
            self._lines.insert(last.last + 1, line)
        else:
            self._lines.insert(self._top(), line)

    def _indent(self, statement: _Statement | None) -> str:
        if statement is None or statement.kind == "table":
            return ""
        line = self._lines[statement.first]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _top(self) -> int:
        """The line for the first key of the root: below the comment that opens the file."""
        index = 0
        while index < len(self._lines) and self._lines[index].lstrip().startswith("#"):
            index += 1
        # A comment without a blank line below it belongs to what it stands on.
        if index < len(self._lines) and self._lines[index].strip():
            index = 0
        if index < len(self._lines):
            self._lines.insert(index, self._newline)
        if 0 < index < len(self._lines):
            index += 1
        return index

    def _append(self, table: TablePath, name: str, value: TomlValue) -> None:
        if self._lines:
            self._end_line(len(self._lines) - 1)
            if self._lines[-1].strip():
                self._lines.append(self._newline)
        nested: dict[str, Any] = {name: value}
        for part in reversed(table):
            nested = {part: nested}
        self._lines += _lines(_written(nested, self._newline))

    def _join_blanks(self, index: int) -> None:
        """What stood between two blank lines is gone: one of them is enough."""
        above = index > 0 and not self._lines[index - 1].strip()
        below = index == len(self._lines) or not self._lines[index].strip()
        if above and below:
            del self._lines[index - 1]

    def _end_line(self, index: int) -> None:
        if not self._lines[index].endswith("\n"):
            self._lines[index] += self._newline


def _lines(text: str) -> list[str]:
    """Not ``splitlines``: it also splits at characters that TOML allows inside a line."""
    return _LINE.findall(text)


def _statements(lines: Sequence[str]) -> Iterator[_Statement]:
    """Every header and assignment of a valid text, in order."""
    table: TablePath = ()
    first = 0
    while first < len(lines):
        last, meaning = _whole_statement(lines, first)
        if meaning:
            if lines[first].lstrip().startswith("["):
                table = _descend(meaning)
                yield _Statement("table", table, first, last)
            else:
                yield _Statement("key", (*table, *_descend(meaning)), first, last)
        first = last + 1


def _whole_statement(lines: Sequence[str], first: int) -> tuple[int, dict[str, Any]]:
    """A statement is whole as soon as it can be read by itself."""
    for last in range(first, len(lines)):
        try:
            return last, tomllib.loads("".join(lines[first : last + 1]))
        except tomllib.TOMLDecodeError:
            continue
    return len(lines) - 1, {}


def _descend(meaning: Any) -> TablePath:
    """The one path through the tables of a statement, down to its first value."""
    path: list[str] = []
    while True:
        if isinstance(meaning, list):
            meaning = meaning[0] if meaning and isinstance(meaning[0], dict) else None
        if not isinstance(meaning, dict) or not meaning:
            return tuple(path)
        name, meaning = next(iter(meaning.items()))
        path.append(name)


def _written(values: Mapping[str, Any], newline: str) -> str:
    text: str = _tomlkit().dumps(values)
    return text.replace("\n", newline)


def _tomlkit() -> Any:
    import tomlkit  # noqa: PLC0415 - only for who edits

    return tomlkit


def _pruned(value: Any) -> Any:
    """Without empty tables: whether one is written out makes no difference."""
    if not isinstance(value, dict):
        return value
    inner = ((name, _pruned(one)) for name, one in value.items())
    return {name: one for name, one in inner if one != {}}


class UserFileError(Exception):
    """The file cannot be read or changed; the message names it and says why."""


def read_user_text(path: Path) -> str:
    """The text of the file, empty when it is absent. Raises UserFileError.

    Whoever can write the file can have a command run: it must not be somebody else's.
    """
    try:
        with path.open("rb") as file:
            _refuse_foreign(path, os.fstat(file.fileno()))
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise UserFileError(f"{path}: {error.strerror or 'cannot be read'}") from None
    if len(content) > _MAX_BYTES:
        raise UserFileError(f"{path}: is larger than such a file can be")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserFileError(f"{path}:{line}: is not UTF-8 text") from None


def not_toml(path: Path, text: str, error: tomllib.TOMLDecodeError) -> str:
    """File, line, field and fault of a text that is not TOML; no value is repeated."""
    lines = text.split("\n")
    found = _PLACE.search(str(error))
    line = int(found[1]) if found else len(lines)
    table = next((m[1] for one in reversed(lines[: line - 1]) if (m := _HEADER.match(one))), "")
    key = _KEY.match(lines[line - 1])
    where = ".".join(part.strip() for part in (table, key[1] if key else "") if part)
    fault = f"is not valid TOML: {_PLACE.sub('', str(error))}"
    place = f"{path}:{line}"
    return f"{place}: {safe_line(where, 120)}: {fault}" if where else f"{place}: {fault}"


def edit_user_file(
    path: Path, change: Callable[[TomlEditor], None], understand: Callable[[str], object]
) -> None:
    """Change a file, made when absent. Raises UserFileError and then leaves it as it was.

    ``understand`` reads a text the way the next start will and raises what is wrong with it, as
    ``change`` may: such errors pass through.
    """
    try:
        if not path.parent.is_dir():
            ensure_private(path.parent)
        with _locked(path):
            _edit_locked(path.resolve(), change, understand)
    except (PrivateDirectoryError, TomlEditError) as error:
        raise UserFileError(f"{path}: {error}; change it by hand") from None
    except OSError as error:
        raise UserFileError(f"{path}: {error.strerror or 'cannot be written'}") from None


def _edit_locked(
    path: Path, change: Callable[[TomlEditor], None], understand: Callable[[str], object]
) -> None:
    before = _stat(path)
    if before is not None and before.st_uid != os.geteuid():
        raise UserFileError(f"{path}: belongs to another user")
    text = read_user_text(path)
    try:
        editor = TomlEditor(text)
        change(editor)
        changed = editor.text()
    except (tomllib.TOMLDecodeError, TomlEditError):
        # Where it is the file that is broken, this says where.
        understand(text)
        raise
    # Whatever stands in the file from now on is understood at the next start.
    understand(changed)
    if changed == text:
        return
    if _version(_stat(path)) != _version(before):
        raise UserFileError(f"{path}: was changed by another program just now; try again")
    if before is None:
        replace_file(path, changed.encode(), mode=_PRIVATE)
    else:
        mode = stat.S_IMODE(before.st_mode)
        replace_file(path, changed.encode(), mode=mode, group=before.st_gid)


def _refuse_foreign(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in {os.geteuid(), 0}:
        raise UserFileError(f"{path}: belongs to another user")
    if stat.S_IMODE(found.st_mode) & _WORLD_WRITABLE:
        raise UserFileError(f"{path}: can be written by everyone, run: chmod 600 {path}")


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _version(found: os.stat_result | None) -> tuple[int, int, int] | None:
    return None if found is None else (found.st_ino, found.st_mtime_ns, found.st_size)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A file of its own carries the lock: the file itself is exchanged at every edit."""
    lock = path.with_name(f".{path.name}.lock")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(lock, flags, _PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
