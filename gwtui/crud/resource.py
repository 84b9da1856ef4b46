"""The declaration of a resource: columns, detail sections, feed. It contains no widgets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gwtui.domain import cell_values
from gwtui.local.caught_errors import BROKEN, guarded
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub
from gwtui.watch.hub import Scope as Scope  # noqa: PLC0414 - part of a declaration

if TYPE_CHECKING:
    from gwtui.client.call import Call
    from gwtui.crud.writes import Writes
    from gwtui.domain.lookup import Names

T = TypeVar("T")

_NAMES = frozenset({"name", "slug", "mail", "label", "tag"})
"""Ids of columns that hold further names of a row."""
_NO_NAME = re.compile(r"[\W_]+")

_MOST_COMPARED = 3
"""Maximum number of columns used to tell rows of the same name apart."""

Tone = cell_values.Tone
SortValue = cell_values.SortValue
ValueKind = cell_values.ValueKind


@dataclass(slots=True, unsafe_hash=True)
class Cell:
    """A value as displayed: plain text, never markup, and its tone, which decides the color.

    Treat it as immutable. It is not frozen because frozen instances take twice as long to create,
    and a long list creates 100,000 of them.
    """

    text: str
    tone: Tone = "plain"


BROKEN_CELL = Cell(BROKEN, "bad")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A column of a list.

    The first column, the name, is always visible; on narrow terminals the last columns are dropped
    first. ``width`` is in cells. ``most`` is the width up to which a column grows for its longest
    text; ``grow`` columns share the width that remains. ``cell`` gets the item and the current
    time. ``export`` returns the exported value if neither the sort value nor the cell text is
    suitable. ``kind`` is the type of ``sort`` values: a filter refuses values of another type. If
    one of these functions fails, "?" is displayed and the value is unknown.
    """

    id: str
    title: str
    cell: Callable[[T, datetime], Cell]
    sort: Callable[[T, datetime], SortValue]
    width: int
    right: bool = False
    grow: bool = False
    most: int = 0
    help: str = ""
    export: Callable[[T, datetime], SortValue] | None = None
    kind: ValueKind = "text"

    def __post_init__(self) -> None:
        part = f"column {self.id}"
        object.__setattr__(self, "cell", guarded(part, self.cell, BROKEN_CELL))
        object.__setattr__(self, "sort", guarded(part, self.sort, None))
        if self.export is not None:
            object.__setattr__(self, "export", guarded(part, self.export, None))

    def order_after(self, present: tuple[str, bool]) -> tuple[str, bool]:
        """Return the new sort order (column id, descending) after this column was picked.

        Picking the current column reverses the order. Otherwise right-aligned columns (figures)
        start with the largest value, all others with the first.
        """
        column, descending = present
        return self.id, (not descending if column == self.id else self.right)


@dataclass(frozen=True, slots=True)
class DetailRow:
    """A labelled value of the detail pane; ``note`` explains a unit, a rule or a missing value.

    A ``hint`` explains a key, so only the dashboard displays it.
    """

    label: str
    value: Cell
    note: str = ""
    hint: bool = False


