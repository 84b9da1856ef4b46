"""How a resource is declared: columns, detail sections, feed. No widgets here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from gwtui.domain import cells
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.scope import Scope as Scope  # noqa: PLC0414 - part of a declaration
from gwtui.watch.hub import FeedHub

T = TypeVar("T")

Tone = cells.Tone
SortValue = cells.SortValue
ValueKind = cells.ValueKind


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure as shown: plain text (never markup) and what it means."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """One column of a list.

    ``priority`` 0 is always shown (the name); higher numbers give way first when the terminal is
    narrow. ``width`` is in cells; ``grow`` columns share what is left. ``cell`` gets the item and
    the present moment. ``export`` is what another program is given, where that is neither what
    rows are sorted by nor what is shown. ``kind`` is what ``sort`` gives: a filter refuses what
    such a value cannot be compared with.
    """

    id: str
    title: str
    cell: Callable[[T, datetime], Cell]
    sort: Callable[[T, datetime], SortValue]
    width: int
    priority: int = 1
    right: bool = False
    grow: bool = False
    help: str = ""
    export: Callable[[T, datetime], SortValue] | None = None
    kind: ValueKind = "text"


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
    """A titled part of the detail pane."""

    title: str
    content: Callable[[T, datetime], Sequence[DetailRow | DetailTable]]


@dataclass(frozen=True, slots=True)
class Completion(Generic[T]):
    """A second, slower reading that completes the rows; the list never waits for it.

    ``complete`` gives the row with what that reading, the feed's value, says of it. ``one`` gives
    the feed of a single row, for lists that may be long: the value of ``feed`` is then a mapping
    by identity to what ``one`` reads; None for a row of which nothing can be read.
    """

    feed: Callable[[FeedHub, Scope], Feed[Any]]
    complete: Callable[[T, Any], T]
    one: Callable[[FeedHub, T], Feed[Any] | None] | None = None
    columns: frozenset[str] = frozenset()
    """The columns that show what it reads: an order by one of them takes every row's."""


@dataclass(frozen=True, slots=True)
class ResourceSpec(Generic[T]):
    """Everything the generic list-and-detail screen needs to know of a resource."""

    id: str
    title: str
    singular: str
    identity: Callable[[T], str]
    """Unique and stable: cursor, marks and scroll follow it."""
    name: Callable[[T], str]
    columns: tuple[Column[T], ...]
    sections: tuple[Section[T], ...]
    feed: Callable[[FeedHub, Scope], Feed[Sequence[T]]]
    raw: Callable[[T], Any]
    empty: str
    """What to do when there is nothing, in one sentence."""
    scoped: bool = False
    """Whether the workspace scope narrows it."""
    default_sort: tuple[str, bool] = ("name", False)
    """Column id and whether descending."""
    opens: str | None = None
    """Resource id that Enter opens with the selected identity as parent."""
    facets: Mapping[str, Callable[[T, datetime], str]] = field(default_factory=dict)
    """Further names the filter bar understands, such as state:expired."""
    completion: Completion[T] | None = None
    """What completes the rows once it was read."""
    plural: str = ""
    """Of ``singular``; empty where that takes an s."""
