"""The state of a table without widgets: items by identity, filter, sort order, cursor, marks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from rich.cells import cell_len

from gwtui.crud.resource import Column, Facets, RowFields, filter_headings, filter_kinds, row_text
from gwtui.domain.cell_values import ordered

if TYPE_CHECKING:
    from gwtui.domain.filters import Highlights, Query


Loss = Literal["deleted", "filtered"]
"""Why a row has disappeared: it no longer exists, or the filter hides it."""
FEW = 1_000
"""Number of rows whose texts are read at once; more would delay typing."""
_OPERATORS = (":", "=", "!=", "<", ">", "~")
_PART = 100
_LIFETIME = timedelta(seconds=60)
"""Texts may depend on the time ("in 3 days"), so a filter reads them again after this time."""
_FIRST_ROWS = 200
"""Rows that are measured in a long list."""
_LONGEST = 40
"""Maximum width that is measured; longer texts are cut anyway."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The selected row disappeared; the cursor is on its ``neighbour``, if there is one."""

    identity: str
    reason: Loss
    neighbour: str | None


T = TypeVar("T")


class TableModel(Generic[T]):
    """Items by identity, in the order in which they are shown.

    Methods that can make the selected row disappear return what was lost.
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
        """Column id and whether descending; "" keeps the order of the items."""
        self.filter_error: str | None = None
        self.filter_unfinished = False
        """Whether the error is at the end of the text, which may be incomplete."""
        self.filter_note = ""
        """A part of the filter that may not mean what the person expects."""
        self.highlights: Highlights | None = None
        """Finds the matches of the filter in a text."""
        self.provisional = False
        """Whether the filter still waits for texts; see ``read_texts``."""
        self.order: Sequence[str] = ()
        """Identities of the visible rows from top to bottom."""
        self.marks: set[str] = set()
        self.longest: Mapping[int, int] = {}
        """Width of the longest text, for columns whose width depends on it."""
        self._identity = identity
        self._facets = facets
        self._filter_names = [*(column.id for column in self.columns), *facets]
        self._query: Query | None = None
        self._filter_text = ""
        """The text of the active query."""
        self._items: dict[str, T] = {}
        self._sorted: Sequence[str] = ()
        self._index: dict[str, int] = {}
        self._cursor: str | None = None
        """The row that was selected last; kept while no row is visible."""
        self._range_start: str | None = None
        """The row that was marked last, where a range starts."""
        self._texts: dict[str, tuple[T, str]] = {}
        """The item whose text was read, and the text, by identity."""
        self._read_at: datetime | None = None
        """When all texts were read last."""

    # What is there ----------------------------------------------------------------------------

    def __getitem__(self, identity: str) -> T:
        return self._items[identity]

    @property
    def items(self) -> Iterator[T]:
        """All items in order, visible or not."""
        return (self._items[identity] for identity in self._sorted)

    @property
    def visible(self) -> list[T]:
        """The items that match the filter, from top to bottom."""
        return [self._items[identity] for identity in self.order]

    @property
    def total(self) -> int:
        """Number of items, visible or not."""
        return len(self._items)

    @property
    def unknown_columns(self) -> tuple[str, ...]:
        """Names in the filter that are not columns; they are searched as plain text."""
        return () if self._query is None else self._query.unknown_columns(self._filter_names)

    @property
    def filtering(self) -> bool:
        """Whether a filter is active."""
        return self._query is not None

    @property
    def selected(self) -> T | None:
        """The item under the cursor."""
        identity = self.selected_identity
        return None if identity is None else self._items[identity]

    @property
    def selected_identity(self) -> str | None:
        """The identity under the cursor."""
        return self._cursor if self._cursor in self._index else None

    @property
    def cursor(self) -> int | None:
        """The cursor's index among the visible rows."""
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
        """The index of a visible row."""
        return self._index.get(identity)

    # What changes it --------------------------------------------------------------------------

    def show(self, items: Sequence[T]) -> Lost | None:
        """Replace the items. An item that equals the present one is kept, with its text."""
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
        """Filter the rows. A query with an error keeps the last valid one.

        If the last valid one only searched for the column's name as text ("used" of "used>x"), the
        valid part of the new query applies instead.
        """
        from gwtui.domain.filters import Highlights, parse  # noqa: PLC0415 - with the first filter

        kinds = filter_kinds(self.columns, self._facets)
        query = parse(text).checked(kinds, filter_headings(self.columns, self._facets))
        self.filter_error = query.error or None
        self.filter_unfinished = query.fault.unfinished
        self.filter_note = query.note
        added = text.removeprefix(self._filter_text)
        is_wrong = query.error and not query.fault.open
        if is_wrong and (added == text or not added.startswith(_OPERATORS)):
            return None
        self._filter_text = text
        self._query = query if query.parts else None
        self.highlights = Highlights(query, self._filter_names) if query.parts else None
        return self._arrange()

    def sort_by(self, column: str, descending: bool) -> None:
        """Sort the rows. Raises KeyError for an unknown column."""
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
        """Move the cursor to an identity; returns False if it is not visible."""
        if identity not in self._index:
            return False
        self._cursor = identity
        return True

    def toggle_mark(self, identity: str) -> None:
        """Mark or unmark a row."""
        self.marks ^= {identity}
        self._range_start = identity

    def mark_on(self, step: int) -> None:
        """Mark the selected row and the next (1) or previous (-1) one, and go there."""
        if (place := self.cursor) is not None:
            self.move_to(place + step)
            self._range_start = self._range_start or self.order[place]
            self.marks |= {self.order[place], self._cursor or ""}

    def mark_range(self) -> None:
        """Mark the rows from the last marked one to the selected one."""
        if (last := self.cursor) is not None:
            first = self._index.get(self._range_start or "", last)
            self.marks |= set(self.order[min(first, last) : max(first, last) + 1])
            self._range_start = self.order[last]

    def clear_marks(self) -> None:
        """Unmark all rows, including hidden ones."""
        self.marks.clear()
        self._range_start = None

    def mark_visible(self) -> None:
        """Mark all visible rows."""
        self.marks |= set(self.order)

    def invert_marks(self) -> None:
        """Invert the marks of the visible rows; hidden marks stay."""
        self.marks ^= set(self.order)

    def read_texts(self) -> Iterator[None]:
        """Read the texts that a filter searches, one part per step; call ``refilter`` after it."""
        now, unread = self.now(), self._unread()
        if self._read_at is None or now - self._read_at > _LIFETIME:
            self._read_at, unread = now, list(self._items)
        for start in range(0, len(unread), _PART):
            self._read(unread[start : start + _PART])
            yield

    def refilter(self) -> Lost | None:
        """Apply the filter again: texts were read, or depend on the time."""
        return None if self._query is None else self._arrange()

    # Inside -----------------------------------------------------------------------------------

    def _keyed(self, items: Sequence[T]) -> dict[str, T]:
        """Items by identity; a repeated identity gets a suffix."""
        keyed: dict[str, T] = {}
        repeats: dict[str, int] = {}
        for item in items:
            identity = plain = self._identity(item)
            while identity in keyed:
                repeats[plain] = repeats.get(plain, 1) + 1
                identity = f"{plain}#{repeats[plain]}"
            keyed[identity] = item
        return keyed

    def _measure_texts(self) -> None:
        """Measure the first rows. A width never shrinks, so that columns keep their place."""
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
        """Filter, and keep the cursor on its row, or move it to the nearest visible neighbour."""
        before, place, lost = self.order, self.cursor, self._cursor
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
        """The rows that match. Rows whose text was not read yet never match text."""
        reads_text = query.reads_text(self._filter_names)
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
        self.filter_error = self.filter_error or query.slow or None
        return visible

    def _unread(self) -> list[str]:
        """The rows whose text was not read, or read before the item was replaced."""
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
    """The identity in ``after`` that is closest to index ``place``; of two, the one below."""
    left = [
        (abs(at - place), at < place, identity)
        for at, identity in enumerate(before)
        if identity in after
    ]
    return min(left)[2] if left else None
