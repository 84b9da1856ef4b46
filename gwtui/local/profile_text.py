"""Reading ``profiles.toml``: strict, and precise about where a fault stands."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gwtui.contract.request import problems
from gwtui.domain.safe_text import safe_line
from gwtui.domain.suggestions import among, did_you_mean
from gwtui.local.profiles import CHECK, CHECK_FIELDS, FIELDS, Profile, ProfileBook, ProfileError
from gwtui.local.toml_editor import line_of
from gwtui.local.user_file import UserFileError, not_toml, read_user_text

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
        return read_user_text(path)
    except UserFileError as error:
        raise ProfileError(str(error)) from None


def parse_profiles(path: Path, text: str, *, keep_unknown: bool = False) -> ProfileBook:
    """What the text of the file at ``path`` says. Raises ProfileError."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(not_toml(path, text, error)) from None
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
            hint = among(default, profiles) if isinstance(default, str) else ""
            raise self._fault(("default",), f"there is no profile {default!r}{hint}")
        return ProfileBook(profiles, default, tuple(self._unknown))

    def _profile(self, name: str, table: object) -> Profile:
        where = ("profiles", name)
        if not name:
            raise self._fault(where, "needs a name")
        if not isinstance(table, dict):
            raise self._fault(where, "must be a table")
        self._refuse_unknown(where, table, FIELDS)
        known = {key: value for key, value in table.items() if key in FIELDS}
        check = known.get(CHECK)
        if isinstance(check, dict):
            self._refuse_unknown((*where, CHECK), check, CHECK_FIELDS)
            known[CHECK] = {key: value for key, value in check.items() if key in CHECK_FIELDS}
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
    return did_you_mean(name, known)
