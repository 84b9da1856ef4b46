"""What a filter sees of a row: its named values, and its whole text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from gwtui.ui.resources.spec import Cell, Column, SortValue, ValueKind

T = TypeVar("T")

Facets = Mapping[str, Callable[[T, datetime], str]]
"""Further names that the filter understands, over those of the columns."""


def filter_kinds(columns: Sequence[Column[T]], facets: Facets[T]) -> dict[str, ValueKind]:
    """Every name that a filter of these rows understands, and what its values are."""
    return {
        **{column.id: column.kind for column in columns},
        **dict.fromkeys(facets, "text"),
    }


class RowFields(dict[str, Callable[[], "SortValue"]], Generic[T]):
    """The named values of one row for ``Query.matches``: every column, and facets over them.

    One object serves every row in turn: ``item`` is set before each match, because making a
    mapping for each of 10,000 rows would cost more than matching them.
    """

    item: T

    def __init__(self, columns: Sequence[Column[T]], facets: Facets[T], now: datetime) -> None:
        super().__init__()
        for column in columns:
            self._offer(column.id, column.sort, now)
        for name, value in facets.items():
            self._offer(name, value, now)

    def _offer(self, name: str, value: Callable[[T, datetime], SortValue], now: datetime) -> None:
        self[name] = lambda: value(self.item, now)


def row_text(cells: Sequence[Callable[[T, datetime], Cell]], item: T, now: datetime) -> str:
    """The casefolded text of every cell of a row."""
    # A separator that no query can contain keeps words from matching across cells.
    return "\n".join([cell(item, now).text for cell in cells]).casefold()
