"""Reading ``profiles.toml``: strict, and precise about where a fault stands."""

from __future__ import annotations

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gwtui.contract.request import problems
from gwtui.domain.safe_text import safe_line
from gwtui.local.profiles import FIELDS, Profile, ProfileBook, ProfileError
from gwtui.local.toml_editor import line_of

_MAX_BYTES = 1024 * 1024
_WORLD_WRITABLE = 0o002
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_HEADER = re.compile(r"\s*\[([^]#]{1,200})")
_KEY = re.compile(r"\s*([\w.\"'-]{1,200})\s*=")
_SECRETS = frozenset({"token", "key", "api_key", "secret", "password"})


def load_profiles(path: Path, *, keep_unknown: bool = False) -> ProfileBook:
    """Read the profile file; an absent one is an empty book. Raises ProfileError.

    An unknown key is an error: it may be a guard that somebody mistyped. ``keep_unknown`` only
    notes it, for commands that talk to no gateway.
    """
    return parse_profiles(path, read_profile_text(path), keep_unknown=keep_unknown)


def read_profile_text(path: Path) -> str:
    """The text of the profile file, empty when it is absent. Raises ProfileError."""
    try:
        with path.open("rb") as file:
            _refuse_foreign(path, os.fstat(file.fileno()))
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror or 'cannot be read'}") from None
    if len(content) > _MAX_BYTES:
        raise ProfileError(f"{path}: is larger than a file of profiles can be")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ProfileError(f"{path}:{line}: is not UTF-8 text") from None


def parse_profiles(path: Path, text: str, *, keep_unknown: bool = False) -> ProfileBook:
    """What the text of the file at ``path`` says. Raises ProfileError."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"{path}{_broken(text, str(error))}") from None
    return _Reader(path, text, keep_unknown).book(content)


class _Reader:
    """Reads one file, and says of each fault where it stands."""

    def __init__(self, path: Path, text: str, keep_unknown: bool) -> None:
        self._path = path
        self._text = text
        self._keep_unknown = keep_unknown
        self._unknown: list[str] = []

    def book(self, content: dict[str, Any]) -> ProfileBook:
        tables = content.get("profiles", {})
        default = content.get("default")
        self._refuse_unknown((), content, frozenset({"profiles", "default"}))
        if not isinstance(tables, dict):
            raise self._fault(("profiles",), "must be tables such as [profiles.work]")
        profiles = {name: self._profile(name, table) for name, table in tables.items()}
        if default is not None and (not isinstance(default, str) or default not in profiles):
            raise self._fault(("default",), f"there is no profile {default!r}")
        return ProfileBook(profiles, default, tuple(self._unknown))

    def _profile(self, name: str, table: object) -> Profile:
        where = ("profiles", name)
        if not name:
            raise self._fault(where, "needs a name")
        if not isinstance(table, dict):
            raise self._fault(where, "must be a table")
        self._refuse_unknown(where, table, FIELDS)
        known = {key: value for key, value in table.items() if key in FIELDS}
        try:
            return Profile.model_validate({**known, "name": name})
        except ValidationError as error:
            wrong = problems(error)[0]
        path = (*where, *wrong.field.split(".")) if wrong.field else where
        raise self._fault(path, wrong.message.removeprefix("Value error, "))

    def _refuse_unknown(
        self, where: tuple[str, ...], table: Mapping[str, Any], known: frozenset[str]
    ) -> None:
        for name in table:
            if name in known:
                continue
            fault = self._fault((*where, name), f"is not a known key{_hint(name, known)}")
            if not self._keep_unknown:
                raise fault
            self._unknown.append(str(fault))

    def _fault(self, path: tuple[str, ...], message: str) -> ProfileError:
        line = line_of(self._text, path)
        place = f"{self._path}:{line}" if line else str(self._path)
        return ProfileError(f"{place}: {safe_line('.'.join(path), 120)}: {message}")


def _hint(name: str, known: frozenset[str]) -> str:
    if name.lower() in _SECRETS:
        return ": no secret is kept in this file, see gwtui login --help"
    close = difflib.get_close_matches(name, known, 1)
    return f"; is {close[0]} meant?" if close else ""


def _broken(text: str, message: str) -> str:
    """Line, field and fault of a text that is not TOML; no value is repeated."""
    lines = text.split("\n")
    found = _PLACE.search(message)
    line = int(found[1]) if found else len(lines)
    table = next((m[1] for one in reversed(lines[: line - 1]) if (m := _HEADER.match(one))), "")
    key = _KEY.match(lines[line - 1])
    where = ".".join(part.strip() for part in (table, key[1] if key else "") if part)
    fault = f"is not valid TOML: {_PLACE.sub('', message)}"
    return f":{line}: {safe_line(where, 120)}: {fault}" if where else f":{line}: {fault}"


def _refuse_foreign(path: Path, found: os.stat_result) -> None:
    """Whoever can write the file can have a command run and a token sent elsewhere."""
    if found.st_uid not in {os.geteuid(), 0}:
        raise ProfileError(f"{path}: belongs to another user")
    if stat.S_IMODE(found.st_mode) & _WORLD_WRITABLE:
        raise ProfileError(f"{path}: can be written by everyone, run: chmod 600 {path}")
