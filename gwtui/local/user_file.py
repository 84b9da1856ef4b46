"""A person's own TOML file: read strictly, changed only in the lines that an edit is about.

Every edit reads the file anew under a lock, so that two programs lose nothing of each other's, and
puts the new one in its place in one step. The mode stays; behind a symbolic link, it is the linked
file that changes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from gwtui.domain.safe_text import safe_line
from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.local.toml_editor import TomlEditError, TomlEditor

_PRIVATE = 0o600
_MAX_BYTES = 1024 * 1024
_WORLD_WRITABLE = 0o002
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_HEADER = re.compile(r"\s*\[([^]#]{1,200})")
_KEY = re.compile(r"\s*([\w.\"'-]{1,200})\s*=")


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
    from gwtui.local.jsonl import replace_file  # noqa: PLC0415 - loads pydantic

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
