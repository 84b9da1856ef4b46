"""What the filter searches: the text of a row, computed once for as long as the row stays."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, TypeVar

from gwtui.crud.resource import row_text

if TYPE_CHECKING:
    from gwtui.crud.resource import Column

T = TypeVar("T")

_LIFETIME = timedelta(seconds=60)
_LIFETIME_PER_ROW = timedelta(milliseconds=30)
"""Text may depend on the time ("in 3 days"), so it is read anew after this long. Reading a row
takes a tenth of a millisecond; that long lists live longer keeps it below 1 % of the CPU."""


class Haystacks(Generic[T]):
    """The casefolded text of every cell of a row, by identity and object."""

    def __init__(self, columns: Sequence[Column[T]]) -> None:
        self._cells = [column.cell for column in columns]
        self._known: dict[str, tuple[T, datetime, str]] = {}
        self._waiting: list[str] = []

    def text(self, identity: str, item: T, now: datetime) -> str:
        """The row's text; one read earlier is good enough here, see ``warm``."""
        known = self._known.get(identity)
        if known is not None and known[0] is item:
            return known[2]
        return self._read(identity, item, now)

    def warm(self, items: Mapping[str, T], now: datetime, seconds: float) -> bool | None:
        """Read missing and outdated rows for about ``seconds``, at least one.

        None when there was nothing to do, else whether any known text turned out different.
        """
        end = time.perf_counter() + seconds
        if not self._waiting:
            self._waiting = self._cold(items, now)
        if not self._waiting:
            return None
        differs = False
        while self._waiting:
            identity = self._waiting.pop()
            if (item := items.get(identity)) is not None:
                known = self._known.get(identity)
                text = self._read(identity, item, now)
                differs |= known is not None and known[2] != text
            if time.perf_counter() > end:
                break
        return differs

    def keep_only(self, items: Mapping[str, T]) -> None:
        """Forget rows that are gone."""
        for identity in self._known.keys() - items.keys():
            del self._known[identity]

    def _cold(self, items: Mapping[str, T], now: datetime) -> list[str]:
        oldest = now - max(_LIFETIME, _LIFETIME_PER_ROW * len(items))
        known = self._known
        return [
            identity
            for identity, item in items.items()
            if (entry := known.get(identity)) is None or entry[0] is not item or entry[1] < oldest
        ]

    def _read(self, identity: str, item: T, now: datetime) -> str:
        text = row_text(self._cells, item, now)
        self._known[identity] = (item, now, text)
        return text
