"""Which of a million identities were met, in a few bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

_FEWEST = 1 << 10
"""Places that there are at first; a power of two, as every later number of them."""
_FREE = 0


class IdentitySet:
    """Identities that were met, by their hashes of 64 bits: 16 to 32 bytes each.

    Two of a million are taken for one with a chance of one in 37 million. A set of the identities
    themselves would hold 200 bytes each.
    """

    def __init__(self) -> None:
        self._places = array("q", bytes(8 * _FEWEST))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, identity: Hashable) -> bool:
        return self._places[self._place_of(_number(identity))] != _FREE

    def add(self, identity: Hashable) -> bool:
        """Note it; whether it is new."""
        number = _number(identity)
        place = self._place_of(number)
        if self._places[place] != _FREE:
            return False
        self._places[place] = number
        self._count += 1
        if 2 * self._count > len(self._places):
            self._grow()
        return True

    def _place_of(self, number: int) -> int:
        """Where it is, else where it belongs."""
        places, last = self._places, len(self._places) - 1
        place = number & last
        while places[place] != number and places[place] != _FREE:
            place = (place + 1) & last
        return place

    def _grow(self) -> None:
        former = self._places
        self._places = array("q", bytes(16 * len(former)))
        for number in former:
            if number != _FREE:
                self._places[self._place_of(number)] = number


def _number(identity: Hashable) -> int:
    return hash(identity) or 1
