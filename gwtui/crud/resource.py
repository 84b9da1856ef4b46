"""The declaration of a resource: columns, detail sections, feed. No widgets here."""

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
"""Columns that hold further names of a row."""
_NO_NAME = re.compile(r"[\W_]+")

_MOST_COMPARED = 3
"""Maximum number of columns that distinguish rows of the same name."""

Tone = cell_values.Tone
SortValue = cell_values.SortValue
ValueKind = cell_values.ValueKind


@dataclass(slots=True, unsafe_hash=True)
class Cell:
    """One figure as shown: plain text (never markup) and what it means.

    Nobody changes one. It is not frozen, for a frozen one takes twice as long to make, and a long
    list makes a hundred thousand of them.
    """

    text: str
    tone: Tone = "plain"


BROKEN_CELL = Cell(BROKEN, "bad")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """One column of a list.

    The first is always shown (the name); the last ones give way first when the terminal is narrow.
    ``width`` is in cells; ``grow`` columns share what is left, after those that take up to
    ``most`` cells for the longest of their texts. ``cell`` gets the item and the present moment.
    ``export`` is what another program is given, where that is neither what rows are sorted by nor
    what is shown. ``kind`` is what ``sort`` gives: a filter refuses what such a value cannot be
    compared with. A value that cannot be made because of an error is shown as "?", and is unknown.
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
        """The sort order, as id and whether descending, after this column was picked.

        In force already, it turns around. Else figures are read from the largest down, all others
        from the first on.
        """
        column, descending = present
        return self.id, (not descending if column == self.id else self.right)


@dataclass(frozen=True, slots=True)
class DetailRow:
    """A labelled figure of the detail pane; ``note`` explains a unit, a rule or a gap.

    A ``hint`` tells which key does what: it is of use in the dashboard only.
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
    """A titled part of the detail pane; one that cannot be made because of an error says so."""

    title: str
    content: Callable[[T, datetime], Sequence[DetailRow | DetailTable]]

    def __post_init__(self) -> None:
        instead = (DetailRow("", BROKEN_CELL, "not shown: an error in gwtui, see its log"),)
        content = guarded(f"section {self.title}", self.content, instead)
        object.__setattr__(self, "content", content)


@dataclass(frozen=True, slots=True)
class Completion(Generic[T]):
    """A second, slower reading that completes the rows; the list never waits for it.

    ``complete`` returns a row completed from the value of ``feed``. For long lists, ``one`` returns
    the feed of a single row, None if it has none; the value of ``feed`` is then a mapping from
    identity to the value of ``one``.
    """

    feed: Callable[[FeedHub, Scope], Feed[Any]]
    complete: Callable[[T, Any], T]
    one: Callable[[FeedHub, T], Feed[Any] | None] | None = None
    columns: frozenset[str] = frozenset()
    """The only columns that need this data; sorting by one of them reads it for every row. Empty if
    any part of a row may depend on it."""


@dataclass(frozen=True, slots=True)
class ReadBy:
    """The request that reads a row: an operation of the client such as "keys.get"."""

    operation: str
    given: tuple[str, ...] = ()

    def build(self) -> Call:
        """Build the request. Raises InvalidRequestError if an argument is invalid."""
        from gwtui.client.services import request_of  # noqa: PLC0415 - seldom needed

        return request_of(self.operation, *self.given)


@dataclass(frozen=True, slots=True)
class ResourceSpec(Generic[T]):
    """Everything that the generic list-and-detail screen needs of a resource."""

    id: str
    title: str
    singular: str
    identity: Callable[[T], str]
    """Unique and stable: cursor, marks and scroll follow it."""
    has_id: bool = field(default=True, kw_only=True)
    """Whether the identity is an id for other commands; otherwise it is derived locally."""
    name: Callable[[T], str]
    columns: tuple[Column[T], ...]
    sections: tuple[Section[T], ...]
    feed: Callable[[FeedHub, Scope], Feed[Sequence[T]]]
    raw: Callable[[T], Any]
    empty: str
    """A hint for an empty list, in one sentence."""
    scoped: bool = False
    """Whether the workspace scope applies."""
    default_sort: tuple[str, bool] = ("name", False)
    """Column id and whether descending."""
    opens: str | None = None
    """Resource id that Enter opens with the selected identity as parent."""
    facets: Mapping[str, Callable[[T, datetime], str]] = field(default_factory=dict)
    """Further names the filter bar understands, such as state:expired."""
    completion: Completion[T] | None = None
    """The second, slower read that completes the rows."""
    plural: str = ""
    """The plural of ``singular``; empty if that only adds an "s"."""
    opened_by_id: int = 0
    """Parts between the slashes of an identity by which a row is opened although no list has it;
    0 where it must be in the list."""

    read_by: Callable[[T], ReadBy | None] = lambda _row: None
    """The request that reads a row or its list; None for local data."""

    writes: Callable[[], Writes[Any]] | None = None
    """Loads the declared writes; None for a read-only resource."""

    def __post_init__(self) -> None:
        facets = {
            name: guarded(f"facet {name}", value, BROKEN) for name, value in self.facets.items()
        }
        object.__setattr__(self, "facets", facets)

    def names(self, now: datetime) -> Names[T]:
        """The names of a row: its identity, its name, and columns that name it."""
        also = [column.export for column in self.columns if column.id in _NAMES and column.export]

        def names(row: T) -> Sequence[str | None]:
            found = [export(row, now) for export in also]
            return [self.identity(row), self.name(row), *(str(name) for name in found if name)]

        return names

    def differences(self, rows: Sequence[T], now: datetime) -> list[str]:
        """A text per row that distinguishes rows of the same name; empty if no column differs."""
        texts = [
            (column.title, [column.cell(row, now).text for row in rows]) for column in self.columns
        ]
        telling = [(title, cells) for title, cells in texts if len(set(cells)) > 1][:_MOST_COMPARED]
        return [
            " · ".join(f"{title.lower()} {cells[place]}" for title, cells in telling)
            for place in range(len(rows))
        ]

    def whole_name(self, row: T, now: datetime) -> str:
        """The full name of a row; unsafe text from the gateway."""
        for column in self.columns:
            if column.id == "name" and column.export and (name := column.export(row, now)):
                return str(name)
        return self.name(row)


Facets = Mapping[str, Callable[[T, datetime], str]]
"""Further filter names besides the columns."""


def filter_kinds(columns: Sequence[Column[T]], facets: Facets[T]) -> dict[str, ValueKind]:
    """The filter names of these rows, and the kind of their values."""
    return {
        **{column.id: column.kind for column in columns},
        **dict.fromkeys(facets, "text"),
    }


def filter_headings(columns: Sequence[Column[T]], facets: Facets[T]) -> dict[str, str]:
    """The column of each heading, as a filter names it ("p50_ms"): small letters and underscores.

    A heading that is another's name, or that two columns share, names none.
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
    # A separator that no query can contain keeps words from matching across cell_values.
    return "\n".join([cell(item, now).text for cell in cells]).casefold()
