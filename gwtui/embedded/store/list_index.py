"""What is remembered of a long list: how long it is, and where in it an offset is.

SQLite counts its way to an offset, row by row, and to a length. Here the place of every 500th row
is kept as it is come upon, so that the next page anywhere is at most so far from a known place.
This is good for one state of the database and no other: any change of anything, by whomever, drops
it all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from dataclasses import field

from gwtui.lazy_dataclass import dataclass

STEP = 500
"""Rows between two places."""

Place = tuple[int, ...]
"""What a list is ordered by, of one row."""


@dataclass(frozen=True, slots=True)
class Validity:
    """The moments, in microseconds, within which a list has the same rows in one state."""

    first: int
    end: int | None
    """The first moment that is too late; None when it stays the same for good."""

    def holds(self, moment: int) -> bool:
        """Whether the list is the same at a moment."""
        return self.first <= moment and (self.end is None or moment < self.end)


@dataclass(slots=True)
class ListIndex:
    """What is known of one list in the present state of the database."""

    validity: Validity | None = None
    """None for a list that time does not change."""
    _places: list[Place] = field(default_factory=list)
    """The last rows before the offsets ``STEP``, 2 ``STEP`` and so on."""
    _length: int | None = None

    def seek(
        self, offset: int, step: Callable[[Place | None], Place | None]
    ) -> tuple[Place | None, int] | None:
        """The nearest place before an offset and how many rows to skip from there.

        The place is None for the beginning; the answer is None for an offset that is certainly
        behind the end. ``step`` goes ``STEP`` rows on from a place, None behind the end.
        """
        places = self._places
        while len(places) < offset // STEP:
            found = step(places[-1] if places else None)
            if found is None:
                return None
            places.append(found)
        return (places[offset // STEP - 1] if offset >= STEP else None), offset % STEP

    def length(self, count: Callable[[], int]) -> int:
        """How long the list is; ``count`` is called if nobody asked before."""
        if self._length is None:
            self._length = count()
        return self._length


class ListIndexes:
    """The indexes of the lists that are read on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._state: tuple[int, int] | None = None
        self._lists: dict[Hashable, ListIndex] = {}

    def of(self, name: Hashable) -> ListIndex:
        """What is known of a list. ``name`` stands for its table and everything that it leaves out.

        Must be called in the transaction that reads the list.
        """
        self._refresh()
        return self._lists.setdefault(name, ListIndex())

    def at(self, name: Hashable, moment: int, validity: Callable[[], Validity]) -> ListIndex:
        """As ``of`` for a list that changes with time; ``validity`` says from when to when not."""
        self._refresh()
        found = self._lists.get(name)
        if found is None or found.validity is None or not found.validity.holds(moment):
            found = self._lists[name] = ListIndex(validity())
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._lists.clear()

    def _refresh(self) -> None:
        """Forget everything that is known of another state of the database."""
        # Of this connection's changes there is a count, of those by others a version.
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        state = (version, self._connection.total_changes)
        if state != self._state:
            self._lists.clear()
            self._state = state
