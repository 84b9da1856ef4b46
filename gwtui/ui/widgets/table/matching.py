"""The filter at work: the text of each row, and which rows match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, TypeVar

from gwtui.crud.resource import Facets, RowFields, row_text

if TYPE_CHECKING:
    from gwtui.crud.resource import Column
    from gwtui.domain.filters import Query


T = TypeVar("T")

FEW = 1_000
"""Rows whose texts are read at once: those of more would hold up what is typed."""
_PART = 100
_LIFETIME = timedelta(seconds=60)
"""Text may depend on the time ("in 3 days"), so it is read anew after this long."""


class RowTexts(Generic[T]):
    """The casefolded text of every cell of each row, by identity.

    Of many rows it is read part by part. Until then the text that a row had before counts.
    """

    def __init__(self, columns: Sequence[Column[T]]) -> None:
        self._cells = [column.cell for column in columns]
        self._known: dict[str, tuple[T, str]] = {}
        self._old: set[str] = set()
        """Rows whose text may depend on a time that has passed."""
        self._read_at: datetime | None = None

    def text(self, identity: str) -> str | None:
        """The text of a row; None before it was read."""
        known = self._known.get(identity)
        return None if known is None else known[1]

    def waiting(self, items: Mapping[str, T], now: datetime) -> list[str]:
        """The rows whose text is not known, or not as of now."""
        known = self._known
        if self._read_at is None or now - self._read_at > _LIFETIME:
            self._read_at = now
            self._old = set(known)
        return [
            identity
            for identity, item in items.items()
            if identity not in known or known[identity][0] is not item or identity in self._old
        ]

    def read(self, items: Mapping[str, T], waiting: Sequence[str], now: datetime) -> Iterator[None]:
        """Read the texts of these rows, a part at each step."""
        for start in range(0, len(waiting), _PART):
            for identity in waiting[start : start + _PART]:
                item = items[identity]
                self._known[identity] = item, row_text(self._cells, item, now)
                self._old.discard(identity)
            yield

    def keep_only(self, items: Mapping[str, T]) -> None:
        """Forget rows that are gone."""
        for identity in self._known.keys() - items.keys():
            del self._known[identity]


class Matcher(Generic[T]):
    """One query for the rows of a table."""

    def __init__(self, query: Query, columns: Sequence[Column[T]], facets: Facets[T]) -> None:
        from gwtui.domain.filters import Highlights  # noqa: PLC0415 - with the first one

        self._query = query
        self._columns = columns
        self._facets = facets
        names = [*(column.id for column in columns), *facets]
        self.unknown_columns = query.unknown_columns(names)
        """Names in the query that are no column here: searched as plain text."""
        self.highlights = Highlights(query, names)
        """Where a shown text has what is asked for."""
        self.reads_text = query.reads_text(names)

    @property
    def slow(self) -> str:
        """A message naming a pattern that ran out of time; empty while none has."""
        return self._query.slow

    def visible(
        self, order: Sequence[str], items: Mapping[str, T], texts: RowTexts[T], now: datetime
    ) -> list[str]:
        """The identities in ``order`` that match; where the text decides, of rows that have one."""
        fields = RowFields(self._columns, self._facets, now)
        matches, reads_text, found = self._query.matches, self.reads_text, []
        for identity in order:
            fields.item = items[identity]
            text = texts.text(identity) if reads_text else ""
            if text is not None and matches(fields, text, now):
                found.append(identity)
        return found
