"""Resolves names that people type to rows; completes them, and suggests for mistyped ones.

A row is found by its identity, by another of its names, or by the beginning of its identity.
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
"""Characters of an identity that stand for all of it, as long as they mean only one."""
_NEAR = 3
_LEAST = 3
"""Characters of which the names that hold them are worth naming."""
_COMPARED = 5_000
"""Names that a misspelt one is compared with: each comparison takes some microseconds."""
_NAME = 80
"""Characters of a name that are compared and shown."""
_MOST_LISTED = 40
"""Names that are listed before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Lookup(Generic[T]):
    """The rows that a name resolves to: one, several or none; ``rest`` is the rest of a path."""

    rows: tuple[T, ...]
    rest: str = ""

    @property
    def found(self) -> T | None:
        """The matching row, None if there are none or several."""
        return self.rows[0] if len(self.rows) == 1 else None


def lookup(rows: Iterable[T], text: str, names: Names[T]) -> Lookup[T]:
    """Every row that is called ``text``.

    An identity counts before other names, a whole name before the beginning of an identity, which
    takes ``SHORTEST_BEGINNING`` characters. Capitals matter.
    """
    named = [(row, names(row)) for row in rows]
    found = [row for row, known in named if known[0] == text]
    if not found:
        found = [row for row, known in named if text in known]
    if not found and len(text) >= SHORTEST_BEGINNING:
        found = [row for row, known in named if (known[0] or "").startswith(text)]
    return Lookup(tuple(found))


def lookup_path(rows: Sequence[T], path: str, names: Names[T]) -> Lookup[T]:
    """As ``lookup``, with the longest beginning of a path that names anything.

    Names may hold slashes themselves, so that "a/b/c" is tried as a whole, then "a/b", then "a".
    """
    parts = path.split("/")
    for count in range(len(parts), 0, -1):
        found = lookup(rows, "/".join(parts[:count]), names)
        if found.rows:
            return Lookup(found.rows, "/".join(parts[count:]))
    return Lookup(())


def all_names(rows: Iterable[T], names: Names[T]) -> tuple[str, ...]:
    """What the rows go by, in the order of a completion: names from A to Z, then identities.

    A name that cannot be typed is left out, as is one that a typed path would lose blanks of.
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
    """The first of the names that begins with ``text``, in capitals or not.

    None where none does, where ``text`` is one of them already, and for an empty text.
    """
    known = tuple(known)
    if not text or text in known:
        return None
    folded = text.casefold()
    return next((name for name in known if name.casefold().startswith(folded)), None)


def nearest(rows: Iterable[T], text: str, names: Names[T]) -> tuple[str, ...]:
    """The names that look most like ``text``, the most alike first; none where none does."""
    known: dict[str, str] = {}
    for row in rows:
        for name in filter(None, names(row)):
            known.setdefault(name.casefold(), name)
    sought = text.casefold()
    alike = _most_alike(sought, islice(known, _COMPARED), _NEAR)
    holding: list[str] = []
    if len(sought) >= _LEAST:
        holding = [name for folded, name in known.items() if sought in folded]
    found = dict.fromkeys([*(known[name] for name in alike), *holding])
    return tuple(islice(found, _NEAR))


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like ``word``, in any case of letters; None where none is like it."""
    by_folded = {name[:_NAME].casefold(): name for name in known}
    found = _most_alike(word[:_NAME].casefold(), by_folded, 1)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """To follow a refusal of ``word``: ``; did you mean 'list'?``, or "" where none is like it."""
    found = closest(word, known)
    return f"; did you mean {safe_line(found, _NAME)!r}?" if found is not None else ""


def among(word: str, known: Iterable[str]) -> str:
    """As ``did_you_mean``, followed by every known name.

    For example ``; did you mean 'list'? (known: list, get)``.
    """
    names = [safe_line(name, _NAME) for name in known]
    listed = ", ".join(names[:_MOST_LISTED]) or "there are none"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{did_you_mean(word, names)} (known: {listed}{more})"


def _most_alike(word: str, known: Iterable[str], most: int) -> list[str]:

    return get_close_matches(word, list(known), most)
