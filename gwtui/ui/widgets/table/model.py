"""The state of a table without widgets: items by identity, filter, sort order, cursor, marks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from rich.cells import cell_len

from gwtui.crud.resource import Facets, filter_headings, filter_kinds
from gwtui.domain.cell_values import ordered
from gwtui.ui.widgets.table.layout import DrawnRow, Frame, Layout
from gwtui.ui.widgets.table.matching import FEW, Matcher, RowTexts

if TYPE_CHECKING:
    from gwtui.crud.resource import Cell, Column
    from gwtui.domain.filters import Spans


Loss = Literal["deleted", "filtered"]
"""Why a row has disappeared: it no longer exists, or the filter hides it."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The selected row disappeared; the cursor is on its ``neighbour``, if there is one."""

    identity: str
    reason: Loss
    neighbour: str | None


T = TypeVar("T")

_OPERATORS = (":", "=", "!=", "<", ">", "~")


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
        self.sorting: tuple[str, bool] | None = None
        """Column id and whether descending; None keeps the order of the items."""
        self.filter_error: str | None = None
        self.filter_unfinished = False
        """Whether the error is at the end of the text, which may be incomplete."""
        self.filter_note = ""
        """A part of the filter that may not mean what the person expects."""
        self.order: Sequence[str] = ()
        """Identities of the visible rows from top to bottom."""
        self.marks: set[str] = set()
        self.longest: Mapping[int, int] = {}
        """Width of the longest text, for columns whose width depends on it."""
        self._measured = [0, *(at for at, column in enumerate(self.columns) if at and column.most)]
        self._identity = identity
        self._facets = facets
        self._source: Sequence[T] = ()
        self._filter_text = ""
        """The text of the active query."""
        self._kinds = filter_kinds(self.columns, facets)
        self._headings = filter_headings(self.columns, facets)
        self._items: dict[str, T] = {}
        self._sorted: Sequence[str] = ()
        self._index: dict[str, int] = {}
        self._cursor: str | None = None
        """The row that was selected last; kept while no row is visible."""
        self._range_start: str | None = None
        """The row that was marked last, where a range starts."""
        self._texts = RowTexts[T](self.columns)
        self._matcher: Matcher[T] | None = None
        self.provisional = False
        """Whether the filter still waits for texts; see ``read_texts``."""

    # What is there ----------------------------------------------------------------------------

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
        return () if self._matcher is None else self._matcher.unknown_columns

    @property
    def filtering(self) -> bool:
        """Whether a filter is active."""
        return self._matcher is not None

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
        if not self.marks:
            return ()
        return tuple(identity for identity in self._sorted if identity in self.marks)

    @property
    def marked_items(self) -> list[T]:
        """The marked items, in sort order."""
        return [self._items[identity] for identity in self.marked]

    @property
    def hidden_marks(self) -> int:
        """The number of marked rows that the filter hides."""
        return len(self.marks - self._index.keys()) if self.filtering else 0

    def index_of(self, identity: str) -> int | None:
        """The index of a visible row."""
        return self._index.get(identity)

    # What changes it --------------------------------------------------------------------------

    def show(self, items: Sequence[T]) -> Lost | None:
        """Replace the items.

        An item that equals the present one is not replaced, so that its cached cells and texts
        stay valid.
        """
        if items is self._source and isinstance(items, tuple):
            return None
        self._source = items
        before, fresh = self._items, self._keyed(items)
        for identity, item in fresh.items():
            old = before.get(identity, _ABSENT)
            if old is item or (old is not _ABSENT and old == item):
                fresh[identity] = old
        unchanged = all(fresh[identity] is before.get(identity, _ABSENT) for identity in fresh)
        if unchanged and list(fresh) == list(before):
            return None
        self._items = fresh
        self._measure_texts()
        self._texts.keep_only(fresh)
        self.marks &= fresh.keys()
        self._sort()
        return self._arrange()

    def filter_by(self, text: str) -> Lost | None:
        """Filter the rows. A query with an error keeps the last valid one.

        If the last valid one only searched for the column's name as text ("used" of "used>x"), the
        valid part of the new query applies instead.
        """
        from gwtui.domain.filters import parse  # noqa: PLC0415 - with the first filter

        query = parse(text).checked(self._kinds, self._headings)
        self.filter_error = query.error or None
        self.filter_unfinished = query.fault.unfinished
        self.filter_note = query.note
        added = text.removeprefix(self._filter_text)
        wrong = self.filter_error is not None and not query.fault.open
        if wrong and (added == text or not added.startswith(_OPERATORS)):
            return None
        self._filter_text = text
        self._matcher = Matcher(query, self.columns, self._facets) if query.parts else None
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
        now = self.now()
        return self._texts.read(self._items, self._texts.waiting(self._items, now), now)

    def refilter(self) -> Lost | None:
        """Apply the filter again: texts were read, or depend on the time."""
        return None if self._matcher is None else self._arrange()

    # What is seen -----------------------------------------------------------------------------

    def frame(
        self, top: int, height: int, layout: Layout, known: Mapping[str, DrawnRow] | None = None
    ) -> Frame:
        """The rows of a viewport of ``height`` lines whose first line shows row ``top``.

        Cells of ``known`` rows of the same layout are reused if their item is the same object.
        """
        now = self.now()
        cells = [self.columns[slot.index].cell for slot in layout.slots]
        selected = self.selected_identity
        rows: list[DrawnRow | None] = []
        for identity in self.order[top : top + height]:
            item = self._items[identity]
            old = known.get(identity) if known else None
            same = old is not None and old.item is item
            shown = old.cells if old and same else tuple([cell(item, now) for cell in cells])
            marked = identity in self.marks
            matches = self._matches_in(shown, layout)
            rows.append(DrawnRow(identity, item, shown, identity == selected, marked, matches))
        rows.extend([None] * (height - len(rows)))
        return rows

    # Inside -----------------------------------------------------------------------------------

    def _matches_in(self, cells: tuple[Cell, ...], layout: Layout) -> tuple[Spans, ...]:
        """The filter matches in the cells."""
        if self._matcher is None:
            return ()
        find = self._matcher.highlights.found_in
        names = (self.columns[slot.index].id for slot in layout.slots)
        return tuple([find(name, cell.text) for name, cell in zip(names, cells, strict=True)])

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
        for at in self._measured:
            before, cell = widths.get(at, 0), self.columns[at].cell
            if before < _LONGEST:
                longest = max((cell_len(cell(item, now).text) for item in rows), default=0)
                widths[at] = min(max(before, longest), _LONGEST)
        self.longest = widths

    def _sort(self) -> None:
        if self.sorting is None:
            self._sorted = list(self._items)
            return
        column, descending = self.sorting
        value = next(known.sort for known in self.columns if known.id == column)
        now = self.now()
        self._sorted = ordered(
            self._items.items(), lambda item: value(item, now), descending=descending
        )

    def _arrange(self) -> Lost | None:
        before, place = self.order, self.cursor
        self.order = self._sorted if self._matcher is None else self._matching(self._matcher)
        self._index = {identity: index for index, identity in enumerate(self.order)}
        return self._follow(before, place)

    def _follow(self, before: Sequence[str], place: int | None) -> Lost | None:
        """Keep the cursor on its row, or move it to the nearest visible neighbour.

        ``before`` is the previous order, with the cursor at index ``place``.
        """
        lost = self._cursor
        if lost in self._index:
            return None
        neighbour = nearest(before, place or 0, self._index) or next(iter(self._index), None)
        self._cursor = neighbour or lost
        if lost is None or place is None:
            return None  # nothing was visible
        return Lost(lost, "filtered" if lost in self._items else "deleted", neighbour)

    def _matching(self, matcher: Matcher[T]) -> list[str]:
        now = self.now()
        waiting = self._texts.waiting(self._items, now) if matcher.reads_text else ()
        self.provisional = len(waiting) > FEW
        if not self.provisional:
            for _ in self._texts.read(self._items, waiting, now):
                pass
        visible = matcher.visible(self._sorted, self._items, self._texts, now)
        self.filter_error = self.filter_error or matcher.slow or None
        return visible


def nearest(before: Sequence[str], place: int, after: Collection[str]) -> str | None:
    """The identity in ``after`` that is closest to index ``place``; of two, the one below."""
    left = [
        (abs(at - place), at < place, identity)
        for at, identity in enumerate(before)
        if identity in after
    ]
    return min(left)[2] if left else None


_ABSENT = object()
_FIRST_ROWS = 200
"""Rows that are measured in a long list."""
_LONGEST = 40
"""Maximum width that is measured; longer texts are cut anyway."""
