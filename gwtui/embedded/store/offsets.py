"""From an offset to a place in a long list, without walking there from its beginning each time.

SQLite counts its way to an offset, row by row. Here the place of every 1,000th row is kept as it is
come upon, so that the next page anywhere is at most so far from a known place. Places are good for
one state of the database and no other: any change of anything, by whomever, drops them all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

STEP = 1000
"""Rows between two places."""

Place = tuple[int, int]
"""What the list is ordered by, of one row: the moment in microseconds and the row id."""


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
class _Places:
    validity: Validity
    known: list[Place] = field(default_factory=list)
    """The last rows before the offsets ``STEP``, 2 ``STEP`` and so on."""


class OffsetIndexes:
    """The known places of the lists that are read on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._state: tuple[int, int] | None = None
        self._lists: dict[Hashable, _Places] = {}

    def seek(
        self,
        name: Hashable,
        offset: int,
        moment: int,
        *,
        validity: Callable[[], Validity],
        step: Callable[[Place | None], Place | None],
    ) -> tuple[Place | None, int] | None:
        """The nearest place before an offset and how many rows to skip from there.

        The place is None for the beginning; the answer is None for an offset that is certainly
        behind the end. ``name`` stands for the list and everything that it leaves out;
        ``validity`` says from when to when that is the same, and ``step`` goes ``STEP`` rows on
        from a place, None behind the end. Must be called in a transaction.
        """
        if offset < STEP:
            return None, offset
        places = self._places(name, moment, validity)
        known = places.known
        while len(known) < offset // STEP:
            found = step(known[-1] if known else None)
            if found is None:
                return None
            known.append(found)
        return known[offset // STEP - 1], offset % STEP

    def clear(self) -> None:
        """Forget every place."""
        self._lists.clear()

    def _places(self, name: Hashable, moment: int, validity: Callable[[], Validity]) -> _Places:
        state = self._present()
        if state != self._state:
            self._lists.clear()
            self._state = state
        places = self._lists.get(name)
        if places is None or not places.validity.holds(moment):
            places = self._lists[name] = _Places(validity())
        return places

    def _present(self) -> tuple[int, int]:
        """Changes with every change: of this connection the count, of others the version."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version), self._connection.total_changes