@dataclass(frozen=True, slots=True)
class DetailTable:
    """A small table inside the detail pane, such as percentiles by workload."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Section(Generic[T]):
    """A titled part of the detail pane; if ``content`` fails, it displays an error."""

    title: str
    content: Callable[[T, datetime], Sequence[DetailRow | DetailTable]]

    def __post_init__(self) -> None:
        instead = (DetailRow("", BROKEN_CELL, "not shown: an error in gwtui, see its log"),)
        content = guarded(f"section {self.title}", self.content, instead)
        object.__setattr__(self, "content", content)


@dataclass(frozen=True, slots=True)
class Completion(Generic[T]):
    """A second, slower read that completes the rows of a list that is already displayed.

    ``complete`` takes a row and the value of ``feed``, and returns the completed row.

    With ``row_feed``, a long list reads only the feeds of the rows in view: ``row_feed`` returns
    the feed of a row, or None if the row has none. ``complete`` then gets a mapping from the
    identities of rows to values, and the value of ``feed`` must be such a mapping too.
    """

    feed: Callable[[FeedHub, Scope], Feed[Any]]
    complete: Callable[[T, Any], T]
    row_feed: Callable[[FeedHub, T], Feed[Any] | None] | None = None
    columns: frozenset[str] = frozenset()
    """The columns that need this data; sorting by one of them reads it for every row.

    Empty if any part of a row may need it.
    """


@dataclass(frozen=True, slots=True)
class ReadBy:
    """The request that reads a row: a client operation such as "keys.get" and its arguments."""

    operation: str
    given: tuple[str, ...] = ()

    def build(self) -> Call:
        """Return the request. Raises InvalidRequestError if an argument is invalid."""
        from gwtui.client.services import request_of  # noqa: PLC0415 - seldom needed

        return request_of(self.operation, *self.given)


@dataclass(frozen=True, slots=True)
class ResourceSpec(Generic[T]):
    """The declaration of a resource for the generic list-and-detail screen."""

    id: str
    title: str
    singular: str
    identity: Callable[[T], str]
    """Returns the unique, stable identity of a row; cursor, marks and scroll position follow it."""
    has_id: bool = field(default=True, kw_only=True)
    """Whether other commands accept the identity; if not, gwtui derived it."""
    name: Callable[[T], str]
    """Returns the display name of a row."""
    columns: tuple[Column[T], ...]
    sections: tuple[Section[T], ...]
    feed: Callable[[FeedHub, Scope], Feed[Sequence[T]]]
    raw: Callable[[T], Any]
    """Returns the response that a row shows, a list of several, or an empty value for none."""
    empty: str
    """One sentence displayed in an empty list."""
    scoped: bool = False
    """Whether the list can be limited to a workspace."""
    default_sort: tuple[str, bool] = ("name", False)
    """Column id, and whether the order is descending."""
    opens: str | None = None
    """The resource that Enter opens, with the selected row as parent."""
    facets: Mapping[str, Callable[[T, datetime], str]] = field(default_factory=dict)
    """Filter names that are not columns, such as "state" in ``state:expired``."""
    completion: Completion[T] | None = None
    """The second, slower read that completes the rows."""
    plural: str = ""
    """The plural of ``singular``; empty if that only adds an "s"."""
    opened_by_id: int = 0
    """Number of slash-separated parts of an identity that opens a row missing from the list.

    0 if only listed rows can be opened.
    """

    read_by: Callable[[T], ReadBy | None] = lambda _row: None
    """Returns the request that reads a row or its list; None for local data."""

    writes: Callable[[], Writes[Any]] | None = None
    """Loads the write declaration; None for a read-only resource."""

    def __post_init__(self) -> None:
        facets = {
            name: guarded(f"facet {name}", value, BROKEN) for name, value in self.facets.items()
        }
        object.__setattr__(self, "facets", facets)

    def names(self, now: datetime) -> Names[T]:
        """Return a function that returns all names of a row.

        These are its identity, its name, and the values of further columns such as its slug.
        """
        also = [column.export for column in self.columns if column.id in _NAMES and column.export]

        def names(row: T) -> Sequence[str | None]:
            exported = [export(row, now) for export in also]
            return [self.identity(row), self.name(row), *(str(name) for name in exported if name)]

        return names

    def differences(self, rows: Sequence[T], now: datetime) -> list[str]:
        """Return a text for each of ``rows``, which have the same name, that tells them apart.

        The text names the first columns in which the rows differ; it is "" if they do not differ.
        """
        texts = [
            (column.title, [column.cell(row, now).text for row in rows]) for column in self.columns
        ]
        telling = [(title, cells) for title, cells in texts if len(set(cells)) > 1][:_MOST_COMPARED]
        return [
            " · ".join(f"{title.lower()} {cells[place]}" for title, cells in telling)
            for place in range(len(rows))
        ]

    def whole_name(self, row: T, now: datetime) -> str:
        """Return the full name of a row; gateway text that is not safe to display."""
        for column in self.columns:
            if column.id == "name" and column.export and (name := column.export(row, now)):
                return str(name)
        return self.name(row)


Facets = Mapping[str, Callable[[T, datetime], str]]
"""Filter names that are not columns, and their value functions."""


def filter_kinds(columns: Sequence[Column[T]], facets: Facets[T]) -> dict[str, ValueKind]:
    """Return the value type of each filter name."""
    return {
        **{column.id: column.kind for column in columns},
        **dict.fromkeys(facets, "text"),
    }


def filter_headings(columns: Sequence[Column[T]], facets: Facets[T]) -> dict[str, str]:
    """Map column headings as typed in a filter ("p50_ms") to column ids.

    Headings that are shared by two columns, or equal to a filter name, are left out.
    """
    known = filter_kinds(columns, facets)
    named: dict[str, str] = {}
    shared: set[str] = set()
    for column in columns:
        heading = _NO_NAME.sub("_", column.title.casefold()).strip("_")
        if heading in named:
            shared.add(heading)
        named[heading] = column.id
    return {
        heading: column
        for heading, column in named.items()
        if heading and heading not in known and heading not in shared
    }


class RowFields(dict[str, Callable[[], "SortValue"]], Generic[T]):
    """The filter values of one row for ``Query.matches``: all columns and facets.

    One object serves all rows: ``item`` is set before each match, because a mapping for each of
    10,000 rows would cost more than the match itself.
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
    """Return the casefolded text of all cells of a row, for searches."""
    # No query can contain a newline, so none matches across two cells.
    return "\n".join([cell(item, now).text for cell in cells]).casefold()
