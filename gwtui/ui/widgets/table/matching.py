"""Filtering: the text of each row, and which rows match."""

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
"""Number of rows whose texts are read at once; more would delay typing."""
_PART = 100
_LIFETIME = timedelta(seconds=60)
"""Text may depend on the time ("in 3 days"), so it is read again after this time."""


class RowTexts(Generic[T]):
    """The casefolded text of every cell of each row, by identity.

    With many rows it is read in parts. Until then the previous text of a row is used.
    """

    def __init__(self, columns: Sequence[Column[T]]) -> None:
        self._cells = [column.cell for column in columns]
        self._known: dict[str, tuple[T, str]] = {}
        self._old: set[str] = set()
        """Rows whose text may be out of date because it depends on the time."""
        self._read_at: datetime | None = None

    def text(self, identity: str) -> str | None:
        """The text of a row; None before it was read."""
        known = self._known.get(identity)
        return None if known is None else known[1]

    def waiting(self, items: Mapping[str, T], now: datetime) -> list[str]:
        """The rows whose text is missing or out of date."""
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
        """Read the texts of these rows, one part per step."""
        for start in range(0, len(waiting), _PART):
            for identity in waiting[start : start + _PART]:
                item = items[identity]
                self._known[identity] = item, row_text(self._cells, item, now)
                self._old.discard(identity)
            yield

    def keep_only(self, items: Mapping[str, T]) -> None:
        """Forget rows that no longer exist."""
        for identity in self._known.keys() - items.keys():
            del self._known[identity]


class Matcher(Generic[T]):
    """Applies a query to the rows of a table."""

    def __init__(self, query: Query, columns: Sequence[Column[T]], facets: Facets[T]) -> None:
        from gwtui.domain.filters import Highlights  # noqa: PLC0415 - with the first one

        self._query = query
        self._columns = columns
        self._facets = facets
        names = [*(column.id for column in columns), *facets]
        self.unknown_columns = query.unknown_columns(names)
        """Names in the query that are not columns; they are searched as plain text."""
        self.highlights = Highlights(query, names)
        """Finds the matches to highlight in a text."""
        self.reads_text = query.reads_text(names)

    @property
    def slow(self) -> str:
        """A message about a pattern that timed out; empty if none has."""
        return self._query.slow

    def visible(
        self, order: Sequence[str], items: Mapping[str, T], texts: RowTexts[T], now: datetime
    ) -> list[str]:
        """The matching identities in ``order``. Rows whose text was not read never match text."""
        fields = RowFields(self._columns, self._facets, now)
        is_match, reads_text, visible = self._query.matches, self.reads_text, []
        for identity in order:
            fields.item = items[identity]
            text = texts.text(identity) if reads_text else ""
            if text is not None and is_match(fields, text, now):
                visible.append(identity)
        return visible
