"""The filter at work: which rows match, found out in slices where that takes long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from textual.widget import Widget

from gwtui.crud.resource import Facets, RowFields, row_text
from gwtui.local.caught_errors import caught_errors

if TYPE_CHECKING:
    from gwtui.crud.resource import Column
    from gwtui.domain.filter_query import Query


T = TypeVar("T")

_LIFETIME = timedelta(seconds=60)
_LIFETIME_PER_ROW = timedelta(milliseconds=30)
"""Text may depend on the time ("in 3 days"), so it is read anew after this long. Reading a row
takes a tenth of a millisecond; that long lists live longer keeps it below 1 % of the CPU."""
_CALM = (0.025, 0.008)
_EAGER = (0.005, 0.015)
"""Seconds between and of the slices in which the filter is prepared after new data, and in which it
finishes while somebody waits for it."""
_STEP = 0.15
"""Seconds between two looks at what the filter has found so far. Each is painted, and what is typed
waits for what is painted: with one after every slice it would wait until the filter has finished.
"""


class Haystacks(Generic[T]):
    """The casefolded text of every cell of a row, by identity and object."""

    def __init__(self, columns: Sequence[Column[T]]) -> None:
        self._cells = [column.cell for column in columns]
        self._known: dict[str, tuple[T, datetime, str]] = {}
        self._waiting: list[str] = []

    def text(self, identity: str, item: T, now: datetime) -> str:
        """The row's text; one read earlier is good enough here, see ``warm``."""
        known = self._known.get(identity)
        if known is not None and known[0] is item:
            return known[2]
        return self._read(identity, item, now)

    def warm(self, items: Mapping[str, T], now: datetime, seconds: float) -> bool | None:
        """Read missing and outdated rows for about ``seconds``, at least one.

        None when there was nothing to do, else whether any known text turned out different.
        """
        end = time.perf_counter() + seconds
        if not self._waiting:
            self._waiting = self._cold(items, now)
        if not self._waiting:
            return None
        differs = False
        while self._waiting:
            identity = self._waiting.pop()
            if (item := items.get(identity)) is not None:
                known = self._known.get(identity)
                text = self._read(identity, item, now)
                differs |= known is not None and known[2] != text
            if time.perf_counter() > end:
                break
        return differs

    def keep_only(self, items: Mapping[str, T]) -> None:
        """Forget rows that are gone."""
        for identity in self._known.keys() - items.keys():
            del self._known[identity]

    def _cold(self, items: Mapping[str, T], now: datetime) -> list[str]:
        oldest = now - max(_LIFETIME, _LIFETIME_PER_ROW * len(items))
        known = self._known
        return [
            identity
            for identity, item in items.items()
            if (entry := known.get(identity)) is None or entry[0] is not item or entry[1] < oldest
        ]

    def _read(self, identity: str, item: T, now: datetime) -> str:
        text = row_text(self._cells, item, now)
        self._known[identity] = (item, now, text)
        return text


class Matcher(Generic[T]):
    """One query, and for each row whether it matches as far as that is known.

    A row not looked at yet counts as it did under the query before (``assumed``), so that a slow
    query narrows the list step by step instead of showing everything for a moment.
    """

    def __init__(
        self,
        query: Query,
        columns: Sequence[Column[T]],
        facets: Facets[T],
        haystacks: Haystacks[T],
        assumed: Matcher[T] | None = None,
    ) -> None:
        from gwtui.domain.filter_query import Highlights  # noqa: PLC0415 - with the first one

        self._query = query
        self._columns = columns
        self._facets = facets
        self._haystacks = haystacks
        self._verdicts: dict[str, bool] = dict(assumed._verdicts) if assumed is not None else {}
        self._waiting: list[str] = []
        names = [*(column.id for column in columns), *facets]
        self.unknown_columns = query.unknown_columns(names)
        """Names in the query that are no column here: searched as plain text."""
        self.highlights = Highlights(query, names)
        """Where a shown text has what is asked for."""
        self._textual = query.reads_text(names)

    @property
    def note(self) -> str:
        """What of the query is perhaps not meant as it is understood; "" when nothing is."""
        return self._query.note

    @property
    def unfinished(self) -> bool:
        """Whether rows wait to be looked at."""
        return bool(self._waiting)

    def visible(self, order: Sequence[str]) -> list[str]:
        """Those of ``order`` that match."""
        verdicts = self._verdicts
        return [identity for identity in order if verdicts.get(identity, True)]

    def ask(self, order: Sequence[str]) -> None:
        """Have every row looked at again, the first of ``order`` first."""
        self._waiting = list(reversed(order))
        if len(self._verdicts) > 2 * len(order):
            self._verdicts = {i: self._verdicts[i] for i in order if i in self._verdicts}

    def work(self, items: Mapping[str, T], now: datetime, seconds: float) -> None:
        """Look at waiting rows for about ``seconds``, at least at one."""
        end = time.perf_counter() + seconds
        fields = RowFields(self._columns, self._facets, now)
        matches, verdicts, waiting = self._query.matches, self._verdicts, self._waiting
        while waiting:
            identity = waiting.pop()
            if (item := items.get(identity)) is not None:
                fields.item = item
                text = self._haystacks.text(identity, item, now) if self._textual else ""
                verdicts[identity] = matches(fields, text, now)
            if time.perf_counter() > end:
                return


class SlicedWork(Protocol):
    """What is done in slices."""

    @property
    def provisional(self) -> bool:
        """Whether somebody waits for the end of it."""

    def work(self, seconds: float) -> bool:
        """Work for about so many seconds; False when nothing is left to do."""


class Slices:
    """Prepares the filter of a table in small slices, so that its first key is as fast as the next.

    They are no messages of the widget, for what is typed waits for messages. ``show`` paints what
    has been found.
    """

    def __init__(self, widget: Widget, work: SlicedWork, show: Callable[[], None]) -> None:
        self._widget = widget
        self._work = work
        self._show = show
        self._next: asyncio.TimerHandle | None = None
        self._shown_at = 0.0

    def begin(self) -> None:
        """There is something to do, perhaps."""
        if self._next is None and self._widget.is_mounted:
            pause, _ = _EAGER if self._work.provisional else _CALM
            self._next = asyncio.get_running_loop().call_later(pause, self._slice)

    def _slice(self) -> None:
        self._next = None
        if not self._widget.is_running:
            return
        waited_for = self._work.provisional
        _, seconds = _EAGER if waited_for else _CALM
        try:
            more = self._work.work(seconds)
            provisional, now = self._work.provisional, time.monotonic()
            due = not provisional or now - self._shown_at >= _STEP
            if not more or (waited_for and due):
                self._shown_at = now
                self._show()
        except Exception as error:
            caught_errors.add("filter", error)
        else:
            if more or provisional:
                self.begin()
