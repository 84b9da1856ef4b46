"""The state of a table without widgets: items, filter, sort order, cursor and marks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from rich.cells import cell_len

from gwtui.crud.resource import Column, Facets, RowFields, filter_headings, filter_kinds, row_text
from gwtui.domain.cell_values import ordered
from gwtui.domain.safe_text import safe_line

if TYPE_CHECKING:
    from gwtui.domain.filters import Query


Loss = Literal["deleted", "filtered"]
"""Why the selected row is no longer visible: its item is gone, or the filter hides it."""
FEW = 1_000
"""Maximum number of rows whose text is read in one go; more would delay typing."""
_PART = 100
_LIFETIME = timedelta(seconds=60)
"""Age at which a filter reads texts again, since they may depend on the time ("in 3 days")."""
_FIRST_ROWS = 200
"""Number of rows that are measured for the column widths."""
_LONGEST = 40
"""Maximum text width that is measured, in cells."""
_SHOWN_FILTER = 30
"""Maximum length of the active filter in an error message."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The selected row is no longer visible; the cursor moved to ``neighbour``, if there is one."""

    identity: str
    reason: Loss
    neighbour: str | None


T = TypeVar("T")


class TableModel(Generic[T]):
    """The items of a table by identity, in display order.

    Methods that may hide the selected row return a ``Lost`` if they did.
    """

    def __init__(
        self,
        columns: Sequence[Column[T]],
        identity: Callable[[T], str],
        now: Callable[[], datetime],
        facets: Facets[T],
    ) -> None:
        self.columns = tuple(columns)
        self.now = now
        self.sorting = ("", False)
        """Column id, and whether the order is descending; "" keeps the order of the items."""
        self.filter_error: str | None = None
        self.provisional = False
        """Whether rows are missing because their text is not read yet; see ``read_texts``."""
        self.order: Sequence[str] = ()
        """Identities of the visible rows, from top to bottom."""
        self.marks: set[str] = set()
        self.longest: Mapping[int, int] = {}
        """Width of the longest text by column index, for columns that adapt to it."""
        self._identity = identity
        self._facets = facets
        self._query: Query | None = None
        self._filter = ""
        """The text of the active query."""
        self._items: dict[str, T] = {}
        self._sorted: Sequence[str] = ()
        self._index: dict[str, int] = {}
        self._cursor: str | None = None
        """Identity of the row selected last; kept while no row is visible."""
        self._range_start: str | None = None
        """Identity of the row marked last, where a range starts."""
        self._texts: dict[str, tuple[T, str]] = {}
        """Searchable text by identity, with the item that it was read from."""
        self._read_at: datetime | None = None
        """When all texts were last read."""

    # What is there ----------------------------------------------------------------------------

    def __getitem__(self, identity: str) -> T:
        return self._items[identity]

    @property
    def items(self) -> Iterator[T]:
        """All items in sort order, including those that the filter hides."""
        return (self._items[identity] for identity in self._sorted)

    @property
    def visible(self) -> list[T]:
        """The items that match the filter, from top to bottom."""
        return [self._items[identity] for identity in self.order]

    @property
    def total(self) -> int:
        """The number of items, including those that the filter hides."""
        return len(self._items)

    @property
    def unknown_columns(self) -> tuple[str, ...]:
        """Column names in the filter that do not exist; they are searched as plain text."""
        return () if self._query is None else self._query.unknown

    @property
    def filtering(self) -> bool:
        """Whether a filter is active."""
        return self._query is not None

    @property
    def selected(self) -> T | None:
        """The item under the cursor; None if no row is visible."""
        identity = self.selected_identity
        return None if identity is None else self._items[identity]

    @property
    def selected_identity(self) -> str | None:
        """The identity of the row under the cursor; None if no row is visible."""
        return self._cursor if self._cursor in self._index else None

    @property
    def cursor(self) -> int | None:
        """The index of the cursor among the visible rows; None if no row is visible."""
        return None if self._cursor is None else self._index.get(self._cursor)

    @property
    def marked(self) -> tuple[str, ...]:
        """Marked identities in sort order, including those that the filter hides."""
        return tuple(identity for identity in self._sorted if identity in self.marks)

    @property
    def hidden_marks(self) -> int:
        """The number of marked rows that the filter hides."""
        return len(self.marks - self._index.keys())

    def index_of(self, identity: str) -> int | None:
        """Return the index of a row among the visible rows; None if the filter hides it."""
        return self._index.get(identity)

    # What changes it --------------------------------------------------------------------------

    def show(self, items: Sequence[T]) -> Lost | None:
        """Replace the items.

        An item equal to the previous one is not replaced, so its text need not be read again.
        """
        before, fresh = self._items, self._keyed(items)
        for identity, item in fresh.items():
            old = before.get(identity)
            if old is not None and old == item:
                fresh[identity] = old
        if list(fresh.items()) == list(before.items()):
            return None
        self._items = fresh
        self._measure_texts()
        self._texts = {name: text for name, text in self._texts.items() if name in fresh}
        self.marks &= fresh.keys()
        self._sort()
        return self._arrange()

    def filter_by(self, text: str) -> Lost | None:
        """Filter the rows. If the query has an error, the last valid query stays active."""
        from gwtui.domain.filters import FilterError, parse  # noqa: PLC0415 - with the first filter

        kinds = filter_kinds(self.columns, self._facets)
        try:
            query = parse(text, kinds, filter_headings(self.columns, self._facets))
        except FilterError as error:
            filtered = f"rows match “{safe_line(self._filter, _SHOWN_FILTER)}”"
            self.filter_error = f"{error} · {filtered if self._query else 'all rows are shown'}"
            return None
        self.filter_error, self._filter = None, text
        self._query = None if query.is_empty else query
        return self._arrange()

    def sort_by(self, column: str, descending: bool) -> None:
        """Sort the rows by a column. Raises KeyError for an unknown column."""
        if all(known.id != column for known in self.columns):
            raise KeyError(column)
        self.sorting = (column, descending)
        self._sort()
        self._arrange()

    def move_to(self, index: int) -> None:
        """Move the cursor to a visible row; the index is clamped."""
        if self.order:
            self._cursor = self.order[min(max(index, 0), len(self.order) - 1)]

    def select(self, identity: str) -> bool:
        """Move the cursor to a row; return False if there is no such row or the filter hides it."""
        if identity not in self._index:
            return False
        self._cursor = identity
        return True

    def toggle_mark(self, identity: str) -> None:
        """Mark or unmark a row."""
        self.marks ^= {identity}
        self._range_start = identity

    def mark_range(self) -> None:
        """Mark all rows between the row marked last and the selected row, both included."""
        if (last := self.cursor) is not None:
            first = self._index.get(self._range_start or "", last)
            self.marks |= set(self.order[min(first, last) : max(first, last) + 1])
            self._range_start = self.order[last]

    def clear_marks(self) -> None:
        """Unmark all rows, including those that the filter hides."""
        self.marks.clear()
        self._range_start = None

    def mark_visible(self) -> None:
        """Mark all visible rows."""
        self.marks |= set(self.order)

    def read_texts(self) -> Iterator[None]:
        """Read the texts that a filter searches, in parts, so that keys can be handled in between.

        Call ``refilter`` afterwards.
        """
        now, unread = self.now(), self._unread()
        if self._read_at is None or now - self._read_at > _LIFETIME:
            self._read_at, unread = now, list(self._items)
        for start in range(0, len(unread), _PART):
            self._read(unread[start : start + _PART])
            yield

    def refilter(self) -> Lost | None:
        """Apply the filter again, because texts were read or depend on the time."""
        return None if self._query is None else self._arrange()

    # Inside -----------------------------------------------------------------------------------

    def _keyed(self, items: Sequence[T]) -> dict[str, T]:
        keyed: dict[str, T] = {}
        repeats: dict[str, int] = {}
        for item in items:
            identity = plain = self._identity(item)
            while identity in keyed:  # the gateway repeated an identity: add a suffix
                repeats[plain] = repeats.get(plain, 1) + 1
                identity = f"{plain}#{repeats[plain]}"
            keyed[identity] = item
        return keyed

    def _measure_texts(self) -> None:
        # Widths never shrink, so that columns keep their place.
        widths = dict(self.longest)
        now, rows = self.now(), list(islice(self._items.values(), _FIRST_ROWS))
        for at, column in enumerate(self.columns):
            if at == 0 or column.most:
                longest = max((cell_len(column.cell(item, now).text) for item in rows), default=0)
                widths[at] = min(max(widths.get(at, 0), longest), _LONGEST)
        self.longest = widths

    def _sort(self) -> None:
        (name, descending), now = self.sorting, self.now()
        value = next((column.sort for column in self.columns if column.id == name), None)
        if value is None:
            self._sorted = list(self._items)
        else:
            self._sorted = ordered(
                self._items.items(), lambda item: value(item, now), descending=descending
            )

    def _arrange(self) -> Lost | None:
        """Filter the sorted rows; a lost cursor moves to the nearest visible row."""
        before, place, lost = self.order, self.cursor, self._cursor
        self.provisional = False
        self.order = self._sorted if self._query is None else self._matching(self._query)
        self._index = {identity: index for index, identity in enumerate(self.order)}
        if lost in self._index:
            return None
        neighbour = nearest(before, place or 0, self._index) or next(iter(self._index), None)
        self._cursor = neighbour or lost
        if lost is None or place is None:
            return None  # nothing was visible
        return Lost(lost, "filtered" if lost in self._items else "deleted", neighbour)

    def _matching(self, query: Query) -> list[str]:
        """Return the rows that match. A row whose text was not read yet does not match text."""
        reads_text = query.reads_text
        unread = self._unread() if reads_text else ()
        self.provisional = len(unread) > FEW
        if not self.provisional:
            self._read(unread)
        now, visible = self.now(), []
        fields = RowFields(self.columns, self._facets, now)
        for identity in self._sorted:
            fields.item = self._items[identity]
            text = self._texts.get(identity, (None, None))[1] if reads_text else ""
            if text is not None and query.matches(fields, text, now):
                visible.append(identity)
        self.filter_error = self.filter_error or query.timeout_error or None
        return visible

    def _unread(self) -> list[str]:
        texts = self._texts
        return [
            identity
            for identity, item in self._items.items()
            if identity not in texts or texts[identity][0] is not item
        ]

    def _read(self, identities: Sequence[str]) -> None:
        now, cells = self.now(), [column.cell for column in self.columns]
        items = self._items
        for identity in filter(items.__contains__, identities):  # rows may be gone by now
            self._texts[identity] = items[identity], row_text(cells, items[identity], now)


def nearest(before: Sequence[str], place: int, after: Collection[str]) -> str | None:
    """Return the identity in ``after`` that was closest to index ``place`` in ``before``.

    Of two equally close ones, the lower row wins. Returns None if none is left.
    """
    left = [
        (abs(at - place), at < place, identity)
        for at, identity in enumerate(before)
        if identity in after
    ]
    return min(left)[2] if left else None
