"""What the filter searches: the text of a row, computed once for as long as the row stays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from gwtui.ui.resources.spec import Column, SortValue

T = TypeVar("T")

LIFETIME = timedelta(seconds=60)
"""Text may depend on the time ("in 3 days"), so it is read anew after this long."""

_CHUNK = 32
"""Rows between two looks at the clock while warming."""


class Haystacks(Generic[T]):
    """The casefolded text of every cell of a row, by identity and object."""

    def __init__(self, columns: Sequence[Column[T]]) -> None:
        self._cells = [column.cell for column in columns]
        self._known: dict[str, tuple[T, datetime, str]] = {}

    def text(self, identity: str, item: T, now: datetime) -> str:
        """The row's text; an old one is good enough here, see ``warm``."""
        known = self._known.get(identity)
        if known is not None and known[0] is item:
            return known[2]
        return self._read(identity, item, now)

    def warm(self, items: Mapping[str, T], now: datetime, seconds: float) -> bool | None:
        """Read missing and outdated rows for about ``seconds``.

        None when there was nothing to do, else whether any known text turned out different.
        """
        end = time.perf_counter() + seconds
        cold = self._cold(items, now)
        if not cold:
            return None
        differs = False
        for count, identity in enumerate(cold, 1):
            known = self._known.get(identity)
            text = self._read(identity, items[identity], now)
            differs |= known is not None and known[2] != text
            if count % _CHUNK == 0 and time.perf_counter() > end:
                break
        return differs

    def keep_only(self, items: Mapping[str, T]) -> None:
        """Forget rows that are gone."""
        for identity in self._known.keys() - items.keys():
            del self._known[identity]

    def _cold(self, items: Mapping[str, T], now: datetime) -> list[str]:
        oldest = now - LIFETIME
        known = self._known
        return [
            identity
            for identity, item in items.items()
            if (entry := known.get(identity)) is None or entry[0] is not item or entry[1] < oldest
        ]

    def _read(self, identity: str, item: T, now: datetime) -> str:
        # A separator that no query can contain keeps words from matching across cells.
        text = "\n".join([cell(item, now).text for cell in self._cells]).casefold()
        self._known[identity] = (item, now, text)
        return text


class RowFields(Mapping[str, Callable[[], "SortValue"]], Generic[T]):
    """The named values of one row for ``Query.matches``: every column, and facets over them.

    One object serves every row in turn: ``item`` is set before each match, because making a
    mapping for each of 10,000 rows would cost more than matching them.
    """

    item: T

    def __init__(
        self,
        columns: Sequence[Column[T]],
        facets: Mapping[str, Callable[[T, datetime], str]],
        now: datetime,
    ) -> None:
        self._values: dict[str, Callable[[T, datetime], Any]] = {
            column.id: column.sort for column in columns
        }
        self._values.update(facets)
        self._now = now

    def __getitem__(self, name: str) -> Callable[[], SortValue]:
        value = self._values[name]
        return lambda: value(self.item, self._now)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
