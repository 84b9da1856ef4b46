"""Reading a whole list through offset pages while rows come and go.

Offset paging has two faults. A row added in front pushes a row that was read onto the next page
again: rows are kept by identity, the newer reading wins. A row deleted in front pulls a row that
was not read onto the page that was: each page therefore begins on the last row of the one before,
and where that row is not known any more the pager steps back until it meets known ground. Every
row that exists during the whole reading is in the result, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast
from weakref import WeakValueDictionary

from gwtui.client import request_log as reading_log
from gwtui.client.call import Call, Caller, Query
from gwtui.client.reading import ModelT, Rows, read_rows
from gwtui.contract.response import ResponseModel

T = TypeVar("T")

OVERLAP = 1
"""Rows that a page shares with the one before: enough to notice a shift."""
MAX_REQUESTS = 1_000
"""Bound of one listing: 100,000 rows in pages of 100."""
MAX_IDLE_PAGES = 3
"""Pages in a row without a new one before the list is taken for a service that ignores offset."""

_held: WeakValueDictionary[tuple[type[ResponseModel], str], ResponseModel] = WeakValueDictionary()
"""The latest reading of each row that somebody still holds, by model and identifier."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A whole list.

    ``total`` is what the service said last, None when it does not say. ``complete`` is False when
    the reading was bounded or ended before that total. ``unreadable`` counts the rows that were
    not objects and are left out.
    """

    items: tuple[T, ...]
    total: int | None
    complete: bool
    unreadable: int = 0


@dataclass(slots=True)
class _Collected(Generic[ModelT]):
    """Rows read so far, by identity, in the order they were met."""

    model: type[ModelT]
    key: str
    items: dict[object, ModelT] = field(default_factory=dict)
    unreadable: set[object] = field(default_factory=set)

    def knows(self, identity: object) -> bool:
        return identity in self.items or identity in self.unreadable

    def add(self, rows: list[Any]) -> bool:
        """Take a page in; whether it brought anything new."""
        before = len(self.items) + len(self.unreadable)
        for identity, row in zip(identities(rows, self.key), rows, strict=True):
            if isinstance(row, dict):
                self.items[identity] = _read_row(self.model, identity, row)
            else:
                self.unreadable.add(identity)
        return len(self.items) + len(self.unreadable) > before

    def listing(self, total: int | None, *, complete: bool) -> Listing[ModelT]:
        reading_log.list_read(len(self.unreadable), complete=complete)
        return Listing(tuple(self.items.values()), total, complete, len(self.unreadable))


def _read_row(model: type[ModelT], identity: object, row: dict[str, Any]) -> ModelT:
    """The row as a model; the one that is held already where the answer is the same.

    Several lists show the same rows and read them again and again, and few of them change: each
    copy of a large account would cost tens of megabytes. Models of answers are never changed.
    """
    if not isinstance(identity, str):
        return model.model_validate(row)
    held = _held.get((model, identity))
    # 1 equals true, and 1 equals 1.0: only their texts tell such answers apart.
    if held is None or held.raw != row or repr(held.raw) != repr(row):
        held = _held[model, identity] = model.model_validate(row)
    return cast("ModelT", held)


class Pager(Generic[ModelT]):
    """Reads one paged list to its end. Paging rules: extended contract sections 0, 1 and 7.

    ``call`` is the list's own, without paging; ``key`` names the field that identifies a row.
    """

    def __init__(
        self,
        caller: Caller,
        call: Call,
        model: type[ModelT],
        key: str,
        *,
        page: int,
        sends_limit: bool = True,
    ) -> None:
        self._caller = caller
        self._call = call
        self._model = model
        self._key = key
        self._page = page
        self._sends_limit = sends_limit

    async def everything(self) -> Listing[ModelT]:
        """Every row, once. Raises GatewayError when any page cannot be read."""
        collected = _Collected(self._model, self._key)
        offset, step, idle = 0, OVERLAP, 0
        total: int | None = None
        for _ in range(MAX_REQUESTS):
            rows = await self._fetch(offset)
            total = rows.total
            if not self._joins(collected, rows.rows, offset):
                step *= 2
                offset = max(0, offset - step)
                continue
            idle = 0 if collected.add(rows.rows) else idle + 1
            end = offset + len(rows.rows)
            if self._is_last(rows, end):
                return collected.listing(total, complete=total is None or end == total)
            if idle >= MAX_IDLE_PAGES:
                break
            offset, step = max(offset + 1, end - OVERLAP), OVERLAP
        return collected.listing(total, complete=False)

    async def _fetch(self, offset: int) -> Rows:
        paging: Query = {"offset": offset}
        if self._sends_limit:
            paging["limit"] = self._page
        call = replace(self._call, query={**self._call.query, **paging})
        return read_rows(await self._caller.call(call))

    def _joins(self, collected: _Collected[ModelT], rows: list[Any], offset: int) -> bool:
        """Whether a page continues what is known, so that no row can be between the two."""
        if offset == 0:
            return True
        return bool(rows) and collected.knows(next(iter(identities(rows[:1], self._key))))

    def _is_last(self, rows: Rows, end: int) -> bool:
        """Total and page of one answer are one moment; a total below what came is not believed."""
        if rows.total is not None and end <= rows.total:
            return end == rows.total or not rows.rows
        return len(rows.rows) != self._page


def identities(rows: list[Any], key: str) -> Iterable[object]:
    """What tells each row from the others: its identifier, else its content.

    Equal rows without an identifier are told apart by their number on the page; on two pages
    nothing tells them apart, and they count as one.
    """
    repeated: Counter[str] = Counter()
    for row in rows:
        value = row.get(key) if isinstance(row, dict) else None
        if isinstance(value, str) and value:
            yield value
        else:
            content = repr(row)
            repeated[content] += 1
            yield (content, repeated[content])


def listing_of(rows: Rows, model: type[ModelT], key: str = "") -> Listing[ModelT]:
    """A list that came in one answer; without a ``key`` its rows have no identifier."""
    collected = _Collected(model, key)
    collected.add(rows.rows)
    complete = rows.total is None or rows.total == len(rows.rows)
    return collected.listing(rows.total, complete=complete)
