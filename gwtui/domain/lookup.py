"""Resolve typed names to rows, complete names, and suggest names for mistyped ones.

A row can be named by its identity, by its other names, or by the beginning of its identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Generic, TypeVar

from gwtui.domain.safe_text import safe_line

T = TypeVar("T")

Names = Callable[[T], Sequence[str | None]]
"""The names of a row: its identity first, then its other names."""

SHORTEST_BEGINNING = 6
"""Minimum number of characters of an abbreviated identity."""
_NEAR = 3
_LEAST = 3
"""Minimum length of a text for which the names that contain it are suggested."""
_COMPARED = 5_000
"""Maximum number of names that a mistyped name is compared with, to limit the time."""
_NAME = 80
"""Maximum length of a name that is compared or shown."""
_MOST_LISTED = 40
"""Maximum number of names in a message; further ones are counted."""


@dataclass(frozen=True, slots=True)
class Lookup(Generic[T]):
    """The rows that match a name, and the ``rest`` of a path behind that name, without a slash."""

    rows: tuple[T, ...]
    rest: str = ""

    @property
    def found(self) -> T | None:
        """The matching row, None if there are none or several."""
        return self.rows[0] if len(self.rows) == 1 else None


def lookup(rows: Iterable[T], text: str, names: Names[T]) -> Lookup[T]:
    """Find all rows that ``text`` names, case-sensitively.

    Rows with this identity take precedence, then rows with this name, then rows whose identity
    begins with it, if it has ``SHORTEST_BEGINNING`` characters.
    """
    named = [(row, names(row)) for row in rows]
    matching = [row for row, known in named if known[0] == text]
    if not matching:
        matching = [row for row, known in named if text in known]
    if not matching and len(text) >= SHORTEST_BEGINNING:
        matching = [row for row, known in named if (known[0] or "").startswith(text)]
    return Lookup(tuple(matching))


def lookup_path(rows: Sequence[T], path: str, names: Names[T]) -> Lookup[T]:
    """Find the rows that the longest possible beginning of a path names.

    Names may contain slashes, so "a/b/c" is tried first, then "a/b", then "a".
    """
    parts = path.split("/")
    for count in range(len(parts), 0, -1):
        match = lookup(rows, "/".join(parts[:count]), names)
        if match.rows:
            return Lookup(match.rows, "/".join(parts[count:]))
    return Lookup(())


def all_names(rows: Iterable[T], names: Names[T]) -> tuple[str, ...]:
    """The names of the rows that completion offers: names from A to Z, then identities.

    Names that cannot be typed, or begin or end with a space, are left out.
    """
    called: dict[str, None] = {}
    identities: dict[str, None] = {}
    for row in rows:
        identity, *others = names(row)
        called |= dict.fromkeys(name for name in others if name and _typeable(name))
        if identity and _typeable(identity):
            identities[identity] = None
    return tuple(dict.fromkeys([*sorted(called, key=str.casefold), *identities]))


def _typeable(name: str) -> bool:
    return name.isprintable() and name == name.strip()


def completed(text: str, known: Iterable[str]) -> str | None:
    """The first name that begins with ``text``, case-insensitively.

    None if no name does, if ``text`` is a whole name, or if it is empty.
    """
    known = tuple(known)
    if not text or text in known:
        return None
    folded = text.casefold()
    return next((name for name in known if name.casefold().startswith(folded)), None)


def nearest(rows: Iterable[T], text: str, names: Names[T]) -> tuple[str, ...]:
    """Up to three names: first those similar to ``text``, then those that contain it."""
    known: dict[str, str] = {}
    for row in rows:
        for name in filter(None, names(row)):
            known.setdefault(name.casefold(), name)
    sought = text.casefold()
    alike = get_close_matches(sought, list(islice(known, _COMPARED)), _NEAR)
    holding: list[str] = []
    if len(sought) >= _LEAST:
        holding = [name for folded, name in known.items() if sought in folded]
    similar = dict.fromkeys([*(known[name] for name in alike), *holding])
    return tuple(islice(similar, _NEAR))


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name most similar to ``word``, case-insensitively; None if none is similar."""
    by_folded = {name[:_NAME].casefold(): name for name in known}
    similar = get_close_matches(word[:_NAME].casefold(), list(by_folded), 1)
    return by_folded[similar[0]] if similar else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to an error: ``; did you mean 'list'?``, or "" without a match."""
    similar = closest(word, known)
    return f"; did you mean {safe_line(similar, _NAME)!r}?" if similar is not None else ""


def among(word: str, known: Iterable[str]) -> str:
    """A suggestion followed by the known names: ``; did you mean 'list'? (known: list, get)``.

    ``; none exist`` if there are no names.
    """
    names = [safe_line(name, _NAME) for name in known]
    if not names:
        return "; none exist"
    listed = ", ".join(names[:_MOST_LISTED])
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{did_you_mean(word, names)} (known: {listed}{more})"
