"""Where the cursor goes when rows come, go and move. It follows an identity, never a number."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gwtui.ui.widgets.table.messages import Loss


@dataclass(frozen=True, slots=True)
class Lost:
    """The selected row vanished and the cursor had to move."""

    identity: str
    reason: Loss
    neighbour: str | None


class Selection:
    """The cursor: an identity, remembered while nothing at all is visible."""

    def __init__(self) -> None:
        self.identity: str | None = None
        self._remembered: str | None = None

    def put(self, identity: str | None) -> None:
        """Move the cursor because the person said so."""
        self.identity = identity
        self._remembered = None

    def follow(
        self, before: Sequence[str], place: int, after: Mapping[str, int], items: Collection[str]
    ) -> Lost | None:
        """Find the cursor's place among other rows.

        ``before`` are the identities as they stood with the cursor at index ``place``, ``after``
        the index of each now, ``items`` every identity that still exists. The row stays selected
        where it is still visible; otherwise the cursor goes to its nearest surviving neighbour,
        below before above.
        """
        if self.identity is None:
            self._settle(after)
            return None
        if self.identity in after:
            return None
        lost = self.identity
        neighbour = nearest(before, place, after) or next(iter(after), None)
        self.identity = neighbour
        self._remembered = lost if neighbour is None else None
        return Lost(lost, "filtered" if lost in items else "deleted", neighbour)

    def _settle(self, after: Mapping[str, int]) -> None:
        if self._remembered in after:
            self.identity = self._remembered
        else:
            self.identity = next(iter(after), None)
        if self.identity is not None:
            self._remembered = None


def nearest(before: Sequence[str], place: int, after: Mapping[str, int]) -> str | None:
    """The identity closest to index ``place`` that is still there; of two, the one below."""
    for distance in range(1, len(before)):
        for index in (place + distance, place - distance):
            if 0 <= index < len(before) and before[index] in after:
                return before[index]
    return None
